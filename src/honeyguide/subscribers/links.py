"""Links that subscribers share: whose code it is and where it leads. The target is always the
stored one. A visitor's query is passed on but cannot change it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote_plus

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.ids import ALPHABET, CODE_LENGTH
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx, Work
from honeyguide.subscribers import codes
from honeyguide.subscribers.campaigns import LINKS

# What a browser and every proxy on the way will carry.
LONGEST_QUERY = 4_096


class Link(NamedTuple):
    """One shared link, with what it takes to follow it."""

    code: str
    subscriber_id: str
    account_id: str
    campaign_id: str
    slug: str
    destination_url: str | None
    form_code: str | None = None
    """The one that was followed, if a signup form answered with it (`form_codes`)."""


_sql = beside(__file__)
_LOOKUP = _sql.query("lookup", Link)
_LOOKUP_ALL = _sql.query("lookup_all", Link)
_CAMPAIGN = _sql.query("campaign", Tenant)
_BY_CODE = _sql.query("campaign_by_code", Tenant)
_SIGNS = frozenset(ALPHABET)


async def lookup(tx: Tx, code: str) -> Link | None:
    """None for an unknown code or an erased subscriber."""
    code = code.lower()
    if not _is_ours(code):
        return None
    return await tx.one(_LOOKUP, code=code)


async def lookup_all(tx: Tx, asked: Iterable[str]) -> dict[str, Link]:
    """As `lookup`, of many codes at once. Those that lead nowhere are left out."""
    ours = {code: folded for code in asked if _is_ours(folded := code.lower())}
    if not ours:
        return {}
    links = await tx.all(_LOOKUP_ALL, codes=list(set(ours.values())))
    found = {link.code: link for link in links}
    return {code: found[folded] for code, folded in ours.items() if folded in found}


def _is_ours(code: str) -> bool:
    return len(code) == CODE_LENGTH and _SIGNS.issuperset(code)


async def find_campaign(tx: Tx, slug: str) -> Tenant | None:
    """A slug that the campaign had before still names it."""
    return await tx.one(_CAMPAIGN, slug=slug.lower())


async def find_campaign_by_code(tx: Tx, code: str) -> Tenant | None:
    """Whose subscriber has this code of ours, or had it before they were erased."""
    code = code.lower()
    return await tx.one(_BY_CODE, code=code) if _is_ours(code) else None


async def lookup_by_slug(tx: Tx, site: Site, slug: str, code: str) -> Link | None:
    tenant = await find_campaign(tx, slug) if codes.is_code(code) else None
    if tenant is None:
        return None
    return await lookup_in(Reading(tx, site, tenant, tx.now_ms), code)


async def lookup_in(at: Reading, code: str) -> Link | None:
    """By a code of ours or a further one, of this campaign's subscribers alone."""
    link = await lookup(at.tx, code)
    if link is None or link.campaign_id != at.tenant.campaign_id:
        own = await codes.find_ref_code(at, code)
        link = await lookup(at.tx, own) if own is not None else None
    return link


async def lookup_all_in(at: Reading, asked: Iterable[str]) -> dict[str, Link]:
    """As `lookup_in`, of many codes at once. Those that lead nowhere are left out."""
    asked = list(asked)
    ours = (await lookup_all(at.tx, asked)).items()
    found = {code: link for code, link in ours if link.campaign_id == at.tenant.campaign_id}
    rest = [code for code in asked if code not in found]
    further = await codes.find_ref_codes(at, rest)
    links = await lookup_all(at.tx, further.values())
    return found | {code: links[own] for code, own in further.items() if own in links}


def destination(site: Site, link: Link, query: str) -> str:
    """Where a click goes: the stored URL or the campaign's signup page, with the visitor's query
    and `ref`."""
    stored = link.destination_url or site.page_link(link.slug)
    return with_query(stored, query, "ref", link.form_code or link.code)


def with_query(stored: str, query: str, name: str, code: str) -> str:
    """The stored URL with the visitor's query as written, except for parameters that are ours. A
    fragment stays."""
    address, hash_sign, fragment = stored.partition("#")
    address, _, own = address.partition("?")
    brought = query if len(query) <= LONGEST_QUERY else ""
    parts = [
        part
        for part in f"{own}&{brought}".split("&")
        if part and unquote_plus(part.partition("=")[0]) != name
    ]
    # What a header cannot carry is spelled out; what is encoded already stays as it is.
    kept = quote("&".join([*parts, f"{name}={code}"]), safe="%&=+;:@/?!$'()*,-._~[]|")
    return f"{address}?{kept}{hash_sign}{fragment}"


class LinkCache:
    """Recently followed links, cached: most clicks of an hour go to a few of them. A change clears
    the cache, here at once and in other processes within moments, and nothing is kept for longer
    than the clock allows."""

    KEPT_MS = 10_000
    MOST = 10_000

    def __init__(self, store: Store, site: Site, clock: Clock) -> None:
        self._store = store
        self._site = site
        self._clock = clock
        self._links: OrderedDict[str, tuple[int, Link | None]] = OrderedDict()
        self._changes = 0
        store.listen(LINKS, self._clear)

    def _clear(self) -> None:
        self._links.clear()
        self._changes += 1

    async def find(self, path: str) -> Link | None:
        """By what follows `/r/`: a code of ours, or a campaign's slug and a code of it."""
        slug, slash, code = path.rpartition("/")
        if slash:
            return await self._find(path, lambda tx: lookup_by_slug(tx, self._site, slug, code))
        return await self._find(code.lower(), lambda tx: lookup(tx, code))

    async def find_in(self, tenant: Tenant, code: str) -> Link | None:
        """As `lookup_in`."""
        key = f"{tenant.campaign_id} {code}"
        return await self._find(
            key, lambda tx: lookup_in(Reading(tx, self._site, tenant, tx.now_ms), code)
        )

    async def _find(self, key: str, look_up: Work[Link | None]) -> Link | None:
        now_ms = self._clock()
        kept = self._links.get(key)
        if kept is not None and 0 <= now_ms - kept[0] < self.KEPT_MS:
            return kept[1]
        changes = self._changes
        found = await self._store.read(look_up)
        # Unknown codes are not kept: anyone can make up any number of them.
        if found is not None and changes == self._changes:
            self._links[key] = (now_ms, found)
            if len(self._links) > self.MOST:
                self._links.popitem(last=False)
        return found
