"""Publications: newsletters with an audience. The partner network searches their `search_text`."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log
from honeyguide.kernel import fields, public
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import audience, logos, program_stops
from honeyguide.partners.logos import StoredLogo
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import slugs

UNKNOWN = "There is no such publication."
FOLD_BATCH = 200


class Publication(NamedTuple):
    id: str
    account_id: str
    name: str
    description: str | None
    categories: list[str]
    list_id: str | None
    status: str
    logo_id: str
    enabled_partner_program: bool
    audience_gender: str
    income_levels: list[str]
    age_ranges: list[str]
    created_ms: int


class PublicationFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is. None clears a field that may be
    empty."""

    name: public.PublicationName | UnsetType = UNSET
    description: public.PublicationDescription | UnsetType | None = UNSET
    categories: audience.Categories | UnsetType = UNSET
    list_id: public.ListId | UnsetType | None = UNSET
    status: audience.PublicationStatus | UnsetType = UNSET
    audience_gender: audience.Gender | UnsetType = UNSET
    income_levels: audience.IncomeLevels | UnsetType = UNSET
    age_ranges: audience.AgeRanges | UnsetType = UNSET


class PublicationChanges(PublicationFields, frozen=True):
    """What callers may change once there is a publication, and perhaps a program."""

    enabled_partner_program: public.EnabledPartnerProgram | UnsetType = UNSET


_CHANGED = (*fields.columns(PublicationChanges), "logo_id")
_sql = beside(
    __file__,
    publication=Publication._fields,
    fields=fields.columns(PublicationFields),
    changed=_CHANGED,
)
_INSERT = _sql.command("insert")
_BY_ID = _sql.query("by_id", Publication)
_LOCK = _sql.value("lock", str)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", Publication)
_UPDATE = _sql.command("update")
_SET_ENABLED = _sql.command("set_enabled")
_IS_CLOSING = _sql.value("is_closing", int)
_DELETE = _sql.command("delete")
_WITHOUT_SEARCH_TEXT = _sql.query("without_search_text", Publication)
_SET_SEARCH_TEXT = _sql.command("set_search_text")
_PROGRAM_OF = _sql.value("program_of", str)
_INSERT_LOGO = _sql.command("insert_logo")
_LOGO = _sql.query("logo", StoredLogo)
_OWN_LOGO = _sql.query("own_logo", StoredLogo)

REQUIRED = ("name", "categories", "logo", "audience_gender", "income_levels", "age_ranges")


async def create(change: Change, given: PublicationFields, logo: StoredLogo) -> Publication:
    account_id, publication_id = change.tenant.account_id, new_id()
    columns = fields.defaults(PublicationFields) | fields.checked(PublicationFields, given)
    columns["logo_id"] = logo.id
    await add_logo(change.tx, account_id, logo)
    await change.run(_INSERT, id=publication_id, search_text=_search_text(columns), **columns)
    await change_log.record(change, "publication.created", publication_id, None, columns)
    return await get(change, publication_id)


def check_required(given: PublicationFields, has_logo: bool) -> None:
    """Checked before the logo is decoded, because decoding is expensive."""
    for param in REQUIRED:
        if (not has_logo) if param == "logo" else isinstance(getattr(given, param), UnsetType):
            raise Required(param)
    fields.checked(PublicationFields, given)


async def get(at: AccountReading, publication_id: str) -> Publication:
    found = await at.one(_BY_ID, id=publication_id) if is_id(publication_id) else None
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def get_locked(change: Change, publication_id: str) -> Publication:
    """Locked, because two changes at once would each write back what the other changed. Lock its
    program afterwards, if at all."""
    if not is_id(publication_id) or not await change.lock(_LOCK, id=publication_id):
        raise Missing(UNKNOWN)
    return await get(change, publication_id)


async def page_of(at: AccountReading, page: Page) -> tuple[list[Publication], int]:
    total = await at.one(_COUNT) or 0
    return await at.all(_LIST, most=page.per_page, skip=page.skip), total


async def update(
    change: Change, publication_id: str, given: PublicationChanges, logo: StoredLogo | None
) -> Publication:
    tx, account_id = change.tx, change.tenant.account_id
    old = await get_locked(change, publication_id)
    before = fields.as_stored(old, _CHANGED)
    columns = {**before, **fields.checked(PublicationChanges, given)}
    if given.enabled_partner_program is True:
        await _check_may_enable(tx, account_id)
    if logo is not None:
        await add_logo(tx, account_id, logo)
        columns["logo_id"] = logo.id
    states = await program_stops.states(change)
    await change.run(_UPDATE, id=old.id, search_text=_search_text(columns), **columns)
    await program_stops.follow(change, states)
    await change_log.record(change, "publication.changed", old.id, before, columns)
    return await get(change, publication_id)


async def delete(change: Change, publication_id: str) -> None:
    """Its program leaves the network and accepts no more signups. Pending referrals run to their
    end; history stays."""
    tx, account_id = change.tx, change.tenant.account_id
    publication = await get_locked(change, publication_id)
    states = await program_stops.states(change)
    await change.run(_DELETE, id=publication.id)
    await program_stops.follow(change, states)
    before = {"name": publication.name}
    await change_log.record(change, "publication.deleted", publication.id, before)
    program_id = await change.one(_PROGRAM_OF, id=publication.id)
    if program_id is not None:  # nobody can reach it any more to free its page's address
        await slugs.free(tx, account_id, program_id)


async def find_program_id(tx: Tx, publication: Publication) -> str | None:
    return await tx.one(_PROGRAM_OF, account_id=publication.account_id, id=publication.id)


async def _check_may_enable(tx: Tx, account_id: str) -> None:
    """A program of an account that is being closed stays off."""
    if await tx.one(_IS_CLOSING, account_id=account_id) is not None:
        raise Invalid("This account is being closed, so its programs stay off. Keep it first.")


async def set_enabled(tx: Tx, publication: Publication, enabled: bool) -> None:
    if enabled:
        await _check_may_enable(tx, publication.account_id)
    await tx.run(
        _SET_ENABLED, account_id=publication.account_id, id=publication.id, enabled=enabled
    )


def fold(text: str) -> str:
    """The same text for any spelling in capitals, small letters or compatibility characters."""
    return unicodedata.normalize("NFKC", text).casefold()


def _search_text(columns: dict[str, Any]) -> str:
    categories = json.loads(columns["categories"])
    return fold("\n".join([columns["name"], *categories, columns["description"] or ""]))


async def without_search_text(tx: Tx, *, most: int) -> list[Publication]:
    """Those that an earlier version left without."""
    return await tx.all(_WITHOUT_SEARCH_TEXT, most=most)


async def add_search_texts(tx: Tx, found: Sequence[Publication]) -> None:
    for each in found:
        await tx.run(
            _SET_SEARCH_TEXT,
            account_id=each.account_id,
            id=each.id,
            search_text=_search_text(fields.as_stored(each, each._fields)),
        )


async def add_logo(tx: Tx, account_id: str, logo: StoredLogo) -> None:
    """A picture that was stored before: a publication's logo, or one of a campaign's pictures. It
    may have its row already."""
    await tx.run(_INSERT_LOGO, **logo._asdict(), account_id=account_id)


async def get_own_logo(at: AccountReading, logo_id: str) -> StoredLogo:
    """A picture that this account uploaded."""
    found = await at.one(_OWN_LOGO, id=logo_id) if is_id(logo_id) else None
    if found is None:
        raise Required("logo")
    return found


async def get_logo(tx: Tx, logo_id: str) -> StoredLogo:
    found = await tx.one(_LOGO, id=logo_id) if is_id(logo_id) else None
    if found is None:
        raise Missing(logos.UNKNOWN)
    return found
