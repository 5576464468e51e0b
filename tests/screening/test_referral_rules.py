"""The rules of a referral as tables: what arrives, what is chosen, what comes out; then every move,
and a year of dates.
"""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.screening import rules
from honeyguide.screening.rules import DAY_MS, Decision, Signals
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level, ScreeningPolicy, Status


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


NOW = ms("2026-11-12T09:30")
ANN, BOB = EmailAddress("ann.lee@gmail.com"), EmailAddress("bob@example.org")
HONEST = Signals(BOB, (ANN,))

CERTAIN = {
    Reason.OWN_ADDRESS: Signals(EmailAddress("Ann.Lee@gmail.com"), (ANN,)),
    Reason.ALIAS_OF_REFERRER: Signals(EmailAddress("annlee+news@googlemail.com"), (ANN,)),
    Reason.REFERRAL_LOOP: Signals(BOB, (ANN,), loop=True),
    Reason.DISPOSABLE_DOMAIN: Signals(EmailAddress("bob@mailinator.com"), (ANN,), disposable=True),
    Reason.BLOCKED: Signals(BOB, (ANN,), is_blocked=True),
    Reason.REFERRER_BLOCKED: Signals(BOB, (ANN,), is_referrer_blocked=True),
}
SUSPICIOUS = {
    Reason.SAME_NETWORK: Signals(BOB, (ANN,), same_network_as_referrer=True),
    Reason.MANY_FROM_ONE_NETWORK: Signals(BOB, (ANN,), signups_from_network_today=4),
    Reason.BURST: Signals(BOB, (ANN,), signups_on_code_last_hour=11),
}


@pytest.mark.parametrize(("reason", "signals"), CERTAIN.items())
@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("hold_days", [0, 30])
@pytest.mark.parametrize("needs_confirmation", [False, True])
def test_a_certainty_is_rejected_whatever_the_operator_chose(
    reason: Reason, signals: Signals, level: Level, hold_days: int, needs_confirmation: bool
) -> None:
    decision = rules.decide(signals, ScreeningPolicy(level, hold_days, needs_confirmation), NOW)
    assert decision == Decision(Status.REJECTED, reason)


@pytest.mark.parametrize(("reason", "signals"), SUSPICIOUS.items())
def test_a_suspicion_counts_when_flexible_waits_when_strong_and_is_rejected_when_strict(
    reason: Reason, signals: Signals
) -> None:
    assert rules.decide(signals, ScreeningPolicy("flexible"), NOW) == Decision(Status.VERIFIED)
    assert rules.decide(signals, ScreeningPolicy("strong"), NOW) == Decision(
        Status.PENDING, reason, NOW + 7 * DAY_MS
    )
    assert rules.decide(signals, ScreeningPolicy("strict"), NOW) == Decision(
        Status.REJECTED, reason
    )


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize(
    "email", ["aaron@example.org", "zoe@example.org", "ann.le@gmail.com", "ann.leex@gmail.com"]
)
def test_another_address_is_honest_whether_it_sorts_before_or_after_the_referrers(
    email: str, level: Level
) -> None:
    assert rules.decide(
        Signals(EmailAddress(email), (ANN,)), ScreeningPolicy(level), NOW
    ) == Decision(Status.VERIFIED)


@pytest.mark.parametrize("level", list(Level))
def test_the_last_signup_within_the_limits_is_no_suspicion(level: Level) -> None:
    at_the_limits = Signals(BOB, (ANN,), signups_from_network_today=3, signups_on_code_last_hour=10)
    assert rules.decide(at_the_limits, ScreeningPolicy(level), NOW) == Decision(Status.VERIFIED)


def test_an_unknown_referrer_has_no_address_to_be_an_alias_of() -> None:
    assert rules.decide(Signals(BOB, ()), ScreeningPolicy(), NOW) == Decision(Status.VERIFIED)


WAITS = [
    # level, hold, confirmation, suspicious, status, reason, days until due, behind
    ("flexible", 0, False, False, "verified", None, None, None),
    ("flexible", 1, False, False, "pending", "holding_period", 1, None),
    ("flexible", 30, False, True, "pending", "holding_period", 30, None),
    ("flexible", 0, True, False, "pending", "awaiting_confirmation", None, None),
    ("flexible", 5, True, False, "pending", "awaiting_confirmation", 5, None),
    ("strong", 0, False, True, "pending", "same_network", 7, None),
    ("strong", 6, False, True, "pending", "same_network", 7, None),
    ("strong", 8, False, True, "pending", "same_network", 8, None),
    ("strong", 8, False, False, "pending", "holding_period", 8, None),
    ("strong", 0, True, True, "pending", "awaiting_confirmation", 7, "same_network"),
    ("strong", 14, True, True, "pending", "awaiting_confirmation", 14, "same_network"),
    ("strong", 0, True, False, "pending", "awaiting_confirmation", None, None),
    ("strict", 3, True, False, "pending", "awaiting_confirmation", 3, None),
    ("strict", 3, True, True, "rejected", "same_network", None, None),
]


@pytest.mark.parametrize("row", WAITS)
def test_holds_run_side_by_side_and_the_longer_one_decides(
    row: tuple[str, int, bool, bool, str, str | None, int | None, str | None],
) -> None:
    level, hold_days, needs_confirmation, suspicious, status, reason, days, behind = row
    signals = SUSPICIOUS[Reason.SAME_NETWORK] if suspicious else HONEST
    decision = rules.decide(signals, ScreeningPolicy(level, hold_days, needs_confirmation), NOW)
    due_ms = None if days is None else NOW + days * DAY_MS
    assert (decision.status, decision.reason, decision.due_ms, decision.behind) == (
        status,
        reason,
        due_ms,
        behind,
    )


def test_the_first_of_several_reasons_is_the_one_told() -> None:
    everything = Signals(ANN, (ANN,), True, True, True, 99, 99)
    assert rules.decide(everything, ScreeningPolicy(), NOW).reason == "own_address"
    suspicious = Signals(BOB, (ANN,), False, False, True, 99, 99)
    assert rules.decide(suspicious, ScreeningPolicy("strong"), NOW).reason == "same_network"


@pytest.mark.parametrize(
    ("level", "hold_days"),
    [("lenient", 0), ("", 0), ("FLEXIBLE", 0), ("strong", -1), ("strong", 31)],
)
def test_a_policy_outside_the_limits_is_refused(level: str, hold_days: int) -> None:
    with pytest.raises(Invalid):
        ScreeningPolicy(level, hold_days)


CONFIRMED = [
    # status, reason, due, behind, what a confirmation at NOW makes of it
    ("pending", "awaiting_confirmation", None, None, Decision(Status.VERIFIED)),
    ("pending", "awaiting_confirmation", NOW, None, Decision(Status.VERIFIED)),
    ("pending", "awaiting_confirmation", NOW - 1, None, Decision(Status.VERIFIED)),
    (
        "pending",
        "awaiting_confirmation",
        NOW + 1,
        None,
        Decision(Status.PENDING, Reason.HOLDING_PERIOD, NOW + 1),
    ),
    (
        "pending",
        "awaiting_confirmation",
        NOW + 9,
        "burst",
        Decision(Status.PENDING, Reason.BURST, NOW + 9),
    ),
    (
        "pending",
        "awaiting_confirmation",
        NOW - 9,
        "burst",
        Decision(Status.VERIFIED, Reason.SCREENING_HOLD_OVER),
    ),
    ("pending", "holding_period", NOW + 9, None, None),
    ("pending", "same_network", NOW + 9, None, None),
    ("rejected", "left_during_hold", None, None, None),
    ("rejected", "disposable_domain", None, None, None),
    ("rejected", "awaiting_confirmation", None, None, None),
    ("verified", None, None, None, None),
]


@pytest.mark.parametrize(("status", "reason", "due_ms", "behind", "expected"), CONFIRMED)
def test_confirming_releases_only_what_waited_for_it(
    status: str,
    reason: str | None,
    due_ms: int | None,
    behind: str | None,
    expected: Decision | None,
) -> None:
    after = rules.on_confirm(status, reason, due_ms, NOW, behind)
    assert after == expected
    if after is not None:
        assert rules.on_confirm(after.status, after.reason, after.due_ms, NOW, after.behind) is None


DUE = [
    ("pending", "holding_period", NOW - 1, Decision(Status.VERIFIED)),
    ("pending", "holding_period", NOW, Decision(Status.VERIFIED)),
    ("pending", "holding_period", NOW + 1, None),
    ("pending", "same_network", NOW, Decision(Status.VERIFIED, Reason.SCREENING_HOLD_OVER)),
    ("pending", "burst", NOW + 1, None),
    ("pending", "awaiting_confirmation", NOW - 365 * DAY_MS, None),
    ("pending", "awaiting_confirmation", None, None),
    ("rejected", "left_during_hold", NOW - 1, None),
    ("verified", None, NOW - 1, None),
]


@pytest.mark.parametrize(("status", "reason", "due_ms", "expected"), DUE)
def test_time_verifies_what_is_due_and_never_what_awaits_a_confirmation(
    status: str, reason: str | None, due_ms: int | None, expected: Decision | None
) -> None:
    assert rules.on_due(status, reason, due_ms, NOW) == expected


def test_leaving_loses_a_pending_referral_and_keeps_an_earned_one() -> None:
    assert rules.on_unsubscribe("pending") == Decision(Status.REJECTED, Reason.LEFT_DURING_HOLD)
    assert rules.on_unsubscribe("rejected") is None
    assert rules.on_unsubscribe("verified") is None


BY_HAND = {
    ("pending", "verified"): Decision(Status.VERIFIED, Reason.VERIFIED_BY_HAND),
    ("pending", "rejected"): Decision(Status.REJECTED, Reason.REJECTED_BY_HAND),
    ("rejected", "verified"): Decision(Status.VERIFIED, Reason.VERIFIED_BY_HAND),
    ("rejected", "rejected"): None,
    ("verified", "verified"): None,
}


@pytest.mark.parametrize(
    "move",
    list(
        itertools.product(
            ["verified", "pending", "rejected"], ["verified", "pending", "rejected", "x"]
        )
    ),
)
def test_by_hand_makes_the_legal_moves_and_refuses_every_other(move: tuple[str, str]) -> None:
    if move in BY_HAND:
        assert rules.by_hand(*move) == BY_HAND[move]
    else:
        with pytest.raises(Invalid) as refusal:
            rules.by_hand(*move)
        assert refusal.value.code == "illegal_move"
        assert len(refusal.value.message) > 20


MOVES = st.lists(
    st.sampled_from(["confirm", "leave", "wait a day", "verify", "reject"]), max_size=12
)


@given(
    moves=MOVES,
    level=st.sampled_from(Level),
    hold_days=st.integers(0, 30),
    needs_confirmation=st.booleans(),
    suspicious=st.booleans(),
)
def test_no_order_of_moves_takes_back_what_was_verified_or_verifies_the_unconfirmed(
    moves: list[str], level: Level, hold_days: int, needs_confirmation: bool, suspicious: bool
) -> None:
    signals = SUSPICIOUS[Reason.BURST] if suspicious else HONEST
    now, confirmed, by_operator = NOW, False, False
    state = rules.decide(signals, ScreeningPolicy(level, hold_days, needs_confirmation), now)
    for move in moves:
        before = state
        if move == "confirm":
            confirmed = True
            state = (
                rules.on_confirm(state.status, state.reason, state.due_ms, now, state.behind)
                or state
            )
        elif move == "leave":
            state = rules.on_unsubscribe(state.status) or state
        elif move == "wait a day":
            now += DAY_MS
            state = rules.on_due(state.status, state.reason, state.due_ms, now) or state
        elif not (move == "reject" and state.status == "verified"):
            by_operator = True
            state = (
                rules.by_hand(state.status, "verified" if move == "verify" else "rejected") or state
            )
        if before.status == "verified":
            assert state == before
        if state.status == "verified" and not by_operator:
            assert confirmed or not needs_confirmation
            assert now - NOW >= hold_days * DAY_MS
        if state.status != "verified":
            assert state.reason is not None
        if state.status != "pending":
            assert state.due_ms is None


# -- words and dates


# -- networks and throw-away domains
