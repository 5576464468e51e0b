"""Questions to the system's name servers: the addresses of a host, TXT records, and which server
takes the mail of a domain.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

import aiodns
from pycares import MXRecordData, TXTRecordData  # what aiodns answers with

# A name has a few TXT records at most. More are not looked at.
MOST_TEXTS = 50
# The name, or a record of this kind, does not exist. Everything else may be different in a minute.
_NOTHING = (
    aiodns.error.ARES_ENODATA,
    aiodns.error.ARES_ENOTFOUND,
)


class TextRecords(NamedTuple):
    """What a TXT lookup found. Without an error, the name servers answered: no values means that
    there is no such record."""

    values: tuple[str, ...]
    error: str = ""


class MailServer(NamedTuple):
    """The first mail server of a domain; no name if it has none, no address if that has none."""

    name: str = ""
    address: str = ""


class SystemLookup:
    """Asks the system's name servers from the event loop. Threads would be a shared resource: names
    that nobody answers for would hold all of them, and delay everybody else's deliveries."""

    def __init__(self, **options: Any) -> None:
        self._options = {"timeout": 1.0, "tries": 3, **options}
        self._resolver: aiodns.DNSResolver | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        try:
            found = await self._opened().getaddrinfo(
                host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM
            )
        except aiodns.error.DNSError as error:
            raise OSError(str(error)) from error
        return list(dict.fromkeys(node.addr[0].decode() for node in found.nodes))

    async def texts(self, name: str, *, timeout_s: float) -> TextRecords:
        """The TXT records of a name, each in one piece. Never raises."""
        try:
            async with asyncio.timeout(timeout_s):
                found = await self._opened().query_dns(name, "TXT")
        except TimeoutError:
            return TextRecords((), "The name servers did not answer in time.")
        except aiodns.error.DNSError as error:
            if _is_nothing(error):
                return TextRecords(())
            return TextRecords((), "The name servers did not answer the question.")
        except (UnicodeError, ValueError):
            return TextRecords((), "This is not a name that DNS can carry.")
        # A CNAME on the way is among the records.
        data = [each.data for each in found.answer if isinstance(each.data, TXTRecordData)]
        return TextRecords(
            tuple(each.data.decode("utf-8", "replace") for each in data[:MOST_TEXTS])
        )

    async def mail_server(self, domain: str, *, timeout_s: float) -> MailServer | None:
        """None if the name servers did not answer. Never raises."""
        try:
            async with asyncio.timeout(timeout_s):
                name = await self._first_exchanger(domain)
                return MailServer(name, await self._first_address(name) if name else "")
        except (TimeoutError, aiodns.error.DNSError):
            return None
        except (UnicodeError, ValueError):  # not a name that DNS can carry
            return MailServer()

    async def _first_exchanger(self, domain: str) -> str:
        try:
            found = await self._opened().query_dns(domain, "MX")
        except aiodns.error.DNSError as error:
            if _is_nothing(error):
                return ""
            raise
        data = [each.data for each in found.answer if isinstance(each.data, MXRecordData)]
        first = min(data, key=lambda each: (each.priority, each.exchange), default=None)
        return first.exchange if first else ""

    async def _first_address(self, name: str) -> str:
        try:
            return min(await self(name), default="", key=lambda address: (":" in address, address))
        except OSError as error:
            if isinstance(error.__cause__, aiodns.error.DNSError) and _is_nothing(error.__cause__):
                return ""
            raise TimeoutError from error

    async def close(self) -> None:
        if self._resolver is not None:
            await self._resolver.close()

    def _opened(self) -> aiodns.DNSResolver:
        if self._resolver is None:
            self._resolver = aiodns.DNSResolver(**self._options)
        return self._resolver


def _is_nothing(error: aiodns.error.DNSError) -> bool:
    return bool(error.args) and error.args[0] in _NOTHING
