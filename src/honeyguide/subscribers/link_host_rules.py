"""Which names can be link hosts, and what a look at DNS means for one. Pure rules: no DNS here."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from honeyguide.events.addresses import INNER_SUFFIXES, NUMBER
from honeyguide.events.name_servers import TextRecords
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.site import Site

RECORD_PREFIX = "_honeyguide."
LONGEST_HOST = 253 - len(RECORD_PREFIX)
# What a link host answers for /robots.txt: whoever shows a preview of a link may follow it.
ROBOTS = b"User-agent: *\nDisallow:\n"
# Name servers have outages, and people repair a record that they deleted by mistake.
GRACE_MS = 7 * DAY_MS
# Not at once: a name server remembers for up to an hour that there was no record yet.
FIRST_CHECK_MS = 10 * MINUTE_MS

_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")


class HostState(NamedTuple):
    """What is known of a link host before and after a look at DNS."""

    is_verified: bool
    seen_ms: int | None
    problem: str | None
    is_missing: bool = False
    """Whether the record of a verified host is gone for sure, so that the host will be turned
    off."""


def normalize(host: str) -> str:
    """Without case, and without the dot that ends a full name in DNS."""
    return host.lower().removesuffix(".")


def parse_host(site: Site, text: str, *, param: str = "host") -> str:
    """A host name as it is stored."""
    host = normalize(text.strip())
    if not host:
        raise Required(param)
    if not host.isascii():
        raise Invalid(
            "{field} must be written as in DNS, with xn-- for letters beyond a to z.", param=param
        )
    if len(host) > LONGEST_HOST:
        raise Invalid(
            "{field} must be at most {most} characters long.", param=param, most=LONGEST_HOST
        )
    if "*" in host:
        raise Invalid("{field} must be one host name. Add each host by itself.", param=param)
    if re.search(r"[/:@?#\\]", host):
        raise Invalid(
            "{field} must be just a host name such as go.example.org, without https://, a port "
            "or a path.",
            param=param,
        )
    if NUMBER.fullmatch(host.rpartition(".")[2]):
        raise Invalid("{field} must be a host name, not an IP address.", param=param)
    if "." not in host or host.endswith(INNER_SUFFIXES):
        raise Invalid("{field} must be a public host name.", param=param)
    if not _HOST.fullmatch(host):
        raise Invalid("{field} must be a host name such as go.example.org.", param=param)
    if host in own_hosts(site):
        raise Invalid("{host} is where Honeyguide itself is.", param=param, host=host)
    return host


def may_be_host(host: str) -> bool:
    """Whether a name can be a link host at all: a quick answer for every request."""
    return "." in host and not NUMBER.fullmatch(host.rpartition(".")[2])


def own_hosts(site: Site) -> frozenset[str]:
    """Where the dashboard and hosted signup pages are. No account can have these."""
    urls = (site.base_url, site.signup_page_host)
    return frozenset(normalize(urlsplit(url).hostname or "") for url in urls)


def judge(
    old: HostState,
    host: str,
    token: str,
    records: TextRecords,
    *,
    other_token: str | None,
    now_ms: int,
) -> HostState:
    """What a host is after its TXT record was looked up. `other_token` is that of another account
    that has verified the same host."""
    if records.error:
        # Nobody knows whether the record is there, so this decides nothing.
        return old._replace(problem=records.error)
    if token not in records.values:
        name = RECORD_PREFIX + host
        what = "has another value" if records.values else "was not found"
        is_late = old.seen_ms is None or now_ms - old.seen_ms >= GRACE_MS
        is_verified = old.is_verified and not is_late
        problem = f"The TXT record {name} {what}."
        return HostState(is_verified, old.seen_ms, problem, is_missing=is_verified)
    if other_token is not None and other_token in records.values:
        return HostState(
            False,
            now_ms,
            "Another account of this installation uses this host. Delete its TXT record first.",
        )
    return HostState(True, now_ms, None)


def next_check_ms(*, is_verified: bool, created_ms: int, now_ms: int) -> int:
    """Verified hosts daily. Somebody may be waiting for a new one."""
    is_new = not is_verified and now_ms - created_ms < GRACE_MS
    return now_ms + (HOUR_MS if is_new else DAY_MS)
