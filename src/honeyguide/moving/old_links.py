"""The links that people shared before a move. Each form of them is followed as a visitor's would
be, by the same lookups, without counting a click.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving.sources import ImportSource
from honeyguide.referrals import campaigns, lifecycle, link_hosts, link_parameters, links
from honeyguide.store.tx import Tx

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


async def of_source(tx: Tx, tenant: Tenant, source: ImportSource) -> OldLinks:
    campaign = await campaigns.get(tx, tenant)
    hosts = await link_hosts.of_account(tx, tenant)
    has_host = any(each.is_verified for each in hosts)
    all_forms = list(dict.fromkeys([*source.facts.links, IN_CAMPAIGN, REF]))
    whys = {form: why for form in all_forms if (why := why_not(form, has_host=has_host))}
    return OldLinks(
        tenant,
        campaign.slug,
        json.loads(campaign.link_parameters),
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


async def follow_all(tx: Tx, old: OldLinks, codes: Sequence[str]) -> list[tuple[str, str | None]]:
    """Each form of each code, and the id of the subscriber to whom it leads."""
    found = []
    for code in codes:
        referrer = await lifecycle.find_referrer(tx, old.tenant, code)
        for form in old.forms:
            if form.startswith("?"):
                is_read = _is_read(old, form, code)
                found.append((form, referrer.id if referrer and is_read else None))
            else:
                found.append((form, await _follow(tx, old, form, code)))
    return found


def _is_read(old: OldLinks, form: str, code: str) -> bool:
    """Whether pages and forms read the parameter of this form."""
    name = form[1:].partition("=")[0]
    given = link_parameters.codes_in({name: code}, old.own_parameters)
    return given.get(link_parameters.REF) == code


async def _follow(tx: Tx, old: OldLinks, form: str, code: str) -> str | None:
    if form == OURS:
        link = await links.lookup(tx, code)
    elif form == IN_CAMPAIGN:
        link = await links.lookup_by_slug(tx, old.slug, code)
    else:
        link = await links.lookup_in(tx, old.tenant, code)
    is_theirs = link is not None and link.campaign_id == old.tenant.campaign_id
    return link.subscriber_id if link and is_theirs else None
