"""A signup on the operator's own website, by the rules of the hosted page.

The answer is the same for every valid address: new, subscribed, unsubscribed, or sent by a robot. A
form that was used with another address is refused, whoever is subscribed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from honeyguide.pages.embeds.endpoint import EmbedRequest
from honeyguide.pages.forms import whole_number
from honeyguide.pages.readers import confirmations, flooded_forms, forms, signup, stopped
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.subscribers.origins import Origin

# What a form of the operator's sends when its own consent box is checked.
OWN_CONSENT = "own"
# Nobody fills in a form faster.
LEAST_WAIT_MS = 1_000


async def subscribe(services: ReaderServices, request: EmbedRequest) -> Mapping[str, Any]:
    await request.count()
    stopped.check(request.brand)
    fields = request.fields
    code = signup.code_of(signup.carried(fields, request.brand), request.brand)
    brand = await confirmations.for_code(services.store, request.brand, code, Origin.EMBED)
    shown = _find_shown(request)
    if shown is None:
        brand = confirmations.without_form(services.site, brand)
    visit = signup.visit_of(services.site, request.http, shown, now_ms=request.now_ms)
    new = signup.new_subscriber(request.http, fields, brand, Origin.EMBED, visit)
    has_agreed = fields.get("consent") in (OWN_CONSENT, brand.campaign.consent_text_id)
    email = signup.checked(fields, brand, new, has_agreed=has_agreed)
    if not _is_robot(fields):
        now_ms = request.now_ms
        worked = flooded_forms.has_worked(services, fields, shown, new.referrer_code, now_ms)
        await signup.enter(
            services, brand, new, email, shown=shown, has_worked=worked, now_ms=now_ms
        )
    return {"ok": True, "needs_confirmation": brand.needs_confirmation}


async def show_token(services: ReaderServices, request: EmbedRequest) -> Mapping[str, Any]:
    """For one signup, asked for when a visitor begins to fill in the form. While the visitor's code
    is flooded, with the work that makes its email go first."""
    await request.count_token()
    purpose, http, now_ms = _purpose(request), request.http, request.now_ms
    token = forms.single_use_token(services.site, purpose, http, now_ms)
    code = signup.code_of(signup.carried(http.query_params, request.brand), request.brand)
    brand = await confirmations.for_code(services.store, request.brand, code, Origin.EMBED)
    challenge = await flooded_forms.find_challenge(
        services, http, brand, code, purpose=purpose, token=token, now_ms=now_ms
    )
    return {"token": token, "challenge": json.loads(challenge)} if challenge else {"token": token}


def _purpose(request: EmbedRequest) -> str:
    return f"embed {request.embed.campaign_id} {request.origin}"


def _find_shown(request: EmbedRequest) -> ShownForm | None:
    """None without a token for this website, or if it has expired: a form of the operator's cannot
    be shown again, so the signup is taken and looked at."""
    token = request.fields.get("token", "")
    site, http = request.services.site, request.http
    return forms.find_shown(site, _purpose(request), http, token, request.now_ms)


def _is_robot(fields: Mapping[str, str]) -> bool:
    """A call from the website's own code says no waiting time."""
    waited_ms = whole_number(fields.get("waited_ms", ""))
    return bool(fields.get(forms.TRAP)) or (waited_ms is not None and waited_ms < LEAST_WAIT_MS)
