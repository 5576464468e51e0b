"""The API page: keys by name, shown once, with lines that work as they stand."""

from __future__ import annotations

import json
import shlex
from typing import Any

from starlette.responses import Response

from honeyguide.accounts import keys
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.store.tx import Tx

PLACEHOLDER = "YOUR_API_KEY"


def _snippets(visit: Visit, key: str) -> list[tuple[str, str, str]]:
    """(title, language, text), each ready to paste, with the key in it."""
    base, address = visit.desk.settings.base_url, f"/v1/campaigns/{visit.owner.campaign_id}/subscribers"
    body = json.dumps({"email": "ana@example.org", "name": "Ana"})
    return [
        ("List your subscribers", "Shell", f"curl -H 'X-Api-Key: {key}' {shlex.quote(base + address)}"),
        (
            "Add one", "Shell",
            f"curl {shlex.quote(base + address)} \\\n  -H 'X-Api-Key: {key}' \\\n  -H 'Content-Type: application/json' \\\n"
            f"  -d {shlex.quote(body)}",
        ),
        (
            "The same from Python", "Python",
            f'import requests\n\nanswer = requests.post(\n    "{base}{address}",\n    headers={{"X-Api-Key": "{key}"}},\n'
            f'    json={body},\n)\nprint(answer.json()["subscriber"]["ref_code"])',
        ),
    ]  # fmt: skip


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(visit: Visit, status: int = 200, **values: Any) -> Response:
    found = await visit.read(lambda tx: keys.of_account(tx, visit.who.account_id))
    live = [key for key in found if key.revoked_ms is None]
    shown = {"key": "", "wrong": "", "given": "", **values}
    return await visit.page(
        "api.html", status, live=live, revoked=[key for key in found if key.revoked_ms is not None],
        snippets=_snippets(visit, shown["key"] or PLACEHOLDER), owner=visit.owner, rate=visit.desk.settings.rate_limit, **shown,
    )  # fmt: skip


async def create(visit: Visit) -> Response:
    async def make(tx: Tx) -> str:
        return await keys.create(tx, visit.who.account_id, name=visit.text("name"), now_ms=visit.now_ms)

    try:
        key = await visit.write(make)
    except Invalid as fault:
        words = "Give the key a name, such as the tool that will use it." if "blank" in fault.message else fault.message
        return await _page(visit, 400, wrong=words, given=visit.text("name"))
    # Not a redirect: the key must stand in this one answer and nowhere else.
    return await _page(visit, 201, key=key)


async def revoke(visit: Visit) -> Response:
    await visit.write(lambda tx: keys.revoke(tx, visit.who.account_id, visit.at("id"), now_ms=visit.now_ms))
    return visit.go("/api", "Revoked. It is refused from the next request on.")
