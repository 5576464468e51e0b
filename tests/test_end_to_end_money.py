"""One real server process, its clock moved by a file: a hold, a month's end and a payout, seen over HTTP and at the command
line and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.market import publication_fields
from tests.support.process import Answer, Serving, command, fresh, new_account
from tests.support.service import ENGINES

DAY_S = 86_400


def month_after(month: str, months: int = 1) -> str:
    number = int(month[:4]) * 12 + int(month[5:]) - 1 + months
    return f"{number // 12}-{number % 12 + 1:02d}"


def seconds_until(month: str) -> float:
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC).timestamp() - time.time()


def call(caller: Callable[..., Answer], method: str, path: str, body: Any = None) -> Any:
    answer = caller(method, path, body)
    assert answer.status in (200, 201), (method, path, answer.status, answer.body)
    return answer.json()


def wait_for(look: Callable[[], Any], wanted: Any, seconds: float = 90) -> None:
    give_up = time.monotonic() + seconds
    found = look()
    while found != wanted and time.monotonic() < give_up:
        time.sleep(0.2)
        found = look()
    assert found == wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hold_a_month_end_and_a_payout_on_a_real_server(engine: str) -> None:
    url = fresh(engine)
    alice, bob = new_account(url, "alice@example.org"), new_account(url, "bob@example.org")
    with Serving(url) as server:

        def admin(*words: str, code: int = 0) -> str:
            done = command(*words, database_url=url, test_clock=server.clock_file)
            assert done.returncode == code, done.stdout + done.stderr
            return done.stdout

        def owner(method: str, path: str, body: Any = None) -> Answer:
            return server.caller(alice.key)(method, path, body)

        def partner(method: str, path: str, body: Any = None) -> Answer:
            return server.caller(bob.key)(method, path, body)

        publication = call(owner, "POST", "/v2/publications", publication_fields())["publication"]
        program = call(owner, "POST", "/v2/partner_programs", {
            "publication_uuid": publication["uuid"], "redirect_url": "https://wax.example/", "cpa": 2.5, "max_payout": 10,
            "total_budget": 5, "referral_pending_duration_enabled": True, "referral_pending_duration": 2,
        })["partner_program"]  # fmt: skip
        place = call(partner, "POST", f"/v2/partner_network/partner_programs/{program['uuid']}/join")["partner_campaign"]
        # A fixed place in the month, whatever day this runs on: noon of the third day of the next month.
        month = month_after(datetime.now(UTC).strftime("%Y-%m"))
        server.set_clock(seconds_until(month) + 2.5 * DAY_S)
        readers = [
            call(owner, "POST", f"{alice.v1}/subscribers", {"email": f"r{n}@example.org", "referrer_code": place["ref_code"]})
            for n in range(3)
        ]

        def spend() -> dict[str, Any]:
            return call(owner, "GET", f"/v2/partner_programs/{program['uuid']}/spend")["spend"]  # type: ignore[no-any-return]

        def payouts() -> list[dict[str, Any]]:
            return call(partner, "GET", "/v2/partner_profile/payouts")["payouts"]  # type: ignore[no-any-return]

        assert (spend()["month"], spend()["spent"], spend()["pending"]) == (month, 0, 7.5)
        first = readers[0]["subscriber"]["uuid"]
        call(owner, "PUT", f"{alice.v1}/subscribers/{first}", {"status": "confirmed"})
        assert spend()["spent"] == 0, "a confirmation does not shorten a hold of days"

        # The hold runs out: two fees fit the budget, the third does not.
        server.set_clock(seconds_until(month) + 5 * DAY_S)
        wait_for(lambda: (spend()["spent"], spend()["reached"], spend()["uncharged_referrals"]), (5, True, 1))
        earned = call(partner, "GET", "/v2/partner_profile/earnings")["earnings"]
        assert (earned["confirmed"], earned["pending"], earned["uncharged_referrals"]) == (5, 0, 1)
        assert payouts() == [], "nothing is paid out of an open month"

        # The month ends, and an hour later it is closed.
        following = month_after(month)
        server.set_clock(seconds_until(following) + 3_700)
        assert spend()["month"] == following and spend()["spent"] == 0
        server.kill()  # what is over is closed by whoever starts next: the job runs every minute, and at the start
        server.start()
        wait_for(lambda: len(payouts()), 1)
        (payout,) = payouts()
        assert (payout["amount_in_dollars"], payout["paid"]) == (5, False)
        assert (payout["start_period"], payout["end_period"][:7]) == (f"{month}-01T00:00:00.000Z", month)
        assert call(partner, "GET", f"/v2/partner_profile/payouts/{payout['uuid']}")["payout"] == payout

        assert "is marked as paid" in admin("payouts", "mark-paid", payout["uuid"], "--reference", "SEPA 42")
        assert payouts()[0]["paid"] is True
        assert "SEPA 42" in admin("payouts", "list")
        admin("payouts", "mark-paid", payout["uuid"], "--undo")
        assert payouts()[0]["paid"] is False
        assert "$5.00 charged, $5.00 of it in payouts" in admin("verify")

        # The clock steps back into the closed month: what is charged now counts in the open one.
        server.set_clock(seconds_until(following) - 60)
        late = {"email": "late@example.org", "referrer_code": place["ref_code"]}
        uuid = call(owner, "POST", f"{alice.v1}/subscribers", late)["subscriber"]["uuid"]
        call(owner, "POST", f"{alice.v1}/subscribers/{uuid}/referral/verify", {})
        assert call(partner, "GET", f"/v2/partner_profile/earnings?month={following}")["earnings"]["confirmed"] == 2.5
        assert call(partner, "GET", f"/v2/partner_profile/earnings?month={month}")["earnings"]["confirmed"] == 5
        assert payouts()[0]["amount_in_dollars"] == 5
        admin("verify")
