"""Referrals that wait for a decision, grouped by who referred them: a subscriber or a partner."""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import search
from honeyguide.referrals.search import Cursor
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The kinds of waiting referrals that can be grouped, as in `search.judged`.
KINDS = ("suspected", "pending")
# How many of the newest are grouped.
NEWEST = 5_000


class ReferrerGroup(NamedTuple):
    """The waiting referrals of one code. The referrer has no email address if they were erased."""

    referrer_code: str
    referrer_id: str | None
    referrer_email: str | None
    referrer_name: str | None
    partner_name: str | None
    n: int
    first_ms: int
    last_ms: int


class Cluster(NamedTuple):
    """Referrals of one code that wait for the same reason, and from the same IP network if that is
    the reason."""

    referrer_code: str
    reason: str
    ip_network: str | None
    n: int
    first_ms: int
    last_ms: int


_sql = beside(__file__)
_GROUPS = {kind: _sql.query(f"{kind}_groups", ReferrerGroup) for kind in KINDS}
_CLUSTERS = {kind: _sql.query(f"{kind}_clusters", Cluster) for kind in KINDS}
_OF_CODE = {kind: _sql.value(f"{kind}_of_code", str) for kind in KINDS}


async def page_of_groups(
    tx: Tx, tenant: Tenant, kind: str, page: Page
) -> tuple[list[tuple[ReferrerGroup, list[Cluster]]], bool]:
    """Most referrals first, each group with its clusters; and whether there are more groups."""
    whose: dict[str, Any] = {"campaign_id": tenant.campaign_id, "newest": NEWEST}
    groups = await tx.all(
        _GROUPS[kind],
        **whose,
        account_id=tenant.account_id,
        most=page.per_page + 1,
        skip=page.skip,
    )
    shown = groups[: page.per_page]
    clusters: dict[str, list[Cluster]] = {group.referrer_code: [] for group in shown}
    for cluster in await tx.all(_CLUSTERS[kind], **whose, codes=list(clusters)):
        clusters[cluster.referrer_code].append(cluster)
    return [(group, clusters[group.referrer_code]) for group in shown], len(groups) > len(shown)


async def ids_of_code(
    tx: Tx, tenant: Tenant, kind: str, code: str, *, before: Cursor | None = None, most: int
) -> list[str]:
    """The waiting referrals of one code, newest first."""
    at, last_id = before or search.TOP
    return await tx.all(
        _OF_CODE[kind], campaign_id=tenant.campaign_id, code=code, at=at, id=last_id, most=most
    )
