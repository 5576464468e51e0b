"""Subscribers as lines of a file, a batch at a time, oldest first, for the dashboard and the
command line. An import of such a file gives all of it back.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from honeyguide.kernel.clock import iso
from honeyguide.kernel.site import Site
from honeyguide.moving import own_cells
from honeyguide.rewards import earned_rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.store.reading import Reading
from honeyguide.subscribers import codes, consents, notes, search, tags
from honeyguide.subscribers.consents import Consent
from honeyguide.subscribers.notes import SubscriberNote
from honeyguide.subscribers.search import FoundSubscriber
from honeyguide.subscribers.subscriber_filters import SubscriberFilter

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
    "tags",
    "utm_source",
    "utm_campaign",
    "codes",
    "adjustments",
    "ip_address",
    "claimed_code",
    "referral_due_at",
    "must_confirm",
    "notes",
    "consents",
    "earned_rewards",
)


class ExportedRow(NamedTuple):
    subscriber: FoundSubscriber
    tags: list[str]
    codes: list[str]
    notes: list[SubscriberNote]
    consents: list[Consent]
    earned: list[EarnedReward]


def line(site: Site, exported: ExportedRow) -> tuple[str | int, ...]:
    row = exported.subscriber
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
        ", ".join(exported.tags),
        row.utm_source or "",
        row.utm_campaign or "",
        " ".join(exported.codes),
        row.adjustments,
        row.ip_address or "",
        row.claimed_code or "",
        iso(row.referral_due_ms) if row.referral_due_ms is not None else "",
        "yes" if row.must_confirm else "",
        own_cells.of_notes(exported.notes),
        own_cells.of_consents(exported.consents),
        own_cells.of_earned(exported.earned),
    )


async def batch(
    at: Reading, filters: SubscriberFilter, *, after: search.Cursor | None
) -> tuple[list[ExportedRow], search.Cursor | None]:
    """The next rows, and after which one to continue; None if these were the last. Oldest first, so
    that whoever signs up meanwhile comes last and nobody is missed or repeated.
    """
    oldest_first = msgspec.structs.replace(filters, sort="oldest")
    rows, last = await search.export_part(at, oldest_first, after=after, most=BATCH)
    ids = [row.id for row in rows]
    tagged = await tags.of_subscribers(at, ids)
    further = await codes.of_subscribers(at, ids)
    noted = await notes.of_subscribers(at, ids)
    agreed = await consents.of_subscribers(at, ids)
    earned = await earned_rewards.earned_by_each(at, ids)
    lines = [
        ExportedRow(
            subscriber=row,
            tags=tagged.get(row.id, []),
            codes=further.get(row.id, []),
            notes=noted.get(row.id, []),
            consents=agreed.get(row.id, []),
            earned=earned.get(row.id, []),
        )
        for row in rows
    ]
    return lines, last
