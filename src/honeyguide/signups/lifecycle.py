"""How people sign up, change and leave. Counts follow by themselves: the database keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import msgspec

from honeyguide.accounts import idempotency
from honeyguide.events import outbox
from honeyguide.kernel import checks, clock, public
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.mail import emails, stops, weekly_summary
from honeyguide.rewards import earned_rewards
from honeyguide.screening import evidence, moves, rules, screening, team_acts, visits
from honeyguide.screening.moves import Changed
from honeyguide.screening.screening import Person, Referrer
from honeyguide.screening.signals import SignalFinding
from honeyguide.screening.visits import ClickedLink, Visit
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Refusals
from honeyguide.subscribers import clicks, codes, form_codes, persons, referral_states, subscribers
from honeyguide.subscribers.campaigns import LINKS
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.subscribers import Subscriber

SETTABLE_STATUSES = ("unsubscribed", "confirmed")
FIRST_STATUSES = ("active", "confirmed", "unsubscribed")

_NEW_STATUS = public.doc(
    "`unsubscribed` if they left, `confirmed` if they confirmed their email address.",
    "confirmed",
    enum=list(SETTABLE_STATUSES),
)


class SignupClaims(msgspec.Struct, frozen=True):
    """What a client says about a new subscriber besides the email address. We take its word."""

    name: public.SubscriberName | None = None
    referrer_code: public.ClaimedCode | None = None
    ip_address: public.IpAddress | None = None
    user_agent: public.UserAgent | None = None
    utm_source: public.UtmSource | None = None
    utm_campaign: public.UtmCampaign | None = None
    created_at: public.SubscribedAt | None = None


class NewSubscriber(SignupClaims, frozen=True, kw_only=True):
    email: str
    origin: str = Origin.API
    status: str = "active"
    visit: Visit | None = None
    """On a form of ours."""
    ref_code: str | None = None
    """Their code of ours, if they bring one. The caller has seen that it is free."""
    must_confirm: bool = False
    """They still had to confirm where they come from."""
    language: str | None = None
    """Of the form of ours."""


class SubscriberChanges(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is; a None name clears it."""

    status: Annotated[str, _NEW_STATUS] | msgspec.UnsetType = msgspec.UNSET
    name: public.ChangedName | msgspec.UnsetType | None = msgspec.UNSET
    email: public.Email | msgspec.UnsetType = msgspec.UNSET


class PartnerSignup(NamedTuple):
    """A subscriber sent by a partner, already decided. They earn nobody a reward."""

    code: str
    partner_campaign_id: str
    decision: rules.Decision
    must_confirm: bool


class SignedUp(NamedTuple):
    subscriber: Subscriber
    referrer: Referrer | None


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_COME_AGAIN = _sql.command("come_again")
_REFER = _sql.command("refer")
_FIND_REFERRER = _sql.query("find_referrer", Referrer)
_FIND_REFERRER_IDS = _sql.query("find_referrer_ids", lambda code, id: (str(code), str(id)))
_SET_PERSON = _sql.command("set_person")
_ERASE = _sql.command("erase")


class EmailTaken(Invalid):
    def __init__(self) -> None:
        super().__init__("Email has already been taken", param="email", code="email_taken")


_TAKEN: Refusals = {"subscriber_email": EmailTaken, "subscriber_ref_code": Again}


def _check(new: NewSubscriber) -> None:
    for param, limit in _LIMITS.items():
        value = getattr(new, param)
        if value is not None:
            checks.text(value, param=param, limit=limit)
    checks.one_of(new.status, FIRST_STATUSES, param="status")


_LIMITS = {
    "name": checks.NAME_LIMIT,
    "referrer_code": checks.STRING_LIMIT,
    "ip_address": checks.STRING_LIMIT,
    "user_agent": checks.USER_AGENT_LIMIT,
    "utm_source": checks.STRING_LIMIT,
    "utm_campaign": checks.STRING_LIMIT,
}


async def sign_up(
    change: Change,
    new: NewSubscriber,
    *,
    email: EmailAddress,
    needs_confirmation: bool,
    partner: PartnerSignup | None = None,
    waiting: Subscriber | None = None,
) -> SignedUp:
    """A new subscriber, or one who waits and comes again. An unknown code never fails the signup:
    they join unreferred, and the claimed code is kept. `needs_confirmation` is the campaign's
    setting."""
    _check(new)
    person = Person(email, change.site.person_keys(email), ip_network_of(new.ip_address))
    claimed = "" if partner or not new.referrer_code else new.referrer_code.strip()
    referrer = await find_referrer(change, claimed) if claimed else None
    decision = partner.decision if partner else rules.Decision(referral_states.Status.VERIFIED)
    found: list[SignalFinding] = []
    if referrer is not None:
        found = await _find_evidence(change, new, person, referrer)
        decision = await screening.judge_referral(
            change,
            referrer,
            person,
            status=new.status,
            needs_confirmation=needs_confirmation,
            found=found,
        )
    must_confirm = (
        partner.must_confirm
        if partner
        else new.must_confirm
        or rules.must_confirm(
            origin=new.origin, status=new.status, needs_confirmation=needs_confirmation
        )
    )
    row = _new_row(
        new,
        email,
        decision,
        referrer=referrer,
        partner=partner,
        must_confirm=must_confirm,
        now_ms=change.now_ms,
    )
    await persons.remember(change.tx, change.site, email)
    if waiting is None:
        await _insert(change, row, person)
    else:
        row = await _come_again(change, waiting, row, person)
    if found:
        await evidence.record(change, {row.id: found})
    if referrer is not None and _is_looked_at(new, referrer):
        await evidence.queue_look(change, referrer.ref_code)
    return SignedUp(row, referrer)


def _is_looked_at(new: NewSubscriber, referrer: Referrer) -> bool:
    """Only on our own forms: operators and tools that add subscribers have checked them."""
    return referrer.screening != referral_states.Level.FLEXIBLE and Origin(new.origin).is_hosted


async def _find_evidence(
    change: Change, new: NewSubscriber, person: Person, referrer: Referrer
) -> list[SignalFinding]:
    code = referrer.ref_code
    found: list[SignalFinding] = []
    if new.visit is not None:
        link = ClickedLink(change.tenant.campaign_id, code)
        found += await visits.find_evidence(change, new.visit, link)
    if _is_looked_at(new, referrer):
        by_group, _ = await evidence.look_at_new(change, code, person.email, person.ip_network)
        found += by_group
    return found


def _new_row(
    new: NewSubscriber,
    email: EmailAddress,
    decision: rules.Decision,
    *,
    referrer: Referrer | None,
    partner: PartnerSignup | None,
    must_confirm: bool,
    now_ms: int,
) -> Subscriber:
    referrer_code = partner.code if partner else referrer.ref_code if referrer else None
    created_ms = now_ms
    if new.created_at is not None:
        created_ms = clock.parse_past(new.created_at, param="created_at", now_ms=now_ms)
    return Subscriber(
        id=new_id(),
        email=email.text,
        name=new.name,
        ref_code=new.ref_code or new_code(),
        status=new.status,
        must_confirm=must_confirm,
        referrer_code=referrer_code,
        referrer_id=referrer.id if referrer else None,
        referral_status=decision.status.value,
        referral_reason=decision.reason,
        referral_due_ms=decision.due_ms,
        referral_behind=decision.behind,
        referrals_verified=0,
        referrals_pending=0,
        referrals_rejected=0,
        ip_address=new.ip_address,
        user_agent=new.user_agent,
        origin=new.origin,
        utm_source=new.utm_source,
        utm_campaign=new.utm_campaign,
        created_ms=created_ms,
        received_ms=now_ms,
        partner_campaign_id=partner.partner_campaign_id if partner else None,
        claimed_code=None if referrer_code else new.referrer_code,
        language=new.language,
    )


async def _insert(change: Change, row: Subscriber, person: Person) -> None:
    await change.put(
        _INSERT,
        taken=_TAKEN,
        **msgspec.structs.asdict(row),
        email_key=person.email.key,
        person_key=person.keys[0],
        network=person.ip_network,
    )


async def _come_again(
    change: Change, waiting: Subscriber, row: Subscriber, person: Person
) -> Subscriber:
    """Who they are stays; through whom they came is what this signup says."""
    again = msgspec.structs.replace(
        waiting,
        name=row.name or waiting.name,
        referrer_code=row.referrer_code,
        referrer_id=row.referrer_id,
        partner_campaign_id=row.partner_campaign_id,
        referral_status=row.referral_status,
        referral_reason=row.referral_reason,
        referral_due_ms=row.referral_due_ms,
        referral_behind=row.referral_behind,
        decided_by=None,
        decided_ms=None,
        ip_address=row.ip_address,
        user_agent=row.user_agent,
        origin=row.origin,
        utm_source=row.utm_source,
        utm_campaign=row.utm_campaign,
        language=row.language,
        claimed_code=None,
        received_ms=row.received_ms,
    )
    # The status first: the referral is counted when its code is set, with the status it has then.
    for statement in (_COME_AGAIN, _REFER):
        await change.run(statement, **msgspec.structs.asdict(again), network=person.ip_network)
    return again


async def find_referrer(at: Reading, code: str) -> Referrer | None:
    """The subscriber who has this code, ours or a further one, and takes part in the program."""
    found = await at.one(_FIND_REFERRER, code=code.lower())
    if found is None:
        own = await codes.find_ref_code(at, code)
        own = own or (await form_codes.find_ref_codes(at, [code])).get(code)
        if own is not None:
            found = await at.one(_FIND_REFERRER, code=own)
    return found


async def find_referrer_ids(at: Reading, asked: Iterable[str]) -> dict[str, str]:
    """As `find_referrer`, of many codes at once. Those that credit nobody are left out."""

    async def find(ours: Iterable[str]) -> dict[str, str]:
        return dict(await at.all(_FIND_REFERRER_IDS, codes=list(set(ours))))

    folded = {code: code.lower() for code in asked}
    ids = await find(folded.values())
    found = {code: ids[each] for code, each in folded.items() if each in ids}
    rest = folded.keys() - found.keys()
    further = await form_codes.find_ref_codes(at, rest) if rest else {}
    further |= await codes.find_ref_codes(at, rest)
    ids = await find(further.values()) if further else {}
    return found | {code: ids[own] for code, own in further.items() if own in ids}


async def change_person(
    change: Change,
    id_or_email: str,
    changes: SubscriberChanges,
    how: Reason = Reason.LEFT_DURING_HOLD,
) -> Changed:
    """Name, email, status; a status also decides a referral that waited for it. `how` they leave,
    if they do."""
    old = await subscribers.get_locked(change, id_or_email)
    name = old.name if changes.name is msgspec.UNSET else changes.name
    if name is not None:
        checks.text(name, param="name", limit=checks.NAME_LIMIT)
    email, status = EmailAddress(old.email), old.status
    if changes.email is not msgspec.UNSET:
        email = EmailAddress.parse(changes.email)
    if changes.status is not msgspec.UNSET:
        status = checks.one_of(changes.status, SETTABLE_STATUSES, param="status")
    await persons.remember(change.tx, change.site, email)
    await change.run(
        _SET_PERSON,
        taken=_TAKEN,
        id=old.id,
        name=name,
        email=email.text,
        email_key=email.key,
        person_key=change.site.person_key(email),
        status=status,
    )
    decision = None
    if changes.status is not msgspec.UNSET and old.referrer_code is not None:
        decision = (
            await team_acts.on_unsubscribe(change, old, how)
            if status == "unsubscribed"
            else await moves.on_confirm(change, old)
        )
    return await moves.apply(change, old, decision, by=None)


async def erase(change: Change, subscriber: Subscriber) -> None:
    """Nulls the personal data; codes, statuses, money and referrals stay."""
    tx, account_id = change.tx, change.tenant.account_id
    await change.run(_ERASE, id=subscriber.id)
    await earned_rewards.erase(change, subscriber.id)
    await codes.erase(change, subscriber.id)
    await clicks.erase(change, change.tenant.campaign_id, subscriber.ref_code)
    tx.wake(LINKS)
    await outbox.erase(tx, account_id, subscriber.id)
    await emails.erase(change, subscriber.id)
    await weekly_summary.rewrite_unsent(change)
    await stops.resume(change, subscriber.id)
    await idempotency.forget(tx, account_id, subscriber.id)
    tx.scrub()
