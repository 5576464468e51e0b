"""v2 publications. The logo is a form file, or a data URI or base64 in JSON. It is re-encoded
before it is stored."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from msgspec import UNSET

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, resource
from honeyguide.api.partner_views import (
    OnePublication,
    PublicationList,
    PublicationMeta,
    logo_url,
    publication_view,
)
from honeyguide.api.views import Message
from honeyguide.partners import logos, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.partners.publications import PublicationChanges, PublicationFields
from honeyguide.signups import undone_stops
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

F = TypeVar("F", bound=PublicationFields)


class WithLogo(NamedTuple, Generic[F]):
    """A body whose logo was decoded and stored before the transaction."""

    fields: F
    logo: StoredLogo | None


async def prepare_create(call: Call) -> WithLogo[PublicationFields]:
    body: bodies.PublicationCreate = call.body
    publications.check_required(body, has_logo=body.logo not in ("", UNSET))
    return WithLogo(body, await _stored(call, body.logo))


async def prepare_update(call: Call) -> WithLogo[PublicationChanges]:
    body: bodies.PublicationUpdate = call.body
    # A client that sends back what it read sends the logo's URL: keep the stored logo.
    is_new = body.logo is not UNSET and not body.logo.startswith(logo_url(call.site, ""))
    return WithLogo(body, await _stored(call, body.logo) if is_new else None)


async def _stored(call: Call, logo: object) -> StoredLogo:
    assert isinstance(logo, str)
    clean = await logos.sanitize_apart(logos.decode_field(logo))
    return await logos.store(clean, call.site.logo_folder)


async def create_publication(change: Change, call: Call) -> OnePublication:
    body: WithLogo[PublicationFields] = call.body
    assert body.logo is not None
    made = await publications.create(change, body.fields, body.logo)
    return OnePublication(publication_view(call.site, made))


async def list_publications(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await publications.page_of(at, page)
    meta = PublicationMeta(page.per_page, page.page, page.total_pages(total), total)
    shown = [publication_view(call.site, row) for row in rows]
    return Listed(PublicationList(shown, meta), page, total)


async def get_publication(at: Reading, call: Call) -> OnePublication:
    found = await publications.get(at, call.path["uuid"])
    return OnePublication(publication_view(call.site, found))


async def update_publication(change: Change, call: Call) -> OnePublication:
    body: WithLogo[PublicationChanges] = call.body
    changed = await undone_stops.update_publication(
        change, call.path["uuid"], body.fields, body.logo
    )
    return OnePublication(publication_view(call.site, changed))


async def delete_publication(change: Change, call: Call) -> Message:
    await publications.delete(change, call.path["uuid"])
    return Message("The publication was deleted.")


_BASE = "/v2/publications"

_publications = resource("Publications", right=Right.PARTNERS)

ROUTES = (
    _publications(
        "POST",
        _BASE,
        create_publication,
        summary="Create a publication",
        detail="As JSON, with the logo as base64 or a data URI, or as `multipart/form-data`, "
        "with the logo as a file.",
        body=bodies.PublicationCreate,
        answer=OnePublication,
        status=201,
        prepare=prepare_create,
        multipart=True,
    ),
    _publications(
        "GET",
        _BASE,
        list_publications,
        summary="List publications",
        detail="Your own, newest first, archived ones included.",
        query=("page", "per_page"),
        answer=PublicationList,
        snapshot=True,
    ),
    _publications(
        "GET",
        f"{_BASE}/{{uuid}}",
        get_publication,
        summary="Get a publication",
        detail="One of your own.",
        answer=OnePublication,
    ),
    _publications(
        "PUT",
        f"{_BASE}/{{uuid}}",
        update_publication,
        summary="Update a publication",
        detail="Only the fields you send change. You can send back the `logo` that a response "
        "has: it stays as it is. Takes `multipart/form-data`, too.",
        body=bodies.PublicationUpdate,
        answer=OnePublication,
        prepare=prepare_update,
        multipart=True,
    ),
    _publications(
        "DELETE",
        f"{_BASE}/{{uuid}}",
        delete_publication,
        summary="Delete a publication",
        detail="Its program leaves the partner network and accepts no more signups. Pending "
        "referrals run to their end, and charges stay.",
        answer=Message,
    ),
)
