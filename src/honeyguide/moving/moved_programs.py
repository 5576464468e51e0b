"""Publications and partner programs of another service, created here. A program begins paused and
is not listed in the partner network, so nothing is charged before its owner resumes it.

What cannot be created stays as a document with the reason.
"""

from __future__ import annotations

from decimal import Decimal

import msgspec

from honeyguide.kernel.errors import Fault, Invalid
from honeyguide.moving import moved_documents
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.moving.moved_documents import RemoteDocument
from honeyguide.partners import programs, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.partners.programs import ProgramFields
from honeyguide.partners.publications import PublicationFields
from honeyguide.store.change import Change

NO_LOGO = "It has no logo that we could fetch. Create it by hand."
NO_PUBLICATION = "Its publication was not created here."


def logo_url(document: RemoteDocument) -> str:
    for name in ("logo_url", "logo"):
        url = document.values.get(name)
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            return url
    return ""


def publication_fields(document: RemoteDocument) -> PublicationFields:
    """What of it can be set here; an error if something required is missing or wrong."""
    try:
        given = msgspec.json.decode(document.content, type=PublicationFields)
    except msgspec.ValidationError as error:
        raise Invalid("It has another form: {problem}.", problem=str(error)[:200]) from None
    publications.check_required(given, has_logo=True)
    return given


def program_fields(document: RemoteDocument) -> ProgramFields:
    try:
        given = msgspec.json.Decoder(ProgramFields, float_hook=Decimal).decode(document.content)
    except msgspec.ValidationError as error:
        raise Invalid("It has another form: {problem}.", problem=str(error)[:200]) from None
    # The address of its page may be taken here.
    return msgspec.structs.replace(given, slug=msgspec.UNSET, show_in_directory=False)


async def add_publication(
    change: Change, fetch: RemoteFetch, document: RemoteDocument, logo: StoredLogo | str
) -> None:
    """With a logo, or with the reason why it cannot be created."""
    document_id = await _add(change, fetch, FetchStage.PUBLICATIONS, document)
    if document_id is None:
        return
    made_id, note = None, logo if isinstance(logo, str) else ""
    if isinstance(logo, StoredLogo):
        made_id = (await publications.create(change, publication_fields(document), logo)).id
    await moved_documents.set_made(change, document_id, made_id, note)


async def add_program(
    change: Change, fetch: RemoteFetch, document: RemoteDocument, problem: str = ""
) -> None:
    """Paused. With a problem, only the document is kept."""
    tx = change.tx
    document_id = await _add(change, fetch, FetchStage.PARTNER_PROGRAMS, document)
    if document_id is None:
        return
    made_id, note = None, problem
    owner_uuid = str(document.values.get("publication_uuid") or "")
    owner = await moved_documents.find(
        change, FetchStage.PUBLICATIONS, fetch.base_url, owner_uuid[: moved_documents.UUID_LIMIT]
    )
    if not problem and (owner is None or owner.made_id is None):
        note = NO_PUBLICATION
    elif not problem and owner is not None and owner.made_id is not None:
        made_id = (await programs.create(change, owner.made_id, program_fields(document))).id
        publication = await publications.get(change, owner.made_id)
        await publications.set_enabled(tx, publication, False)
    await moved_documents.set_made(change, document_id, made_id, note)


async def _add(
    change: Change, fetch: RemoteFetch, kind: FetchStage, document: RemoteDocument
) -> str | None:
    return await moved_documents.add(change, kind, fetch.base_url, document)


def reason(fault: Fault) -> str:
    return fault.message_for(fault.param)
