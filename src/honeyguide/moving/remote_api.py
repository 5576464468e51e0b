"""The API of the service that somebody moves away from: the incumbent's v2, which another
Honeyguide speaks too. It is only read, one page of a list at a time, at no more than 120 requests a
minute.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

import msgspec

from honeyguide.events.outbound import Outbound, OutboundPolicy, check_url
from honeyguide.integrations.http import PlatformHttp, PlatformReply
from honeyguide.integrations.problems import Unexpected, WrongCredentials, understood
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.moving.sources import ImportSource

T = TypeVar("T")

SPARKLOOP_URL = "https://api.sparkloop.app"
PER_PAGE = 200
INTERVAL_S = 0.5
# Whatever a service claims: more people than these pages hold are not moved through an API.
MOST_PAGES = 25_000
MOST_ON_PAGE = 1_000
KEY_LIMIT = 255


class RemoteCampaign(msgspec.Struct):
    uuid: str
    name: str | None = None


class RemotePage(NamedTuple):
    """One page of a list, its items not decoded yet."""

    items: list[msgspec.Raw]
    total_pages: int
    total: int


def parse_base_url(text: str, policy: OutboundPolicy) -> str:
    """The address of the service, without the version that every path of ours begins with."""
    url = text.strip().rstrip("/")
    for version in ("/v1", "/v2"):
        url = url.removesuffix(version)
    if not url:
        raise Required("base_url")
    try:
        check_url(url, policy)
    except Invalid as fault:
        raise Invalid(fault.template, param="base_url", **fault.values) from None
    if "?" in url or "#" in url:
        raise Invalid("{field} must not contain a question mark or a hash.", param="base_url")
    return url


def parse_key(text: str) -> str:
    key = text.strip()
    if not key:
        raise Required("key")
    if len(key) > KEY_LIMIT or not key.isascii() or not key.isprintable() or " " in key:
        raise Invalid(
            "{field} is not one. Copy it from the settings of the other service.", param="key"
        )
    return key


def service_name(base_url: str) -> str:
    """What the service is called in sentences."""
    return "SparkLoop" if base_url == SPARKLOOP_URL else base_url.partition("//")[2]


def source_of(base_url: str) -> ImportSource:
    """Any other service than SparkLoop that has the same API is a Honeyguide."""
    return ImportSource.SPARKLOOP if base_url == SPARKLOOP_URL else ImportSource.HONEYGUIDE


class RemoteApi:
    def __init__(
        self, outbound: Outbound, base_url: str, key: str, *, interval_s: float = INTERVAL_S
    ) -> None:
        self.name = service_name(base_url)
        self._base_url = base_url
        self._key = key
        self._http = PlatformHttp(outbound, self.name, interval_s=interval_s)

    async def campaign(self) -> RemoteCampaign:
        """The campaign: an account there has just one. It also shows whether the key works."""
        reply = await self._get("/v2/campaigns")
        if reply.status == 404:  # a Honeyguide has campaigns in v1 only
            reply = await self._get("/v1/campaigns")
        found = self._field(reply, "campaigns", list[RemoteCampaign])
        if not found:
            raise Unexpected(f"{self.name} has no campaign for this key.")
        return found[0]

    async def page(self, path: str, key: str, number: int, **query: str) -> RemotePage:
        """One page of a list."""
        reply = await self._get(f"{path}?{_asked(number, query)}")
        if reply.status == 403:
            raise WrongCredentials(f"{self.name} does not let this key read {path}.")
        return await asyncio.to_thread(self._page, reply, key, number)

    async def optional_page(self, path: str, key: str, number: int) -> RemotePage | None:
        """One page of a list that not every service or plan has; None if there is none."""
        reply = await self._get(f"{path}?{_asked(number, {})}")
        if reply.status in (403, 404):
            return None
        return await asyncio.to_thread(self._page, reply, key, number)

    def _page(self, reply: PlatformReply, key: str, number: int) -> RemotePage:
        """For a thread: the largest page takes a tenth of a second."""
        items = self._field(reply, key, list[msgspec.Raw])
        if len(items) > MOST_ON_PAGE:
            raise Unexpected(f"{self.name} sent more than {MOST_ON_PAGE:,} items on a page.")
        totals = self._totals(reply)
        pages = totals.pop("total_pages", None)
        if pages is None:
            pages = number + 1 if len(items) >= PER_PAGE else number
        if not 0 <= pages <= MOST_PAGES:
            raise Unexpected(f"{self.name} says that its list has {pages:,} pages.")
        return RemotePage(items, pages, max([0, *totals.values()]))

    def _totals(self, reply: PlatformReply) -> dict[str, int]:
        """The totals of a list: in `meta`, or beside the list itself."""
        answer = reply.decode(dict[str, msgspec.Raw])
        if "meta" in answer:
            answer = self._field(reply, "meta", dict[str, msgspec.Raw])
        with understood(self.name):
            return {
                name: msgspec.json.decode(value, type=int)
                for name, value in answer.items()
                if name.startswith("total_")
            }

    def _field(self, reply: PlatformReply, key: str, kind: type[T]) -> T:
        if not reply.is_ok:
            raise Unexpected(f"{self.name} answered with status {reply.status}.")
        answer = reply.decode(dict[str, msgspec.Raw])
        if key not in answer:
            raise Unexpected(f"{self.name} sent an answer without {key}.")
        with understood(self.name):
            return msgspec.json.decode(answer[key], type=kind)

    async def _get(self, path: str) -> PlatformReply:
        return await self._http.call(
            "GET", f"{self._base_url}{path}", headers={"X-Api-Key": self._key}
        )


def _asked(number: int, query: dict[str, str]) -> str:
    return urlencode({**query, "per_page": PER_PAGE, "page": number})
