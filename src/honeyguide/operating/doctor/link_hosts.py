"""Whether the link hosts of all accounts have their DNS record, resolve and answer, with a
certificate that is good for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit

from honeyguide.events.outbound import FullAnswer, Outbound
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.operating.doctor.results import CheckResult, ok, warning
from honeyguide.subscribers.link_host_rules import ROBOTS
from honeyguide.subscribers.link_hosts import ListedHost

# Asked at the same time; the others are left out, so that a page does not wait for long.
MOST_ASKED = 20
MOST_READ = 1_000
# Proxies renew certificates a month before they end.
ENOUGH_DAYS = 14
_NOT_OURS = "another server answers"


def records(hosts: Sequence[ListedHost]) -> CheckResult:
    """From what the daily lookups found."""
    verified = [each for each in hosts if each.verified_ms is not None]
    missing = [each.host for each in verified if each.problem is not None]
    if missing:
        return warning(
            "link_hosts",
            f"The TXT record cannot be found for {_names(missing)}.",
            "Unless the records come back, these hosts are turned off after a week. Their accounts "
            "see it under Link hosts.",
        )
    return ok("link_hosts", f"{len(verified):,} verified" if verified else "None")


def answers(
    troubles: dict[str, str] | None, ends_in_days: Mapping[str, int] = MappingProxyType({})
) -> CheckResult:
    """`troubles` says by host what went wrong; None if there are no hosts to ask. `ends_in_days`
    says of those that answer how long their certificates are good."""
    if troubles is None:
        return ok("link_host_answers", "No link hosts")
    if troubles:
        shown = "; ".join(f"{host}: {why}" for host, why in troubles.items())
        return warning(
            "link_host_answers",
            f"Links do not work on {shown}.",
            "Point the host here with a CNAME record, and let the proxy serve it with a "
            "certificate, as in docs/link-hosts.md.",
        )
    ending = {host: days for host, days in ends_in_days.items() if days < ENOUGH_DAYS}
    if ending:
        shown = "; ".join(f"{host}: {days} days left" for host, days in ending.items())
        return warning(
            "link_host_answers",
            f"Certificates are about to end: {shown}.",
            "A proxy should have renewed them weeks ago. Look at its log, and see that the name "
            "still leads here.",
        )
    return ok("link_host_answers", "All answer")


async def ask(outbound: Outbound, base_url: str, hosts: Sequence[str]) -> CheckResult:
    """Requests a file that every link host has, as a visitor would."""
    if not hosts:
        return answers(None)
    url = urlsplit(base_url)
    port = f":{url.port}" if url.port else ""
    asked = hosts[:MOST_ASKED]
    found = await asyncio.gather(
        *(
            outbound.request(
                "GET",
                f"{url.scheme}://{host}{port}/robots.txt",
                body=None,
                headers={},
                most_read=MOST_READ,
            )
            for host in asked
        )
    )
    troubles = {host: _trouble(answer) for host, answer in zip(asked, found, strict=True)}
    return answers(
        {host: why for host, why in troubles.items() if why},
        await _ends_in_days(outbound, asked, url.port or 443) if url.scheme == "https" else {},
    )


async def _ends_in_days(outbound: Outbound, hosts: Sequence[str], port: int) -> dict[str, int]:
    """Whoever has no certificate does not answer either."""
    ends = await asyncio.gather(*(outbound.certificate_ends_ms(each, port) for each in hosts))
    now_ms = system_clock()
    found = zip(hosts, ends, strict=True)
    return {host: (end_ms - now_ms) // DAY_MS for host, end_ms in found if end_ms is not None}


def _trouble(answer: FullAnswer) -> str:
    if answer.error is not None:
        return answer.error.removesuffix(".")
    return "" if answer.status == 200 and answer.body == ROBOTS else _NOT_OURS


def _names(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - 5:,} more" if len(hosts) > 5 else ""
    return ", ".join(hosts[:5]) + more
