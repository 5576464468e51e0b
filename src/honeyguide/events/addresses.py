"""Which receivers may be called. The base URL decides: a service on loopback may call loopback; any
other calls only https on public addresses, and private networks only if the operator lists them.
Pure rules: no DNS, no sockets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from yarl import (
    URL,  # the very parser the HTTP client dials by: two parsers that disagree are a hole
)

from honeyguide.kernel.errors import Invalid

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_URL = 2048
# A list of allowed ports, because nobody can list every service that must not be called. https
# receivers use these ports; in a network that the operator allows, any port may be used.
PORTS = frozenset((443, 4443, 9443, *range(8000, 9000)))

# The whole IANA special-purpose registry, also what it calls "globally reachable": relays and
# sinks, never a receiver.
SPECIAL_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "168.63.129.16/32",  # looks public, but is one large cloud's metadata service
        ),
    )
)
# For IPv6, a list of what is allowed: only this block is allocated to networks. NAT64, unique-local
# and future ranges are outside it.
GLOBAL_6 = IPv6Network("2000::/3")
SPECIAL_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))

INNER_SUFFIXES = (
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".lan",
    ".home.arpa",
)
HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# By the URL standard, a host whose last label is a number is an IPv4 address, in any notation.
NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


def is_public(ip: Address) -> bool:
    ip = _unwrapped(ip)
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in SPECIAL_4)
    return (
        ip.scope_id is None and ip in GLOBAL_6 and not any(ip in network for network in SPECIAL_6)
    )


@dataclass(frozen=True)
class OutboundPolicy:
    https_only: bool
    loopback_ok: bool
    allow: tuple[Network, ...] = ()
    webhooks_per_account: int = 100

    @classmethod
    def for_base_url(
        cls, base_url: str, allow: Sequence[str] = (), *, webhooks_per_account: int = 100
    ) -> OutboundPolicy:
        on_loopback = _is_loopback_host(URL(base_url).raw_host or "")
        return cls(
            https_only=not on_loopback,
            loopback_ok=on_loopback,
            allow=tuple(_network(text) for text in allow),
            webhooks_per_account=webhooks_per_account,
        )

    def permits(self, address: str) -> bool:
        """May this address be dialled?"""
        try:
            ip = _unwrapped(ip_address(address))
        except ValueError:
            return False
        return (
            is_public(ip)
            or self.allows(ip)
            or (self.loopback_ok and any(ip in network for network in LOOPBACK))
        )

    def allows(self, ip: Address) -> bool:
        """Is it in a network that the operator listed?"""
        ip = _unwrapped(ip)
        return any(ip in network for network in self.allow)


def check_url(url: str, policy: OutboundPolicy) -> None:
    """Refuse what the URL alone shows to be forbidden. A name is resolved and checked later, at
    each connection.
    """
    if len(url) > MAX_URL:
        raise _refused(f"must be at most {MAX_URL:,} characters long")
    if any(c in " \\" or c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in url):
        raise _refused("must not contain spaces, control characters or backslashes")
    try:
        parsed = URL(url)
    except ValueError:
        raise _refused("is not a valid URL") from None
    host = parsed.raw_host or ""
    if parsed.scheme not in ("http", "https") or not host:
        raise _refused(
            "must be an absolute URL that starts with https://"
            + ("" if policy.https_only else " or http://")
        )
    _check_authority(re.split("[/?#]", url.split("//", 1)[1], maxsplit=1)[0])
    if policy.https_only:
        _check_strictly(parsed.scheme, host, parsed.port or 0, policy)


def _check_authority(authority: str) -> None:
    if "@" in authority:
        raise _refused("must not contain a user name or password")
    if "%" in authority:
        raise _refused("must not contain percent signs in its host name")
    _, colon, port = authority.rpartition("]")[2].rpartition(":")
    if colon and not (re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536):
        raise _refused("must have a port between 1 and 65535, or none")


def _check_strictly(scheme: str, host: str, port: int, policy: OutboundPolicy) -> None:
    if scheme != "https":
        raise _refused("must start with https://")
    if _is_allowed_literal(host, policy):
        return
    if ":" in host or NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise _refused("must use a host name, not an IP address")
    if not HOST_NAME.fullmatch(host):
        raise _refused("must have a host name made of letters, digits, hyphens and single dots")
    if "." not in host or host.endswith(INNER_SUFFIXES):
        if not _may_be_allowed(host, policy):
            raise _refused("must use a public host name")
    elif port not in PORTS:
        raise _refused("must use port 443, 4443, 9443 or 8000 to 8999")


def _is_allowed_literal(host: str, policy: OutboundPolicy) -> bool:
    try:
        return policy.allows(ip_address(host))
    except ValueError:
        return False


def _may_be_allowed(inner_name: str, policy: OutboundPolicy) -> bool:
    """An internal name can only be allowed if the operator allows a network; `localhost`, if that
    is loopback.
    """
    if inner_name == "localhost" or inner_name.endswith(".localhost"):
        return any(network.overlaps(home) for network in policy.allow for home in LOOPBACK)
    return bool(policy.allow)


def _is_loopback_host(host: str) -> bool:
    try:
        ip = _unwrapped(ip_address(host))
    except ValueError:
        return host == "localhost"
    return any(ip in network for network in LOOPBACK)


def _unwrapped(ip: Address) -> Address:
    return (ip.ipv4_mapped or ip) if isinstance(ip, IPv6Address) else ip


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        raise Invalid(
            "{field} must list IP ranges such as 10.0.0.0/8, not '{text}'.",
            param="HONEYGUIDE_WEBHOOK_ALLOW",
            text=text,
        ) from None


def _refused(why: str) -> Invalid:
    return Invalid("{field} {why}.", param="url", code="invalid_url", why=why)
