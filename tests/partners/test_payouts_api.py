"""Payouts as a partner reads them, as the administrator handles them at the command line, and the
statement behind them.
"""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from honeyguide.accounts import keys
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import payouts, statements
from honeyguide.store import Store
from tests.support.changes import changing
from tests.support.process import command, migrated
from tests.support.readings import in_account
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore, statement
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z


class PartnerNetwork(NamedTuple):
    service: Service
    bob: Member
    mallory: Member


async def three_months(store: Store) -> Trade:
    """One referral in August, two in September, three in October, all paid out."""
    trade = await Trade.begin(store, cpa=333, total_budget=90_000)
    for back, count in ((90, 1), (60, 2), (30, 3)):
        for _ in range(count):
            await trade.arrive(now_ms=NOON_MS - back * DAY_MS)
    for back in (60, 30, 0):
        await trade.close_and_pay_out(NOON_MS - back * DAY_MS)
    return trade


@pytest.fixture(scope="module", params=ENGINES)
def partner_network(request: pytest.FixtureRequest) -> Iterator[PartnerNetwork]:
    """A service of its own, since closing months is for everybody."""
    url = migrated(request.param)
    with OpenStore(request.param, url) as opened:
        trade = opened.run(three_months(opened.store))
    with Service(request.param, database_url=url) as service:
        partner = trade.partners[0].account_id
        create = changing(keys.create, service.services.site, Tenant(partner, ""), NOON_MS)
        key = service.write(lambda tx: create(tx, name="test"))
        yield PartnerNetwork(service, Member(service, partner, "", key), service.member("mallory"))


def test_payouts_have_exactly_the_fields_of_the_specification_newest_first(
    partner_network: PartnerNetwork,
) -> None:
    service, bob, _ = partner_network
    answer = bob.get("/v2/partner_profile/payouts")
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"payouts", "meta"}
    assert body["meta"] == {"per_page": 50, "page": 1, "total_pages": 1, "total_payours": 3}
    assert all(
        set(one) == {"uuid", "amount_in_dollars", "start_period", "end_period", "paid"}
        for one in body["payouts"]
    )
    assert [one["amount_in_dollars"] for one in body["payouts"]] == [9.99, 6.66, 3.33]
    assert '"amount_in_dollars":9.99' in answer.text.replace(" ", "")
    oldest = body["payouts"][-1]
    assert (oldest["start_period"], oldest["end_period"]) == (
        "2026-08-01T00:00:00.000Z",
        "2026-08-31T23:59:59.999Z",
    )
    assert oldest["paid"] is False
    assert bob.get(f"/v2/partner_profile/payouts/{oldest['uuid']}").json() == {"payout": oldest}
    service.run(verify(service.services.store))


def test_pages_of_payouts(partner_network: PartnerNetwork) -> None:
    bob = partner_network.bob
    pages = [
        bob.get("/v2/partner_profile/payouts", params={"per_page": 2, "page": page}).json()
        for page in (1, 2, 3)
    ]
    assert [len(page["payouts"]) for page in pages] == [2, 1, 0]
    assert pages[2]["meta"] == {"per_page": 2, "page": 3, "total_pages": 2, "total_payours": 3}
    assert bob.get("/v2/partner_profile/payouts", params={"per_page": 0}).status_code == 400


def test_strangers_see_no_payouts_of_others_and_a_missing_one_looks_the_same(
    partner_network: PartnerNetwork,
) -> None:
    service, bob, mallory = partner_network
    theirs = bob.get("/v2/partner_profile/payouts").json()["payouts"][0]["uuid"]
    assert mallory.get("/v2/partner_profile/payouts").json() == {
        "payouts": [],
        "meta": {"per_page": 50, "page": 1, "total_pages": 0, "total_payours": 0},
    }
    answers = [
        mallory.get(f"/v2/partner_profile/payouts/{id}") for id in (theirs, new_id(), "nonsense")
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert len({answer.json()["error"] for answer in answers}) == 1
    assert (
        service.member("eve")
        .http.get("/v2/partner_profile/payouts", headers={"X-Api-Key": "x"})
        .status_code
        == 401
    )


# -- the administrator's command line


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


async def earn_in_october(store: Store) -> None:
    """October is closed by any clock since."""
    trade = await Trade.begin(store, partners=3, cpa=250)
    for number in range(6):
        await trade.arrive(number % 3, now_ms=NOON_MS - 40 * DAY_MS)


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., str]:
    """Runs `honeyguide payouts` or `verify` on a database with three partners to pay."""
    with OpenStore(request.param) as opened:
        opened.run(earn_in_october(opened.store))
    clock = tmp_path / "clock"
    clock.write_text(str(400 * 86_400))

    def payouts_command(*arguments: str, code: int = 0) -> str:
        arguments = arguments if arguments[0] == "verify" else ("payouts", *arguments)
        done = command(*arguments, database_url=opened.url, test_clock=clock)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    return payouts_command


def test_the_administrator_makes_lists_exports_and_marks_payouts(
    run: Callable[..., str], tmp_path: Path
) -> None:
    assert run("make") == "October 2026: 3 payouts\n"
    assert run("make") == ""
    listed = run("list").splitlines()
    assert len(listed) == 3 and all("$5.00" in line and line.endswith("unpaid") for line in listed)
    exported = rows_of(run("export", "--month", "2026-10", "--unpaid"))
    assert [row["amount_usd"] for row in exported] == ["5.00"] * 3 and {
        row["paid"] for row in exported
    } == {"no"}
    first, second, third = (row["payout_uuid"] for row in exported)
    assert (
        run("mark-paid", first, "--reference", "SEPA 1") == "$5.00 for 2026-10 is marked as paid.\n"
    )
    assert "already marked as paid, with reference SEPA 1" in run(
        "mark-paid", first, "--reference", "SEPA 2", code=1
    )
    assert run("mark-paid", first, "--undo") == "$5.00 for 2026-10 is unpaid again.\n"
    assert "reference" in run("mark-paid", first, code=1)
    assert "no such payout" in run("mark-paid", new_id(), "--reference", "x", code=1)
    assert "Give one payout UUID" in run("mark-paid", code=1)
    mark_by_table(run, tmp_path / "paid.csv", first, second, third)
    assert "must be a month" in run("list", "--month", "October", code=1)
    assert run("list", "--unpaid") == ""
    assert {row["reference"] for row in rows_of(run("export"))} == {"B1", "B2", "'-B3"}
    proof = run("verify")
    assert "FAILED" not in proof and "$15.00 charged, $15.00 of it in payouts" in proof


def mark_by_table(
    run: Callable[..., str], table: Path, first: str, second: str, third: str
) -> None:
    table.write_text(f"payout_uuid,reference\n{first},B1\n{second},B2\n{third},\n")
    assert (
        run("mark-paid", "--csv", str(table))
        == "2 payouts marked as paid, 0 already paid, 1 without a reference.\n"
    )
    table.write_text(f"payout_uuid,reference\n{third},B3\n{first},other\n")
    assert "No payouts were marked" in run("mark-paid", "--csv", str(table), code=1)
    assert [row["payout_uuid"] for row in rows_of(run("export", "--unpaid"))] == [third], (
        "all rows of a file or none"
    )
    table.write_text(f"payout_uuid,reference\n{third},-B3\n{first},B1\n")
    assert run("mark-paid", "--csv", str(table)).startswith(
        "1 payout marked as paid, 1 already paid"
    )
    table.write_text(run("export"))
    assert run("mark-paid", "--csv", str(table)).startswith(
        "0 payouts marked as paid, 3 already paid"
    )
    for wrong in ("6.00", "500", "5.00.00", "five"):
        table.write_text(f"payout_uuid,amount_usd,reference\n{first},{wrong},B1\n")
        said = run("mark-paid", "--csv", str(table), code=1)
        assert f"Payout {first}: The file says {wrong}, but it is $5.00." in said
    for right in ("5", "5.0", "$5.00", '"5,00"', ""):
        table.write_text(f"payout_uuid,amount_usd,reference\n{first},{right},B1\n")
        assert "1 already paid" in run("mark-paid", "--csv", str(table))
    missing = new_id()
    table.write_text(f"payout_uuid,reference\n{missing},B1\n")
    assert f"Payout {missing}: There is no such payout." in run(
        "mark-paid", "--csv", str(table), code=1
    )
    table.write_text("nothing of use")
    assert "is not a CSV file with the columns" in run("mark-paid", "--csv", str(table), code=1)


def test_verify_ends_with_a_failure_and_says_which_promise_is_broken(engine: str) -> None:
    async def damage(store: Store) -> None:
        trade = await Trade.begin(store)
        await trade.arrive()
        await store.write(
            lambda tx: tx.run(statement("UPDATE budget SET spent_cents = spent_cents + 1"))
        )

    with OpenStore(engine) as opened:
        opened.run(damage(opened.store))
    done = command("verify", database_url=opened.url)
    assert done.returncode == 1
    (wrong,) = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert (
        wrong == "FAILED  What each program spent in a month equals the sum of its charges and "
        "reversals. (1 row wrong)"
    )
    assert "The ledger check failed" in done.stderr


# -- the statement behind a payout


def test_a_statement_has_every_referral_behind_the_money_for_both_sides(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "BATCH", 4)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=2, cpa=111)
        readers = [
            await trade.arrive(number % 2, email=f"+{number}@example.org", now_ms=NOON_MS)
            for number in range(11)
        ]
        await trade.erase(readers[0].id)
        sides = {
            statements.PARTNER: trade.partners[0].account_id,
            statements.OWNER: trade.owner.account_id,
        }
        for side, account_id in sides.items():
            pages, after = [], None
            while page := await store.snapshot(
                lambda tx, s=side, a=account_id, f=after: statements.lines(
                    in_account(tx, a), s, "2026-11", f
                )
            ):
                pages.append(page)
                after = page[-1]
            found = [line for page in pages for line in page]
            total = await store.snapshot(
                lambda tx, s=side, a=account_id: statements.total_cents(
                    in_account(tx, a), s, "2026-11"
                )
            )
            assert len(found) == (6 if side == statements.PARTNER else 11)
            assert (
                len({line.id for line in found}) == len(found)
                and sum(line.fee_cents for line in found) == total
            )
            text = "".join(
                statements.csv_of(side, page, with_headings=n == 0) for n, page in enumerate(pages)
            )
            table = rows_of(text)
            assert [row["amount_usd"] for row in table] == ["1.11"] * len(found)
            assert ("subscriber" in table[0]) is (side == statements.OWNER)
            assert "@example.org" not in text or side == statements.OWNER, (
                "a partner never learns who the reader is"
            )
            if side == statements.OWNER:
                assert table[0]["subscriber"] == "" and table[1]["subscriber"].startswith("'+"), (
                    "no formula, no erased person"
                )
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
        partner = trade.partners[0].account_id
        payout = await store.snapshot(
            lambda tx: payouts.find_of_month(in_account(tx, partner), "2026-11")
        )
        assert payout is not None and payout.amount_cents == 6 * 111

    on(engine, scenario)
