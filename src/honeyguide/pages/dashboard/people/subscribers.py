"""Subscribers: find, filter and sort them, and act on many at once.

The URL holds the whole state of the list. Lists of everybody, of referrals and of advocates have
numbered pages; any other filter reads the campaign's subscribers until its page is full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response, StreamingResponse

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.moving import exporting
from honeyguide.moving.export_formats import ExportFormat
from honeyguide.pages import forms, redirects
from honeyguide.pages.dashboard import confirm, formats, nav, undo
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people import subscriber_filters as filter_form
from honeyguide.pages.dashboard.people.subscriber_filters import CHOICES
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.signups import (
    delayed_actions,
    delayed_kinds,
    departures,
    first_looks,
    paid_referrals,
    signups,
)
from honeyguide.signups.delayed_kinds import DelayedKind
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx
from honeyguide.subscribers import (
    referral_decisions,
    saved_filters,
    search,
    subscriber_filters,
    subscribers,
    tags,
)
from honeyguide.subscribers.search import Cursor, FoundSubscriber
from honeyguide.subscribers.subscriber_filters import SubscriberFilter

PER_PAGE = 50
MOST_AT_ONCE = 200
# What is sent as `do`.
DECISIONS = {kind.name: kind for kind in (delayed_kinds.VERIFY, delayed_kinds.REJECT)}
SAY_WHY = "Your team ended a subscription before the fee was decided, so say why you reject it."
REASON = {"decision_reason": Field("Reason")}
VERDICTS = (*DECISIONS, "erase")
ERASED = (
    " from every list, email and log. Rewards they earned and fees already charged stay. "
    "This cannot be undone."
)
# The filters, as URL queries, whose lists have a page index.
_INDEXED = {"": "all", "referred_by=anyone": "referrals", "min_referrals=1": "advocates"}


class ListPage(NamedTuple):
    """One page of the list, and the links to its neighbors."""

    rows: list[FoundSubscriber]
    found: str
    """How many match: 1,204, or 10,000+."""
    previous: str = ""
    next: str = ""
    place: str = ""
    """"Page 2 of 5", where pages are numbered."""


class Done(NamedTuple):
    """How many of several subscribers were changed, and why the others were not."""

    done: int
    refused: Counter[str]
    """How many were refused with which sentence."""


NEW_FORM = {
    "email": Field("Email address", "Enter an email address."),
    "name": Field("Name"),
    "referrer_code": Field("Referrer’s code"),
    "status": Field("Status"),
}


# How many subscribers are tagged in one transaction: few enough not to slow down others.
TAG_BATCH = 500


def read_cursor(text: str) -> Cursor | None:
    """The first or last row of another page, as "number.id"."""
    digits, _, row_id = text.partition(".")
    number = forms.whole_number(digits, digits=16)
    return Cursor(number, row_id) if number is not None and row_id else None


def link(filters: SubscriberFilter, **more: object) -> str:
    """The list with this filter, at this page."""
    query = urlencode({**filters.fields, **{name: str(value) for name, value in more.items()}})
    return f"/subscribers?{query}" if query else "/subscribers"


async def show(services: PageServices, request: PageRequest) -> PageView | Response:
    # A form sends each of its fields; the address keeps those that say something.
    given = {
        name: value
        for name, value in request.query.items()
        if value.strip() and (name, value) != ("sort", SubscriberFilter().sort)
    }
    if given != request.query:
        return request.go(f"/subscribers?{urlencode(given)}" if given else "/subscribers")
    filters, faults = subscriber_filters.read_filter(request.query, request.who.time_zone)
    kind = _INDEXED.get(filters.query)
    if faults:
        errors = filter_form.errors_of(faults)
        return await services.store.snapshot(_show_errors, request, filters, errors)
    if kind is not None:
        return await services.store.snapshot(_show_numbered, request, filters, kind)
    return await services.store.replica_snapshot(_show_found, request, filters)


async def _show_numbered(
    tx: Tx, request: PageRequest, filters: SubscriberFilter, kind: str
) -> PageView:
    at = request.reading(tx)
    page, listed, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: subscribers.page_of(at, kind, page)
    )
    number = page.page
    rows = await search.of_ids(at, [row.id for row in listed])
    pages = page.total_pages(total)
    shown = ListPage(
        rows=rows,
        found=formats.number(total),
        previous=link(filters, page=number - 1) if number > 1 else "",
        next=link(filters, page=number + 1) if number < pages else "",
        place=f"Page {number:,} of {pages:,}" if pages > 1 else "",
    )
    return await _view(at, request, filters, shown)


async def _show_found(tx: Tx, request: PageRequest, filters: SubscriberFilter) -> PageView:
    at = request.reading(tx)
    before, after = (read_cursor(request.query.get(name, "")) for name in ("before", "after"))
    found = await search.find_page(at, filters, before=before, after=after, per_page=PER_PAGE)
    shown = ListPage(
        rows=found.rows,
        found=formats.up_to(search.MOST_COUNTED, found.total),
        previous=_link_to(filters, "after", found.previous),
        next=_link_to(filters, "before", found.next),
    )
    return await _view(at, request, filters, shown)


def _link_to(filters: SubscriberFilter, name: str, cursor: Cursor | None) -> str:
    return "" if cursor is None else link(filters, **{name: f"{cursor.at}.{cursor.id}"})


async def _show_errors(
    tx: Tx, request: PageRequest, filters: SubscriberFilter, errors: dict[str, str]
) -> PageView:
    """Without a page of the list, because the filter is wrong."""
    return await _view(request.reading(tx), request, filters, None, errors)


async def _view(
    at: Reading,
    request: PageRequest,
    filters: SubscriberFilter,
    shown: ListPage | None,
    errors: dict[str, str] | None = None,
) -> PageView:
    request.menu = await nav.load(at, request.who)
    rows = shown.rows if shown else []
    saved = await saved_filters.of_campaign(at)
    place = {
        name: request.query[name] for name in ("page", "before", "after") if name in request.query
    }
    return request.view(
        "subscribers.html",
        400 if errors else 200,
        rows=rows,
        partners=await paid_referrals.partner_names(
            at, [row.id for row in rows if row.is_from_partner]
        ),
        shown=shown,
        total=request.menu.subscribers,
        tags_of=await tags.of_subscribers(at, [row.id for row in rows]),
        saved=saved,
        waiting=await delayed_actions.of_subjects(
            at, [*(row.id for row in rows), *(each.id for each in saved)]
        ),
        filters=filters,
        errors=errors or {},
        form=await filter_form.load(at, filters, request.query if errors else {}),
        here=link(filters, **place),
        zone=request.zone,
        most_tagged=search.MOST_COUNTED,
        unknown_codes=await search.count_unknown_codes(at, most=search.MOST_COUNTED),
    )


async def delay_decision(
    tx: Tx,
    request: PageRequest,
    kind: DelayedKind,
    ids: list[str],
    where: str,
    *,
    more: str = "",
) -> Response:
    """Verifies or rejects these in a minute, with the reason that the form has."""
    note = referral_decisions.check_note(request.text("decision_reason"), param="decision_reason")
    change = request.change(tx)
    await first_looks.check_sides(change, ids)
    if kind is delayed_kinds.REJECT and await departures.needs_why(change, ids, note):
        raise forms.FormErrors({"decision_reason": SAY_WHY})
    return await undo.delay(change, request, kind, ids, where, more=more, note=note)


async def erase_each(services: PageServices, request: PageRequest, ids: list[str]) -> Done:
    """Each has its own transaction, so that one that is refused does not stop the rest."""
    done, refused = 0, Counter[str]()
    for subscriber_id in dict.fromkeys(ids):
        try:
            await services.store.write(_erase_one, request, subscriber_id)
            done += 1
        except (Invalid, Missing) as fault:
            refused[fault.message] += 1
    return Done(done, refused)


async def _erase_one(tx: Tx, request: PageRequest, subscriber_id: str) -> None:
    await signups.erase(request.change(tx), subscriber_id)


def back(request: PageRequest, otherwise: str) -> str:
    """The list that the form was on, if it is one of ours."""
    path = redirects.local_path(request.text("back"), otherwise)
    is_list = path.startswith(("/subscribers", "/review")) or path == "/"
    return path if is_list else otherwise


async def decide(services: PageServices, request: PageRequest) -> PageView | Response:
    where, ids, verdict = back(request, "/subscribers"), request.several("id"), request.text("do")
    if not ids:
        return request.go(where, "Select at least one subscriber first.")
    if verdict not in VERDICTS:
        raise Invalid("Choose an action: verify, reject or erase.")
    ids = ids[:MOST_AT_ONCE]
    if verdict in DECISIONS:
        kind = DECISIONS[verdict]
        return await services.store.write(delay_decision, request, kind, ids, where)
    who = formats.plural(len(ids), "subscriber")
    question = confirm.ask(request, f"{who} will be erased{ERASED}", f"Erase {who}")
    if question is not None:
        return question
    done, refused = await erase_each(services, request, ids)
    erased = f"{formats.plural(done, 'subscriber')} erased." if done else "Nothing changed."
    return request.go(where, " ".join([erased, *undo.refusals(done, refused)]))


async def export(services: PageServices, request: PageRequest) -> Response:
    filters, faults = subscriber_filters.read_filter(request.query, request.who.time_zone)
    if faults:
        raise faults[0]
    format_name = request.query.get("format", "") or ExportFormat.HONEYGUIDE
    form = ExportFormat(checks.one_of(format_name, tuple(ExportFormat), param="format"))
    day = formats.day(request.now_ms).replace(" ", "-")
    return StreamingResponse(
        _csv_parts(services, request, filters, form),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"subscribers-{day}.csv"),
    )


async def _csv_parts(
    services: PageServices, request: PageRequest, filters: SubscriberFilter, form: ExportFormat
) -> AsyncIterator[str]:
    """Sent as it is read: the file may be larger than our memory."""
    yield form.header
    after, is_last = None, False
    while not is_last:
        rows, after = await services.store.replica_snapshot(
            reads(exporting.batch, request.services.site, request.tenant, request.now_ms),
            filters,
            after=after,
        )
        yield form.text(services.site, rows)
        is_last = after is None


# /subscribers/new: adds one subscriber by hand, as the API does.
async def new_form(at: Reading, request: PageRequest) -> PageView:
    return request.view(
        "new_subscriber.html",
        given={"status": "active", **request.fields},
        statuses=CHOICES["status"],
    )


async def create(change: Change, request: PageRequest) -> Response:
    forms.require(NEW_FORM, request.fields)
    given: dict[str, Any] = {name: request.text(name) for name in NEW_FORM if request.text(name)}
    # The origin is the API's: in both cases the owner added them, so the same rules hold.
    made = await signups.sign_up(change, NewSubscriber(**given))
    flash = f"{made.email} was added."
    if "referrer_code" in given and made.referrer_code is None:
        flash += " Nobody here has that referral code, so no referral was counted."
    is_last = request.text("do") != "another"
    return request.go(f"/subscribers/{made.id}" if is_last else "/subscribers/new", flash)


async def change_tags(services: PageServices, request: PageRequest) -> Response:
    where, is_added = back(request, "/subscribers"), request.text("do") != "remove"
    try:
        given = tags.split_tags(request.text("tag"), param="tag")
    except Invalid as fault:
        return request.go(where, fault.message_for("Tag"))
    if not given:
        return request.go(where, "Enter a tag first.")
    if request.text("all"):
        ids = await services.store.slow_snapshot(_all_matching, request)
    else:
        ids = request.several("id")[:MOST_AT_ONCE]
    if not ids:
        return request.go(where, "Select at least one subscriber first.")
    changed = 0
    for start in range(0, len(ids), TAG_BATCH):
        part = ids[start : start + TAG_BATCH]
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
