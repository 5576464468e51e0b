"""What the buttons of the shipments page do: mark as sent and take that back, mark as delivered,
change the note, download what is selected.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.dashboard.rewards.shipments import (
    COLUMNS,
    csv_file,
    filters_of,
    line_of,
    sender_names,
)
from honeyguide.rewards import shipments
from honeyguide.rewards.shipments import Shipment
from honeyguide.store.change import Change

MOST_AT_ONCE = 200


async def mark(change: Change, request: PageRequest) -> Response:
    """The selected shipments, or the one whose own button was pressed. Both take the note."""
    where = filters_of(request).link(after=request.query.get("after", ""))
    one = request.text("one")
    # Sorted, so that two who select the same ones never wait for each other.
    ids = [one] if one else sorted(set(request.several("id")[:MOST_AT_ONCE]))
    do = request.text("do")
    if not ids:
        return request.go(where, "Select at least one shipment first.")
    if do == "csv":
        found = [await shipments.get(change, shipment_id) for shipment_id in ids]
        return csv_file(request, [csv_text([COLUMNS, *map(line_of, found)])])
    if do == "unsend":
        return request.go(where, await _unsend(change, ids[0]))
    if do == "deliver":
        return request.go(where, await _deliver(change, ids))
    if do == "undeliver":
        done = await shipments.mark_undelivered(change, ids[0])
        return request.go(where, "It is on its way again." if done else "Nothing changed.")
    return await _send(change, request, ids, where)


async def _send(change: Change, request: PageRequest, ids: Sequence[str], where: str) -> Response:
    marked, sent_before, gone, batch = 0, [], 0, new_id()
    for shipment_id in ids:
        try:
            shipment, is_newly_sent = await shipments.mark_sent(
                change,
                shipment_id,
                by=request.who.email,
                tracking_note=request.text("tracking_note"),
                batch=batch,
            )
        except Missing:
            gone += 1
            continue
        if is_newly_sent:
            marked += 1
        else:
            sent_before.append(shipment)
    names = await sender_names(change) if sent_before else {}
    return request.go(
        where, _outcome(marked, sent_before, gone, names), undo=batch if marked else ""
    )


def _outcome(marked: int, sent_before: list[Shipment], gone: int, names: dict[str, str]) -> str:
    """What was done, and who was faster with the rest."""
    sentences = [f"{formats.plural(marked, 'shipment')} marked as sent."] if marked else []
    if sent_before:
        first = sent_before[0]
        who = formats.isolated(first.subscriber_name or first.email or "a deleted subscriber")
        by, on = names.get(first.sent_by or "", first.sent_by), formats.moment(first.sent_ms or 0)
        sentences.append(
            f"{formats.isolated(first.name)} for {who} was already marked as sent by {by} on {on}."
        )
    if len(sent_before) > 1:
        sentences.append(f"{len(sent_before) - 1} more had been sent too.")
    if gone:
        sentences.append(f"{formats.plural(gone, 'shipment')} left out: no address is left.")
    return " ".join(sentences)


async def _unsend(change: Change, shipment_id: str) -> str:
    if await shipments.mark_unsent(change, shipment_id):
        return "The shipment is under “To send” again."
    return "Nothing changed: it is not marked as sent, or no address is left."


async def _deliver(change: Change, ids: Sequence[str]) -> str:
    marked = sum([await shipments.mark_delivered(change, each) for each in ids])
    if not marked:
        return "Nothing changed: these were delivered already, or are not sent."
    return f"{formats.plural(marked, 'shipment')} marked as delivered."


async def change_note(change: Change, request: PageRequest) -> Response:
    where = filters_of(request).link(after=request.query.get("after", ""))
    tell = bool(request.text("tell"))
    changed = await shipments.change_note(
        change, request.text("edited"), request.text("tracking_note"), tell=tell
    )
    if not changed:
        return request.go(where, "Nothing changed.")
    more = " The subscriber gets an email with it in a minute." if tell else ""
    return request.go(where, f"The note is saved.{more}")
