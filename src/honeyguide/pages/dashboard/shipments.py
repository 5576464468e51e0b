"""Shipments: physical rewards to send, oldest first, and those that were sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response, StreamingResponse

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.languages import countries
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.referrals import rewards, shipments
from honeyguide.referrals.shipments import SENT, TO_SEND, Cursor, Shipment
from honeyguide.store.tx import Tx

PER_PAGE = 50
MOST_AT_ONCE = 200
CSV_BATCH = 1_000
# Larger counts are shown as "10,000+".
MOST_COUNTED = 10_000
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
)


class ShipmentFilters(NamedTuple):
    """What the URL asks for."""

    status: str
    reward_id: str | None
    after: Cursor | None

    def link(self, path: str = "/shipments", **more: str) -> str:
        status = SENT if self.status == SENT else ""
        state = {"show": status, "reward": self.reward_id or "", **more}
        kept = {name: value for name, value in state.items() if value}
        return f"{path}?{urlencode(kept)}" if kept else path


def _filters(request: PageRequest) -> ShipmentFilters:
    query = request.query
    status = SENT if query.get("show") == SENT else TO_SEND
    return ShipmentFilters(
        status,
        query.get("reward") or None if status == TO_SEND else None,
        listed.read_cursor(query.get("after", "")),
    )


async def show(tx: Tx, request: PageRequest) -> PageView:
    """One tab of the list, with what was typed if it was refused."""
    tenant, filters = request.tenant, _filters(request)
    rows = await _read(tx, request, filters, filters.after, PER_PAGE + 1)
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        at_ms, row_id = _cursor(rows[-1])
        further = filters.link(after=f"{at_ms}.{row_id}")
    limit = MOST_COUNTED + 1
    to_send = await shipments.count_open(tx, tenant, most=limit)
    sent = await shipments.count(tx, tenant, SENT, most=limit)
    offered = await rewards.of_campaign(tx, tenant)
    return request.view(
        "shipments.html",
        rows=rows,
        state=filters,
        is_sent=filters.status == SENT,
        to_send=formats.up_to(MOST_COUNTED, to_send),
        sent=formats.up_to(MOST_COUNTED, sent),
        by_reward=[
            (each.id, each.name, formats.up_to(MOST_COUNTED, each.to_send))
            for each in await shipments.count_open_by_reward(tx, tenant, most=limit)
        ],
        has_physical=any(each.kind == rewards.PHYSICAL for each in offered),
        export=filters.link("/shipments/export.csv"),
        here=filters.link(after=request.query.get("after", "")),
        first=filters.link(),
        further=further,
        chosen=request.several("id") if request.errors else [],
        tracking_note=request.text("tracking_note") if request.errors else "",
        days=lambda shipment: max(0, request.now_ms - shipment.claimed_ms) // DAY_MS,
        long_days=LONG_DAYS,
        sender=_sender,
    )


async def _read(
    tx: Tx, request: PageRequest, filters: ShipmentFilters, after: Cursor | None, most: int
) -> list[Shipment]:
    if filters.status == SENT:
        return await shipments.sent(tx, request.tenant, after=after, most=most)
    return await shipments.to_send(
        tx, request.tenant, reward_id=filters.reward_id, after=after, most=most
    )


def _cursor(last: Shipment) -> Cursor:
    return last.sent_ms or last.claimed_ms, last.id


def _sender(sent_by: str | None) -> str:
    return "the API" if sent_by == "api" else sent_by or ""


async def mark_sent(tx: Tx, request: PageRequest) -> Response:
    """Mark the selected shipments as sent, or one as not sent, or download them as CSV."""
    where = _filters(request).link(after=request.query.get("after", ""))
    # Sorted, so that two who select the same ones never wait for each other.
    ids = sorted(set(request.several("id")[:MOST_AT_ONCE]))
    if not ids:
        return request.go(where, "Select at least one shipment first.")
    if request.text("do") == "unsend":
        return await _mark_unsent(tx, request, ids[0], where)
    if request.text("do") == "csv":
        found = [await shipments.get(tx, request.tenant, shipment_id) for shipment_id in ids]
        return _csv_file(request, [csv_text([COLUMNS, *map(_line, found)])])
    marked, sent_before, gone = 0, [], 0
    for shipment_id in ids:
        try:
            shipment, is_mine = await shipments.mark_sent(
                request.change(tx),
                shipment_id,
                by=request.who.email,
                tracking_note=request.text("tracking_note"),
            )
        except Missing:
            gone += 1
            continue
        if is_mine:
            marked += 1
        else:
            sent_before.append(shipment)
    return request.go(where, _outcome(marked, sent_before, gone))


async def _mark_unsent(tx: Tx, request: PageRequest, shipment_id: str, where: str) -> Response:
    if await shipments.mark_unsent(request.change(tx), shipment_id):
        return request.go(where, "The shipment is under “To send” again.")
    return request.go(where, "Nothing changed: it is not marked as sent, or no address is left.")


def _outcome(marked: int, sent_before: list[Shipment], gone: int) -> str:
    """What was done, and who was faster with the rest."""
    sentences = [f"{formats.plural(marked, 'shipment')} marked as sent."] if marked else []
    if sent_before:
        first = sent_before[0]
        who = formats.isolated(first.subscriber_name or first.email or "a deleted subscriber")
        sentences.append(
            f"{formats.isolated(first.name)} for {who} was already marked as sent by "
            f"{_sender(first.sent_by)} on {formats.moment(first.sent_ms or 0)}."
        )
    if len(sent_before) > 1:
        sentences.append(f"{len(sent_before) - 1} more had been sent too.")
    if gone:
        sentences.append(f"{formats.plural(gone, 'shipment')} left out: no address is left.")
    return " ".join(sentences)


async def export(services: PageServices, request: PageRequest) -> Response:
    return _csv_file(request, _csv_parts(services, request))


def _csv_file(request: PageRequest, parts: Iterable[str] | AsyncIterator[str]) -> Response:
    day = formats.day(request.now_ms).replace(" ", "-")
    return StreamingResponse(
        parts,
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"shipments-{day}.csv"),
    )


async def _csv_parts(services: PageServices, request: PageRequest) -> AsyncIterator[str]:
    """Sent as it is read: the file may be larger than our memory."""
    yield csv_text([COLUMNS])
    filters, after, is_last = _filters(request), None, False
    while not is_last:
        rows = await services.store.read(_read, request, filters, after, CSV_BATCH)
        yield csv_text(map(_line, rows))
        is_last = len(rows) < CSV_BATCH
        after = None if is_last else _cursor(rows[-1])


def _line(row: Shipment) -> tuple[str, ...]:
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
    )
