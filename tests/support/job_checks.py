"""Imports of two accounts that are to be compared with their files."""

from functools import partial

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import checking
from tests.support.job_referrals import ODD
from tests.support.job_world import World
from tests.support.web import operator, upload


def begin_checks(world: World) -> None:
    world.both = tuple(operator(world.service) for _ in world.both)
    imports = []
    for who in world.both:
        import_id = upload(who, f"email,name\n{new_id()}@example.org,{ODD['name'][:20]!r}\n")
        who.web.post(f"/subscribers/import/{import_id}", do="start", email="0", name="1")
        imports.append((who, import_id))
    world.run("import uploaded files")
    for who, import_id in imports:
        begin = partial(
            checking.begin,
            tenant=Tenant(who.account_id, who.campaign_id),
            import_id=import_id,
            now_ms=system_clock(),
        )
        world.service.write(begin)
