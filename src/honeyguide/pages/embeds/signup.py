"""A signup on the operator's own website, by the rules of the hosted page.

The answer is the same for every valid address: new, subscribed, unsubscribed, or sent by a robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from honeyguide.pages.embeds.endpoint import EmbedRequest
from honeyguide.pages.forms import whole_number
from honeyguide.pages.readers import forms, signup
from honeyguide.referrals.origins import Origin

# What a form of the operator's sends when its own consent box is checked.
OWN_CONSENT = "own"
# Nobody fills in a form faster.
LEAST_WAIT_MS = 1_000


async def subscribe(request: EmbedRequest) -> Mapping[str, Any]:
    await request.count()
    fields, brand = request.fields, request.brand
    new = signup.new_subscriber(request.http, fields, brand, Origin.EMBED)
    has_agreed = fields.get("consent") in (OWN_CONSENT, brand.campaign.consent_text_id)
    email = signup.checked(fields, brand, new, has_agreed=has_agreed)
    if not _is_robot(fields):
        now_ms = request.now_ms
        await signup.enter(request.services, brand, new, email, shown=None, now_ms=now_ms)
    return {"ok": True, "needs_confirmation": brand.needs_confirmation}


def _is_robot(fields: Mapping[str, str]) -> bool:
    """A call from the website's own code says no waiting time."""
    waited_ms = whole_number(fields.get("waited_ms", ""))
    return bool(fields.get(forms.TRAP)) or (waited_ms is not None and waited_ms < LEAST_WAIT_MS)
