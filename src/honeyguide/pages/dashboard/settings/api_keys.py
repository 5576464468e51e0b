"""API keys: what each may do, until when, and when it was last used."""

from __future__ import annotations

import json
import shlex
from datetime import date
from typing import NamedTuple

from starlette.responses import Response

from honeyguide.accounts import keys
from honeyguide.accounts.key_states import (
    MOST_DAYS,
    OVERLAPS,
    USUAL_OVERLAP,
    Key,
    KeyState,
    expires_in_days,
)
from honeyguide.accounts.permissions import SCOPES
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.periods import day_of, days_later, start_of
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PAGE = "/account/keys"
KEY_PLACEHOLDER = "YOUR_API_KEY"
FORM = {
    "name": Field("Name", "Enter a name for the key, such as the tool that will use it."),
    "scopes": Field("Scopes"),
    "expires": Field("Expiry"),
    "date": Field("Last day"),
}
# Days until a key expires, as the form offers them.
ON_A_DATE = "date"
EXPIRIES = {
    "": "Never",
    "30": "In 30 days",
    "90": "In 90 days",
    "365": "In a year",
    ON_A_DATE: "On a date",
}
# How the pill of each state looks.
PILLS = {
    KeyState.ACTIVE: "good",
    KeyState.EXPIRES_SOON: "wait",
    KeyState.REPLACED: "wait",
    KeyState.EXPIRED: "bad",
    KeyState.REVOKED: "plain",
}


class ShownKey(NamedTuple):
    key: Key
    pill: str
    state: str
    until: str
    """When it ends or ended; empty if it never does."""
    scopes: str
    can_rotate: bool


def shown_key(key: Key, now_ms: int) -> ShownKey:
    state = key.state(now_ms)
    label, until = state.capitalize(), ""
    if key.revoked_ms is not None:
        until = formats.day(key.revoked_ms)
    elif key.expires_ms is not None:
        until = formats.moment(key.expires_ms)
        if state is KeyState.EXPIRES_SOON:
            label = f"Expires in {_left(key.expires_ms - now_ms)}"
        elif state is KeyState.ACTIVE:
            until = f"until {formats.day(key.expires_ms)}"
        elif state is KeyState.REPLACED:
            until = f"until {until}"
    scopes = ", ".join(key.scopes.split()) if key.scopes else "Everything"
    can_rotate = key.revoked_ms is None and key.replaced_by is None
    return ShownKey(key, PILLS[state], label, until, scopes, can_rotate)


def _left(ms: int) -> str:
    """Rounded up: something is left."""
    unit_ms, unit = (DAY_MS, "day") if ms > DAY_MS else (HOUR_MS, "hour")
    return formats.plural(-(-ms // unit_ms), unit)


async def show(at: Reading, request: PageRequest) -> PageView:
    return await _page(at, request)


async def _page(
    at: Reading, request: PageRequest, status: int = 200, *, new_key: str = ""
) -> PageView:
    now_ms = request.now_ms
    found = await keys.of_account(at.tx, request.who.account_id)
    shown = [shown_key(key, now_ms) for key in found]
    # An expired key that nothing replaced may be why a tool no longer works: it stays in sight.
    in_sight = [each for each in shown if each.can_rotate or each.key.state(now_ms).works]
    return request.view(
        "api_keys.html",
        status,
        shown=in_sight,
        ended=[each for each in shown if each not in in_sight],
        scopes=SCOPES,
        expiries=EXPIRIES,
        overlaps={name: label for name, (label, _) in OVERLAPS.items()},
        usual_overlap=USUAL_OVERLAP,
        entered=request.fields if request.errors else {},
        chosen=request.several("scopes") if request.errors else [],
        today=day_of(now_ms, request.zone),
        campaign_id=request.tenant.campaign_id,
        snippets=_snippets(request, new_key or KEY_PLACEHOLDER),
        rate_limit=request.services.settings.rate_limit,
        new_key=new_key,
    )


def _snippets(request: PageRequest, key: str) -> list[tuple[str, str]]:
    """Titles and code that is ready to paste, with the key in it."""
    base_url, campaign_id = request.services.settings.base_url, request.tenant.campaign_id
    url = f"{base_url}/v1/campaigns/{campaign_id}/subscribers"
    body = json.dumps({"email": "ana@example.org", "name": "Ana"})
    list_command = [f"curl {shlex.quote(url)}", f"-H 'X-Api-Key: {key}'"]
    add_command = [*list_command, "-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    python = [
        "import requests",
        "",
        "response = requests.post(",
        f'    "{url}",',
        f'    headers={{"X-Api-Key": "{key}"}},',
        f"    json={body},",
        ")",
        'print(response.json()["subscriber"]["ref_code"])',
    ]
    return [
        ("List your subscribers", " \\\n  ".join(list_command)),
        ("Add a subscriber", " \\\n  ".join(add_command)),
        ("Add a subscriber with Python", "\n".join(python)),
    ]


async def create(change: Change, request: PageRequest) -> PageView:
    forms.require(FORM, request.fields)
    key = await keys.create(
        change,
        name=request.text("name"),
        # A form of an earlier version has no such field.
        scopes=request.several("scopes") if request.text("access") == "some" else None,
        expires_ms=_expiry(request),
    )
    # Not a redirect: the key is in this one response and nowhere else.
    return await _page(change, request, 201, new_key=key)


def _expiry(request: PageRequest) -> int | None:
    choice = request.text("expires")
    if choice == ON_A_DATE:
        return _end_of_day(request)
    if choice not in EXPIRIES:
        raise Invalid("Choose when the key expires.", param="expires")
    return expires_in_days(int(choice), request.now_ms) if choice else None


def _end_of_day(request: PageRequest) -> int:
    """The key works on its last day."""
    today, text = day_of(request.now_ms, request.zone), request.text("date")
    try:
        last = date.fromisoformat(text if len(text) == len("2026-11-15") else "")
    except ValueError:
        raise Invalid("{field} must be a date such as 2026-11-15.", param="date") from None
    if not today <= last <= days_later(today, MOST_DAYS):
        raise Invalid("{field} must be today or later, within ten years.", param="date")
    return start_of(days_later(last, 1), request.zone)


async def rotate(change: Change, request: PageRequest) -> PageView:
    overlap = OVERLAPS.get(request.text("overlap") or USUAL_OVERLAP)
    if overlap is None:
        raise Invalid("Choose how long the old key still works.")
    key = await keys.rotate(change, request.at("id"), overlap_ms=overlap[1])
    return await _page(change, request, 201, new_key=key)


async def revoke(change: Change, request: PageRequest) -> Response:
    await keys.revoke(change, request.at("id"))
    return request.go(PAGE, "Key revoked. Requests with it are now refused.")
