"""Files of tracking numbers, as a shipping service or a spreadsheet writes them: which shipment
each line is about, and its tracking note. Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.spreadsheets import unguarded
from honeyguide.moving import import_files

MOST_BYTES = 512 * 1024
MOST_LINES = 500
# The columns by the names that files give them; the first is what our own file says.
SHIPMENT = (
    "shipment_uuid",
    "shipment",
    "uuid",
    "id",
    "reference",
    "order",
    "order_id",
    "order_number",
    "order_reference",
)
TRACKING = (
    "tracking_note",
    "tracking_number",
    "tracking",
    "tracking_code",
    "tracking_no",
    "tracking_id",
    "barcode",
)
CARRIER = ("carrier", "carrier_name", "courier", "shipping_carrier", "provider")


class TrackingLine(NamedTuple):
    line: int
    shipment_id: str
    note: str


def read(data: bytes) -> list[TrackingLine]:
    """The lines of a CSV file, whatever its separator and encoding. For a thread."""
    if len(data) > MOST_BYTES:
        raise Invalid("The file is larger than {limit} KB. Split it.", limit=MOST_BYTES // 1024)
    header, lines = import_files.read(data, any_size=True)
    names = [_plain(name) for name in header]
    shipment, tracking, carrier = (_place(names, known) for known in (SHIPMENT, TRACKING, CARRIER))
    if shipment is None or tracking is None:
        raise Invalid(
            "The file needs a column {shipment} and a column {tracking}. Download the CSV, fill in "
            "{tracking} and upload it again.",
            shipment=SHIPMENT[0],
            tracking=TRACKING[0],
        )
    if not lines:
        raise Invalid("The file has no lines below its header.")
    if len(lines) > MOST_LINES:
        raise Invalid("The file has more than {most} lines. Split it.", most=MOST_LINES)
    return [
        TrackingLine(
            each.number,
            _cell(each.cells, shipment).lower(),
            _note(_cell(each.cells, carrier), _cell(each.cells, tracking)),
        )
        for each in lines
    ]


def _plain(name: str) -> str:
    return name.strip().strip("#.").strip().lower().replace(" ", "_").replace("-", "_")


def _place(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _cell(cells: Sequence[str], place: int | None) -> str:
    if place is None or place >= len(cells):
        return ""
    return " ".join(unguarded(cells[place]).split())


def _note(carrier: str, number: str) -> str:
    """With the carrier in front, unless the number has it already or there is none."""
    if not number or number.casefold().startswith(carrier.casefold()):
        return number
    return f"{carrier} {number}"
