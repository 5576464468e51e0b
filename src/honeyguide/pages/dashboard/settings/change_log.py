"""The change log: who changed what and when, to read, to search and to download."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response, StreamingResponse

from honeyguide.accounts import keys, members
from honeyguide.events import change_search
from honeyguide.events.change_log import LoggedChange
from honeyguide.events.change_search import ChangeFilter, LogPlace
from honeyguide.events.logged_actions import GROUP_NAMES, ChangeGroup
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.periods import Period
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.settings import change_words
from honeyguide.pages.dashboard.settings.change_words import LoggedSentence, LogNames
from honeyguide.pages.downloads import attachment
from honeyguide.pages.services import PageServices
from honeyguide.partners import logged_subjects
from honeyguide.store.reading import AccountReading, Reading, reads_account
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers

PER_PAGE = 50
DOWNLOAD_BATCH = 500
LONGEST_TEXT = 100
HERE = "/account/changes"
# The names of the filters in the address.
FILTERS = ("by", "about", "q", "from", "to")
COLUMNS = (
    "changed_at",
    "actor_kind",
    "actor",
    "actor_name",
    "action",
    "subject",
    "subject_name",
    "change",
    "before",
    "after",
)


class Chosen(NamedTuple):
    """What the address asks for, as it was given, and what is wrong with it."""

    given: dict[str, str]
    filters: ChangeFilter
    errors: dict[str, str]


async def show(at: Reading, request: PageRequest) -> PageView:
    chosen = await _chosen(at.tx, request)
    account_id = request.who.account_id
    after = _place(request.query.get("before", ""))
    found = await change_search.find(at.tx, account_id, chosen.filters, after=after, most=PER_PAGE)
    key_names = await _key_names(at)
    shown = await _shown(at, found.entries, key_names)
    by_day = groupby(shown, lambda each: formats.day_in(each.entry.changed_ms, request.zone))
    return request.view(
        "change_log.html",
        days=[(day, list(rows)) for day, rows in by_day],
        given=chosen.given,
        errors=chosen.errors,
        actors=await _actors(at, request, key_names),
        groups=[(each.value, name) for each, name in GROUP_NAMES.items()],
        zone=request.zone,
        is_first=after is None,
        is_cut=found.is_cut,
        first=_address(HERE, chosen.given),
        next=_address(HERE, chosen.given, before=_written(found.after)) if found.after else "",
        csv=_address(f"{HERE}.csv", chosen.given),
        json=_address(f"{HERE}.jsonl", chosen.given),
    )


async def csv(services: PageServices, request: PageRequest) -> Response:
    """As a table. What was before and after is JSON, as in the log."""
    return await _download(services, request, "csv", "text/csv; charset=utf-8", _csv_rows)


async def json_lines(services: PageServices, request: PageRequest) -> Response:
    return await _download(services, request, "jsonl", "application/jsonl", _json_rows)


def _csv_rows(records: Sequence[dict[str, Any]], *, is_first: bool) -> str:
    rows = [[_cell(record[name]) for name in COLUMNS] for record in records]
    return csv_text([COLUMNS, *rows] if is_first else rows)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _json_rows(records: Sequence[dict[str, Any]], *, is_first: bool) -> str:
    return "".join(f"{msgspec.json.encode(record).decode()}\n" for record in records)


async def _download(
    services: PageServices,
    request: PageRequest,
    extension: str,
    media_type: str,
    write: Callable[..., str],
) -> Response:
    chosen = await services.store.read(_chosen, request)
    if chosen.errors:
        raise Invalid("{message}", message=next(iter(chosen.errors.values())))
    day = formats.day(request.now_ms).replace(" ", "-")
    return StreamingResponse(
        _parts(services, request.who.account_id, chosen.filters, write),
        media_type=media_type,
        headers=attachment(f"changes-{day}.{extension}"),
    )


async def _parts(
    services: PageServices, account_id: str, filters: ChangeFilter, write: Callable[..., str]
) -> AsyncIterator[str]:
    """Sent as it is read."""
    after: LogPlace | None = None
    is_first = True
    while is_first or after is not None:
        records, after = await services.store.replica_snapshot(
            reads_account(_batch, services.site, account_id, services.clock()), filters, after
        )
        yield write(records, is_first=is_first)
        is_first = False


async def _batch(
    at: AccountReading, filters: ChangeFilter, after: LogPlace | None
) -> tuple[list[dict[str, Any]], LogPlace | None]:
    found = await change_search.find(
        at.tx, at.account_id, filters, after=after, most=DOWNLOAD_BATCH
    )
    names = await _names(at, found.entries, await _key_names(at))
    rows = [change_words.as_record(change_words.show(each, names), names) for each in found.entries]
    return rows, found.after


# -- names


async def _shown(
    at: AccountReading, entries: list[LoggedChange], key_names: dict[str, str]
) -> list[LoggedSentence]:
    names = await _names(at, entries, key_names)
    return [change_words.show(entry, names) for entry in entries]


async def _names(
    at: AccountReading, entries: list[LoggedChange], key_names: dict[str, str]
) -> LogNames:
    ids = [each for entry in entries for each in (entry.subject_id, entry.actor_id)]
    return LogNames(await logged_subjects.names_of(at, ids), key_names)


async def _key_names(at: AccountReading) -> dict[str, str]:
    return {key.id: key.name for key in await keys.of_account(at.tx, at.account_id)}


async def _actors(
    at: Reading, request: PageRequest, key_names: dict[str, str]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """What can be chosen, in groups: kinds, members, API keys."""
    joined = await members.of_account(at.tx, request.who.account_id)
    return [
        ("Kinds", [(kind.value, name) for kind, name in change_words.ACTOR_KINDS.items()]),
        ("Members", [(f"member:{each.user_id}", each.shown_name) for each in joined]),
        ("API keys", [(f"api_key:{key_id}", name) for key_id, name in key_names.items()]),
    ]


# -- filters


async def _chosen(tx: Tx, request: PageRequest) -> Chosen:
    given = {name: request.query.get(name, "").strip() for name in FILTERS}
    errors: dict[str, str] = {}
    since, until = (_day(given[name], name, errors) for name in ("from", "to"))
    if since and until and since > until:
        errors["to"] = "The last day is before the first."
        since = until = None
    if len(given["q"]) > LONGEST_TEXT:
        errors["q"] = f"Search for at most {LONGEST_TEXT} characters."
        given["q"] = given["q"][:LONGEST_TEXT]
    kind, _, actor_id = given["by"].partition(":")
    is_kind = kind in tuple(ActorKind)
    group = given["about"]
    filters = ChangeFilter(
        actor_kind=kind if is_kind else "",
        actor_id=actor_id if is_kind and is_id(actor_id) else "",
        group=ChangeGroup(group) if group in tuple(ChangeGroup) else None,
        text=given["q"],
        subject_id=await _subject(request.reading(tx), given["q"]),
    )
    if since:
        filters = filters._replace(since_ms=Period(since, since, request.zone).since_ms)
    if until:
        filters = filters._replace(until_ms=Period(until, until, request.zone).until_ms)
    return Chosen(given, filters, errors)


def _day(text: str, name: str, errors: dict[str, str]) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        errors[name] = "Enter a date such as 2026-11-15."
        return None


async def _subject(at: Reading, text: str) -> str:
    """Whom an email address names: the log has only their id."""
    if "@" not in text:
        return ""
    found = await subscribers.find(at, text)
    return found.id if found else ""


def _address(path: str, given: dict[str, str], **more: str) -> str:
    query = urlencode({name: value for name, value in {**given, **more}.items() if value})
    return f"{path}?{query}" if query else path


def _written(place: LogPlace) -> str:
    return f"{place.changed_ms}-{place.id}"


def _place(text: str) -> LogPlace | None:
    """None for the beginning, and for what is no place."""
    ms, _, entry_id = text.partition("-")
    is_number = ms.isascii() and ms.isdecimal() and len(ms) <= 15
    return LogPlace(int(ms), entry_id) if is_number and is_id(entry_id) else None
