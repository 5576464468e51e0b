"""The job that notifies operators of API keys that expire soon."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.accounts import expiring_keys
from honeyguide.accounts.expiring_keys import ExpiringKey
from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.work.items import Items

NOTIFYING = "notify of keys that expire"
# Keys found in one read. Each is done in a transaction of its own.
BATCH = 100


async def _warn(tx: Tx, site: Site, key: ExpiringKey, now_ms: int) -> None:
    await expiring_keys.warn(Change(tx, site, key.tenant, actors.job(NOTIFYING), now_ms), key)


async def warn_all(site: Site, store: Store, found: Sequence[ExpiringKey], now_ms: int) -> bool:
    for key in found:
        await store.write(_warn, site, key, now_ms)
    return True


def keys_to_warn_of(site: Site) -> Items:
    return Items(expiring_keys.due, partial(warn_all, site), BATCH)
