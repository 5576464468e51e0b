"""Tracking numbers from a file: what each line would do, and then doing it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.moving import tracking_files
from honeyguide.moving.tracking_files import TrackingLine
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.rewards import shipments
from honeyguide.rewards.shipments import Shipment
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

FORM = {"file": Field("File"), "tracking_note": Field("The tracking number")}
SENDS, CHANGES, SAME = "sends", "changes", "same"

_decoder = msgspec.json.Decoder(list[TrackingLine])


class MatchedLine(NamedTuple):
    """A line of the file, with its shipment or what is wrong with it."""

    line: int
    note: str
    shipment: Shipment | None = None
    outcome: str = ""
    problem: str = ""


def match(
    lines: Sequence[TrackingLine], found: Mapping[str, Shipment]
) -> tuple[list[MatchedLine], list[MatchedLine]]:
    """What each line would do, and those that do nothing because something is wrong."""
    good, bad, seen = list[MatchedLine](), list[MatchedLine](), dict[str, int]()
    for each in lines:
        try:
            shipment = _shipment_of(each, found, seen)
            note = shipments.clean_note(each.note)
        except Invalid as fault:
            problem = fault.message_for(FORM["tracking_note"].label)
            bad.append(MatchedLine(each.line, each.note, problem=problem))
            continue
        seen[shipment.id] = each.line
        outcome = SENDS
        if shipment.sent_ms is not None:
            outcome = SAME if shipment.tracking_note == note else CHANGES
        good.append(MatchedLine(each.line, each.note, shipment, outcome))
    return good, bad


def _shipment_of(
    line: TrackingLine, found: Mapping[str, Shipment], seen: Mapping[str, int]
) -> Shipment:
    if not line.shipment_id:
        raise Invalid("This line names no shipment.")
    shipment = found.get(line.shipment_id)
    if shipment is None:
        raise Invalid("There is no such shipment, or its subscriber was deleted.")
    if shipment.id in seen:
        raise Invalid("Line {line} is about the same shipment.", line=seen[shipment.id])
    if not line.note:
        raise Invalid("There is no tracking number.")
    return shipment


async def show(at: Reading, request: PageRequest) -> PageView:
    return request.view("tracking_numbers.html", is_preview=False)


async def upload(services: PageServices, request: PageRequest) -> PageView | Response:
    """Shows what the file would do; the button below that does it."""
    if request.text("lines"):
        return await request.apply(_save, request)
    file = request.file("file")
    if file is None:
        raise Invalid("Choose a CSV file.", param="file")
    content = await file.read(tracking_files.MOST_BYTES + 1)
    try:
        lines = await asyncio.to_thread(tracking_files.read, content)
    except Invalid as fault:
        raise Invalid(fault.template, param="file", **fault.values) from None
    good, bad = await services.store.read(_match, request, lines)
    counts = Counter(each.outcome for each in good)
    kept = [line for line in lines if line.line in {each.line for each in good}]
    return request.view(
        "tracking_numbers.html",
        is_preview=True,
        good=good,
        bad=bad,
        counts=counts,
        lines=msgspec.json.encode(kept).decode(),
        file_name=file.filename,
    )


async def _match(
    tx: Tx, request: PageRequest, lines: Sequence[TrackingLine]
) -> tuple[list[MatchedLine], list[MatchedLine]]:
    ids = [each.shipment_id for each in lines if is_id(each.shipment_id)]
    return match(lines, await shipments.find_many(request.reading(tx), ids))


async def _save(change: Change, request: PageRequest) -> Response:
    try:
        lines = _decoder.decode(request.text("lines"))
    except msgspec.DecodeError:
        raise Invalid("Choose the file again.", param="file") from None
    if len(lines) > tracking_files.MOST_LINES:
        raise Invalid("The file has more than {most} lines.", most=tracking_files.MOST_LINES)
    # Anew: a colleague may have been faster.
    good, bad = await _match(change.tx, request, lines)
    batch, marked, changed = new_id(), 0, 0
    # Sorted, so that two who upload the same file never wait for each other.
    for each in sorted(good, key=lambda line: line.shipment.id if line.shipment else ""):
        assert each.shipment is not None
        if each.outcome == SENDS:
            _, is_newly_sent = await shipments.mark_sent(
                change,
                each.shipment.id,
                by=request.who.email,
                tracking_note=each.note,
                batch=batch,
            )
            marked += is_newly_sent
        elif each.outcome == CHANGES:
            tell = bool(request.text("tell"))
            changed += await shipments.change_note(change, each.shipment.id, each.note, tell=tell)
    return request.go(
        "/shipments", _outcome(marked, changed, len(bad)), undo=batch if marked else ""
    )


def _outcome(marked: int, changed: int, refused: int) -> str:
    sentences = []
    if marked:
        sentences.append(f"{formats.plural(marked, 'shipment')} marked as sent.")
    if changed:
        sentences.append(f"{formats.plural(changed, 'tracking note')} changed.")
    if refused:
        sentences.append(f"{formats.plural(refused, 'line')} left out.")
    return " ".join(sentences) or "Nothing changed: all of these were sent with this note before."
