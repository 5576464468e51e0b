"""The job that compares imports with their files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.clock import SECOND_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.moving import checking
from honeyguide.store import Store
from honeyguide.work.items import Items
from honeyguide.work.job import Job


def certificate_jobs(site: Site, secret_keys: Sequence[bytes]) -> tuple[Job, ...]:
    checks = Items(checking.running, partial(check_some, site, secret_keys))
    return (Job(checking.CHECKING, SECOND_MS, (checks,)),)


async def check_some(
    site: Site, secret_keys: Sequence[bytes], store: Store, checks: Sequence[str], now_ms: int
) -> bool:
    """One part of one check, or its end."""
    (check_id,) = checks
    check = await store.read(checking.find_running, check_id)
    if check is None:
        return True
    try:
        # On SQLite, a slow snapshot is read in a thread, so that others are served meanwhile.
        compared = await store.slow_snapshot(checking.compare_part, site, check, now_ms=now_ms)
        if compared.n is None:
            await store.write(checking.finish, site, check, secret_keys, now_ms=now_ms)
        else:
            await store.write(checking.record, check, compared)
    except Missing:
        await store.write(checking.forget, check)
    return True
