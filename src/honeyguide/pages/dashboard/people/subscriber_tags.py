"""Tags for many subscribers at once: those selected in the list, or all that match its filter."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.dashboard.people import subscribers as listed
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx
from honeyguide.subscribers import search, subscriber_filters, tags

# How many are tagged in one transaction: few enough not to slow down others.
BATCH = 500


async def change(services: PageServices, request: PageRequest) -> Response:
    where, is_added = listed.back(request, "/subscribers"), request.text("do") != "remove"
    try:
        given = tags.split_tags(request.text("tag"), param="tag")
    except Invalid as fault:
        return request.go(where, fault.message_for("Tag"))
    if not given:
        return request.go(where, "Enter a tag first.")
    if request.text("all"):
        ids = await services.store.slow_snapshot(_all_matching, request)
    else:
        ids = request.several("id")[: listed.MOST_AT_ONCE]
    if not ids:
        return request.go(where, "Select at least one subscriber first.")
    changed = 0
    for start in range(0, len(ids), BATCH):
        part = ids[start : start + BATCH]
        changed += await services.store.write(_change_part, request, part, given, is_added)
    return request.go(where, f"{formats.plural(changed, 'subscriber')} changed.")


async def _all_matching(tx: Tx, request: PageRequest) -> list[str]:
    """Everybody whom the list's filter finds, as far as the list counts them."""
    query = dict(parse_qsl(request.text("query")))
    filters, faults = subscriber_filters.read_filter(query, request.who.time_zone)
    if faults:
        raise faults[0]
    return await search.find_ids(request.reading(tx), filters)


async def _change_part(
    tx: Tx, request: PageRequest, ids: list[str], given: list[str], is_added: bool
) -> int:
    """How many of them are here."""
    if is_added:
        return await tags.add(request.change(tx), ids, given)
    return await tags.remove(request.change(tx), ids, given)
