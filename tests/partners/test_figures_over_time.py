"""Whatever happened, every amount agrees with an independent count of it, wherever it is shown; and
each partner of a program reads the limit that its owner does, never more than the budget.
"""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from honeyguide.kernel import money
from honeyguide.partners import rules
from honeyguide.work import weekly_summaries
from honeyguide.work.weekly_summaries import DueAccount
from tests.support.random_history import RandomHistory
from tests.support.recorded_month import Ahead
from tests.support.service import Service
from tests.support.web import Operator, text_of

ZONES = ("Pacific/Kiritimati", "America/Los_Angeles", "Pacific/Auckland", "UTC", "Asia/Kolkata")
SEEDS = [pytest.param(seed, marks=[pytest.mark.long] if seed else []) for seed in range(8)]
DOLLARS = r"(-?\$[\d,]+\.\d\d)"


class Figures:
    """What is shown at one moment, and what it should be."""

    def __init__(self, history: RandomHistory, zone: str) -> None:
        self.history, self.zone = history, zone
        self.month = rules.month_of(history.service.now_ms())
        self.steps = history.steps()
        self.ahead = {
            key: history.ahead(program["uuid"]) for key, program in history.programs.items()
        }

    def charged(self, *, place: str = "", program: str = "", month: str = "") -> int:
        return sum(
            step.cents
            for step in self.steps
            if step.month == (month or self.month)
            and place in ("", step.place)
            and program in ("", step.program)
        )

    def of(self, key: str, place: str = "", *, is_later: bool = False) -> Ahead:
        """Of this month, or of the later ones."""
        found = Ahead()
        for (month, of_place), one in self.ahead[key].items():
            if place in ("", of_place) and (month > self.month) == is_later:
                found += one
        return found

    def check(self) -> None:
        for key in self.history.programs:
            self.check_program(key)
        for name, partner in self.history.partners.items():
            self.check_partner(name, partner)
        self.check_home()
        self.check_email()

    def check_program(self, key: str) -> None:
        owner, uuid = self.history.owner, self.history.programs[key]["uuid"]
        spent, now = self.charged(program=uuid), self.of(key)
        answer = owner.web.get(f"/program/{uuid}")
        if answer.status_code == 404:
            assert not spent and not now.pending, "it is settled"
            return
        page = text_of(answer.text)
        assert "up to $0.00" not in page
        if "Charged in" not in page:
            assert not spent and not now.pending
            return
        shown = {
            "pending, fits": now.expected_cents,
            "pending, does not fit": now.over_budget_cents,
            "pending, over a partner": now.over_cap_cents,
        }
        assert amount(page, rf"Charged in \w+ \d+ {DOLLARS}") == spent
        for words, cents in shown.items():
            assert amount(page, rf"{DOLLARS} {words}") == cents
        limits = self.history.limits(uuid)
        highest = max(budget for budget, _ in limits)
        for (_, of_key), place in self.history.joined.items():
            if of_key != key:
                continue
            row = row_of(answer.text, f"/program/partners/{place['uuid']}")
            sure = self.charged(place=place["uuid"])
            most = sure + self.history.standing(uuid, place["uuid"], self.month)[1]
            assert most >= sure + self.of(key, place["uuid"]).expected_cents
            at_most = f" at most {money.show(most)}" if most > sure else ""
            assert f" {money.show(sure)}{at_most} " in row and ("at most" in row) == (most > sure)
            assert spent + most - sure <= max(highest, spent)
        # If not all have the same limits, the order says who is within them.
        for _ in range(5 if len(limits) == 1 else 0):
            other = self.history.ahead(uuid, is_shuffled=True)
            most = sum(
                one.expected_cents for (month, _), one in other.items() if month == self.month
            )
            assert most == now.expected_cents, "in whatever order they are decided"
        spend = owner.get(f"/v2/partner_programs/{uuid}/spend").json()["spend"]
        assert spent + now.expected_cents <= max(highest, spent)
        assert (round(100 * spend["spent"]), spend["month"]) == (spent, self.month)

    def check_partner(self, name: str, partner: Operator) -> None:
        joined = [
            (key, each["uuid"]) for (n, key), each in self.history.joined.items() if n == name
        ]
        sure = sum(self.charged(place=place) for _, place in joined)
        ahead = {self.month: (0, 0), rules.next_month(self.month): (0, 0)}
        answer = partner.web.get("/earnings")
        for key, place in joined:
            uuid, own = self.history.programs[key]["uuid"], self.charged(place=place)
            for month, (pending, most) in ahead.items():
                here = self.history.standing(uuid, place, month)
                ahead[month] = (pending + here[0], most + here[1])
            one = self.history.standing(uuid, place, self.month)
            row = row_of(answer.text, f"/earnings/{place}")
            if own or one[0]:
                assert f"{money.show(own)} {money.show(own + one[1])} " in row
            page = text_of(partner.web.get(f"/earnings/{place}").text)
            assert amount(page, rf"sure at most {DOLLARS}") == own + one[1]
            assert "up to $0.00" not in page
        page = text_of(answer.text)
        assert amount(page, rf"{DOLLARS} sure at most") == sure
        assert amount(page, rf"sure at most {DOLLARS}") == sure + ahead[self.month][1]
        for month, (pending, most) in ahead.items():
            line = rf"{rules.month_name(month).split()[0]}: [\d,]+ referrals? (?:is|are) pending,"
            assert amount(page, rf"{line} worth {DOLLARS}") == pending
            assert amount(page, rf"{line} worth \S+ at most {DOLLARS}") == most
            api = partner.get("/v2/partner_profile/earnings", params={"month": month}).json()
            assert round(100 * api["earnings"]["at_most"]) == self.charged_of(joined, month) + most
        earnings = partner.get("/v2/partner_profile/earnings").json()["earnings"]
        assert round(100 * earnings["confirmed"]) == sure
        assert self.in_file(partner, "partner", self.month) == sure
        for payout in partner.get("/v2/partner_profile/payouts").json()["payouts"]:
            month, places = payout["start_period"][:7], [place for _, place in joined]
            paid_out = sum(self.charged(place=place, month=month) for place in places)
            assert round(100 * payout["amount_in_dollars"]) == paid_out

    def charged_of(self, joined: list[tuple[str, str]], month: str) -> int:
        return sum(self.charged(place=place, month=month) for _, place in joined)

    def in_file(self, who: Operator, side: str, month: str) -> int:
        file = who.web.get(f"/statements/{side}/{month}.csv").text
        amounts = [row["amount_usd"] for row in csv.DictReader(io.StringIO(file))]
        return sum(round(100 * float(each)) for each in amounts)

    def check_home(self) -> None:
        owner = self.history.owner
        page = text_of(owner.web.get("/").text)
        now = sum((self.of(key) for key in self.ahead), Ahead())
        assert amount(page, rf"Partner fees, \w+ {DOLLARS}") == self.charged()
        assert amount(page, rf"Partner fees[^;]*; {DOLLARS} more is pending") == now.pending_cents
        if now.expected_cents < now.pending_cents:
            assert amount(page, rf"is pending, {DOLLARS} of it fits") == now.expected_cents
        assert self.in_file(owner, "owner", self.month) == self.charged()
        file = owner.web.get("/overview/days.csv?range=30d").text
        days = {row["Day"]: row for row in csv.DictReader(io.StringIO(file))}
        sql = "SELECT created_ms, referrer_code, referral_status FROM subscriber "
        people = self.history.read(
            f"{sql} WHERE account_id = :account_id AND erased_ms IS NULL AND must_confirm = 0"
        )
        for day, row in days.items():
            joined = [each for each in people if self.day_of(each[0]) == date.fromisoformat(day)]
            referred = [status.capitalize() for _, code, status in joined if code]
            assert (int(row["New"]), int(row["Not referred"])) == (
                len(joined),
                len(joined) - len(referred),
            )
            for status in ("Verified", "Pending", "Rejected"):
                assert int(row[status]) == referred.count(status)

    def day_of(self, at_ms: int) -> date:
        at = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=at_ms)
        return at.astimezone(ZoneInfo(self.zone)).date()

    def check_email(self) -> None:
        service, owner = self.history.service, self.history.owner
        account = DueAccount(owner.account_id, owner.email, self.zone, 0, "2000-01-03")
        summary = service.read(
            lambda tx: weekly_summaries.summarize(
                tx.at(service.now_ms()), service.services.site, account
            )
        )
        said = (
            {each.url.split("/program/")[1][:36]: each for each in summary.budgets}
            if summary
            else {}
        )
        for key, program in self.history.programs.items():
            uuid, now = program["uuid"], self.of(key)
            if uuid not in said:
                assert not summary or not (self.charged(program=uuid) or now.pending)
                continue
            sentence = said[uuid].sentence
            assert amount(sentence, rf"^{DOLLARS} of ") == self.charged(program=uuid)
            assert amount(sentence, rf"forecast is {DOLLARS} more") == now.expected_cents
            assert amount(sentence, rf"fees of {DOLLARS} do not") == (
                now.over_cap_cents + now.over_budget_cents
            )


def row_of(page: str, path: str) -> str:
    """What stands in the row of a table that leads there."""
    return text_of(page.split(f'data-href="{path}"')[1].split("</tr>", maxsplit=1)[0])


def amount(text: str, pattern: str) -> int:
    """In cents; 0 if it is not said."""
    found = re.search(pattern, text)
    return round(100 * float(re.sub(r"[$,]", "", found[1]))) if found else 0


@pytest.mark.parametrize("seed", SEEDS)
def test_every_amount_agrees_whatever_happened(engine: str, seed: int) -> None:
    zone = ZONES[seed % len(ZONES)]
    with Service(engine) as service:
        history = RandomHistory(service, seed, zone)
        try:
            for days in (9, 13):
                history.live(days)
                Figures(history, zone).check()
        finally:
            service.set_clock(0)
