"""What a partner's referral is, by the terms it came with, the evidence and the time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.screening.rules import (
    Decision,
    ReferralStanding,
    ReferralTerms,
    Rule,
    decide_on_terms,
    on_due,
)
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level, Status

CAME = 1_800_000_000_000
VERIFIED, PENDING, REJECTED = Status.VERIFIED, Status.PENDING, Status.REJECTED


def terms(rule: Rule, level: Level, hold_days: int = 0) -> ReferralTerms:
    return ReferralTerms(rule, level, CAME, CAME + hold_days * DAY_MS)


# rule, level, holding period, confirmed, active, points, days later: status, reason, due
CASES = [
    ("none", "flexible", 0, False, False, 9, 0, VERIFIED, None, None),
    ("none", "strong", 0, False, False, 1, 0, VERIFIED, None, None),
    ("none", "strong", 0, False, False, 2, 0, VERIFIED, None, None),
    ("none", "strong", 0, False, False, 2, 1, VERIFIED, None, None),
    ("none", "strong", 14, False, False, 2, 1, PENDING, "holding_period", 14),
    ("none", "strong", 0, False, False, 3, 0, PENDING, "needs_review", 30),
    ("none", "strong", 14, False, False, 3, 43, PENDING, "needs_review", 44),
    ("none", "strong", 14, False, False, 3, 44, REJECTED, "unreviewed", None),
    ("none", "strict", 14, False, False, 3, 0, REJECTED, "looks_automated", None),
    ("none", "strict", 0, False, False, 2, 0, VERIFIED, None, None),
    ("confirmed", "flexible", 0, False, False, 0, 0, PENDING, "awaiting_confirmation", None),
    ("confirmed", "strong", 14, False, False, 9, 29, PENDING, "awaiting_confirmation", 14),
    ("confirmed", "flexible", 365, False, False, 0, 30, REJECTED, "unconfirmed", None),
    ("confirmed", "flexible", 0, True, False, 0, 0, VERIFIED, None, None),
    ("confirmed", "flexible", 14, True, False, 0, 13, PENDING, "holding_period", 14),
    ("confirmed", "flexible", 14, True, False, 0, 14, VERIFIED, None, None),
    ("confirmed", "strong", 0, True, False, 3, 0, PENDING, "needs_review", 30),
    ("active", "flexible", 0, True, False, 0, 0, PENDING, "awaiting_activity", 30),
    ("active", "flexible", 0, True, False, 0, 30, REJECTED, "inactive", None),
    ("active", "flexible", 0, True, True, 0, 0, VERIFIED, None, None),
    ("active", "strong", 0, True, True, 3, 0, PENDING, "needs_review", 30),
    ("active", "flexible", 0, False, True, 0, 0, PENDING, "awaiting_confirmation", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_what_it_is(case: tuple[object, ...]) -> None:
    rule, level, hold, is_confirmed, is_active, points, later, status, reason, due = case
    decided = decide_on_terms(
        terms(Rule(rule), Level(level), hold),  # type: ignore[arg-type]
        ReferralStanding(is_confirmed, is_active, points),  # type: ignore[arg-type]
        CAME + later * DAY_MS,  # type: ignore[operator]
    )
    due_ms = None if due is None else CAME + due * DAY_MS  # type: ignore[operator]
    assert decided == Decision(status, reason and Reason(reason), due_ms)  # type: ignore[arg-type]


ANY_TERMS = st.builds(
    terms, st.sampled_from(list(Rule)), st.sampled_from(list(Level)), st.integers(0, 365)
)
ANY_STANDING = st.builds(ReferralStanding, st.booleans(), st.booleans(), st.integers(0, 9))
LATER = st.integers(0, 500 * DAY_MS)


@given(ANY_TERMS, ANY_STANDING, LATER)
def test_time_alone_never_verifies_what_is_suspicious_unconfirmed_or_inactive(
    given_terms: ReferralTerms, standing: ReferralStanding, later_ms: int
) -> None:
    decided = decide_on_terms(given_terms, standing, CAME + later_ms)
    if decided.status == VERIFIED:
        assert standing.points < 3 or given_terms.level == Level.FLEXIBLE
        assert standing.is_confirmed or given_terms.rule == Rule.NONE
        assert standing.is_active or given_terms.rule != Rule.ACTIVE
        assert CAME + later_ms >= given_terms.hold_until_ms


@given(ANY_TERMS, ANY_STANDING, LATER)
def test_what_is_pending_is_due_later_and_then_is_what_the_date_said(
    given_terms: ReferralTerms, standing: ReferralStanding, later_ms: int
) -> None:
    """The job finds it by that date, and nothing waits for ever."""
    now_ms = CAME + later_ms
    decided = decide_on_terms(given_terms, standing, now_ms)
    if decided.status != PENDING:
        assert decided.due_ms is None
        return
    if decided.reason == Reason.AWAITING_CONFIRMATION:
        end = decide_on_terms(given_terms, standing, CAME + 30 * DAY_MS)
        assert end == Decision(REJECTED, Reason.UNCONFIRMED)
        return
    assert decided.due_ms is not None and decided.due_ms > now_ms
    assert decide_on_terms(given_terms, standing, decided.due_ms - 1) == decided
    then = decide_on_terms(given_terms, standing, decided.due_ms)
    assert then.status != PENDING
    assert on_due(PENDING, decided.reason, decided.due_ms, decided.due_ms) == then


@given(ANY_TERMS, ANY_STANDING, LATER)
def test_less_evidence_never_makes_it_worse(
    given_terms: ReferralTerms, standing: ReferralStanding, later_ms: int
) -> None:
    rank = {VERIFIED: 0, PENDING: 1, REJECTED: 2}
    better = ReferralStanding(
        standing.is_confirmed, standing.is_active, max(0, standing.points - 1)
    )
    now_ms = CAME + later_ms
    assert (
        rank[decide_on_terms(given_terms, better, now_ms).status]
        <= rank[decide_on_terms(given_terms, standing, now_ms).status]
    )


def test_what_is_watched_waits_a_day() -> None:
    watched = ReferralStanding(is_confirmed=True, is_active=False, points=0, is_watched=True)
    strong = terms(Rule.CONFIRMED, Level.STRONG)
    almost = decide_on_terms(strong, watched, CAME + 23 * HOUR_MS)
    assert almost == Decision(PENDING, Reason.HOLDING_PERIOD, CAME + DAY_MS)
    assert decide_on_terms(strong, watched, CAME + DAY_MS) == Decision(VERIFIED)
    assert decide_on_terms(terms(Rule.NONE, Level.FLEXIBLE), watched, CAME) == Decision(VERIFIED)
