"""A person in a campaign as the store keeps them, and how to find one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import page_index, referral_states

UNKNOWN = "There is no such subscriber."


class Subscriber(msgspec.Struct, frozen=True):
    id: str
    email: str
    name: str | None
    ref_code: str
    status: str
    must_confirm: bool
    referrer_code: str | None
    referrer_id: str | None
    referral_status: str
    referral_reason: str | None
    referral_due_ms: int | None
    referral_behind: str | None
    referrals_verified: int
    referrals_pending: int
    referrals_rejected: int
    ip_address: str | None
    user_agent: str | None
    origin: str
    utm_source: str | None
    utm_campaign: str | None
    created_ms: int
    received_ms: int
    partner_campaign_id: str | None = None
    decided_by: str | None = None
    decided_ms: int | None = None
    unsubscribed_ms: int | None = None
    claimed_code: str | None = None
    """The code they came with, if nobody has it."""
    adjustments: int = 0
    """What the operator added to their progress toward rewards."""
    language: str | None = None
    """Of the page on which they signed up."""
    link_version: int = 0
    """Of the links in emails that work without a login (`reader_links`)."""

    @property
    def toward_rewards(self) -> int:
        return referral_states.toward_rewards(self.referrals_verified, self.adjustments)


_sql = beside(__file__, subscriber=Subscriber.__struct_fields__)
_BY_ID = _sql.query("by_id", Subscriber)
_BY_ID_EVEN_ERASED = _sql.query("by_id_even_erased", Subscriber)
_BY_IDS = _sql.query("by_ids", Subscriber)
_BY_EMAIL = _sql.query("by_email", Subscriber)
_LOCK = _sql.value("lock", str)
_LISTS = {
    kind: _sql.query(f"list_{kind}", Subscriber) for kind in ("all", "referrals", "advocates")
}
_LIST_REFERRED = _sql.query("list_referred", Subscriber)
_COUNT_SECOND_REFERRALS = _sql.value("count_second_referrals", int)
_FIRST_DUE_MS = _sql.value("first_due_ms", int)

LIST_TYPES = tuple(_LISTS)
# Above that, the page would wait for the count.
MOST_ASKED_ABOUT_REFERRALS = 1_000


async def find(tx: Tx, tenant: Tenant, id_or_email: str) -> Subscriber | None:
    """By uuid, or by email where there is an @ in it."""
    if "@" in id_or_email:
        try:
            return await find_by_email(tx, tenant, EmailAddress.parse(id_or_email))
        except Invalid:
            return None
    if not is_id(id_or_email):
        return None
    return await tx.one(_BY_ID, id=id_or_email, campaign_id=tenant.campaign_id)


async def find_many(tx: Tx, tenant: Tenant, ids: Sequence[str]) -> dict[str, Subscriber]:
    """Those of this campaign, by id."""
    known = [each for each in ids if is_id(each)]
    found = await tx.all(_BY_IDS, ids=known, campaign_id=tenant.campaign_id)
    return {each.id: each for each in found}


async def find_by_email(tx: Tx, tenant: Tenant, email: EmailAddress) -> Subscriber | None:
    return await tx.one(_BY_EMAIL, campaign_id=tenant.campaign_id, email_key=email.key)


async def get(tx: Tx, tenant: Tenant, id_or_email: str) -> Subscriber:
    subscriber = await find(tx, tenant, id_or_email)
    if subscriber is None:
        raise Missing(UNKNOWN)
    return subscriber


async def get_even_erased(tx: Tx, tenant: Tenant, subscriber_id: str) -> Subscriber:
    """What became of a referral is kept of somebody who was erased, without who they are."""
    found = await tx.one(_BY_ID_EVEN_ERASED, id=subscriber_id, campaign_id=tenant.campaign_id)
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def get_locked(tx: Tx, tenant: Tenant, id_or_email: str) -> Subscriber:
    """For a change that depends on the current state: locks the row until the transaction ends."""
    subscriber = await get(tx, tenant, id_or_email)
    if not await lock(tx, tenant, subscriber.id):
        raise Missing(UNKNOWN)
    return await get(tx, tenant, subscriber.id)


async def lock(tx: Tx, tenant: Tenant, subscriber_id: str) -> bool:
    """Locks the row and returns whether the subscriber is still here. Lock before storing anything
    about a subscriber, so that an erasure waits and finds it.

    Whoever locks several locks the youngest first: a decision locks the referral and then its
    referrer, who is nearly always older."""
    return bool(await tx.lock(_LOCK, id=subscriber_id, campaign_id=tenant.campaign_id))


async def page_of(tx: Tx, tenant: Tenant, kind: str, page: Page) -> tuple[list[Subscriber], int]:
    """One page of the campaign's list of this kind and the list's length, both of one snapshot."""
    total = await page_index.total(tx, tenant.campaign_id, kind)
    if page.skip >= total:
        return [], total
    at = await page_index.find_start(tx, tenant.campaign_id, kind, page)
    rows = await tx.all(
        _LISTS[kind],
        owner_id=tenant.campaign_id,
        below_ms=at.below_ms,
        below_id=at.below_id,
        most=page.per_page,
        skip=at.skip,
    )
    return rows, total


async def page_of_referred(
    tx: Tx, tenant: Tenant, subscriber: Subscriber, page: Page
) -> tuple[list[Subscriber], int]:
    """Everyone this subscriber referred, whatever became of the referral."""
    total = (
        subscriber.referrals_verified + subscriber.referrals_pending + subscriber.referrals_rejected
    )
    if page.skip >= total:
        return [], total
    at = await page_index.find_start(tx, subscriber.id, page_index.REFERRED_BY, page)
    rows = await tx.all(
        _LIST_REFERRED,
        owner_id=subscriber.id,
        campaign_id=tenant.campaign_id,
        below_ms=at.below_ms,
        below_id=at.below_id,
        most=page.per_page,
        skip=at.skip,
    )
    return rows, total


async def count_second_referrals(tx: Tx, tenant: Tenant, subscriber: Subscriber) -> int:
    """How many verified referrals those have whom this subscriber referred; of the newest thousand,
    if there are more."""
    counted = await tx.one(
        _COUNT_SECOND_REFERRALS,
        campaign_id=tenant.campaign_id,
        owner_id=subscriber.id,
        most=MOST_ASKED_ABOUT_REFERRALS,
    )
    return counted or 0


async def first_due_ms(tx: Tx) -> int | None:
    """When the first holding period ends, or ended, of all pending referrals."""
    return await tx.one(_FIRST_DUE_MS)
