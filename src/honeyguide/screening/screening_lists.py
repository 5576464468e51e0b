"""The block list and the allow list of a campaign: email addresses, domains and IP ranges.

An email address is kept as the keyed hash of its person, so that erasing somebody leaves nothing
of them here and they stay blocked. It also covers the aliases of the address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

EMAIL, DOMAIN, IP_RANGE = "email", "domain", "ip_range"
MOST = 1_000
# A household has an IPv6 /64, and signups are known by it. Wider ranges than these are mistakes.
NARROWEST_V6, WIDEST_V6, WIDEST_V4 = 64, 16, 8


class ListMatch(StrEnum):
    NOWHERE = "nowhere"
    BLOCKED = "blocked"
    ALLOWED = "allowed"


class ScreeningEntry(NamedTuple):
    id: str
    is_blocked: bool
    kind: str
    value: str
    hint: str | None
    added_ms: int

    @property
    def shown(self) -> str:
        if self.kind == EMAIL:
            return self.hint or "An erased email address"
        return self.value


class NewEntry(NamedTuple):
    kind: str
    value: str
    hint: str | None = None


_sql = beside(__file__)
_ALL = _sql.query("all", ScreeningEntry)
_RELEVANT = _sql.query("relevant", ScreeningEntry)
_OF_SUBSCRIBER = _sql.query("of_subscriber", ScreeningEntry)
_COUNT = _sql.value("count", int)
_PUT = _sql.command("put")
_REMOVE = _sql.command("remove")
_ERASE = _sql.command("erase")


def parse_entry(site: Site, text: str, *, param: str) -> NewEntry:
    """An email address, an IP address or range such as 203.0.113.0/24, or a domain."""
    text = text.strip().lower()
    if not text:
        raise Required(param)
    if "@" in text.removeprefix("@"):
        email = EmailAddress.parse(text)
        hint = f"{email.text[0]}…@{email.domain}"
        return NewEntry(EMAIL, site.person_key(email), hint)
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return NewEntry(DOMAIN, _domain(text.removeprefix("@"), param))
    if isinstance(network, ipaddress.IPv6Network):
        if network.prefixlen > NARROWEST_V6:
            network = network.supernet(new_prefix=NARROWEST_V6)
        widest = WIDEST_V6
    else:
        widest = WIDEST_V4
    if network.prefixlen < widest:
        raise Invalid("{field}: this IP range is too wide.", param=param)
    return NewEntry(IP_RANGE, str(network))


def _domain(text: str, param: str) -> str:
    try:
        return EmailAddress.parse(f"x@{text}").domain
    except Invalid:
        raise Invalid(
            "{field} must be an email address, a domain such as example.com, "
            "or an IP range such as 203.0.113.0/24.",
            param=param,
        ) from None


async def entries(at: Reading) -> list[ScreeningEntry]:
    """Of both lists, newest first."""
    return await at.all(_ALL)


async def of_subscriber(at: Reading, subscriber_id: str) -> ScreeningEntry | None:
    """The entry for their own email address."""
    return await at.one(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def add(change: Change, new: Iterable[NewEntry], *, is_blocked: bool) -> None:
    """To the block list or the allow list; what is on the other list moves."""
    listed = {(each.kind, each.value): each for each in await entries(change)}
    for each in new:
        old = listed.get((each.kind, each.value))
        entry_id = new_id() if old is None else old.id
        await change.run(_PUT, **each._asdict(), id=entry_id, is_blocked=is_blocked)
        before = None if old is None else _logged(old.kind, is_blocked=old.is_blocked)
        after = _logged(each.kind, is_blocked=is_blocked)
        await change_log.record(change, "screening_entry.added", entry_id, before, after)
    if (await change.one(_COUNT) or 0) > MOST:
        raise Invalid("The two lists can have {most:,} entries in all.", most=MOST)


async def remove(change: Change, entry_id: str) -> None:
    listed = {each.id: each for each in await entries(change)}
    if await change.run(_REMOVE, id=entry_id) and entry_id in listed:
        old = listed[entry_id]
        before = _logged(old.kind, is_blocked=old.is_blocked)
        await change_log.record(change, "screening_entry.removed", entry_id, before)


def _logged(kind: str, *, is_blocked: bool) -> dict[str, str]:
    """Without the value: it may be somebody's address, and the log outlives the entry."""
    return {"kind": kind, "list": "block" if is_blocked else "allow"}


async def erase(change: Change, subscriber_id: str) -> None:
    """Forgets whose address a hash stands for. The hash stays, so that a block holds."""
    await change.run(_ERASE, subscriber_id=subscriber_id)


async def find(
    at: Reading, person_keys: Iterable[str], emails: Iterable[EmailAddress]
) -> list[ScreeningEntry]:
    """The entries that may say something about these people."""
    domains = [domain for email in emails for domain in _with_parents(email.domain)]
    return await at.all(_RELEVANT, person_keys=list(person_keys), domains=domains)


def judge(
    found: list[ScreeningEntry],
    person_keys: Sequence[str],
    email: EmailAddress,
    ip_network: str | None = None,
) -> ListMatch:
    """An entry for the person outranks one for their domain or IP address. Otherwise the block list
    outranks the allow list."""
    own_by_key = {each.value: each for each in found if each.kind == EMAIL}
    # The key of today first: an entry for the earlier one is older.
    own = [own_by_key[key] for key in person_keys if key in own_by_key][:1]
    domains = _with_parents(email.domain)
    shared = [
        each
        for each in found
        if (each.kind == DOMAIN and each.value in domains)
        or (each.kind == IP_RANGE and ip_network and _contains(each.value, ip_network))
    ]
    for matching in (own, shared):
        if matching:
            is_blocked = any(each.is_blocked for each in matching)
            return ListMatch.BLOCKED if is_blocked else ListMatch.ALLOWED
    return ListMatch.NOWHERE


def _with_parents(domain: str) -> list[str]:
    parts = domain.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def _contains(ip_range: str, ip_network: str) -> bool:
    outer, inner = ipaddress.ip_network(ip_range), ipaddress.ip_network(ip_network)
    if isinstance(outer, ipaddress.IPv4Network) and isinstance(inner, ipaddress.IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(outer, ipaddress.IPv6Network) and isinstance(inner, ipaddress.IPv6Network):
        return inner.subnet_of(outer)
    return False
