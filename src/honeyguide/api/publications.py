"""v2 publications. The logo is a form file, or a data URI or base64 in JSON. It is re-encoded
before it is stored."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import UNSET

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, listed
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


async def prepare_create(call: Call[bodies.PublicationCreate]) -> WithLogo[PublicationFields]:
    body = call.body
    publications.check_required(body, has_logo=body.logo not in ("", UNSET))
    return WithLogo(body, await _stored(call, body.logo))


async def prepare_update(call: Call[bodies.PublicationUpdate]) -> WithLogo[PublicationChanges]:
    body = call.body
    # A client that sends back what it read sends the logo's URL: keep the stored logo.
    is_new = body.logo is not UNSET and not body.logo.startswith(logo_url(call.site, ""))
    return WithLogo(body, await _stored(call, body.logo) if is_new else None)


async def _stored(call: Call[Any], logo: object) -> StoredLogo:
    assert isinstance(logo, str)
    clean = await logos.sanitize_apart(logos.decode_field(logo))
    return await logos.store(clean, call.site.logo_folder)


async def create_publication(
    change: Change, call: Call[WithLogo[PublicationFields]]
) -> OnePublication:
    """Create a publication.

    As JSON, with the logo as base64 or a data URI, or as `multipart/form-data`, with the logo as a
    file.
    """
    assert call.body.logo is not None
    made = await publications.create(change, call.body.fields, call.body.logo)
    return OnePublication(publication_view(change.site, made))


async def list_publications(at: Reading, call: Call[None]) -> Listed[PublicationList]:
    """List publications.

    Your own, newest first, archived ones included.
    """
    page = call.page
    rows, total = await publications.page_of(at, page)
    shown = [publication_view(at.site, row) for row in rows]
    return listed(PublicationList, PublicationMeta, shown, page, total)


async def get_publication(at: Reading, call: Call[None]) -> OnePublication:
    """Get a publication.

    One of your own.
    """
    found = await publications.get(at, call.path["uuid"])
    return OnePublication(publication_view(at.site, found))


async def update_publication(
    change: Change, call: Call[WithLogo[PublicationChanges]]
) -> OnePublication:
    """Update a publication.

    Only the fields you send change. You can send back the `logo` that a response has: it stays as
    it is. Takes `multipart/form-data`, too.
    """
    changed = await undone_stops.update_publication(
        change, call.path["uuid"], call.body.fields, call.body.logo
    )
    return OnePublication(publication_view(change.site, changed))


async def delete_publication(change: Change, call: Call[None]) -> Message:
    """Delete a publication.

    Its program leaves the partner network and accepts no more signups. Pending referrals run to
    their end, and charges stay.
    """
    await publications.delete(change, call.path["uuid"])
    return Message("The publication was deleted.")
