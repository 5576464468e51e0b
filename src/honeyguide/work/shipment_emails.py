"""The job that tells subscribers that their rewards are on the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.rewards import shipment_emails
from honeyguide.rewards.shipment_emails import ANNOUNCING, Recipient
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.work.items import Items

# Subscribers found in one read. Each is told in a transaction of its own.
BATCH = 100


async def _announce(tx: Tx, site: Site, recipient: Recipient, now_ms: int) -> None:
    change = Change(tx, site, recipient.tenant, actors.job(ANNOUNCING), now_ms)
    await shipment_emails.announce(change, recipient.subscriber_id)


async def announce_all(site: Site, store: Store, found: Sequence[Recipient], now_ms: int) -> bool:
    for recipient in found:
        await store.write(_announce, site, recipient, now_ms)
    return True


def recipients_to_tell(site: Site) -> Items:
    return Items(shipment_emails.due, partial(announce_all, site), BATCH)
