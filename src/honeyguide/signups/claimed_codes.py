"""Subscribers who came with a code that nobody here has. It is kept until the operator says who
referred them, or that nobody did.
"""

from __future__ import annotations

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.screening import screening
from honeyguide.screening.screening import Person, Referrer
from honeyguide.signups import consequences, lifecycle
from honeyguide.signups.consequence_writer import ChangedSubscriber, write
from honeyguide.signups.consequences import CampaignFacts
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscribers import Subscriber

_sql = beside(__file__)
_JUDGE = _sql.command("judge")
_REFER = _sql.command("refer")
_FORGET = _sql.command("forget")


class AlreadyRepaired(Invalid):
    def __init__(self) -> None:
        super().__init__(
            "Somebody has already said who referred this subscriber.", code="already_repaired"
        )


async def set_referrer(change: Change, subscriber_id: str, code_or_email: str) -> Subscriber:
    """The rules decide the referral as if the subscriber came with the referrer's code now. Of two
    who say so at once, the second is refused."""
    code = await _code_of(change, code_or_email)
    referrer = await _get_referrer(change, code)
    if referrer.id == subscriber_id:
        raise Invalid("{field} must be somebody else than the subscriber.", param="referrer")
    # Both rows in one order: two who are said to have referred each other must not wait for each
    # other, and the later one must be seen to close a loop.
    for each in sorted((referrer.id, subscriber_id), reverse=True):
        await subscribers.lock(change, each)
    referrer = await _get_referrer(change, code)
    subscriber = await _get_claiming(change, subscriber_id)
    referred = await _decide(change, subscriber, referrer)
    facts = CampaignFacts(had_referrals=not referrer.is_first)
    planned = consequences.of_change(subscriber, referred, facts)
    await write(change, ChangedSubscriber(subscriber, referred), planned)
    await change_log.record(
        change,
        "referrer.set",
        subscriber_id,
        {"referrer_id": None, "claimed_code": subscriber.claimed_code},
        {"referrer_id": referrer.id, "claimed_code": None},
    )
    return referred


async def forget(change: Change, subscriber_id: str) -> None:
    """Nobody referred them after all."""
    await subscribers.lock(change, subscriber_id)
    subscriber = await _get_claiming(change, subscriber_id)
    await change.run(_FORGET, id=subscriber.id)
    before, after = {"claimed_code": subscriber.claimed_code}, {"claimed_code": None}
    await change_log.record(change, "claimed_code.removed", subscriber.id, before, after)


async def _code_of(at: Reading, code_or_email: str) -> str:
    if "@" not in code_or_email:
        return code_or_email.strip()
    found = await subscribers.find(at, code_or_email.strip())
    return found.ref_code if found is not None else ""


async def _get_referrer(at: Reading, code: str) -> Referrer:
    referrer = await lifecycle.find_referrer(at, code) if code else None
    if referrer is None:
        raise Invalid(
            "{field} must be the code or email address of a subscriber who takes part in your "
            "referral program.",
            param="referrer",
        )
    return referrer


async def _get_claiming(at: Reading, subscriber_id: str) -> Subscriber:
    """The subscriber, if the claimed code is still kept."""
    subscriber = await subscribers.get(at, subscriber_id)
    if subscriber.claimed_code is None or subscriber.referrer_code is not None:
        raise AlreadyRepaired
    return subscriber


async def _decide(change: Change, subscriber: Subscriber, referrer: Referrer) -> Subscriber:
    code = referrer.ref_code
    email = EmailAddress(subscriber.email)
    person = Person(email, change.site.person_keys(email), ip_network_of(subscriber.ip_address))
    decision = await screening.judge_referral(
        change,
        referrer,
        person,
        status=subscriber.status,
        needs_confirmation=subscriber.must_confirm,
    )
    # The status first: the referral is counted when the referrer is set, with the status it has
    # then.
    await change.run(
        _JUDGE,
        id=subscriber.id,
        status=decision.status.value,
        reason=decision.reason,
        due_ms=decision.due_ms,
        behind=decision.behind,
    )
    if not await change.run(_REFER, id=subscriber.id, referrer_code=code, referrer_id=referrer.id):
        raise AlreadyRepaired
    return msgspec.structs.replace(
        subscriber,
        referrer_code=code,
        referrer_id=referrer.id,
        referral_status=decision.status.value,
        referral_reason=decision.reason,
        referral_due_ms=decision.due_ms,
        referral_behind=decision.behind,
        claimed_code=None,
    )
