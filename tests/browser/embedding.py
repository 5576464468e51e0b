"""Pages of the operator's website that embed things, and what became of their visitors."""

import html as html_module
import re
from typing import Any

from playwright.sync_api import Page

from honeyguide.subscribers import branding, hub_choices
from honeyguide.subscribers.branding import BrandFields
from honeyguide.subscribers.embeds import Embed
from tests.support.embeds import people
from tests.support.prizes import advocate, tenant_of
from tests.support.readings import change_of
from tests.support.service import Service
from tests.support.web import Operator

FORM = """<form method="post" action="/subscribe" {mark}>
<label>Email <input type="email" name="email" required></label>
<input type="hidden" name="code" data-honeyguide-field="ref">
<input type="hidden" name="medium" data-honeyguide-field="utm_medium">
<button>Join</button></form>"""
MARKED_FORM = FORM.format(mark="data-honeyguide")


def policy(ours: str) -> str:
    """The strictest one that the documentation asks for."""
    return f"default-src 'none'; script-src {ours}; connect-src {ours}; form-action 'self'"


def html(script: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>The Wax</title>{script}'
        f"<main><h1>The Wax</h1>{body}</main>"
    )


def tag(service: Service, embed: Embed, more: str = "") -> str:
    source = f"{service.url}/embed/honeyguide.js"
    return f'<script async src="{source}" data-campaign="{embed.public_id}" {more}></script>'


def copied(alice: Operator, label: str, query: str = "") -> str:
    """The code that the dashboard shows under this label."""
    page = alice.web.get(f"/look/embed?{query}").text
    found = re.search(rf'aria-label="{label}"><code>(.*?)</code>', page, re.S)
    assert found is not None
    return html_module.unescape(found[1])


def write_brand(alice: Operator, fields: BrandFields) -> None:
    alice.make(branding.save, fields)


def leader(alice: Operator, email: str) -> dict[str, Any]:
    """An advocate who agreed to be named on the leaderboard."""
    made = advocate(alice, 1, email=email)
    tenant, uuid = tenant_of(alice), made["uuid"]
    alice.service.write(
        lambda tx: hub_choices.save(
            change_of(tx, tenant), uuid, shows_name=True, on_leaderboard=True
        )
    )
    return made


def referrer_of(alice: Operator, email: str) -> str | None:
    """The code that a subscriber came with, once they are there."""
    row = people(alice).get(email)
    return str(row["referrer_code"]) if row else None


def visit(page: Page, url: str) -> None:
    """Opens a page that has the script, and looks at it for longer than a robot would."""
    page.clock.install()
    page.goto(url)
    page.wait_for_function("() => customElements.get('honeyguide-signup')")


def read_it(page: Page) -> None:
    """Time passes, as it does while people fill in a form."""
    page.clock.fast_forward(5_000)
