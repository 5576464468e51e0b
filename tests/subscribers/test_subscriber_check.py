"""What is kept beside subscribers (counts, states, totals, the page index) agrees with them at any
moment, and where somebody changes it all the same, `verify` sees it.
"""

import contextlib
import itertools
from collections import Counter
from typing import Any

import apsw
import asyncpg
import pytest

from honeyguide.kernel.ids import new_code, new_id
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx
from honeyguide.subscribers import page_index, subscriber_check
from honeyguide.subscribers.subscriber_check import LAST_KEY, check_slice
from tests.partners.test_ledger_damage import disarm
from tests.support.stores import OpenStore

DAY_MS = 86_400_000
INSERT = """
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code,
    referrer_code, referrer_id, referral_status, origin, created_ms, received_ms)
SELECT r.id, :account_id, :campaign_id, r.code, r.code, r.code, r.code, r.referrer_code,
    r.referrer_id, r.status, 'api', r.created_ms, r.created_ms
FROM {rows :rows AS r (id TEXT, code TEXT, referrer_code TEXT, referrer_id TEXT, status TEXT,
    created_ms BIGINT)} WHERE true"""


def wrong(opened: OpenStore) -> Counter[str]:
    async def find(tx: Tx) -> Counter[str]:
        found: Counter[str] = Counter()
        for group in subscriber_check.GROUPS:
            after: str | None = ""
            while after is not None:
                broken, after = await check_slice(tx, group, after)
                found += broken
        return found

    return opened.run(opened.store.slow_snapshot(find))


def row(number: int, referrer: dict[str, Any] | None = None, status: str = "verified") -> Any:
    return {
        "id": new_id(),
        "code": new_code(),
        "referrer_code": referrer and referrer["code"],
        "referrer_id": referrer and referrer["id"],
        "status": status,
        "created_ms": DAY_MS + number // 3 * 100_000,
    }


def fill(opened: OpenStore, email: str = "alice@example.org") -> None:
    """An advocate with enough referrals to have a page index of their own, and one with few."""
    campaign_id, _ = opened.account_with_key(email)
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign WHERE id = :id", id=campaign_id)
    owner = {"account_id": account_id, "campaign_id": campaign_id}
    many, few = row(0), row(1)
    opened.do(INSERT, **owner, rows=[many, few])
    states = ("verified", "pending", "rejected")
    rows = [row(number, many, states[number % 3]) for number in range(1_050)]
    rows += [row(number, few, states[number % 3]) for number in range(5)]
    rows += [row(number) for number in range(20)]
    rows += [row(number) for number in (-2_000, -3_000, -9_000)]  # two days before 1970
    opened.do(INSERT, **owner, rows=rows)


def test_what_is_kept_agrees_with_the_subscribers_at_any_moment(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_index, "BLOCK_ROWS", 100)
    monkeypatch.setattr(subscriber_check, "SLICE_ROWS", 90)
    fill(opened)
    assert wrong(opened) == {}  # all of it in notes
    more = True
    while more:
        more = opened.run(opened.store.write_snapshot(page_index.apply_changes))
        assert wrong(opened) == {}
    assert opened.ask("SELECT COUNT(*) FROM listing_run")[0][0] > 20
    assert opened.ask("SELECT COUNT(*) FROM listing WHERE list LIKE '%/brought'") == [(1,)]
    some = "WHERE created_ms % 700000 = 0 AND referrer_code IS NOT NULL"
    assert opened.do(f"UPDATE subscriber SET referral_status = 'rejected' {some}") > 10
    star = "(SELECT id FROM subscriber WHERE is_star = 1)"
    later = f"UPDATE subscriber SET referrer_code = 'x', referrer_id = {star} WHERE created_ms < 0"
    assert opened.do(later) == 2
    assert opened.do("UPDATE subscriber SET erased_ms = 5 WHERE created_ms % 1100000 = 0") > 10
    assert wrong(opened) == {}  # some of it in notes
    while opened.run(opened.store.write_snapshot(page_index.apply_changes)):
        pass
    assert wrong(opened) == {}


def test_a_long_block_is_split_a_few_blocks_at_a_time(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise nobody is answered while a large import is split."""
    monkeypatch.setattr(page_index, "BLOCK_ROWS", 20)
    monkeypatch.setattr(page_index, "BATCH", 10_000)
    fill(opened)
    blocks = [0]
    while opened.run(opened.store.read(page_index.owners_to_index, most=1)):
        opened.run(opened.store.write_snapshot(page_index.apply_changes))
        assert wrong(opened) == {}
        blocks += opened.ask("SELECT COUNT(*) FROM listing_run")[0]
    split = [after - before for before, after in itertools.pairwise(blocks)]
    assert max(split[1:]) <= page_index.SPLITS
    assert sum(split[1:]) > 10 * page_index.SPLITS
    longest = opened.ask("SELECT MAX(n) FROM listing_run")[0][0]
    assert longest <= 2 * page_index.BLOCK_ROWS


FIRST = "(SELECT MIN(id) FROM subscriber WHERE referrer_id IS NOT NULL)"
DAMAGES = [
    ("subscribers_astray", f"UPDATE subscriber SET campaign_id = 'x' WHERE id = {FIRST}"),
    ("subscribers_astray", f"UPDATE subscriber SET account_id = 'x' WHERE id = {FIRST}"),
    ("subscribers_astray", f"UPDATE subscriber SET referrer_id = 'x' WHERE id = {FIRST}"),
    ("subscribers_astray", f"UPDATE subscriber SET partner_campaign_id = 'x' WHERE id = {FIRST}"),
    ("states_off", f"UPDATE subscriber SET status = 'x' WHERE id = {FIRST}"),
    ("states_off", f"UPDATE subscriber SET referral_status = 'x' WHERE id = {FIRST}"),
    ("states_off", f"UPDATE subscriber SET referrer_code = NULL WHERE id = {FIRST}"),
    ("counts_off", f"UPDATE subscriber SET referrals_pending = -1 WHERE id = {FIRST}"),
    ("counts_off", f"UPDATE subscriber SET referral_status = 'pending' WHERE id = {FIRST}"),
    ("counts_off", f"UPDATE subscriber SET erased_ms = 1 WHERE id = {FIRST}"),
    ("adjustments_off", f"UPDATE subscriber SET adjustments = 1 WHERE id = {FIRST}"),
    (
        "adjustments_off",
        f"INSERT INTO adjustment VALUES ('x', 'x', 'x', {FIRST}, 1, 2, 'x', 'member', 'x', 1)",
    ),
    ("advocates_off", f"UPDATE subscriber SET is_advocate = 1 WHERE id = {FIRST}"),
    ("advocates_off", "UPDATE subscriber SET is_star = 0 WHERE is_star = 1"),
    ("advocates_off", "UPDATE advocate SET verified = verified + 1"),
    ("advocates_off", "DELETE FROM advocate"),
    ("totals_off", "UPDATE listing SET n = n + 1 WHERE list LIKE '%/all'"),
    ("totals_off", "UPDATE listing SET n = n + 1 WHERE list LIKE '%/brought'"),
    ("totals_off", "DELETE FROM listing WHERE list LIKE '%/advocates'"),
    ("totals_off", f"DELETE FROM subscriber WHERE id = {FIRST}"),
    ("blocks_off", "DELETE FROM listing_run WHERE list LIKE '%/brought' AND lo_ms > 0"),
    ("blocks_off", "DELETE FROM listing_run WHERE list LIKE '%/advocates'"),
    *(
        (
            "blocks_off",
            f"UPDATE listing_run SET lo_ms = -lo_ms WHERE lo_ms < 0 AND list LIKE '%/{kind}'",
        )
        for kind in page_index.INDEXED_LISTS
    ),
    ("blocks_off", "UPDATE listing_run SET lo_ms = lo_ms - 500000 WHERE lo_ms > 0"),
    ("blocks_off", f"UPDATE subscriber SET created_ms = 9000000000 WHERE id = {FIRST}"),
    ("days_off", "UPDATE campaign_day SET verified = verified + 1"),
    ("days_off", "UPDATE campaign_day SET pending = pending + 1"),
    ("days_off", "UPDATE campaign_day SET rejected = rejected + 1"),
    ("days_off", "DELETE FROM campaign_day WHERE day_ms > 0"),
    ("days_off", f"UPDATE subscriber SET created_ms = 1 WHERE id = {FIRST}"),
]


def test_every_kind_of_damage_is_found(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_index, "BLOCK_ROWS", 100)
    fill(opened)
    while opened.run(opened.store.write_snapshot(page_index.apply_changes)):
        pass
    disarm(opened)
    assert {name for name, _ in DAMAGES} == set(subscriber_check.PROMISES)
    unseen = []
    for name, damage in DAMAGES:
        checks = [
            errors
            for group in subscriber_check.GROUPS
            for promise, errors in group.checks
            if promise == name
        ]
        if opened.engine == "sqlite":
            found = _on_sqlite(opened.url, damage, checks)
        else:
            found = opened.run(_on_postgres(opened.url, damage, checks))
        if not found:
            unseen.append((name, damage))
    assert unseen == []
    assert wrong(opened) == {}


def test_slices_of_any_length_find_the_same(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two accounts, and damage to the first, the last and one in the middle of each kind of row."""
    fill(opened)
    fill(opened, "bob@example.org")
    while opened.run(opened.store.write_snapshot(page_index.apply_changes)):
        pass
    disarm(opened)
    some = "(SELECT MIN(id) FROM subscriber) OR id = (SELECT MAX(id) FROM subscriber) OR id = "
    opened.do(f"UPDATE subscriber SET referrals_rejected = 7000 WHERE id = {some}{FIRST}")
    opened.do("UPDATE listing SET n = n + 1")
    opened.do("UPDATE listing_run SET n = n + 1")
    opened.do("UPDATE campaign_day SET rejected = rejected + 1")
    whole = wrong(opened)
    assert whole["counts_off"] == 3 and len(whole) == 5
    for rows in (200, 1_000, 1_077):
        monkeypatch.setattr(subscriber_check, "SLICE_ROWS", rows)
        assert wrong(opened) == whole


EVERYTHING = {"after": "", "until": LAST_KEY}


def _on_sqlite(url: str, damage: str, checks: list[Statement[int]]) -> int:
    with contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
        connection.execute(
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE"
        ).fetchall()
        connection.execute(damage)
        assert connection.changes()
        found = 0
        for check in checks:
            given = [EVERYTHING[name] for name in check.sqlite_order]
            found += connection.execute(check.sqlite, given).fetchall()[0][0]
        connection.execute("ROLLBACK")
        return found


async def _on_postgres(url: str, damage: str, checks: list[Statement[int]]) -> int:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    assert not (await connection.execute(damage)).endswith(" 0")
    found = 0
    for check in checks:
        given = [EVERYTHING[name] for name in check.postgres_order]
        found += await connection.fetchval(check.postgres, *given)
    await transaction.rollback()
    await connection.close()
    return found


@pytest.mark.parametrize(
    "change", ["status = 'x'", "referral_status = 'x'", "referrals_pending = -1"]
)
def test_the_database_refuses_an_unknown_state_and_a_negative_count(
    opened: OpenStore, change: str
) -> None:
    fill(opened)
    with pytest.raises((asyncpg.CheckViolationError, apsw.ConstraintError)):
        opened.do(f"UPDATE subscriber SET {change} WHERE id = {FIRST}")
