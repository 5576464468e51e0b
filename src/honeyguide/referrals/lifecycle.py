"""How people sign up, change and leave. Counts follow by themselves: the database keeps them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from honeyguide.accounts import idempotency
from honeyguide.events import outbox
from honeyguide.kernel import checks, clock, public
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, stops, weekly_summary
from honeyguide.referrals import clicks, crediting, earned_rewards, rules, screening, subscribers
from honeyguide.referrals.campaigns import LINKS
from honeyguide.referrals.crediting import Referrer
from honeyguide.referrals.screening import Person
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store import Again
from honeyguide.store.statements import beside
from honeyguide.store.tx import Refusals, Tx

# How somebody joined: over the API, on the hosted signup page, by a magic link, by an import, or on
# the operator's own website.
ORIGINS = ("api", "signup", "magic", "import", "embed", "platform")
STATUSES = ("unsubscribed", "confirmed")
FIRST_STATUSES = ("active", "confirmed", "unsubscribed")

_NEW_STATUS = public.doc(
    "`unsubscribed` if they left, `confirmed` if they confirmed their email address.",
    "confirmed",
    enum=list(STATUSES),
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
    origin: str = "api"  # one of ORIGINS
    status: str = "active"


class SubscriberChanges(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is; a None name clears it."""

    status: Annotated[str, _NEW_STATUS] | msgspec.UnsetType = msgspec.UNSET
    name: public.ChangedName | msgspec.UnsetType | None = msgspec.UNSET
    email: public.Email | msgspec.UnsetType = msgspec.UNSET


class PartnerSignup(NamedTuple):
    """A subscriber sent by a partner, already judged. They earn nobody a reward."""

    code: str
    partner_campaign_id: str
    verdict: rules.Decision


class Changed(NamedTuple):
    """A subscriber before and after a change, for callers that act on the difference."""

    before: Subscriber
    after: Subscriber

    @property
    def became_verified(self) -> bool:
        return self.before.referral_status != rules.Status.VERIFIED == self.after.referral_status


class DueReferral(NamedTuple):
    tenant: Tenant
    id: str  # of the subscriber


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_FIND_REFERRER = _sql.query("find_referrer", Referrer)
_SET_PERSON = _sql.command("set_person")
_JUDGE = _sql.command("judge")
_ERASE = _sql.command("erase")
_DUE = _sql.query(
    "due",
    lambda account_id, campaign_id, id: DueReferral(Tenant(account_id, campaign_id), id),
)

UNREFERRED = "Nobody referred this subscriber, so there is no referral to look at."
# The value of `decided_by` when a person decides on the dashboard.
OPERATOR = "operator"


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
    tx: Tx,
    site: Site,
    tenant: Tenant,
    new: NewSubscriber,
    *,
    email: EmailAddress,
    needs_confirmation: bool,
    now_ms: int,
    partner: PartnerSignup | None = None,
) -> Subscriber:
    """A new subscriber. An unknown code never fails the signup: they join unreferred, and the
    claimed code is kept. `needs_confirmation` is the campaign's setting."""
    _check(new)
    person = Person(email, site.person_key(email), ip_network_of(new.ip_address))
    code = "" if partner or not new.referrer_code else new.referrer_code.strip().lower()
    referrer = await find_referrer(tx, tenant, code) if code else None
    verdict = partner.verdict if partner else rules.Decision(rules.Status.VERIFIED)
    if referrer is not None:
        verdict = await screening.judge_referral(
            tx,
            tenant,
            referrer,
            person,
            code=code,
            status=new.status,
            needs_confirmation=needs_confirmation,
            now_ms=now_ms,
        )
    row = _new_row(new, email, verdict, needs_confirmation=needs_confirmation, now_ms=now_ms)
    if partner:
        by = {"referrer_code": partner.code, "partner_campaign_id": partner.partner_campaign_id}
        row = msgspec.structs.replace(row, **by)
    elif referrer is not None:
        row = msgspec.structs.replace(row, referrer_code=code, referrer_id=referrer.id)
    else:
        row = msgspec.structs.replace(row, claimed_code=new.referrer_code)
    await _insert(tx, tenant, row, person)
    if referrer is not None:
        await crediting.credit_signup(tx, site, tenant, row, referrer, now_ms=now_ms)
    return row


def _new_row(
    new: NewSubscriber,
    email: EmailAddress,
    verdict: rules.Decision,
    *,
    needs_confirmation: bool,
    now_ms: int,
) -> Subscriber:
    """Somebody whom nobody referred yet."""
    created_ms = now_ms
    if new.created_at is not None:
        created_ms = clock.parse_past(new.created_at, param="created_at", now_ms=now_ms)
    must_confirm = rules.must_confirm(
        origin=new.origin, status=new.status, needs_confirmation=needs_confirmation
    )
    return Subscriber(
        id=new_id(),
        email=email.text,
        name=new.name,
        ref_code=new_code(),
        status=new.status,
        must_confirm=int(must_confirm),
        referrer_code=None,
        referrer_id=None,
        referral_status=verdict.status.value,
        referral_reason=verdict.reason,
        referral_due_ms=verdict.due_ms,
        referral_behind=verdict.behind,
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
    )


async def find_referrer(tx: Tx, tenant: Tenant, code: str) -> Referrer | None:
    """Whoever has this code and takes part in the program."""
    return await tx.one(_FIND_REFERRER, **tenant._asdict(), code=code)


async def _insert(tx: Tx, tenant: Tenant, row: Subscriber, person: Person) -> None:
    await tx.put(
        _INSERT,
        taken=_TAKEN,
        **msgspec.structs.asdict(row),
        account_id=tenant.account_id,
        campaign_id=tenant.campaign_id,
        email_key=person.email.key,
        person_key=person.key,
        network=person.ip_network,
    )


async def change(
    tx: Tx, site: Site, tenant: Tenant, id_or_email: str, changes: SubscriberChanges, *, now_ms: int
) -> Changed:
    """Name, email, status; a status also decides a referral that waited for it."""
    old = await subscribers.get_locked(tx, tenant, id_or_email)
    name = old.name if changes.name is msgspec.UNSET else changes.name
    if name is not None:
        checks.text(name, param="name", limit=checks.NAME_LIMIT)
    email, status = EmailAddress(old.email), old.status
    if changes.email is not msgspec.UNSET:
        email = EmailAddress.parse(changes.email)
    if changes.status is not msgspec.UNSET:
        status = checks.one_of(changes.status, STATUSES, param="status")
    await tx.run(
        _SET_PERSON,
        taken=_TAKEN,
        id=old.id,
        campaign_id=tenant.campaign_id,
        name=name,
        email=email.text,
        email_key=email.key,
        person_key=site.person_key(email),
        status=status,
        now_ms=now_ms,
    )
    verdict = None
    if changes.status is not msgspec.UNSET and old.referrer_code is not None:
        verdict = (
            rules.on_unsubscribe(old.referral_status)
            if status == "unsubscribed"
            else rules.on_confirm(
                old.referral_status,
                old.referral_reason,
                old.referral_due_ms,
                now_ms,
                old.referral_behind,
            )
        )
    return await _apply_decision(tx, site, tenant, old, verdict, by=None, now_ms=now_ms)


async def decide(
    tx: Tx, site: Site, tenant: Tenant, id_or_email: str, new_status: str, *, by: str, now_ms: int
) -> Changed:
    """`verified` or `rejected`, by hand. `by` says who."""
    old = await subscribers.get_locked(tx, tenant, id_or_email)
    if old.referrer_code is None:
        raise Missing(UNREFERRED, code="not_referred")
    verdict = rules.by_hand(old.referral_status, new_status)
    return await _apply_decision(tx, site, tenant, old, verdict, by=by, now_ms=now_ms)


async def verify_due(
    tx: Tx, site: Site, tenant: Tenant, subscriber_id: str, *, now_ms: int
) -> Changed | None:
    """Verifies one referral whose holding period is over. None if it was decided meanwhile."""
    try:
        old = await subscribers.get_locked(tx, tenant, subscriber_id)
    except Missing:
        return None
    verdict = rules.on_due(old.referral_status, old.referral_reason, old.referral_due_ms, now_ms)
    if verdict is None:
        return None
    return await _apply_decision(tx, site, tenant, old, verdict, by=None, now_ms=now_ms)


async def due(tx: Tx, *, now_ms: int, most: int) -> list[DueReferral]:
    """Referrals of all accounts whose holding period is over, longest overdue first, for
    `verify_due`."""
    return await tx.all(_DUE, now_ms=now_ms, batch=most)


async def _apply_decision(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    old: Subscriber,
    verdict: rules.Decision | None,
    *,
    by: str | None,
    now_ms: int,
) -> Changed:
    """Applies a verdict, if there is one. The database updates the referrer's counts; their rewards
    follow here."""
    if verdict is not None:
        await tx.run(
            _JUDGE,
            id=old.id,
            campaign_id=tenant.campaign_id,
            status=verdict.status.value,
            reason=verdict.reason,
            due_ms=verdict.due_ms,
            behind=verdict.behind,
            decided_by=by,
            now_ms=now_ms,
        )
    changed = Changed(old, await subscribers.get(tx, tenant, old.id))
    if changed.became_verified and old.referrer_id is not None:
        await crediting.credit_verified(tx, site, tenant, changed.after, now_ms=now_ms)
    return changed


async def erase(tx: Tx, tenant: Tenant, id_or_email: str, *, now_ms: int) -> None:
    """Nulls the personal data; codes, statuses, money and referrals stay."""
    subscriber = await subscribers.get_locked(tx, tenant, id_or_email)
    await tx.run(_ERASE, id=subscriber.id, campaign_id=tenant.campaign_id, now_ms=now_ms)
    await earned_rewards.erase(tx, tenant, subscriber.id)
    await clicks.erase(tx, tenant.account_id, tenant.campaign_id, subscriber.ref_code)
    tx.wake(LINKS)
    await outbox.erase(tx, tenant.account_id, subscriber.id)
    await emails.erase(tx, tenant.account_id, subscriber.id)
    await weekly_summary.rewrite_unsent(tx, tenant.account_id)
    await stops.resume(tx, tenant.account_id, subscriber.id)
    await idempotency.forget(tx, tenant.account_id, subscriber.id)
    tx.scrub()
