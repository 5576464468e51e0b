"""Every figure about one recorded month, wherever it is shown, agrees with an independent count of
it; and what the owner sees of a partner is what the partner sees.

A page that shows such figures gets its rows in `FIGURES`.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honeyguide.kernel import money
from honeyguide.partners import rules
from honeyguide.work import weekly_summaries
from honeyguide.work.weekly_summaries import DueAccount
from tests.support.recorded_month import BUDGET, Ahead, RecordedMonth, member_of
from tests.support.service import ENGINES, Service
from tests.support.web import text_of

DOLLARS = r"(-?\$[\d,]+\.\d\d)"
NUMBER = r"([\d,]+)"


@pytest.fixture(scope="module", params=ENGINES)
def played(request: pytest.FixtureRequest) -> Iterator[RecordedMonth]:
    with Service(request.param) as service:
        month = RecordedMonth(service)
        month.play()
        yield month
        service.set_clock(0)


def whole(played: RecordedMonth) -> Ahead:
    return Ahead(*(sum(column) for column in zip(*played.ahead().values(), strict=True)))


Count = Callable[[RecordedMonth], int]


def of_partner(name: str, column: str) -> Count:
    return lambda played: getattr(played.ahead()[name], column)


def charged(partner: str = "", program: str = "") -> Count:
    return lambda played: played.charged_cents(partner, program)


def most(name: str, program: str = "") -> Count:
    return lambda played: played.charged_cents(name, program) + played.limit_cents(name)


# Who looks, at which page, what stands there (the figure in brackets), and what it must be.
FIGURES: list[tuple[str, str, str, Count]] = [
    # The page of the program with a holding period.
    ("owner", "held", rf"Charged in \w+ \d+ {DOLLARS}", charged(program="held")),
    (
        "owner",
        "held",
        rf"Charged in \w+ \d+ \$[\d.]+ {NUMBER} referrals",
        lambda played: played.charged_referrals(program="held"),
    ),
    ("owner", "held", rf"Budget {DOLLARS}, so", lambda played: BUDGET),
    (
        "owner",
        "held",
        rf"so {DOLLARS} is left",
        lambda played: BUDGET - played.charged_cents(program="held"),
    ),
    ("owner", "held", rf"{DOLLARS} pending, fits", lambda p: whole(p).expected_cents),
    ("owner", "held", rf"{DOLLARS} pending, does not fit", lambda p: whole(p).over_budget_cents),
    ("owner", "held", rf"{DOLLARS} pending, over a partner", lambda p: whole(p).over_cap_cents),
    *(
        row
        for name in ("bob", "carl")
        for row in (
            (
                "owner",
                "held",
                rf"{name.title()} (?:“[^”]*” )?[\d,]+ [\d,]+ [\d,]+ too early {DOLLARS}",
                charged(name, "held"),
            ),
            (
                "owner",
                "held",
                rf"{name.title()} (?:“[^”]*” )?[\d,]+ {NUMBER} ",
                lambda played, name=name: sum(
                    row.partner == name and row.program == "held" for row in played.rows()
                ),
            ),
            # The owner's page of one partner.
            (
                "owner",
                f"partner {name}",
                rf"Clicks {NUMBER}",
                lambda p, n=name: {"bob": 5, "carl": 2}[n],
            ),
            (
                "owner",
                f"partner {name}",
                rf"Still subscribed {NUMBER}",
                lambda played, name=name: sum(
                    row.partner == name
                    and row.program == "held"
                    and row.subscription != "unsubscribed"
                    for row in played.rows()
                ),
            ),
            (
                "owner",
                f"partner {name}",
                rf"Pending: {NUMBER} this month",
                of_partner(name, "pending"),
            ),
            # The partner's own page.
            (name, "earnings", rf"Confirmed in \w+ \d+ {DOLLARS}", charged(name)),
            (
                name,
                "earnings",
                rf"Confirmed in \w+ \d+ \$[\d.]+ {NUMBER} subscribers?",
                lambda played, name=name: played.charged_referrals(name),
            ),
            (name, "earnings", rf"{DOLLARS} sure at most", charged(name)),
            (name, "earnings", rf"sure at most {DOLLARS}", most(name)),
            (name, "earnings", rf"{NUMBER} referrals are pending", of_partner(name, "pending")),
            (
                name,
                "earnings",
                rf"are pending, worth {DOLLARS}",
                of_partner(name, "pending_cents"),
            ),
            (name, "statement", r"total: (-?\d+)", charged(name)),
        )
    ),
    ("bob", "earnings", rf"at most {DOLLARS} can still be paid", lambda p: p.limit_cents("bob")),
    # Home.
    ("owner", "home", rf"New subscribers {NUMBER}", lambda played: played.signups()["New"]),
    (
        "owner",
        "home",
        rf"Referred {NUMBER} [\d,]+ verified",
        lambda played: played.signups()["New"] - played.signups()["Not referred"],
    ),
    *(
        (
            "owner",
            "home",
            rf"Referred [\d,]+ .*?{NUMBER} {word}",
            lambda played, word=word: played.signups()[word.capitalize()],
        )
        for word in ("verified", "pending", "rejected")
    ),
    ("owner", "home", rf"Partner fees, \w+ {DOLLARS}", charged()),
    # The weekly email.
    ("owner", "weekly", rf"{DOLLARS} of this month’s \$30.00", charged(program="held")),
    ("owner", "weekly", rf"{DOLLARS} of this month’s \$10.00", charged(program="quick")),
    ("owner", "weekly", rf"the forecast is {DOLLARS} more", lambda p: whole(p).expected_cents),
    (
        "owner",
        "weekly",
        rf"fees of {DOLLARS} do not fit",
        lambda p: whole(p).over_cap_cents + whole(p).over_budget_cents,
    ),
    # The files.
    ("owner", "statement", r"total: (-?\d+)", charged()),
    *(
        ("owner", "days", rf"{heading}: {NUMBER}", lambda played, h=heading: played.signups()[h])
        for heading in ("New", "Verified", "Pending", "Rejected", "Not referred")
    ),
]


def text(played: RecordedMonth, who: str, page: str) -> str:
    """What stands there, as plain text."""
    member = member_of(played, who)
    if page == "weekly":
        return _weekly(played)
    if page == "statement":
        side = "owner" if who == "owner" else "partner"
        rows = _csv(member.web.get(f"/statements/{side}/{played.month}.csv").text)
        return f"total: {sum(round(100 * float(row['amount_usd'])) for row in rows)}"
    if page == "days":
        last = f"{played.month}-28"
        rows = _csv(member.web.get(f"/overview/days.csv?from={played.month}-01&to={last}").text)
        return " ".join(
            f"{name}: {sum(int(row[name] or 0) for row in rows)}"
            for name in rows[0]
            if name != "Day"
        )
    paths = {
        "held": f"/program/{played.programs['held']['uuid']}",
        "home": "/",
        "earnings": "/earnings",
        "partner bob": f"/program/partners/{played.joined['bob', 'held']['uuid']}",
        "partner carl": f"/program/partners/{played.joined['carl', 'held']['uuid']}",
    }
    answer = member.web.get(paths[page])
    assert answer.status_code == 200
    return text_of(answer.text)


def _csv(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file)))


def _weekly(played: RecordedMonth) -> str:
    service, account_id = played.service, played.owner.account_id
    account = DueAccount(account_id, played.owner.email, "UTC", 0, "2000-01-03")
    summary = service.read(
        lambda tx: weekly_summaries.summarize(
            tx.at(service.now_ms()), service.services.site, account
        )
    )
    assert summary is not None
    return " ".join(each.sentence for each in summary.budgets)


@pytest.mark.parametrize(
    ("who", "page", "pattern", "count"),
    [pytest.param(*row, id=f"{row[0]}-{row[1]}-{n}") for n, row in enumerate(FIGURES)],
)
def test_a_figure_agrees_with_an_independent_count(
    played: RecordedMonth, who: str, page: str, pattern: str, count: Count
) -> None:
    shown = text(played, who, page)
    found = re.search(pattern, shown)
    expected = count(played)
    assert found is not None, f"{pattern!r} is not on {page}: {shown[-2500:]}"
    figure = found[1]
    assert figure == (money.show(expected) if "$" in figure else str(expected))


def test_the_month_has_all_that_can_happen(played: RecordedMonth) -> None:
    """Otherwise figures would agree because they are zero."""
    ahead = whole(played)
    assert all(ahead), ahead
    assert {row.status for row in played.rows()} == {"verified", "pending", "rejected"}
    assert any(cents < 0 for _, _, cents in played.charges())
    assert played.charged_cents(program="quick") and played.month == rules.month_of(
        played.service.now_ms()
    )


@pytest.mark.parametrize("name", ["bob", "carl"])
def test_owner_and_partner_see_the_same(played: RecordedMonth, name: str) -> None:
    api: dict[str, Any] = played.partners[name].get("/v2/partner_profile/earnings").json()
    confirmed = round(100 * api["earnings"]["confirmed"])
    assert confirmed == played.charged_cents(name)
    uuid = played.joined[name, "held"]["uuid"]
    own = text_of(played.partners[name].web.get(f"/earnings/{uuid}").text)
    seen = text(played, "owner", "held")
    at_most = re.search(rf"sure at most {DOLLARS}", own)
    owners = re.search(rf"{name.title()} .*?at most {DOLLARS}", seen)
    sure = money.show(played.charged_cents(name, "held"))
    assert at_most and owners and at_most[1] == owners[1]
    assert f"{sure} sure" in own
    assert at_most[1] == money.show(played.charged_cents(name, "held") + played.limit_cents(name))


def test_nobody_is_promised_more_than_the_budget_holds(played: RecordedMonth) -> None:
    """That it is shared is only said if it does not hold everybody's."""
    left = BUDGET - played.charged_cents(program="held")
    limits = {name: played.limit_cents(name) for name in played.partners}
    for name, partner in played.partners.items():
        assert 0 < limits[name] <= left
        page = text_of(partner.web.get(f"/earnings/{played.joined[name, 'held']['uuid']}").text)
        assert ("The budget is shared" in page) is (sum(limits.values()) > left)
