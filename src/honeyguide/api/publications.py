"""v2 publications. The logo is a form file, or a data URI or base64 in JSON, and is re-encoded before it is stored."""

from __future__ import annotations

from msgspec import UNSET

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, Route
from honeyguide.api.views import Message, View
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Required
from honeyguide.partners import logos, publications
from honeyguide.partners.publications import Publication, PublicationFields
from honeyguide.store.tx import Tx


class PublicationView(View, frozen=True):
    uuid: str
    name: str
    description: str | None
    categories: list[str]
    list_id: str | None
    status: str
    logo: str
    logo_url: str
    enabled_partner_program: bool
    audience_gender: str
    income_levels: list[str]
    age_ranges: list[str]
    created_at: str


class OnePublication(View, frozen=True):
    publication: PublicationView


class PublicationMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_publications: int


class Publications(View, frozen=True):
    publications: list[PublicationView]
    meta: PublicationMeta


def logo_url(call: Call, logo_id: str) -> str:
    return f"{call.site.base_url}/logos/{logo_id}"


def _shown(call: Call, p: Publication) -> PublicationView:
    address = logo_url(call, p.logo_id)
    return PublicationView(
        p.id,
        p.name,
        p.description,
        p.words("categories"),
        p.list_id,
        p.status,
        address,
        address,
        bool(p.enabled_partner_program),
        p.audience_gender,
        p.words("income_levels"),
        p.words("age_ranges"),
        iso(p.created_ms),
    )


def _fields(body: bodies.PublicationBody, *, null_is_absent: bool) -> PublicationFields:
    given = {name: getattr(body, name) for name in PublicationFields.__struct_fields__}
    if null_is_absent:
        given = {name: UNSET if value is None else value for name, value in given.items()}
    return PublicationFields(**given)


async def prepare_create(call: Call) -> None:
    body: bodies.PublicationCreate = call.body
    fields = _fields(body, null_is_absent=True)
    has_logo = isinstance(body.logo, str) and bool(body.logo)
    publications.check_required(fields, has_logo)
    assert isinstance(body.logo, str)
    call.prepared = (fields, await logos.sanitize_apart(logos.decode_field(body.logo)))


async def prepare_update(call: Call) -> None:
    body: bodies.PublicationUpdate = call.body
    fields = _fields(body, null_is_absent=False)
    logo = None
    # A client that sends back what it read sends the logo's URL: keep the stored logo.
    if isinstance(body.logo, str) and not _is_served(call, body.logo):
        logo = await logos.sanitize_apart(logos.decode_field(body.logo))
    elif body.logo is None:
        raise Required("logo", "{field} must not be null.")
    call.prepared = (fields, logo)


def _is_served(call: Call, logo: str) -> bool:
    return logo.startswith(f"{call.site.base_url}/logos/")


async def create(tx: Tx, call: Call) -> OnePublication:
    fields, logo = call.prepared
    made = await publications.create(
        tx, call.tenant.account_id, fields, logo, folder=call.site.logo_folder, now_ms=call.now_ms
    )
    return OnePublication(_shown(call, made))


async def list_all(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await publications.page_of(tx, call.tenant.account_id, page)
    meta = PublicationMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Publications([_shown(call, row) for row in rows], meta), page, total)


async def get(tx: Tx, call: Call) -> OnePublication:
    return OnePublication(
        _shown(call, await publications.get(tx, call.tenant.account_id, call.path["uuid"]))
    )


async def update(tx: Tx, call: Call) -> OnePublication:
    fields, logo = call.prepared
    changed = await publications.update(
        tx,
        call.tenant.account_id,
        call.path["uuid"],
        fields,
        logo,
        folder=call.site.logo_folder,
        now_ms=call.now_ms,
    )
    return OnePublication(_shown(call, changed))


async def delete(tx: Tx, call: Call) -> Message:
    await publications.delete(tx, call.tenant.account_id, call.path["uuid"], now_ms=call.now_ms)
    return Message("The publication was deleted.")


_BASE = "/v2/publications"

ROUTES = (
    Route(
        "POST",
        _BASE,
        create,
        "Create a publication",
        OnePublication,
        bodies.PublicationCreate,
        201,
        prepare=prepare_create,
        multipart=True,
    ),
    Route(
        "GET",
        _BASE,
        list_all,
        "List publications",
        Publications,
        query=("page", "per_page"),
        snapshot=True,
    ),
    Route("GET", f"{_BASE}/{{uuid}}", get, "Get a publication", OnePublication),
    Route(
        "PUT",
        f"{_BASE}/{{uuid}}",
        update,
        "Update a publication",
        OnePublication,
        bodies.PublicationUpdate,
        prepare=prepare_update,
        multipart=True,
    ),
    Route("DELETE", f"{_BASE}/{{uuid}}", delete, "Delete a publication", Message),
)
