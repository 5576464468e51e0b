"""Every kind of change to a subscriber, with what follows from it."""

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.signups.consequences import CampaignFacts, Consequence
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.subscriber_states import (
    BY_HAND,
    CLAIMING,
    COUNTED,
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
    TAKEN_BACK,
    UNCONFIRMED,
    but,
)

RECORD_DECISION = Consequence.RECORD_DECISION
LOG_DECISION = Consequence.LOG_DECISION
RELEASE_CONFIRMATION = Consequence.RELEASE_CONFIRMATION
CANCEL_CONFIRMATION = Consequence.CANCEL_CONFIRMATION
TELL_NEW_REFERRAL = Consequence.TELL_NEW_REFERRAL
UNLOCK_REWARDS = Consequence.UNLOCK_REWARDS
EMAIL_REFERRER = Consequence.EMAIL_REFERRER
NOTIFY_OF_FIRST_REFERRAL = Consequence.NOTIFY_OF_FIRST_REFERRAL
TELL_NEW_SUBSCRIBER = Consequence.TELL_NEW_SUBSCRIBER
TELL_UNSUBSCRIBED = Consequence.TELL_UNSUBSCRIBED
TELL_VERIFIED = Consequence.TELL_VERIFIED
TELL_REJECTED = Consequence.TELL_REJECTED
TELL_NEW_PARTNER_REFERRAL = Consequence.TELL_NEW_PARTNER_REFERRAL
TELL_PARTNER_REFERRAL_REVERSED = Consequence.TELL_PARTNER_REFERRAL_REVERSED
CHARGE_FEE = Consequence.CHARGE_FEE
REVERSE_CHARGE = Consequence.REVERSE_CHARGE
COUNT_DECISION = Consequence.COUNT_DECISION

GONE = but(NOBODY, status="unsubscribed")
UNSURE = but(NOBODY, must_confirm=1)
QUIET = CampaignFacts(has_rewards=False, sends_friend_emails=False)
FULL = CampaignFacts()
FIRST = CampaignFacts(had_referrals=False)


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
    Row("has to confirm", None, but(NOBODY, must_confirm=1), []),
    Row(
        "confirmed elsewhere",
        None,
        but(NOBODY, status="confirmed"),
        [TELL_NEW_SUBSCRIBER],
    ),
    Row(
        "referred, and has to confirm",
        None,
        but(REFERRED, **UNCONFIRMED),
        [TELL_NEW_REFERRAL],
    ),
]
CHANGES = [
    Row("renamed", REFERRED, but(REFERRED, name="Ben"), []),
    Row("renamed after they left", GONE, but(GONE, name="Ben"), []),
    Row("renamed before they confirmed", UNSURE, but(UNSURE, name="Ben"), []),
    Row("renamed, sent by a partner", SENT_PENDING, but(SENT_PENDING, name="Ben"), []),
    Row("confirmed, which nobody asked for", NOBODY, but(NOBODY, status="confirmed"), []),
    Row("confirmed", UNSURE, but(NOBODY, status="confirmed"), [TELL_NEW_SUBSCRIBER]),
    Row(
        "a referral is confirmed",
        but(REFERRED, **UNCONFIRMED),
        but(REFERRED, **COUNTED, status="confirmed"),
        [
            RECORD_DECISION,
            CANCEL_CONFIRMATION,
            UNLOCK_REWARDS,
            EMAIL_REFERRER,
            TELL_NEW_SUBSCRIBER,
            TELL_VERIFIED,
        ],
    ),
    Row(
        "a referral is confirmed, and waits for its holding period",
        but(REFERRED, **UNCONFIRMED),
        but(PENDING, status="confirmed"),
        [RECORD_DECISION, CANCEL_CONFIRMATION, TELL_NEW_SUBSCRIBER],
    ),
    Row("unsubscribed", NOBODY, GONE, [TELL_UNSUBSCRIBED]),
    Row("unsubscribed before confirming", UNSURE, GONE, [TELL_UNSUBSCRIBED]),
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
    Row(
        "reversed",
        SENT,
        but(SENT, **TAKEN_BACK),
        [
            RECORD_DECISION,
            LOG_DECISION,
            TELL_REJECTED,
            TELL_PARTNER_REFERRAL_REVERSED,
            REVERSE_CHARGE,
            COUNT_DECISION,
        ],
        FULL,
        True,
    ),
    Row(
        "verified again after a reversal",
        but(SENT, **TAKEN_BACK),
        SENT,
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
UNSURE_REFERRAL = but(REFERRED, **UNCONFIRMED)
HELD_EMAILS = [
    Row(
        "verified by hand",
        UNSURE_REFERRAL,
        but(UNSURE_REFERRAL, **COUNTED),
        [RECORD_DECISION, LOG_DECISION, RELEASE_CONFIRMATION, TELL_VERIFIED],
        QUIET,
        True,
    ),
    Row(
        "verified by itself",
        UNSURE_REFERRAL,
        but(UNSURE_REFERRAL, **COUNTED),
        [RECORD_DECISION, TELL_VERIFIED],
        QUIET,
    ),
    Row(
        "rejected",
        UNSURE_REFERRAL,
        but(UNSURE_REFERRAL, **SCREENED),
        [RECORD_DECISION, CANCEL_CONFIRMATION, TELL_REJECTED],
    ),
    Row("renamed", UNSURE_REFERRAL, but(UNSURE_REFERRAL, name="Ben"), []),
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
    "held email": HELD_EMAILS,
    "code repaired": REPAIRED_CODES,
}
ROWS = [(f"{name}: {row.what}", row) for name, rows in TABLES.items() for row in rows]
