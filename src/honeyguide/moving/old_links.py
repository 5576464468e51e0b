"""The links that people shared before a move. Each form of them is followed as a visitor's would
be, by lookups that answer the same for many codes at once, without counting a click.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving.sources import ImportSource
from honeyguide.signups import lifecycle
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, link_hosts, link_parameters, links

AT_HOST = "/{code}"
OURS = "/r/{code}"
IN_CAMPAIGN = "/r/{slug}/{code}"
REF = "?ref={code}"


class OldLinks(NamedTuple):
    """What it takes to follow the links of one source."""

    tenant: Tenant
    slug: str
    own_parameters: list[str]
    forms: list[str]
    not_tried: dict[str, str]
    """The other forms, and why."""


async def of_source(at: Reading, source: ImportSource) -> OldLinks:
    campaign = await campaigns.get(at)
    hosts = await link_hosts.of_account(at)
    has_host = any(each.is_verified for each in hosts)
    all_forms = list(dict.fromkeys([*source.facts.links, IN_CAMPAIGN, REF]))
    whys = {form: why for form in all_forms if (why := why_not(form, has_host=has_host))}
    return OldLinks(
        at.tenant,
        campaign.slug,
        campaign.link_parameters,
        [form for form in all_forms if form not in whys],
        whys,
    )


def why_not(form: str, *, has_host: bool) -> str:
    """Why links of this form cannot be tried; empty if they can."""
    if "://" in form:
        return "They are on a host of the other tool, and only that tool can redirect them."
    if form == AT_HOST and not has_host:
        return "No link host of yours is verified, so links on a host of your own do not reach us."
    return ""


class FollowedLinks(NamedTuple):
    """To whom each of some codes leads, in each form of the links."""

    old: OldLinks
    ids: Mapping[str, Mapping[str, str]]
    """By the form, then by the code. A code that leads nowhere in a form is not there."""

    def of(self, codes: Sequence[str]) -> list[tuple[str, str | None]]:
        """Each form of each code, and the id of the subscriber to whom it leads."""
        return [
            (form, self.ids.get(form, {}).get(code)) for code in codes for form in self.old.forms
        ]


async def follow_all(at: Reading, old: OldLinks, codes: Iterable[str]) -> FollowedLinks:
    """All codes at once: a query for each of thousands of links would cost more than the import."""
    asked = list(dict.fromkeys(codes))
    if not asked:
        return FollowedLinks(old, {})
    credited = await lifecycle.find_referrer_ids(at, asked)
    ids: dict[str, Mapping[str, str]] = {}
    for form in old.forms:
        if form.startswith("?"):
            ids[form] = credited if _is_read(old, form) else {}
        else:
            ids[form] = await _follow(at, old, form, asked)
    return FollowedLinks(old, ids)


def _is_read(old: OldLinks, form: str) -> bool:
    """Whether pages and forms read the parameter of this form."""
    return link_parameters.is_read(form[1:].partition("=")[0], old.own_parameters)


async def _follow(at: Reading, old: OldLinks, form: str, codes: Sequence[str]) -> dict[str, str]:
    if form == OURS:
        found = await links.lookup_all(at.tx, codes)
    elif form == IN_CAMPAIGN:
        tenant = await links.find_campaign(at.tx, old.slug)
        found = await links.lookup_all_in(at.of(tenant), codes) if tenant else {}
    else:
        found = await links.lookup_all_in(at, codes)
    return {
        code: link.subscriber_id
        for code, link in found.items()
        if link.campaign_id == old.tenant.campaign_id
    }
