"""DNS as it would answer about the mail domains of the lab."""

from __future__ import annotations

import random

from honeyguide.events.name_servers import MailServer, SystemLookup

# Where companies have their mail: a few services that nearly all use, filters in front of them, and
# many small web hosts of their region. Some have a server of their own.
_SERVICES = {
    "aspmx.l.google.com": 38,
    "customer.mail.protection.outlook.com": 34,
    "eu-smtp-inbound-1.mimecast.com": 3,
    "mxa-0001.gslb.pphosted.com": 3,
    "mx.nordlicht-hosting.net": 6,
    "": 8,
}
_WEB_HOSTS = 30


class LabNames(SystemLookup):
    """What families say about a domain goes first."""

    def __init__(self) -> None:
        super().__init__()
        self.hosts: dict[str, str] = {}

    async def mail_server(self, domain: str, *, timeout_s: float) -> MailServer | None:
        name = self.hosts.get(domain) or _usual_host(domain)
        return MailServer(name, _address(name))


def _usual_host(domain: str) -> str:
    """Always the same for a domain."""
    rng = random.Random(f"host {domain}")
    if rng.random() < 0.08:
        return f"mail.webhost{rng.randrange(_WEB_HOSTS)}.net"
    return rng.choices(list(_SERVICES), list(_SERVICES.values()))[0] or f"mx.{domain}"


def _address(name: str) -> str:
    """Somewhere in public networks, one for each name."""
    rng = random.Random(f"address {name}")
    return f"{rng.randrange(11, 100)}.{rng.randrange(256)}.{rng.randrange(256)}.25"
