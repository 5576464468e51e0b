"""A subscriber's own page has a URL that nobody can guess: their public code and a secret hash."""

from __future__ import annotations

import hmac

from honeyguide.kernel.ids import CODE_LENGTH
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import links, subscribers
from honeyguide.subscribers.subscribers import Subscriber

_HASH_LENGTH = 32


def token(site: Site, subscriber_id: str, ref_code: str, link_version: int = 0) -> str:
    """Of a version of the subscriber's links (`reader_links`)."""
    signed = f"{subscriber_id} {link_version}" if link_version else subscriber_id
    return ref_code + site.keyed_hash("hub", signed)[:_HASH_LENGTH]


def link(site: Site, subscriber: Subscriber) -> str:
    return f"{site.base_url}/hub/{token_of(site, subscriber)}"


def token_of(site: Site, subscriber: Subscriber) -> str:
    return token(site, subscriber.id, subscriber.ref_code, subscriber.link_version)


async def find(tx: Tx, site: Site, given: str) -> tuple[Tenant, Subscriber] | None:
    """The subscriber of this page. None for a wrong token, one that ended, or an erased
    subscriber."""
    found = await links.lookup(tx, given[:CODE_LENGTH])
    if found is None:
        return None
    tenant = Tenant(found.account_id, found.campaign_id)
    subscriber = await subscribers.find(Reading(tx, site, tenant, tx.now_ms), found.subscriber_id)
    if subscriber is None or not hmac.compare_digest(
        token_of(site, subscriber).encode(), given.encode()
    ):
        return None
    return tenant, subscriber
