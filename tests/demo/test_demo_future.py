"""When the demo's clock is moved, people have joined its newsletters in between."""

import asyncio
from pathlib import Path

from honeyguide import demo, settings
from honeyguide.app import Services, opened
from honeyguide.demo import future, setup
from honeyguide.demo.newsletters import NEWSLETTERS, OWNER
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.tx import Tx
from tests.support.service import fresh_database_url
from tests.support.stores import statement


async def joined(services: Services, tenant: Tenant) -> list[tuple[int, str]]:
    """When, and by what."""

    async def read(tx: Tx) -> list[tuple[int, str]]:
        sql = statement(
            "SELECT created_ms, origin FROM subscriber WHERE campaign_id = :id ORDER BY created_ms"
        )
        return await tx.all(sql, id=tenant.campaign_id)

    return await services.store.read(read)


def test_people_join_while_the_clock_is_moved(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    chosen = settings.read(
        {}, database_url=fresh_database_url("sqlite", tmp_path), test_clock=str(clock)
    )

    async def work() -> None:
        async with opened(chosen) as services:
            now_ms = services.clock()
            tenants, _ = await services.store.write(demo._find_or_create_accounts)
            await setup.set_up(services, tenants, start_ms=now_ms - demo.YEAR_MS, end_ms=now_ms)
            assert await future.catch_up(services, now_ms) == now_ms, "no time has passed"
            clock.write_text(str(7 * 24 * 3600))
            later_ms = await future.catch_up(services, now_ms)
            assert later_ms >= now_ms + 7 * DAY_MS
            for newsletter in NEWSLETTERS:
                found = await joined(services, tenants[newsletter.email])
                assert found and all(now_ms <= at_ms < later_ms for at_ms, _ in found)
            wax = await joined(services, tenants[OWNER])
            assert "magic" in {origin for _, origin in wax}, "partners go on, too"
            assert len({at_ms // DAY_MS for at_ms, _ in wax}) > 2, "not all at once"
            # A clock that is back adds nobody, nor does a new start of the demo.
            clock.write_text("0")
            assert await future.catch_up(services, later_ms) == later_ms
            clock.write_text(str(7 * 24 * 3600))
            await future.catch_up(services, 0)
            assert await joined(services, tenants[OWNER]) == wax

    asyncio.run(work())
