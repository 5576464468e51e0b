"""Where a reader chooses, on their referral page, a code that is easy to remember."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from honeyguide.kernel.errors import Fault, Required
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import Field
from honeyguide.pages.readers import errors, hub
from honeyguide.pages.readers.page_route import ReaderRequest
from honeyguide.pages.readers.showing import see_other
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes

FIELDS = {"code": Field(translatable("Your code"), translatable("Please enter a code."))}


async def save(tx: Tx, request: ReaderRequest) -> Response:
    visitor = await hub.find_visitor(tx, request)
    request.check_form(f"code {visitor.person.id}")
    code = request.fields.get("code", "")
    if not code.strip():
        raise Required("code")
    await codes.choose(hub.change_of(tx, request, visitor), visitor.person.id, code)
    await hub.record_use(tx, request, visitor)
    return see_other(f"{hub.hub_url(request)}?chosen=1#your-link")


def form_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    return errors.by_field(language, fault, FIELDS)
