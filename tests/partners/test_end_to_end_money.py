"""One real server process, its clock moved by a file: a hold, a month's end and a payout, seen over
HTTP and at the command line.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.support.partner_network import publication_fields
from tests.support.process import Serving, command, migrated, new_account
from tests.support.stores import OpenStore

DAY_S = 86_400


def month_after(month: str, months: int = 1) -> str:
    number = int(month[:4]) * 12 + int(month[5:]) - 1 + months
    return f"{number // 12}-{number % 12 + 1:02d}"


def seconds_until(month: str) -> float:
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC).timestamp() - time.time()


def wait_for(find: Callable[[], Any], expected: Any, seconds: float = 90) -> None:
    give_up = time.monotonic() + seconds
    found = find()
    while found != expected and time.monotonic() < give_up:
        time.sleep(0.2)
        found = find()
    assert found == expected


class Deal:
    """Alice's offer on a real server, and Bob, who brings readers to it. Two fees fit its budget;
    each waits two days.
    """

    def __init__(self, engine: str, server: Serving) -> None:
        self.engine, self.server = engine, server
        self.alice, self.bob = (
            new_account(server.database_url, f"{name}@example.org") for name in ("alice", "bob")
        )
        publication = self.owner("POST", "/v2/publications", publication_fields())["publication"]
        self.program = self.owner(
            "POST",
            "/v2/partner_programs",
            {
                "publication_uuid": publication["uuid"],
                "redirect_url": "https://wax.example/",
                "cpa": 2.5,
                "max_payout": 10,
                "total_budget": 5,
                "referral_pending_duration_enabled": True,
                "referral_pending_duration": 2,
            },
        )["partner_program"]["uuid"]
        place = self.partner("POST", f"/v2/partner_network/partner_programs/{self.program}/join")[
            "partner_campaign"
        ]
        self.code = place["ref_code"]

    def _call(self, key: str, method: str, path: str, body: Any) -> Any:
        answer = self.server.caller(key)(method, path, body)
        assert answer.status in (200, 201), (method, path, answer.status, answer.body)
        return answer.json()

    def owner(self, method: str, path: str, body: Any = None) -> Any:
        return self._call(self.alice.key, method, path, body)

    def partner(self, method: str, path: str, body: Any = None) -> Any:
        return self._call(self.bob.key, method, path, body)

    def admin(self, *arguments: str) -> str:
        done = command(
            *arguments, database_url=self.server.database_url, test_clock=self.server.clock_file
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def bring(self, email: str) -> str:
        """A reader through Bob's link; the subscriber's path."""
        made = self.owner(
            "POST", f"{self.alice.v1}/subscribers", {"email": email, "referrer_code": self.code}
        )
        return f"{self.alice.v1}/subscribers/{made['subscriber']['uuid']}"

    def spend(self) -> dict[str, Any]:
        return self.owner("GET", (f"/v2/partner_programs/{self.program}/spend"))["spend"]  # type: ignore[no-any-return]

    def earnings(self, query: str = "") -> dict[str, Any]:
        return self.partner("GET", f"/v2/partner_profile/earnings{query}")["earnings"]  # type: ignore[no-any-return]

    def payouts(self) -> list[dict[str, Any]]:
        return self.partner("GET", "/v2/partner_profile/payouts")["payouts"]  # type: ignore[no-any-return]


def three_come_and_wait(deal: Deal, month: str) -> None:
    deal.server.set_clock(seconds_until(month) + 2.5 * DAY_S)
    paths = [deal.bring(f"r{number}@example.org") for number in range(3)]
    spend = deal.spend()
    assert (spend["month"], spend["spent"], spend["pending"]) == (month, 0, 7.5)
    deal.owner("PUT", paths[0], {"status": "confirmed"})
    assert deal.spend()["spent"] == 0, "a confirmation does not shorten a hold of days"


def the_hold_runs_out(deal: Deal, month: str) -> None:
    """Two fees fit the budget, the third does not."""
    deal.server.set_clock(seconds_until(month) + 5 * DAY_S)
    wait_for(
        lambda: tuple(deal.spend()[key] for key in ("spent", "reached", "uncharged_referrals")),
        (5, True, 1),
    )
    earned = deal.earnings()
    assert (earned["confirmed"], earned["pending"], earned["uncharged_referrals"]) == (5, 0, 1)
    assert deal.payouts() == [], "nothing is paid out of an open month"


def the_month_is_closed(deal: Deal, month: str) -> str:
    """An hour after its end; the payout that it made."""
    following = month_after(month)
    deal.server.set_clock(seconds_until(following) + 3_700)
    assert deal.spend()["month"] == following and deal.spend()["spent"] == 0
    # What is over is closed by whoever starts next. The job runs once a minute, so let that minute
    # be over.
    deal.server.kill()
    with OpenStore(deal.engine, deal.server.database_url) as opened:
        opened.do("UPDATE job_lease SET started_ms = 0, leased_until_ms = 0")
    deal.server.start()
    wait_for(lambda: len(deal.payouts()), 1)
    (payout,) = deal.payouts()
    assert (payout["amount_in_dollars"], payout["paid"]) == (5, False)
    assert (payout["start_period"], payout["end_period"][:7]) == (
        f"{month}-01T00:00:00.000Z",
        month,
    )
    assert deal.partner("GET", f"/v2/partner_profile/payouts/{payout['uuid']}")["payout"] == payout
    return str(payout["uuid"])


def it_is_paid_and_taken_back(deal: Deal, payout: str) -> None:
    assert "is marked as paid" in deal.admin(
        "payouts", "mark-paid", payout, "--reference", "SEPA 42"
    )
    assert deal.payouts()[0]["paid"] is True
    assert "SEPA 42" in deal.admin("payouts", "list")
    deal.admin("payouts", "mark-paid", payout, "--undo")
    assert deal.payouts()[0]["paid"] is False
    assert "$5.00 charged, $5.00 of it in payouts" in deal.admin("verify")


def the_clock_steps_back(deal: Deal, month: str) -> None:
    """Into the closed month: what is charged now counts in the open one."""
    following = month_after(month)
    deal.server.set_clock(seconds_until(following) - 60)
    deal.owner("POST", f"{deal.bring('late@example.org')}/referral/verify", {})
    assert deal.earnings(f"?month={following}")["confirmed"] == 2.5
    assert deal.earnings(f"?month={month}")["confirmed"] == 5
    assert deal.payouts()[0]["amount_in_dollars"] == 5
    deal.admin("verify")


def test_a_hold_a_month_end_and_a_payout_on_a_real_server(engine: str) -> None:
    with Serving(migrated(engine)) as server:
        deal = Deal(engine, server)
        # A fixed place in the month, whatever day this runs on: the third day of the next month.
        month = month_after(datetime.now(UTC).strftime("%Y-%m"))
        three_come_and_wait(deal, month)
        the_hold_runs_out(deal, month)
        payout = the_month_is_closed(deal, month)
        it_is_paid_and_taken_back(deal, payout)
        the_clock_steps_back(deal, month)
