"""What needs the operator, most urgent first: the bar on Home, which opens."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.pages.dashboard import formats
from honeyguide.partners import outlook, rules, verification
from honeyguide.partners.outlook import ProgramOutlook
from honeyguide.partners.verification import OfferedProgram
from honeyguide.signups import open_work
from honeyguide.signups.open_work import MOST, MoreWork, OpenWork
from honeyguide.store.reading import Reading
from honeyguide.subscribers import search

# Programs whose budget is nearly spent, the fullest first.
MOST_PROGRAMS = 5


class DecisionFacts(NamedTuple):
    work: OpenWork
    more: MoreWork
    unknown_codes: int
    programs: list[ProgramOutlook]
    offered: list[OfferedProgram]
    """Programs that are older than the settings which new ones start with."""


class OpenDecision(NamedTuple):
    n: int
    short: str
    """Beside the number of all of them: "4 rewards to approve"."""
    icon: str
    title: str
    detail: str
    path: str
    action: str


Row = tuple[int, str, str, str, str, str, str]


async def read(at: Reading) -> DecisionFacts:
    return DecisionFacts(
        work=await at.fact(open_work.counts),
        more=await open_work.more(at),
        unknown_codes=await search.count_unknown_codes(at, most=MOST + 1),
        programs=await outlook.of_owner(at),
        offered=await verification.offered(at, most=MOST + 1),
    )


def in_all(decisions: list[OpenDecision]) -> str:
    """`18 things need you`"""
    count = sum(min(each.n, MOST) for each in decisions)
    if any(each.n > MOST for each in decisions):
        return f"{count:,}+ things need you"
    return f"{formats.plural(count, 'thing')} {'needs' if count == 1 else 'need'} you"


def choose(facts: DecisionFacts) -> list[OpenDecision]:
    unknown = facts.unknown_codes
    rows: list[Row] = [
        _to_look_at(facts.work),
        _to_review(facts.work.to_review, facts.more),
        _ended_fees(facts.work.ended_fees),
        *_rewards(facts.work, facts.more.without_code),
        (
            unknown,
            _many(unknown, "unknown code"),
            "people",
            f"{_many(unknown, 'subscriber')} came with an unknown code",
            "No referral was counted. You can say who referred them.",
            "/subscribers?referred_by=unknown",
            "Set referrers",
        ),
        *_budgets(facts.programs),
        *_recommended(facts.offered),
    ]
    return [OpenDecision(*row) for row in rows if row[0]]


def _to_look_at(work: OpenWork) -> Row:
    return (
        work.looks,
        f"{_many(work.looks, 'first look')}",
        "people",
        f"{_many(work.looks, 'partner')} {'waits' if work.looks == 1 else 'wait'} for a first look",
        f"No more of their readers count until you have looked. {_since(work.asked_ms)}",
        "/review/looks",
        "Look at their readers",
    )


def _to_review(count: int, first: MoreWork) -> Row:
    referrals, detail = _many(count, "referral"), "They do not count until you decide."
    if first.due_ms is not None:
        detail = (
            f"The first will be {first.outcome} automatically on {formats.day(first.due_ms)} "
            "unless you decide earlier."
        )
    return (
        count,
        f"{referrals} to review",
        "shield",
        f"{referrals} {'looks' if count == 1 else 'look'} suspicious",
        detail,
        "/review",
        f"Review {referrals}",
    )


def _ended_fees(count: int) -> Row:
    return (
        count,
        f"{_many(count, 'fee')} to decide",
        "shield",
        f"Your team ended {_many(count, 'subscription')} before the fee was decided",
        "Pay the partner, or reject and say why.",
        "/review/ended",
        f"Decide {_many(count, 'fee')}",
    )


def _rewards(work: OpenWork, codes: int) -> list[Row]:
    approve, await_ = work.to_approve, "awaits" if work.to_approve == 1 else "await"
    claims, to_send = _many(work.claims, "claimed reward"), _many(work.to_send, "reward")
    wait = "waits" if codes == 1 else "wait"
    return [
        (
            approve,
            f"{_many(approve, 'reward')} to approve",
            "gift",
            f"{_many(approve, 'earned reward')} {await_} your approval",
            "Subscribers can claim them once you approve them.",
            "/rewards",
            "Approve rewards",
        ),
        (
            work.claims,
            f"{claims} to fulfill",
            "gift",
            f"{claims} to fulfill",
            _since(work.claimed_ms),
            "/rewards",
            "Open rewards",
        ),
        (
            work.to_send,
            f"{to_send} to send",
            "truck",
            f"{to_send} to send",
            _since(work.to_send_ms),
            "/shipments",
            "Open shipments",
        ),
        (
            codes,
            f"{_many(codes, 'coupon code')} missing",
            "gift",
            f"{_many(codes, 'advocate')} {wait} for a coupon code",
            "The coupon codes of a reward have run out.",
            "/rewards",
            "Add codes",
        ),
    ]


def _many(count: int, one: str) -> str:
    """`3 referrals`, or `1,000+ referrals`."""
    return f"{MOST:,}+ {one}s" if count > MOST else formats.plural(count, one)


def _since(oldest_ms: int | None) -> str:
    return f"The oldest has been waiting since {formats.day(oldest_ms)}." if oldest_ms else ""


def _budgets(programs: list[ProgramOutlook]) -> list[Row]:
    found = []
    for each in programs:
        spent_cents, budget_cents = each.months[0].spent_cents, each.budget_cents
        is_paying = budget_cents > 0 and not each.is_deleted
        if is_paying and rules.nearly_spent(spent_cents=spent_cents, cap_cents=budget_cents):
            found.append((100 * spent_cents // budget_cents, each))
    found.sort(key=lambda row: (-row[0], row[1].program_id))
    return [
        (
            1,
            f"budget at {percent}%",
            "money",
            f"Partner budget of {formats.isolated(each.publication_name)} at {percent}%",
            f"{money.show(each.months[0].spent_cents)} of {money.show(each.budget_cents)} is spent "
            "this month (UTC). At 100%, partner referrals still join but are not charged.",
            f"/program/{each.program_id}/change",
            "Change budget",
        )
        for percent, each in found[:MOST_PROGRAMS]
    ]


def _recommended(offered: list[OfferedProgram]) -> list[Row]:
    if not offered:
        return []
    name, programs = formats.isolated(offered[0].publication_name), _many(len(offered), "program")
    is_one = len(offered) == 1
    return [
        (
            len(offered),
            f"{programs} with new settings",
            "settings",
            f"New settings for the partner program of {name}"
            if is_one
            else f"New settings for {_many(len(offered), 'partner program')}",
            "They keep robots from being paid. Use them, or keep what you have.",
            f"/program/{offered[0].id}" if is_one else "/program",
            "See settings",
        )
    ]
