"""The network that an IP address belongs to."""

from __future__ import annotations

import ipaddress
import re

# What nearly every signup has, at a tenth of the library's cost. Anything else goes to the library.
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_plain_ipv4 = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}", re.ASCII).fullmatch


def ip_network_of(text: str | None) -> str | None:
    """What requests from one place share: the IPv4 address, or the IPv6 /64 that a household gets.
    None for text that is no IP address."""
    if not text or _plain_ipv4(text):
        return text or None
    try:
        ip = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            return f"{ipaddress.IPv6Address(int(ip) >> 64 << 64)}/64"
        ip = ip.ipv4_mapped
    return str(ip)
