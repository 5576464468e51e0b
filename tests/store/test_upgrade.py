"""Upgrade databases of version 0.3.0, with data, on both engines; `tests/upgrades` has them."""

import pytest

from tests.support.postgres import shared_server
from tests.support.process import Serving, command, new_key
from tests.support.service import ENGINES
from tests.upgrades import connect_sqlite, previous_database

OWNER = "demo@honeyguide.example"
KEPT = ("subscriber", "won_reward", "delivery", "charge", "transfer", "payout", "program", "letter")
COUNTS = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in KEPT)


# Of the referrals that are pending, how many have the limits of their program.
LIMITS = (
    "SELECT COUNT(*), COUNT(CASE WHEN r.budget_cents = p.total_budget_cents "
    "AND r.cap_cents = p.max_payout_cents THEN 1 END) "
    "FROM partner_referral AS r JOIN program AS p ON p.id = r.program_id WHERE r.decided_ms IS NULL"
)
# What owners are told of, by notification and in their next digest.
TOLD = (
    "SELECT once_key, COUNT(*), COUNT(digest_due_ms) FROM notice "
    "WHERE once_key IN ('pace of confirmation emails', 'signups without a form') "
    "GROUP BY once_key ORDER BY once_key"
)
ACCOUNTS = "SELECT COUNT(*) FROM account WHERE closed_ms IS NULL"


def ask(engine: str, url: str, sql: str) -> list[str]:
    if engine == "postgres":
        return shared_server().execute(sql, url.rpartition("/")[2]).splitlines()
    with connect_sqlite(url) as connection:
        return ["|".join(map(str, row)) for row in connection.execute(sql)]


def counts(engine: str, url: str) -> list[str]:
    """How many rows each table has that no upgrade may lose."""
    return ask(engine, url, COUNTS)


def succeed(*arguments: str, database_url: str) -> str:
    done = command(*arguments, database_url=database_url)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_of_the_previous_main_is_upgraded_verified_and_served(engine: str) -> None:
    url = previous_database(engine)
    before = counts(engine, url)
    assert not [line for line in before if line.endswith("|0")], "an empty table proves nothing"
    assert "Applied" in succeed("migrate", database_url=url)
    assert counts(engine, url) == before
    ((pending, limited),) = (line.split("|") for line in ask(engine, url, LIMITS))
    assert int(pending) == int(limited) > 0
    (n,) = ask(engine, url, ACCOUNTS)
    changes = ("pace of confirmation emails", "signups without a form")
    assert ask(engine, url, TOLD) == [f"{each}|{n}|{n}" for each in changes]
    succeed("verify", database_url=url)
    with Serving(url) as server:
        call = server.caller(new_key(url, OWNER))
        (campaign,) = call("GET", "/v1/campaigns").json()["campaigns"]
        path = f"/v1/campaigns/{campaign['uuid']}/subscribers"
        advocate = call("GET", f"{path}?type=advocates").json()["subscribers"][0]
        new = {"email": "new@example.org", "referrer_code": advocate["ref_code"]}
        made = call("POST", path, new).json()["subscriber"]
        assert call("GET", f"{path}/{made['uuid']}").json()["subscriber"]["referred"] is True
        assert call("DELETE", f"{path}/{made['uuid']}").status == 200
        # What was claimed with a postal address before there were shipments is to send now.
        shipments = f"/v1/campaigns/{campaign['uuid']}/shipments"
        to_send = call("GET", shipments).json()["shipments"]
        assert to_send and all(each["shipping_details"]["line1"] for each in to_send)
        assert call("POST", f"{shipments}/{to_send[0]['uuid']}/sent").status == 200
        for page in ("publications", "partner_programs", "webhooks"):
            assert call("GET", f"/v2/{page}").status == 200
    succeed("verify", database_url=url)
