"""What would happen to an address that came with a code. It is signed up by the functions that sign
everybody up, and the transaction is rolled back: so no rule is written twice, and nothing is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Required
from honeyguide.screening import explanations
from honeyguide.screening.evidence import EvidenceItem
from honeyguide.signups import partner_signups, signups, unconfirmed
from honeyguide.signups.lifecycle import FIRST_STATUSES, NewSubscriber
from honeyguide.store.change import Change
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber

# Nobody refers those on lists that the owner keeps elsewhere one by one.
ORIGINS = tuple(origin.value for origin in Origin if not origin.is_own_list)
DECISIONS = tuple(status.value for status in Status)
UNKNOWN_CODE = "Nobody here has this code, so they would be subscribed without a referral."
ALREADY_SUBSCRIBED = "They are already subscribed, so there would be no new referral."


class AskedSignup(NamedTuple):
    """Without an origin: the magic link if the code is a partner's, or else the signup page."""

    email: str | None
    referrer_code: str | None
    origin: str | None = None
    ip_address: str | None = None
    status: str | None = None


class ReferralCheck(NamedTuple):
    decision: str
    """Rejected if there would be no referral."""
    explanation: str
    reason: str | None = None
    due_ms: int | None = None
    must_confirm: bool = False
    evidence: Sequence[EvidenceItem] = ()


class TakenBack(Exception):
    """Rolls the signup back and brings what it came to."""

    def __init__(self, found: ReferralCheck) -> None:
        super().__init__("taken back")
        self.found = found


def _check(asked: AskedSignup) -> None:
    if not (asked.email or "").strip():
        raise Required("email")
    if not (asked.referrer_code or "").strip():
        raise Required("referrer_code")
    for param in ("referrer_code", "ip_address"):
        if getattr(asked, param) is not None:
            checks.text(getattr(asked, param), param=param, limit=checks.STRING_LIMIT)
    for param, allowed in (("origin", ORIGINS), ("status", FIRST_STATUSES)):
        if getattr(asked, param) is not None:
            checks.one_of(getattr(asked, param), allowed, param=param)


async def try_out(change: Change, asked: AskedSignup) -> NoReturn:
    """Raises `TakenBack`, so that the transaction is rolled back."""
    _check(asked)
    new = NewSubscriber(
        email=asked.email or "",
        referrer_code=asked.referrer_code,
        ip_address=asked.ip_address,
        status=asked.status or "active",
        origin=asked.origin or Origin.SIGNUP,
    )
    email = EmailAddress.parse(new.email)
    if asked.origin is None and await partner_signups.find(change, new, email) is not None:
        new = msgspec.structs.replace(new, origin=Origin.MAGIC)
    raise TakenBack(await _find(change, new, email))


async def _find(change: Change, new: NewSubscriber, email: EmailAddress) -> ReferralCheck:
    subscriber = await _sign_up(change, new, email)
    if subscriber is None:
        return ReferralCheck(Status.REJECTED, ALREADY_SUBSCRIBED, Reason.ALREADY_SUBSCRIBED)
    if subscriber.referrer_code is None:
        return ReferralCheck(Status.REJECTED, UNKNOWN_CODE)
    await change.tx.flush()
    # A job looks at the others who came with the code within a minute.
    await signups.decide_on_evidence(change, subscriber.id)
    found = await explanations.explain(change, subscriber.id)
    subscriber = found.subscriber
    return ReferralCheck(
        decision=subscriber.referral_status,
        explanation=found.explanation,
        reason=found.reason,
        due_ms=subscriber.referral_due_ms,
        must_confirm=subscriber.must_confirm,
        evidence=found.evidence,
    )


async def _sign_up(change: Change, new: NewSubscriber, email: EmailAddress) -> Subscriber | None:
    """None if they are subscribed already."""
    known = await subscribers.find_by_email(change, email)
    if known is None:
        return await signups.sign_up(change, new, email=email)
    if not Origin(new.origin).is_hosted:
        return None
    return await unconfirmed.sign_up_again(change, known, new, email)
