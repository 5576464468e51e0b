"""Shipments: physical rewards to send, oldest first, those that were sent, and who has given no
address yet. What the buttons do is in `sent_shipments`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response, StreamingResponse

from honeyguide.accounts import members
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.languages import countries
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people import subscribers as listed
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.rewards import advocate_emails, rewards, shipments
from honeyguide.rewards.carriers import find_tracking
from honeyguide.rewards.shipments import SENT, TO_SEND, Cursor, Shipment
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

PER_PAGE = 50
CSV_BATCH = 1_000
# Larger counts are shown as "10,000+".
MOST_COUNTED = 10_000
# Earned, and no address yet.
UNCLAIMED = "unclaimed"
# After so many days somebody has waited for too long.
LONG_DAYS = 14
FORM = {"tracking_note": Field("Tracking note")}
COLUMNS = (
    "shipment_uuid",
    "claimed_at",
    "reward",
    "variant",
    "name",
    "address_line_1",
    "address_line_2",
    "city",
    "region",
    "postal_code",
    "country",
    "country_code",
    "phone",
    "email",
    "sent_at",
    "tracking_note",
    "delivered_at",
)


class ShipmentFilters(NamedTuple):
    """What the URL asks for."""

    status: str
    """To send, sent, or `UNCLAIMED`."""
    reward_id: str | None
    after: Cursor | None

    def link(self, path: str = "/shipments", **more: str) -> str:
        status = "" if self.status == TO_SEND else self.status
        state = {"show": status, "reward": self.reward_id or "", **more}
        kept = {name: value for name, value in state.items() if value}
        return f"{path}?{urlencode(kept)}" if kept else path


def filters_of(request: PageRequest) -> ShipmentFilters:
    query = request.query
    shown = query.get("show", "")
    status = shown if shown in (SENT, UNCLAIMED) else TO_SEND
    return ShipmentFilters(
        status,
        query.get("reward") or None if status == TO_SEND else None,
        listed.read_cursor(query.get("after", "")),
    )


async def show(at: Reading, request: PageRequest) -> PageView:
    """One tab of the list, with what was typed if it was refused."""
    filters = filters_of(request)
    unclaimed = await shipments.unclaimed(at, most=PER_PAGE + 1)
    if filters.status == UNCLAIMED:
        return request.view(
            "unclaimed.html", rows=unclaimed[:PER_PAGE], has_more=len(unclaimed) > PER_PAGE
        )
    rows = await _read(at.tx, request, filters, filters.after, PER_PAGE + 1)
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        at_ms, row_id = _cursor(rows[-1])
        further = filters.link(after=f"{at_ms}.{row_id}")
    limit = MOST_COUNTED + 1
    to_send = await shipments.count_open(at, most=limit)
    sent = await shipments.count(at, SENT, most=limit)
    offered = await at.fact(rewards.of_campaign)
    return request.view(
        "shipments.html",
        rows=rows,
        state=filters,
        is_sent=filters.status == SENT,
        to_send=formats.up_to(MOST_COUNTED, to_send),
        sent=formats.up_to(MOST_COUNTED, sent),
        by_reward=[
            (each.id, each.name, formats.up_to(MOST_COUNTED, each.to_send))
            for each in await shipments.count_open_by_reward(at, most=limit)
        ],
        emails_are_on=(await advocate_emails.switches_of(at)).shipment_sent,
        has_physical=any(each.kind == rewards.PHYSICAL for each in offered),
        unclaimed=formats.up_to(PER_PAGE, len(unclaimed)) if unclaimed else "",
        export=filters.link("/shipments/export.csv"),
        here=filters.link(after=request.query.get("after", "")),
        note_action=filters.link("/shipments/note", after=request.query.get("after", "")),
        first=filters.link(),
        further=further,
        chosen=request.several("id") if request.errors else [],
        edited=request.text("edited") if request.errors else "",
        tracking_note=request.text("tracking_note") if request.errors else "",
        days=lambda shipment: max(0, request.now_ms - shipment.claimed_ms) // DAY_MS,
        long_days=LONG_DAYS,
        senders=await sender_names(at) if filters.status == SENT else {},
        tracking=find_tracking,
    )


async def _read(
    tx: Tx, request: PageRequest, filters: ShipmentFilters, after: Cursor | None, most: int
) -> list[Shipment]:
    if filters.status == SENT:
        return await shipments.sent(request.reading(tx), after=after, most=most)
    return await shipments.to_send(
        request.reading(tx), reward_id=filters.reward_id, after=after, most=most
    )


def _cursor(last: Shipment) -> Cursor:
    return last.sent_ms or last.claimed_ms, last.id


async def sender_names(at: Reading) -> dict[str, str]:
    """How those are called who mark shipments as sent. Who left the team is known by email."""
    team = await members.of_account(at.tx, at.account_id)
    return {"api": "the API"} | {each.email: each.shown_name for each in team}


async def export(services: PageServices, request: PageRequest) -> Response:
    return csv_file(request, _csv_parts(services, request))


def csv_file(request: PageRequest, parts: Iterable[str] | AsyncIterator[str]) -> Response:
    day = formats.day(request.now_ms).replace(" ", "-")
    return StreamingResponse(
        parts,
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"shipments-{day}.csv"),
    )


async def _csv_parts(services: PageServices, request: PageRequest) -> AsyncIterator[str]:
    """Sent as it is read: the file may be larger than our memory."""
    yield csv_text([COLUMNS])
    filters, after, is_last = filters_of(request), None, False
    while not is_last:
        rows = await services.store.read(_read, request, filters, after, CSV_BATCH)
        yield csv_text(map(line_of, rows))
        is_last = len(rows) < CSV_BATCH
        after = None if is_last else _cursor(rows[-1])


def line_of(row: Shipment) -> tuple[str, ...]:
    address = row.address
    where = ("", "", "", "", "", "", "", "", "")
    if address is not None:
        where = (
            address.name,
            address.line1,
            address.line2 or "",
            address.city,
            address.region or "",
            address.postcode,
            address.country,
            countries.code_of(address.country),
            address.phone or "",
        )
    return (
        row.id,
        iso(row.claimed_ms),
        row.name,
        row.variant or "",
        *where,
        row.email or "",
        iso(row.sent_ms) if row.sent_ms else "",
        row.tracking_note or "",
        iso(row.delivered_ms) if row.delivered_ms else "",
    )
