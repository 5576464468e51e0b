"""What follows from a change to a subscriber, row by row, without a database."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import consequence_writer, consequences
from honeyguide.signups.consequences import CONTENDED, CampaignFacts, Consequence
from tests.support.subscriber_states import (
    BY_HAND,
    CLAIMING,
    COUNTED,
    HOLD,
    LEFT,
    NOBODY,
    NOW_MS,
    PENDING,
    REFERRED,
    REJECTED,
    SCREENED,
    SENT,
    SENT_PENDING,
    SENT_REJECTED,
    UNCONFIRMED,
    but,
)

RECORD_DECISION = Consequence.RECORD_DECISION
LOG_DECISION = Consequence.LOG_DECISION
TELL_NEW_REFERRAL = Consequence.TELL_NEW_REFERRAL
UNLOCK_REWARDS = Consequence.UNLOCK_REWARDS
EMAIL_REFERRER = Consequence.EMAIL_REFERRER
NOTIFY_OF_FIRST_REFERRAL = Consequence.NOTIFY_OF_FIRST_REFERRAL
TELL_NEW_SUBSCRIBER = Consequence.TELL_NEW_SUBSCRIBER
TELL_UNSUBSCRIBED = Consequence.TELL_UNSUBSCRIBED
TELL_VERIFIED = Consequence.TELL_VERIFIED
TELL_REJECTED = Consequence.TELL_REJECTED
TELL_NEW_PARTNER_REFERRAL = Consequence.TELL_NEW_PARTNER_REFERRAL
CHARGE_FEE = Consequence.CHARGE_FEE
COUNT_DECISION = Consequence.COUNT_DECISION

GONE = but(NOBODY, status="unsubscribed")
QUIET = CampaignFacts(has_rewards=False, sends_friend_emails=False)
FULL = CampaignFacts()
FIRST = CampaignFacts(had_referrals=False)
CONFIRMS = CampaignFacts(needs_confirmation=True)


class Row(NamedTuple):
    what: str
    before: Subscriber | None
    after: Subscriber
    expected: list[Consequence]
    campaign: CampaignFacts = FULL
    is_by_hand: bool = False


SIGNUPS = [
    Row("nobody referred them", None, NOBODY, [TELL_NEW_SUBSCRIBER]),
    Row("an unknown code refers nobody", None, CLAIMING, [TELL_NEW_SUBSCRIBER], FIRST),
    Row(
        "a verified referral",
        None,
        REFERRED,
        [TELL_NEW_REFERRAL, UNLOCK_REWARDS, EMAIL_REFERRER, TELL_NEW_SUBSCRIBER, TELL_VERIFIED],
    ),
    Row("a pending referral", None, PENDING, [TELL_NEW_REFERRAL, TELL_NEW_SUBSCRIBER]),
    Row("a rejected referral", None, REJECTED, [TELL_NEW_SUBSCRIBER, TELL_REJECTED]),
    Row(
        "no rewards",
        None,
        REFERRED,
        [TELL_NEW_REFERRAL, EMAIL_REFERRER, TELL_NEW_SUBSCRIBER, TELL_VERIFIED],
        CampaignFacts(has_rewards=False),
    ),
    Row(
        "no emails about friends",
        None,
        REFERRED,
        [TELL_NEW_REFERRAL, UNLOCK_REWARDS, TELL_NEW_SUBSCRIBER, TELL_VERIFIED],
        CampaignFacts(sends_friend_emails=False),
    ),
    Row("neither", None, REFERRED, [TELL_NEW_REFERRAL, TELL_NEW_SUBSCRIBER, TELL_VERIFIED], QUIET),
    Row(
        "the campaign's first referral",
        None,
        REFERRED,
        [
            TELL_NEW_REFERRAL,
            UNLOCK_REWARDS,
            EMAIL_REFERRER,
            NOTIFY_OF_FIRST_REFERRAL,
            TELL_NEW_SUBSCRIBER,
            TELL_VERIFIED,
        ],
        FIRST,
    ),
    Row(
        "the first one may be pending",
        None,
        PENDING,
        [TELL_NEW_REFERRAL, NOTIFY_OF_FIRST_REFERRAL, TELL_NEW_SUBSCRIBER],
        FIRST,
    ),
    Row(
        "the first one may not be rejected",
        None,
        REJECTED,
        [TELL_NEW_SUBSCRIBER, TELL_REJECTED],
        FIRST,
    ),
]
PARTNER_SIGNUPS = [
    Row(
        "verified",
        None,
        SENT,
        [TELL_NEW_SUBSCRIBER, TELL_VERIFIED, TELL_NEW_PARTNER_REFERRAL, CHARGE_FEE, COUNT_DECISION],
        FIRST,
    ),
    Row("pending", None, SENT_PENDING, [TELL_NEW_SUBSCRIBER], FIRST),
    Row(
        "rejected", None, SENT_REJECTED, [TELL_NEW_SUBSCRIBER, TELL_REJECTED, COUNT_DECISION], FIRST
    ),
]
OLD_SUBSCRIBERS = [
    Row("an import without a code", None, but(NOBODY, origin="import"), []),
    Row(
        "an import with a code",
        None,
        but(REFERRED, origin="import"),
        [TELL_NEW_REFERRAL, UNLOCK_REWARDS, TELL_VERIFIED],
        FIRST,
    ),
    Row(
        "a date two days ago is no news",
        None,
        but(REFERRED, created_ms=NOW_MS - 2 * DAY_MS),
        [TELL_NEW_REFERRAL, UNLOCK_REWARDS, TELL_NEW_SUBSCRIBER, TELL_VERIFIED],
        FIRST,
    ),
    Row(
        "a date of a day ago still is",
        None,
        but(REFERRED, created_ms=NOW_MS - DAY_MS),
        [
            TELL_NEW_REFERRAL,
            UNLOCK_REWARDS,
            EMAIL_REFERRER,
            NOTIFY_OF_FIRST_REFERRAL,
            TELL_NEW_SUBSCRIBER,
            TELL_VERIFIED,
        ],
        FIRST,
    ),
]
FIRST_STATUSES = [
    Row("unsubscribed", None, GONE, []),
    Row("confirmed", None, but(NOBODY, status="confirmed"), [TELL_NEW_SUBSCRIBER]),
    Row("has to confirm", None, but(NOBODY, must_confirm=1), [], CONFIRMS),
    Row(
        "confirmed elsewhere",
        None,
        but(NOBODY, status="confirmed"),
        [TELL_NEW_SUBSCRIBER],
        CONFIRMS,
    ),
    Row(
        "referred, and has to confirm",
        None,
        but(REFERRED, **UNCONFIRMED),
        [TELL_NEW_REFERRAL],
        CONFIRMS,
    ),
]
CHANGES = [
    Row("renamed", REFERRED, but(REFERRED, name="Ben"), []),
    Row("renamed after they left", GONE, but(GONE, name="Ben"), []),
    Row("renamed before they confirmed", NOBODY, but(NOBODY, name="Ben"), [], CONFIRMS),
    Row("renamed, sent by a partner", SENT_PENDING, but(SENT_PENDING, name="Ben"), []),
    Row("confirmed, which nobody asked for", NOBODY, but(NOBODY, status="confirmed"), []),
    Row("confirmed", NOBODY, but(NOBODY, status="confirmed"), [TELL_NEW_SUBSCRIBER], CONFIRMS),
    Row(
        "a referral is confirmed",
        but(REFERRED, **UNCONFIRMED),
        but(REFERRED, **COUNTED, status="confirmed"),
        [RECORD_DECISION, UNLOCK_REWARDS, EMAIL_REFERRER, TELL_NEW_SUBSCRIBER, TELL_VERIFIED],
        CONFIRMS,
    ),
    Row(
        "a referral is confirmed, and waits for its holding period",
        but(REFERRED, **UNCONFIRMED),
        but(PENDING, status="confirmed"),
        [RECORD_DECISION, TELL_NEW_SUBSCRIBER],
        CONFIRMS,
    ),
    Row("unsubscribed", NOBODY, GONE, [TELL_UNSUBSCRIBED]),
    Row("unsubscribed before confirming", NOBODY, GONE, [TELL_UNSUBSCRIBED], CONFIRMS),
    Row("back again", GONE, but(NOBODY, status="confirmed"), [TELL_NEW_SUBSCRIBER]),
    Row(
        "a verified referral stays one after they leave",
        REFERRED,
        but(REFERRED, status="unsubscribed"),
        [TELL_UNSUBSCRIBED],
    ),
    Row(
        "left during the holding period",
        PENDING,
        but(PENDING, status="unsubscribed", **LEFT),
        [RECORD_DECISION, TELL_UNSUBSCRIBED, TELL_REJECTED],
        FIRST,
    ),
    Row(
        "left during the holding period, sent by a partner",
        SENT_PENDING,
        but(SENT_PENDING, status="unsubscribed", **LEFT),
        [RECORD_DECISION, TELL_UNSUBSCRIBED, TELL_REJECTED, COUNT_DECISION],
    ),
]
DECISIONS = [
    Row(
        "verified by hand",
        REJECTED,
        but(REJECTED, **COUNTED),
        [RECORD_DECISION, LOG_DECISION, UNLOCK_REWARDS, EMAIL_REFERRER, TELL_VERIFIED],
        FIRST,  # it was not new when it was decided
        True,
    ),
    Row(
        "verified by hand, sent by a partner",
        SENT_PENDING,
        but(SENT_PENDING, **COUNTED),
        [
            RECORD_DECISION,
            LOG_DECISION,
            TELL_VERIFIED,
            TELL_NEW_PARTNER_REFERRAL,
            CHARGE_FEE,
            COUNT_DECISION,
        ],
        FULL,
        True,
    ),
    Row(
        "rejected by hand",
        PENDING,
        but(PENDING, **BY_HAND),
        [RECORD_DECISION, LOG_DECISION, TELL_REJECTED],
        FULL,
        True,
    ),
    Row(
        "rejected by hand, sent by a partner",
        SENT_PENDING,
        but(SENT_PENDING, **BY_HAND),
        [RECORD_DECISION, LOG_DECISION, TELL_REJECTED, COUNT_DECISION],
        FULL,
        True,
    ),
    Row("rejected for another reason", REJECTED, but(REJECTED, **BY_HAND), [RECORD_DECISION]),
    Row(
        "rejected for another reason, sent by a partner",
        SENT_REJECTED,
        but(SENT_REJECTED, **BY_HAND),
        [RECORD_DECISION],
    ),
    Row("decided by hand as it was", REFERRED, REFERRED, [], FULL, True),
    Row(
        "the holding period is over",
        PENDING,
        but(PENDING, **COUNTED),
        [RECORD_DECISION, UNLOCK_REWARDS, EMAIL_REFERRER, TELL_VERIFIED],
    ),
    Row(
        "the holding period of an imported referral is over",
        but(PENDING, origin="import"),
        but(PENDING, origin="import", **COUNTED),
        [RECORD_DECISION, UNLOCK_REWARDS, TELL_VERIFIED],
    ),
    Row(
        "the holding period is over, and nobody wants to know",
        PENDING,
        but(PENDING, **COUNTED),
        [RECORD_DECISION, TELL_VERIFIED],
        QUIET,
    ),
    Row(
        "the holding period of somebody whom a partner sent is over",
        SENT_PENDING,
        but(SENT_PENDING, **COUNTED),
        [RECORD_DECISION, TELL_VERIFIED, TELL_NEW_PARTNER_REFERRAL, CHARGE_FEE, COUNT_DECISION],
    ),
    Row(
        "pending for another reason",
        but(REFERRED, **UNCONFIRMED),
        PENDING,
        [RECORD_DECISION],
        FIRST,
    ),
]
REPAIRED_CODES = [
    Row(
        "verified",
        CLAIMING,
        but(CLAIMING, referrer_code="anacode1", referrer_id="ana", claimed_code=None),
        [
            TELL_NEW_REFERRAL,
            UNLOCK_REWARDS,
            EMAIL_REFERRER,
            NOTIFY_OF_FIRST_REFERRAL,
            TELL_VERIFIED,
        ],
        FIRST,
    ),
    Row("pending", CLAIMING, PENDING, [TELL_NEW_REFERRAL]),
    Row("rejected", CLAIMING, REJECTED, [TELL_REJECTED], FIRST),
]
ERASURES = [
    ("a partner's pending referral", SENT_PENDING, [RECORD_DECISION, COUNT_DECISION]),
    ("a partner's verified referral", SENT, []),
    ("a partner's rejected referral", SENT_REJECTED, []),
    ("another pending referral", PENDING, []),
    ("somebody whom nobody referred", NOBODY, []),
]
TABLES = {
    "signup": SIGNUPS,
    "signup by a partner": PARTNER_SIGNUPS,
    "somebody who joined elsewhere": OLD_SUBSCRIBERS,
    "signup as": FIRST_STATUSES,
    "change": CHANGES,
    "decision": DECISIONS,
    "code repaired": REPAIRED_CODES,
}
ROWS = [(f"{name}: {row.what}", row) for name, rows in TABLES.items() for row in rows]


def planned(row: Row) -> list[Consequence]:
    return consequences.of_change(row.before, row.after, row.campaign, is_by_hand=row.is_by_hand)


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=[name for name, _ in ROWS])
def test_what_follows_from_a_change(row: Row) -> None:
    assert planned(row) == row.expected


@pytest.mark.parametrize(
    ("erased", "expected"),
    [(erased, expected) for _, erased, expected in ERASURES],
    ids=[name for name, _, _ in ERASURES],
)
def test_what_follows_from_an_erasure(erased: Subscriber, expected: list[Consequence]) -> None:
    assert consequences.of_erasure(erased) == expected


def test_every_consequence_follows_from_some_row() -> None:
    assert {each for _, row in ROWS for each in row.expected} == set(Consequence)


def every_plan() -> list[list[Consequence]]:
    """Of all changes from any state to any other, in any campaign."""
    people = [NOBODY, REFERRED, SENT, CLAIMING]
    people = [but(each, origin=origin) for each in people for origin in ("api", "import")]
    states = [
        but(each, status=status, **decision)
        for each in people
        for status in ("active", "confirmed", "unsubscribed")
        for decision in (COUNTED, HOLD, UNCONFIRMED, SCREENED)
    ]
    campaigns = [FULL, FIRST, QUIET, CONFIRMS]
    plans = [consequences.of_erasure(each) for each in states]
    for before in (None, *states):
        for after in states:
            plans += [
                consequences.of_change(before, after, campaign, is_by_hand=True)
                for campaign in campaigns
            ]
    return plans


def test_a_plan_is_in_the_order_in_which_consequences_are_defined() -> None:
    order = list(Consequence)
    plans = every_plan()
    assert set().union(*plans) == set(order)
    for plan in plans:
        places = [order.index(each) for each in plan]
        assert places == sorted(set(places)), plan


def test_contended_locks_come_last() -> None:
    assert tuple(Consequence)[-len(CONTENDED) :] == CONTENDED
    assert set(CONTENDED) == {CHARGE_FEE, COUNT_DECISION}


def test_every_consequence_has_a_writer() -> None:
    assert list(consequence_writer._WRITERS) == list(Consequence)
