"""A person in a campaign as the store keeps them, and how to find one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import page_index, reasons, referral_states

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

    @property
    def why(self) -> str:
        """The plain sentence behind the referral's state."""
        if self.referrer_code is None or self.referral_reason is None:
            return ""
        return reasons.explain(self.referral_reason, self.referral_due_ms)


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


async def find(at: Reading, id_or_email: str) -> Subscriber | None:
    """By uuid, or by email where there is an @ in it."""
    if "@" in id_or_email:
        try:
            return await find_by_email(at, EmailAddress.parse(id_or_email))
        except Invalid:
            return None
    if not is_id(id_or_email):
        return None
    return await at.one(_BY_ID, id=id_or_email)


async def find_many(at: Reading, ids: Sequence[str]) -> dict[str, Subscriber]:
    """Those of this campaign, by id."""
    known = [each for each in ids if is_id(each)]
    found = await at.all(_BY_IDS, ids=known)
    return {each.id: each for each in found}


async def find_by_email(at: Reading, email: EmailAddress) -> Subscriber | None:
    return await at.one(_BY_EMAIL, email_key=email.key)


async def get(at: Reading, id_or_email: str) -> Subscriber:
    subscriber = await find(at, id_or_email)
    if subscriber is None:
        raise Missing(UNKNOWN)
    return subscriber


async def get_even_erased(at: Reading, subscriber_id: str) -> Subscriber:
    """What became of a referral is kept of somebody who was erased, without who they are."""
    found = await at.one(_BY_ID_EVEN_ERASED, id=subscriber_id)
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def get_locked(change: Change, id_or_email: str) -> Subscriber:
    """For a change that depends on the current state: locks the row until the transaction ends."""
    subscriber = await get(change, id_or_email)
    if not await lock(change, subscriber.id):
        raise Missing(UNKNOWN)
    return await get(change, subscriber.id)


async def lock(change: Change, subscriber_id: str) -> bool:
    """Locks the row and returns whether the subscriber is still here. Lock before storing anything
    about a subscriber, so that an erasure waits and finds it.

    Whoever locks several locks the youngest first: a decision locks the referral and then its
    referrer, who is nearly always older."""
    return bool(await change.lock(_LOCK, id=subscriber_id))


async def page_of(at: Reading, kind: str, page: Page) -> tuple[list[Subscriber], int]:
    """One page of the campaign's list of this kind and the list's length, both of one snapshot."""
    total = await at.fact(page_index.total_of, kind)
    if page.skip >= total:
        return [], total
    start = await page_index.find_start(at.tx, at.tenant.campaign_id, kind, page)
    rows = await at.all(
        _LISTS[kind],
        owner_id=at.tenant.campaign_id,
        below_ms=start.below_ms,
        below_id=start.below_id,
        most=page.per_page,
        skip=start.skip,
    )
    return rows, total


async def page_of_referred(
    at: Reading, subscriber: Subscriber, page: Page
) -> tuple[list[Subscriber], int]:
    """Everyone this subscriber referred, whatever became of the referral."""
    total = (
        subscriber.referrals_verified + subscriber.referrals_pending + subscriber.referrals_rejected
    )
    if page.skip >= total:
        return [], total
    start = await page_index.find_start(at.tx, subscriber.id, page_index.REFERRED_BY, page)
    rows = await at.all(
        _LIST_REFERRED,
        owner_id=subscriber.id,
        below_ms=start.below_ms,
        below_id=start.below_id,
        most=page.per_page,
        skip=start.skip,
    )
    return rows, total


async def count_second_referrals(at: Reading, subscriber: Subscriber) -> int:
    """How many verified referrals those have whom this subscriber referred; of the newest thousand,
    if there are more."""
    counted = await at.one(
        _COUNT_SECOND_REFERRALS, owner_id=subscriber.id, most=MOST_ASKED_ABOUT_REFERRALS
    )
    return counted or 0


async def first_due_ms(tx: Tx) -> int | None:
    """When the first holding period ends, or ended, of all pending referrals."""
    return await tx.one(_FIRST_DUE_MS)
