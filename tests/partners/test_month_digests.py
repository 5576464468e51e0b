"""The digest of a closed month proves every later change of its ledger and its change log, and
erasing somebody is none.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import apsw
import asyncpg
import pytest

from honeyguide.events import change_log
from honeyguide.partners import digest_rules, month_digests, payouts, rules, statements
from honeyguide.partners.digest_rules import DigestPart
from honeyguide.store import Store, Tx
from honeyguide.store.tx import timed
from honeyguide.work.money import DIGESTS
from honeyguide.work.notifications import notify_about_payouts
from tests.partners.test_ledger_damage import disarm
from tests.support.changes import SITE, new_change
from tests.support.items import run_items
from tests.support.process import command
from tests.support.readings import reads_account
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore, statement
from tests.support.trade import HOUR_MS, Trade
from tests.support.web import operator, text_of

NOVEMBER, DECEMBER = "2026-11", "2026-12"
EDGE_MS = rules.month_bounds(NOVEMBER)[1]
JANUARY_MS = rules.month_bounds(DECEMBER)[1] + HOUR_MS


CHARGE = "charge WHERE id = (SELECT MIN(id) FROM charge)"
REVERSAL = "charge WHERE id = (SELECT MIN(id) FROM charge WHERE fee_cents < 0)"
LOGGED = "change_log WHERE id = (SELECT MIN(id) FROM change_log WHERE action = 'referral.decided')"
RENAME_ACTION = f"UPDATE {LOGGED}".replace("WHERE", "SET action = 'other' WHERE", 1)
STEPS = dict.fromkeys(("person_step", "budget_step", "partner_step"), "99")
TRANSFERS = {
    kind: f"transfer WHERE id = (SELECT MIN(id) FROM transfer WHERE kind = '{kind}')"
    for kind in ("charge", "reversal", "payout", "paid")
}


async def digest_all(store: Store, now_ms: int = JANUARY_MS) -> None:
    await run_items(store, DIGESTS, now_ms)


async def trade_two_months(store: Store) -> Trade:
    """November has charges, a reversal and decisions by hand, December the payouts."""
    trade = await Trade.begin(store, partners=2)
    people = [await trade.arrive(number % 2) for number in range(3)]
    await trade.configure(hold_days=3)
    assert await trade.reverse(people[0].id) == [None]
    await trade.confirm(people[0].id)
    assert await trade.reverse(people[1].id, note="Why") == [None]
    await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
    (payout,) = await trade.payouts_of(0)
    await store.write(lambda tx: payouts.mark_paid(tx.at(EDGE_MS + HOUR_MS), payout.id, "bank"))
    await trade.close_and_pay_out(JANUARY_MS)
    await digest_all(store)
    return trade


async def test_every_month_that_was_closed_meanwhile_gets_a_digest_also_of_a_closed_account(
    store: Store,
) -> None:
    trade = await Trade.begin(store)
    await trade.arrive()
    await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
    await digest_all(store)
    closed = statement("UPDATE account SET closed_ms = 1 WHERE id = :id", "changes account")
    await store.write(lambda tx: tx.run(closed, id=trade.owner.account_id))
    months = [NOVEMBER, DECEMBER, "2027-01"]
    for month in months[1:]:
        await trade.close_and_pay_out(rules.closes_at(month))
    await digest_all(store, rules.closes_at(months[-1]))
    sql = "SELECT month FROM month_digest WHERE account_id = :id ORDER BY month"
    made = await trade.rows(sql, id=trade.owner.account_id)
    assert [month for (month,) in made] == months
    assert await store.slow_snapshot(month_digests.all_differences) == []


class Harm:
    """Somebody who can write to the database files."""

    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        disarm(opened)

    def run(self, sql: str) -> None:
        if self.opened.engine == "sqlite":
            path = self.opened.url.removeprefix("sqlite:///")
            with contextlib.closing(apsw.Connection(path)) as connection:
                connection.execute(
                    "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF"
                )
                connection.execute(sql).fetchall()
                assert connection.changes(), sql
            return
        self.opened.run(self._on_postgres(sql))

    async def _on_postgres(self, sql: str) -> None:
        connection = await asyncpg.connect(self.opened.url)
        await connection.execute("SET session_replication_role = replica")
        await connection.execute(
            "ALTER TABLE transfer DROP CONSTRAINT IF EXISTS transfer_kind_check"
        )
        assert not (await connection.execute(sql)).endswith(" 0"), sql
        await connection.close()

    def found(self) -> set[tuple[str, str]]:
        """(month, part)"""
        differences = self.opened.run(
            self.opened.store.slow_snapshot(month_digests.all_differences)
        )
        return {(each.month, each.part.value) for each in differences}


@pytest.fixture(scope="module", params=ENGINES)
def harm(request: pytest.FixtureRequest) -> Iterator[Harm]:
    with OpenStore(request.param) as opened:
        opened.run(trade_two_months(opened.store))
        yield Harm(opened)


def literal(value: str | int | None) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def columns_of(opened: OpenStore, table: str) -> list[tuple[str, bool]]:
    """Each with whether it is a number."""
    if opened.engine == "sqlite":
        sql = f"SELECT name, type FROM pragma_table_info('{table}')"
    else:
        sql = (
            "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) "
            f"FROM information_schema.columns WHERE table_name = '{table}'"
        )
    return [(name, kind in ("INTEGER", "bigint")) for name, kind in opened.ask(sql)]


@pytest.mark.parametrize(
    ("row", "month", "part"),
    [
        (CHARGE, NOVEMBER, "ledger"),
        (REVERSAL, NOVEMBER, "ledger"),
        (TRANSFERS["charge"], NOVEMBER, "ledger"),
        (TRANSFERS["reversal"], NOVEMBER, "ledger"),
        (TRANSFERS["payout"], DECEMBER, "ledger"),
        (TRANSFERS["paid"], DECEMBER, "ledger"),
        (LOGGED, NOVEMBER, "change log"),
    ],
)
def test_a_change_of_any_column_of_a_closed_month_is_found(
    harm: Harm, row: str, month: str, part: str
) -> None:
    table, _, where = row.partition(" ")
    assert harm.found() == set()
    for column, is_number in columns_of(harm.opened, table):
        ((key,),) = harm.opened.ask(f"SELECT id FROM {table} {where}")
        ((value,),) = harm.opened.ask(f"SELECT {column} FROM {table} {where}")
        other = (value or 0) + 1_000 if is_number else f"{value or ''}x"
        harm.run(f"UPDATE {table} SET {column} = {literal(other)} WHERE id = '{key}'")
        # What moves to another month, account or time is missing where it was.
        found = harm.found()
        assert (month, part) in found and {found_part for _, found_part in found} == {part}, column
        key = f"{key}x" if column == "id" else key
        harm.run(f"UPDATE {table} SET {column} = {literal(value)} WHERE id = '{key}'")
        assert harm.found() == set(), column


def copied(opened: OpenStore, row: str, **other: str) -> str:
    """A statement that adds the same row with other values."""
    table = row.split(maxsplit=1)[0]
    columns = [name for name, _ in columns_of(opened, table)]
    values = ", ".join(other.get(name, name) for name in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {row}"


@pytest.mark.parametrize(
    ("row", "month", "part", "other"),
    [
        (CHARGE, NOVEMBER, "ledger", STEPS),
        (TRANSFERS["charge"], NOVEMBER, "ledger", {"reference": "'charge:x'"}),
        (TRANSFERS["payout"], DECEMBER, "ledger", {"reference": "'payout:x'"}),
        (LOGGED, NOVEMBER, "change log", {}),
    ],
)
def test_a_row_that_is_added_or_deleted_is_found(
    harm: Harm, row: str, month: str, part: str, other: dict[str, str]
) -> None:
    table = row.split(maxsplit=1)[0]
    harm.run(copied(harm.opened, row, id="'added'", **other))
    assert harm.found() == {(month, part)}
    harm.run(f"DELETE FROM {table} WHERE id = 'added'")
    assert harm.found() == set()
    columns = ", ".join(name for name, _ in columns_of(harm.opened, table))
    (kept,) = harm.opened.ask(f"SELECT {columns} FROM {row}")
    harm.run(f"DELETE FROM {row}")
    assert harm.found() == {(month, part)}
    harm.run(f"INSERT INTO {table} ({columns}) VALUES ({', '.join(map(literal, kept))})")
    assert harm.found() == set()


def test_erasing_somebody_of_a_closed_month_changes_no_digest(engine: str) -> None:
    with OpenStore(engine) as opened:
        trade = opened.run(trade_two_months(opened.store))
        erased = "SELECT subject_id FROM change_log WHERE action = 'referral.decided' LIMIT 1"
        ((person,),) = opened.ask(erased)
        about = "SELECT before, after, salt FROM change_log WHERE subject_id = :id"
        assert all(all(row) for row in opened.ask(about, id=person))
        opened.run(trade.erase(person, now_ms=JANUARY_MS))
        assert (None, None, None) in opened.ask(about, id=person)
        assert not [row for row in opened.ask(about, id=person) if row[0] or row[1]]
        assert opened.run(opened.store.slow_snapshot(month_digests.all_differences)) == []


def test_who_kept_a_digest_sees_that_a_month_was_replaced(engine: str) -> None:
    """Everything agrees again after it: only the digest that somebody kept tells."""
    with OpenStore(engine) as opened:
        trade = opened.run(trade_two_months(opened.store))
        account_id = trade.owner.account_id
        kept = opened.ask(
            "SELECT month, digest FROM month_digest WHERE account_id = :id ORDER BY month",
            id=account_id,
        )
        assert [month for month, _ in kept] == [NOVEMBER, DECEMBER]
        harm = Harm(opened)
        harm.run(RENAME_ACTION)
        harm.run("DELETE FROM month_digest")
        harm.run("UPDATE period SET digested_ms = NULL")
        opened.run(digest_all(opened.store))
        assert harm.found() == set()
        for month, digest in kept:
            is_same = opened.run(
                opened.store.read(
                    month_digests.is_stored, account_id, digest_rules.KeptDigest(month, digest)
                )
            )
            assert not is_same, "the months after it are other ones too"


def test_a_digest_that_does_not_follow_from_the_one_before_is_found(engine: str) -> None:
    with OpenStore(engine) as opened:
        opened.run(trade_two_months(opened.store))
        opened.do("DELETE FROM month_digest WHERE month = :month", month=NOVEMBER)
        assert Harm(opened).found() == {(DECEMBER, DigestPart.CHAIN.value)}


def test_entries_of_an_earlier_version_are_salted_before_their_digest(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "SALT_BATCH", 2)
    monkeypatch.setattr(month_digests, "BATCH", 2)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store)
        for days in (1, 2, 3, 4, 5):
            await trade.configure(hold_days=days)
        forget = statement("UPDATE change_log SET salt = NULL, values_hash = NULL")
        await store.write(lambda tx: tx.run(forget))
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
        await digest_all(store, EDGE_MS + HOUR_MS)
        assert await trade.rows("SELECT 1 FROM change_log WHERE values_hash IS NULL") == []
        assert await store.slow_snapshot(month_digests.all_differences) == []
        assert await store.read(timed(month_digests.due, JANUARY_MS), most=9) == []

    with OpenStore(engine) as opened:
        opened.run(scenario(opened.store))


def test_what_is_logged_after_the_digest_belongs_to_a_later_month(engine: str) -> None:
    """Even if the clock was set back."""

    async def scenario(store: Store) -> None:
        trade = await trade_two_months(store)
        await store.write(
            lambda tx: change_log.record(
                new_change(tx, SITE, trade.owner, EDGE_MS - 1), "campaign.changed", "x"
            )
        )
        assert await store.slow_snapshot(month_digests.all_differences) == []
        (entry, *_) = await store.read(
            reads_account(change_log.of_account, trade.owner.account_id), most=1
        )
        assert entry.changed_ms == rules.month_bounds(DECEMBER)[1]

    with OpenStore(engine) as opened:
        opened.run(scenario(opened.store))


def test_an_old_log_that_is_no_longer_kept_leaves_the_rest_to_check(engine: str) -> None:
    with OpenStore(engine) as opened:
        trade = opened.run(trade_two_months(opened.store))
        purge = change_log.purge(10)
        at_ms = EDGE_MS + 10 * 24 * HOUR_MS
        opened.run(opened.store.write(timed(purge, at_ms)))
        assert opened.ask("SELECT 1 FROM change_log WHERE changed_ms < :ms", ms=EDGE_MS) == []

        def checked() -> list[Any]:
            found = opened.run(
                opened.store.slow_snapshot(month_digests.check_account, trade.owner.account_id)
            )
            return [(each.stored.month, each.is_log_kept, each.differs) for each in found]

        assert checked() == [(NOVEMBER, False, ()), (DECEMBER, True, ())]
        Harm(opened).run("UPDATE transfer SET created_ms = created_ms + 1 WHERE kind = 'charge'")
        assert checked() == [(NOVEMBER, False, (DigestPart.LEDGER,)), (DECEMBER, True, ())]


def test_the_command_names_the_month_and_the_part_that_differ(engine: str) -> None:
    with OpenStore(engine) as opened:
        trade = opened.run(trade_two_months(opened.store))
        account_id = trade.owner.account_id
        ((digest,),) = opened.ask(
            "SELECT digest FROM month_digest WHERE account_id = :id AND month = :month",
            id=account_id,
            month=NOVEMBER,
        )
        arguments = ("verify", "--account", account_id, "--digest", f"{NOVEMBER}={digest.upper()}")
        done = command(*arguments, database_url=opened.url)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == f"ok  {NOVEMBER}  {digest}"
        wrong = command(*arguments[:-1], f"{NOVEMBER}={digest[::-1]}", database_url=opened.url)
        assert wrong.returncode == 1 and "not the one that you kept" in wrong.stdout
        unusable = command(*arguments[:-1], "2026-11=abc", database_url=opened.url)
        assert unusable.returncode == 1 and "a month and its digest" in unusable.stderr
        Harm(opened).run(RENAME_ACTION)
        done = command(*arguments, database_url=opened.url)
        assert done.returncode == 1
        assert "The change log was changed after the month was closed." in done.stdout
        every = command("verify", database_url=opened.url)
        assert every.returncode == 1
        assert f"{NOVEMBER} of account {account_id}: the change log was changed" in every.stdout


def test_statements_and_the_monthly_email_have_the_digest(service: Service) -> None:
    bob, month = operator(service, "bob"), "2001-01"

    async def close(tx: Tx) -> None:
        for sql in (
            f"UPDATE account SET created_ms = 1 WHERE id = '{bob.account_id}'",
            f"INSERT INTO period (month, closed_ms, paid_out_ms) VALUES ('{month}', 1, 1)",
            "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) "
            f"VALUES ('p', '{bob.account_id}', '{month}', 12345, 1)",
        ):
            await tx.run(statement(sql))

    assert "Digest" not in text_of(bob.web.get(f"/statements/partner/{month}").text)
    service.write(close)
    store, now_ms = service.services.store, service.now_ms()
    service.run(digest_all(store, now_ms))
    service.run(notify_about_payouts(service.services.site, store, [month], now_ms))
    found = service.read(lambda tx: month_digests.find(tx, bob.account_id, month))
    assert found is not None
    grouped = digest_rules.grouped(found.digest)
    assert len(grouped.split()) == 8
    shown = text_of(bob.web.get(f"/statements/partner/{month}").text)
    assert f"Digest {grouped} Keep it" in shown, shown
    bodies = service.read(
        lambda tx: tx.all(
            statement(
                "SELECT body_text FROM letter WHERE kind = 'payout_due' AND account_id = :id"
            ),
            id=bob.account_id,
        )
    )
    assert f"Digest of January 2001: {grouped}. Keep this email" in bodies[0][0]
    line = statements.StatementLine("c", 1, "Wax", "r", 1, 300, "", "", None, None)
    text = statements.csv_of("partner", [line], with_headings=True, digest=found.digest)
    assert [row.rpartition(",")[2] for row in text.splitlines()] == ["month_digest", found.digest]
