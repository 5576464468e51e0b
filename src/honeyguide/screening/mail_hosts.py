"""Which server takes the mail of a domain: what DNS answered, for the whole installation. It says
nothing about anybody. A look at a program wants domains; a job asks DNS, once a day each.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from honeyguide.events.name_servers import MailServer
from honeyguide.kernel.clock import DAY_MS
from honeyguide.screening.mailbox_providers import is_provider, registered_domain
from honeyguide.screening.shared_traits import MailHost
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The job.
ASKING = "look up mail hosts"
KEPT_MS = 90 * DAY_MS
PURGE_BATCH = 500
# Mail servers of a network operator are next to each other.
_PREFIXES = {4: 24, 6: 48}


class StoredHost(msgspec.Struct, frozen=True, gc=False):
    domain: str
    mx_domain: str | None
    network: str | None
    looked_ms: int


class OldHost(NamedTuple):
    domain: str


_sql = beside(__file__)
_OF_DOMAINS = _sql.query("of_domains", StoredHost)
_WANT = _sql.command("want")
_DUE = _sql.value("due", str)
_SAVE = _sql.command("save")
_FAIL = _sql.command("fail")
_IS_OFF = _sql.value("is_off", int)


async def of_domains(tx: Tx, domains: Collection[str]) -> dict[str, StoredHost]:
    asked = sorted(each for each in domains if not is_provider(each))
    rows = await tx.all(_OF_DOMAINS, domains=asked) if asked else []
    return {row.domain: row for row in rows}


def as_hosts(stored: Mapping[str, StoredHost]) -> dict[str, MailHost]:
    return {each.domain: MailHost(each.mx_domain, each.network) for each in stored.values()}


async def want(tx: Tx, domains: Collection[str]) -> None:
    if domains:
        await tx.run(_WANT, domains=sorted(domains))


async def due(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_DUE, before_ms=tx.now_ms - DAY_MS, most=most)


async def save(tx: Tx, domain: str, server: MailServer | None) -> None:
    """None if DNS did not answer: what is known stays, and it is asked again in a day."""
    if server is None:
        await tx.run(_FAIL, domain=domain, looked_ms=tx.now_ms)
        return
    mx_domain = registered_domain(server.name.lower().rstrip(".")) or None
    network = network_of(server.address)
    await tx.run(_SAVE, domain=domain, mx_domain=mx_domain, network=network, looked_ms=tx.now_ms)


def network_of(address: str) -> str | None:
    """None for what is no public address: a domain may name any."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    if not ip.is_global:
        return None
    return str(ipaddress.ip_network((ip, _PREFIXES[ip.version]), strict=False))


async def is_on(tx: Tx, chosen: str) -> bool:
    """What the setting says, or else whether the installation was new when this came."""
    return chosen == "on" if chosen else not await tx.one(_IS_OFF)


purge = Purge(
    _sql.query("old", OldHost),
    _sql.command("forget"),
    lambda now_ms: {"before_ms": now_ms - KEPT_MS},
    batch=PURGE_BATCH,
)
