"""The jobs of moving in: imports, what is fetched for them from another service, and what another
tool wrote to an email platform; and the comparison of imports with their files.
"""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.kernel.errors import Missing
from honeyguide.kernel.isolation import do_all
from honeyguide.kernel.site import Site
from honeyguide.moving import adopting, checking, import_parts
from honeyguide.store import Store
from honeyguide.store.tx import timed


async def import_file(site: Site, store: Store, imports: Sequence[str], now_ms: int) -> bool:
    """One part in one stage. A line that fails is recorded, and the import goes on. False if
    another process is at it."""
    (import_id,) = imports

    is_ours = True

    async def import_lines(numbers: Sequence[int]) -> None:
        nonlocal is_ours
        is_ours = await store.write(
            timed(import_parts.import_lines, now_ms), import_id, numbers, site=site
        )

    numbers = await store.read(import_parts.next_lines, import_id)
    if not numbers:
        await import_lines(numbers)
        return is_ours
    for number, error in await do_all(numbers, import_lines):
        await store.write(
            timed(import_parts.refuse_line, now_ms), import_id, number, error, site=site
        )
    return is_ours


async def adopt_values(site: Site, store: Store, found: Sequence[str], now_ms: int) -> bool:
    (integration_id,) = found
    await store.write(timed(adopting.adopt_batch, now_ms), site, integration_id)
    return True


async def compare_some(
    site: Site, secret_keys: Sequence[bytes], store: Store, checks: Sequence[str], now_ms: int
) -> bool:
    """One part of one check, or its end."""
    (check_id,) = checks
    check = await store.read(checking.find_running, check_id)
    if check is None:
        return True
    try:
        # On SQLite, a slow snapshot is read in a thread, so that others are served meanwhile.
        compared = await store.slow_snapshot(timed(checking.compare_part, now_ms), site, check)
        if compared.n is None:
            await store.write(timed(checking.finish, now_ms), site, check, secret_keys)
        else:
            await store.write(checking.record, check, compared)
    except Missing:
        await store.write(checking.forget, check)
    return True
