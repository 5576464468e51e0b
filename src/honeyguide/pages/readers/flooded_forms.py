"""What forms ask for while their code is flooded: work of the browser (`signups/proof_of_work`).
Without it the signup goes on, and its email can take longer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.requests import Request

from honeyguide.pages.readers import forms
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.signups import confirmations, proof_of_work
from honeyguide.store.reading import reads

# The field that a form has while it asks for work. It stays empty without any.
FIELD = "work"


async def find_challenge(
    services: ReaderServices,
    http: Request,
    brand: PageBranding,
    code: str | None,
    *,
    purpose: str,
    token: str,
    now_ms: int,
) -> str:
    """As JSON, for the form with this token; empty unless its code is flooded."""
    form = forms.find_shown(services.site, purpose, http, token, now_ms)
    if code is None or form is None or not brand.needs_confirmation:
        return ""
    waiting = await services.store.read(
        reads(confirmations.count_flood, services.site, brand.tenant, now_ms), code
    )
    if waiting is None:
        return ""
    return json.dumps(
        proof_of_work.challenge(services.site, form.token_hash, code, waiting=waiting)
    )


def has_worked(
    services: ReaderServices,
    fields: Mapping[str, str],
    form: ShownForm | None,
    code: str | None,
    now_ms: int,
) -> bool:
    """Whether the browser did what this form asked for. Anything else counts as no work."""
    return (
        form is not None
        and code is not None
        and proof_of_work.is_solved(
            services.site,
            form.token_hash,
            code,
            fields.get(FIELD, ""),
            shown_ms=form.shown_ms,
            now_ms=now_ms,
        )
    )
