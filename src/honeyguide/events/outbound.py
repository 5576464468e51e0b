"""The outbound guard: one bounded request to an untrusted URL. Every address is checked when the
connection is made. There are no redirects, proxies or cookies, and whatever the receiver does costs
us at most some seconds and some kilobytes.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from honeyguide import __version__
from honeyguide.events.addresses import OutboundPolicy, check_url, is_public
from honeyguide.events.name_servers import MailServer, SystemLookup, TextRecords
from honeyguide.kernel.clock import (
    SECOND_MS,
    system_clock,  # a date that a receiver names is by the world's clock, never a shifted one
)
from honeyguide.kernel.errors import Invalid

__all__ = [
    "Answer",
    "Blocked",
    "FullAnswer",
    "GuardedResolver",
    "Outbound",
    "OutboundPolicy",
    "SystemLookup",
    "check_url",
    "is_public",
    "retry_after_s",
]

Trouble = Literal["", "blocked", "dns", "timeout", "connect", "tls", "protocol"]
Lookup = Callable[[str], Awaitable[Sequence[str]]]

TOTAL_S = 15.0
CONNECT_S = 5.0
LOOKUP_S = 5.0
MOST_READ = 20 * 1024
MOST_KEPT = 1024
MOST_ADDRESSES = 8
# Common servers close an idle connection after five seconds. We close it first, so that we seldom
# post into a closing one.
KEEP_ALIVE_S = 4.0
CONNECTIONS = 1000
# Platforms take their time for large batches.
_REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=60.0, sock_connect=CONNECT_S)
LONGEST_RETRY_S = (
    999_999_999  # what nine digits can say; the delivery schedule has its own, far lower ceiling
)
_OURS = {"User-Agent": f"Honeyguide/{__version__} (+webhooks)", "Accept-Encoding": "identity"}
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Blocked(Exception):
    """The policy forbids this address. The message leaves the address out, because callers may not
    learn it.
    """


class Answer(NamedTuple):
    """What came of one attempt: a status, or the trouble that left us without one."""

    status: int | None
    error: str | None
    error_kind: Trouble
    latency_ms: int
    body: str = ""
    retry_after_s: int | None = None


class FullAnswer(NamedTuple):
    """What came of one request whose whole answer is wanted."""

    status: int | None
    error: str | None
    headers: Mapping[str, str]
    body: bytes
    retry_after_s: int | None = None
    is_too_long: bool = False


class GuardedResolver(AbstractResolver):
    """Resolves a name for each connection, and refuses it if any of its addresses is forbidden. The
    client connects to the addresses returned, and uses the name for SNI, the certificate and Host.
    """

    def __init__(
        self, policy: OutboundPolicy, *, lookup: Lookup | None = None, timeout_s: float = LOOKUP_S
    ) -> None:
        self._policy = policy
        self.names = SystemLookup()
        self._lookup = lookup
        self._timeout_s = timeout_s
        self._asked: dict[str, asyncio.Future[Sequence[str]]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._addresses(host)
        if not all(self._policy.permits(address) for address in addresses):
            raise Blocked("The host resolves to an IP address that webhooks may not call.")
        return [_dialable(host, address, port) for address in addresses[:MOST_ADDRESSES]]

    async def texts(self, name: str) -> TextRecords:
        """The TXT records of a name. They are only read, so any name may be asked for."""
        return await self.names.texts(name, timeout_s=self._timeout_s)

    async def mail_server(self, domain: str) -> MailServer | None:
        """Which server takes the mail of a domain. Nobody connects to it."""
        return await self.names.mail_server(domain, timeout_s=self._timeout_s)

    async def close(self) -> None:
        await self.names.close()

    async def _addresses(self, host: str) -> Sequence[str]:
        asked = self._asked.get(host)
        if asked is None:
            asked = self._asked[host] = asyncio.ensure_future((self._lookup or self.names)(host))
            asked.add_done_callback(lambda done: self._forget(host, done))
        try:
            async with asyncio.timeout(self._timeout_s):
                addresses = await asyncio.shield(asked)
        except TimeoutError:
            raise OSError("the lookup timed out") from None
        except UnicodeError as error:  # a label longer than DNS can carry
            raise OSError("not a name that DNS can carry") from error
        if not addresses:
            raise OSError("the name has no address")
        return addresses

    def _forget(self, host: str, done: asyncio.Future[Sequence[str]]) -> None:
        self._asked.pop(host, None)
        if not done.cancelled():
            done.exception()  # seen, also when nobody waits any longer


def _dialable(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


class Outbound:
    """One HTTP client for all deliveries and for email platforms. `post` and `request` never raise
    because of the network or the receiver.
    """

    def __init__(
        self,
        policy: OutboundPolicy,
        *,
        lookup: Lookup | None = None,
        total_s: float = TOTAL_S,
        connect_s: float = CONNECT_S,
        lookup_s: float = LOOKUP_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self.resolver = GuardedResolver(policy, lookup=lookup, timeout_s=lookup_s)
        self._timeout = aiohttp.ClientTimeout(total=total_s, sock_connect=connect_s)
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None
        self._target = lru_cache(maxsize=4096)(self._checked)

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        started = time.perf_counter()
        try:
            session = self._session or self._open()
            sent = {**_OURS, **headers}
            async with session.post(
                self._target(url), data=body, headers=sent, allow_redirects=False
            ) as response:
                kept = await _read(response)
                return Answer(
                    response.status,
                    None,
                    "",
                    _since(started),
                    _safe_text(kept),
                    retry_after_s(response.headers.get("Retry-After"), system_clock() / 1000),
                )
        except (Blocked, Invalid, aiohttp.ClientError, OSError, ValueError) as error:
            kind, sentence = self._describe_error(error)
            return Answer(None, sentence, kind, _since(started))

    async def request(
        self, method: str, url: str, *, body: bytes | None, headers: dict[str, str], most_read: int
    ) -> FullAnswer:
        """Any request, answered within a minute and with at most so many bytes."""
        try:
            session = self._session or self._open()
            async with session.request(
                method,
                self._target(url),
                data=body,
                headers={**_OURS, **headers},
                allow_redirects=False,
                timeout=_REQUEST_TIMEOUT,
            ) as response:
                kept = bytearray()
                async for chunk in response.content.iter_any():
                    kept += chunk
                    if len(kept) > most_read:
                        response.close()
                        return FullAnswer(
                            None, "The answer was too long.", {}, b"", is_too_long=True
                        )
                return FullAnswer(
                    response.status,
                    None,
                    {name.lower(): value for name, value in response.headers.items()},
                    bytes(kept),
                    retry_after_s(response.headers.get("Retry-After"), system_clock() / 1000),
                )
        except TimeoutError:
            return FullAnswer(None, "It did not answer in time.", {}, b"")
        except (Blocked, Invalid, aiohttp.ClientError, OSError, ValueError) as error:
            return FullAnswer(None, self._describe_error(error)[1], {}, b"")

    async def certificate_ends_ms(self, host: str, port: int) -> int | None:
        """Until when a server's certificate is good; None if it has none that we trust."""
        tls = self._tls or ssl.create_default_context()
        try:
            async with asyncio.timeout(TOTAL_S):
                found = await self.resolver.resolve(host, port)
                _, writer = await asyncio.open_connection(
                    found[0]["host"], port, ssl=tls, server_hostname=host
                )
        except (Blocked, OSError, ValueError):
            return None
        peer = writer.get_extra_info("peercert")
        writer.close()
        return int(ssl.cert_time_to_seconds(peer["notAfter"])) * SECOND_MS

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self.resolver.close()

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=self.resolver,
            use_dns_cache=False,  # a cached answer would be dialled without a check
            socket_factory=self._socket,
            limit=CONNECTIONS,
            keepalive_timeout=KEEP_ALIVE_S,
            ssl=self._tls or True,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a bomb that is never inflated does not go off
            read_bufsize=MOST_READ,
        )
        return self._session

    def _checked(self, url: str) -> URL:
        # Checked again (cached per URL): it may have been saved under another policy.
        check_url(url, self._policy)
        return URL(url)

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The last check before a packet: every socket is made here, also for IP addresses in URLs,
        which are not resolved.
        """
        family, kind, protocol, _, address = info
        if not self._policy.permits(address[0]):
            raise Blocked("The URL leads to an IP address that webhooks may not call.")
        return socket.socket(family, kind, protocol)

    def _describe_error(self, error: Exception) -> tuple[Trouble, str]:
        """Describe the error for the owner of the webhook, without revealing our side of the
        network.
        """
        match error:
            case Blocked():
                return "blocked", str(error)
            case Invalid():
                return "blocked", error.message_for("The URL")
            case aiohttp.InvalidURL():  # the client itself dials no IPv4 literal but a plain one
                return "blocked", "The URL has an IP address in a form that webhooks may not call."
            case aiohttp.ConnectionTimeoutError():
                return "timeout", "Timed out while connecting."
            case TimeoutError():
                return "timeout", f"No response within {self._timeout.total:g} seconds."
            case aiohttp.ClientConnectorDNSError():
                return "dns", "The host name could not be resolved."
            case aiohttp.ClientSSLError():
                return "tls", f"TLS error: {_tls_reason(error)}."
            case aiohttp.ClientConnectionError() | OSError():
                number = getattr(error, "errno", None)
                return (
                    "connect",
                    f"The connection failed: {os.strerror(number)}."
                    if number
                    else "The connection was lost.",
                )
            case _:
                return "protocol", "The response was not valid HTTP."


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The beginning of the response body. The status counts, even if the body fails or stalls."""
    kept = bytearray()
    read = 0
    try:
        content = response.content
        while not content.at_eof() and (chunk := await content.read(MOST_READ)):
            kept += chunk[: MOST_KEPT - len(kept)]
            read += len(chunk)
            if read >= MOST_READ:
                response.close()
                break
    except (aiohttp.ClientError, OSError, ValueError):
        response.close()
    return bytes(kept)


def _safe_text(kept: bytes) -> str:
    return UNSAFE.sub("", kept.decode("utf-8", "replace"))


def _tls_reason(error: aiohttp.ClientSSLError) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return cause.verify_message
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return cause.reason.lower().replace("_", " ")
    return "the TLS handshake failed"


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


def retry_after_s(value: str | None, now_s: float) -> int | None:
    """Seconds from a Retry-After header in either of its forms; None when absent or senseless."""
    if value is None:
        return None
    if re.fullmatch("[0-9]+", value):
        return int(value) if len(value) < 10 else LONGEST_RETRY_S
    try:
        when = parsedate_to_datetime(value)
        at_s = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return max(0, min(round(at_s - now_s), LONGEST_RETRY_S))
