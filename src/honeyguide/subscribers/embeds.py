"""What the operator's own websites may use: a public id for their HTML, and the origins that may
call the endpoints behind it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

MOST_ORIGINS = 20
SELECTOR_LIMIT = 200
KEEP_DAYS = (30, 0)
_PUBLIC_ID_LENGTH = 16
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PUBLIC_ID = re.compile(r"hg_[a-z0-9]{16}").fullmatch


class Embed(NamedTuple):
    account_id: str
    campaign_id: str
    public_id: str
    origins: str
    """One per line; empty while embedding is off."""
    keep_days: int
    form_selector: str

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    def lists(self, origin: str) -> bool:
        return origin in self.origins.splitlines()


class EmbedFields(msgspec.Struct, frozen=True):
    """What an operator may set."""

    origins: str = ""
    keep_days: int = 30
    form_selector: str = ""


class EmbedSignup(NamedTuple):
    id: str
    email: str
    name: str | None
    status: str
    referrer_code: str | None
    referral_status: str
    received_ms: int


_sql = beside(__file__)
_OF_CAMPAIGN = _sql.query("of_campaign", Embed)
_BY_PUBLIC_ID = _sql.query("by_public_id", Embed)
_SAVE = _sql.command("save")
_SWITCH_OFF = _sql.command("switch_off")
_LAST_SIGNUPS = _sql.query("last_signups", EmbedSignup)


async def find(at: Reading) -> Embed | None:
    return await at.one(_OF_CAMPAIGN)


async def find_by_public_id(tx: Tx, public_id: str) -> Embed | None:
    """None while embedding is off."""
    return await tx.one(_BY_PUBLIC_ID, public_id=public_id) if _PUBLIC_ID(public_id) else None


async def save(change: Change, fields: EmbedFields) -> None:
    """Creates the public id at the first time; it stays the same from then on."""
    if fields.keep_days not in KEEP_DAYS:
        raise Invalid("{field} must be 30 or 0.", param="keep_days")
    checks.text(fields.form_selector, param="form_selector", limit=SELECTOR_LIMIT)
    if not fields.form_selector.isprintable():
        raise Invalid("{field} must be one line of text.", param="form_selector")
    old = await find(change)
    new: dict[str, Any] = {
        "origins": "\n".join(parse_origins(fields.origins)),
        "keep_days": fields.keep_days,
        "form_selector": fields.form_selector,
    }
    await change.run(_SAVE, public_id=f"hg_{new_code(_PUBLIC_ID_LENGTH)}", **new)
    before = {name: getattr(old, name) for name in new} if old is not None else None
    await change_log.record(change, "embed.changed", change.tenant.campaign_id, before, new)


async def switch_off(change: Change) -> None:
    """No website can use it any more. The public id is kept: saving websites switches it on again,
    with the code that is in their HTML."""
    old = await find(change)
    if old is None or not old.origins:
        raise Missing("Embedding is off already.")
    await change.run(_SWITCH_OFF)
    before, after = {"origins": old.origins}, {"origins": ""}
    await change_log.record(change, "embed.changed", change.tenant.campaign_id, before, after)


async def last_signups(at: Reading, *, most: int) -> list[EmbedSignup]:
    """Newest first."""
    return await at.all(_LAST_SIGNUPS, most=most)


def parse_origins(text: str) -> list[str]:
    """The origins of the websites on these lines, as browsers write them, each once."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    origins = list(dict.fromkeys(parse_origin(line) for line in lines))
    if not origins:
        raise Invalid("Enter at least one website, such as https://example.com.", param="origins")
    if len(origins) > MOST_ORIGINS:
        raise Invalid("{field} can have at most {most}.", param="origins", most=MOST_ORIGINS)
    return origins


def parse_origin(text: str) -> str:
    """`https://Example.com:443/page` is `https://example.com`."""
    address = text if "://" in text else f"https://{text}"
    try:
        checks.http_url(address, param="origins")
        parts = urlsplit(address)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode().lower()
    except (Invalid, ValueError):
        raise Invalid(
            "“{line}” is not a website. Enter one per line, such as https://example.com.",
            param="origins",
            line=text[: checks.STRING_LIMIT],
        ) from None
    scheme = parts.scheme.lower()
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[scheme]) else f":{port}")
