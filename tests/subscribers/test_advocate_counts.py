"""The list of one advocate’s referrals is exact below, at and above the size from which it has a
page index.
"""

import functools
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from honeyguide.kernel.ids import new_code, new_id
from honeyguide.store import Tx
from tests.support.crowd import STAR, Crowd, assert_exact, every_page
from tests.support.process import (
    Caller,
    Credentials,
    Serving,
    migrated,
    new_account,
)
from tests.support.stores import OpenStore, statement


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def test_a_star_s_list_is_exact_below_at_and_above_the_threshold_and_back(engine):
    url = migrated(engine)
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    with Serving(url, pool_size=5) as server:
        call = server.caller(alice.key)
        star = call("POST", path, {"email": "star@example.org"}).json()["subscriber"]
        _bring(engine, url, alice, star, STAR - 20)
        assert_star(call, alice, star, STAR - 20)
        crowd = Crowd([server.port], alice, codes=[star["ref_code"]])
        with ThreadPoolExecutor(8) as pool:
            # Over the threshold by parallel signups, with deletions among them, then back under it
            # and over it again.
            grown = list(pool.map(lambda n: _refer(crowd, star, n), range(60)))
            assert_star(call, alice, star, STAR + 40)
            gone = [uuid for uuid in grown if uuid][:50]
            assert set(
                pool.map(lambda uuid: crowd.call(0)("DELETE", f"{path}/{uuid}").status, gone)
            ) == {200}
            assert_star(call, alice, star, STAR - 10)
            list(pool.map(lambda n: _refer(crowd, star, n), range(100, 120)))
        assert_star(call, alice, star, STAR + 10)
        # Well past two runs, so that the list is cut; deep pages are then found by the cuts.
        _bring(engine, url, alice, star, 2_500)
        wait_for_cuts(engine, url, star)
        assert_star(call, alice, star, STAR + 2_510)
        for row in every_page(call, f"{path}/{star['uuid']}/referrals")[0][::50]:
            assert call("DELETE", f"{path}/{row['uuid']}").status == 200
        assert_star(call, alice, star, STAR + 2_510 - 71)
        assert_exact(call, alice, engine, url)


def _refer(crowd: Crowd, star: dict[str, Any], number: int) -> str:
    body: dict[str, Any] = {"email": f"late{number}@example.org", "referrer_code": star["ref_code"]}
    if number % 3 == 0:
        body["created_at"] = "2015-05-05T05:05:05Z"
    answer = crowd.call(number)("POST", f"{crowd.alice.v1}/subscribers", body)
    assert answer.status == 201, answer
    return str(answer.json()["subscriber"]["uuid"])


def _bring(engine: str, url: str, alice: Credentials, star: dict[str, Any], many: int) -> None:
    """Referrals written straight into the table; its triggers count them as they count any other.
    Many share a moment.
    """
    insert = statement(
        """INSERT INTO subscriber (
            id, account_id, campaign_id, email, email_key, person_key, ref_code,
            referrer_code, referrer_id,
            origin, created_ms,
            received_ms
        ) VALUES (
            :id, :account_id, :campaign_id, :email, :email, :email, :code, :referrer_code,
            :referrer_id, 'x', :created_ms, 1
        )"""
    )

    async def work(tx: Tx, begin: int) -> None:
        for number in range(begin, min(begin + 200, many)):
            await tx.run(
                insert,
                id=new_id(),
                account_id=alice.account_id,
                campaign_id=alice.campaign_id,
                code=new_code(),
                email=f"{new_id()}@example.org",
                referrer_code=star["ref_code"],
                referrer_id=star["uuid"],
                created_ms=1_700_000_000_000 + number // 7,
            )

    with OpenStore(engine, url) as raw:
        for begin in range(0, many, 200):
            raw.run(raw.store.write(functools.partial(work, begin=begin)))


def wait_for_cuts(engine: str, url: str, star: dict[str, Any]) -> None:
    deadline = time.monotonic() + 30
    with OpenStore(engine, url) as raw:
        while True:
            runs = raw.ask(
                "SELECT COUNT(*) FROM listing_run WHERE list = :list",
                list=f"{star['uuid']}/brought",
            )[0][0]
            notes = raw.ask("SELECT COUNT(*) FROM count_note")[0][0]
            if runs >= 3 and notes == 0:
                return
            assert time.monotonic() < deadline, f"never cut: {runs} runs, {notes} notes"
            time.sleep(0.05)


def assert_star(call: Caller, alice: Credentials, star: dict[str, Any], brought: int) -> None:
    for per_page in (200, 73) if brought > STAR else (200,):
        rows, total = every_page(call, f"{alice.v1}/subscribers/{star['uuid']}/referrals", per_page)
        assert total == brought
        assert len(rows) == len({row["uuid"] for row in rows}) == brought
        keys = [(row["created_at"], row["uuid"]) for row in rows]
        assert keys == sorted(keys, reverse=True)
    assert (
        call("GET", f"{alice.v1}/subscribers/{star['uuid']}").json()["subscriber"][
            "referrals_count"
        ]
        == brought
    )
