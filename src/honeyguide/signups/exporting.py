"""All subscribers as lines of a file, a batch at a time, oldest first, for the dashboard and the
command line.
"""

from __future__ import annotations

from honeyguide.kernel.clock import iso
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import search
from honeyguide.referrals.search import FoundSubscriber
from honeyguide.store.tx import Tx

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


async def batch(
    tx: Tx, tenant: Tenant, show: str, *, after: search.Cursor | None
) -> tuple[list[FoundSubscriber], search.Cursor | None]:
    """The next rows, and after which one to continue; None if these were the last. Oldest first, so
    that whoever signs up meanwhile comes last and nobody is missed or repeated. Needs a snapshot,
    because an erasure in between would make a full batch look like the last.
    """
    sort = "newest" if show in ("pending", "rejected", "unsubscribed") else "oldest"
    rows = await search.ordered(tx, tenant, show, sort, before=after, most=BATCH)
    if len(rows) < BATCH:
        return rows, None
    last = rows[-1]
    at_ms = last.received_ms if show in ("pending", "rejected") else last.created_ms
    return rows, (at_ms, last.id)
