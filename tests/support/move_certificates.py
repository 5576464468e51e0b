"""A certificate of an import that found somebody missing."""

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import checking, importing
from honeyguide.store.tx import Tx
from honeyguide.work.moving import compare_some
from tests.support.readings import change_of
from tests.support.service import Member
from tests.support.stores import statement

_DONE = statement("UPDATE import SET status = 'done', finished_ms = created_ms WHERE id = :id")


def certificate_of(owner: Member, name: str = "secret.csv") -> str:
    tenant, now_ms = Tenant(owner.account_id, owner.campaign_id), owner.service.now_ms()
    services = owner.service.services

    async def begin(tx: Tx) -> str:
        import_id = await importing.begin(
            change_of(tx, tenant, now_ms=now_ms), name, ["email"], {"email": 0}
        )
        lines = ['[[2,["secret@example.org"]]]']
        await importing.add_parts(change_of(tx, tenant), import_id, 0, lines)
        await importing.complete(change_of(tx, tenant), import_id, 1)
        await tx.run(_DONE, id=import_id)
        return await checking.begin(change_of(tx, tenant, now_ms=now_ms), import_id)

    async def run(check_id: str) -> None:
        secret_keys = services.settings.secret_keys
        for _ in range(2):
            await compare_some(services.site, secret_keys, services.store, [check_id], now_ms)

    check_id = owner.service.write(begin)
    owner.service.run(run(check_id))
    return check_id
