"""All subscribers as lines of a file, a batch at a time, oldest first, for the dashboard and the
command line.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from honeyguide.kernel.clock import iso
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import search
from honeyguide.referrals.search import FoundSubscriber
from honeyguide.store import Store

BATCH = 1_000
COLUMNS = (
    "email",
    "name",
    "status",
    "ref_code",
    "referral_link",
    "referrer_code",
    "referral_status",
    "referral_reason",
    "referrals_verified",
    "referrals_pending",
    "created_at",
    "uuid",
)


def line(site: Site, row: FoundSubscriber) -> tuple[str | int, ...]:
    return (
        row.email,
        row.name or "",
        row.status,
        row.ref_code,
        site.reader_link(row.ref_code),
        row.referrer_code or "",
        row.referral_status,
        row.referral_reason or "",
        row.referrals_verified,
        row.referrals_pending,
        iso(row.created_ms),
        row.id,
    )


async def batches(store: Store, tenant: Tenant, show: str) -> AsyncIterator[list[FoundSubscriber]]:
    """Oldest first, so that whoever signs up meanwhile comes last and nobody is missed or
    repeated."""
    sort = "newest" if show in ("pending", "rejected", "unsubscribed") else "oldest"
    place: search.Cursor | None = None
    while True:
        # In a snapshot, because an erasure in between would make a full batch look like the last.
        rows = await store.snapshot(search.ordered, tenant, show, sort, before=place, most=BATCH)
        if rows:
            yield rows
        if len(rows) < BATCH:
            return
        last = rows[-1]
        place = (last.received_ms if show in ("pending", "rejected") else last.created_ms, last.id)
