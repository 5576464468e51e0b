"""Rewards for tests: offered, earned by bringing friends, and what their post office wrote."""

from functools import partial
from typing import Any

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails
from honeyguide.mail.emails import QueuedEmail
from honeyguide.rewards import backfill
from honeyguide.store.tx import Tx
from tests.support.readings import in_account
from tests.support.service import Member
from tests.support.stores import statement

WAITING = statement("SELECT id FROM reward WHERE walk_ms IS NOT NULL AND deleted_ms IS NULL")
ADDRESS = {
    "name": "Ana",
    "line1": "1 Hive Lane",
    "city": "Porto",
    "postcode": "4000",
    "country": "PT",
}


def offer(member: Member, **fields: Any) -> dict[str, Any]:
    answer = member.post(f"{member.v1}/rewards", {"name": "The mug", "referrals": 1, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["reward"]  # type: ignore[no-any-return]


def advocate(member: Member, friends: int = 0, email: str = "ana@example.org") -> dict[str, Any]:
    made = member.subscribe(email, name="Ana Lopes")
    bring(member, made, friends)
    return made


def bring(member: Member, who: dict[str, Any], friends: int) -> None:
    for _ in range(friends):
        member.subscribe(f"{new_id()[-12:]}@example.org", referrer_code=who["ref_code"])


def earned_by(member: Member, who: dict[str, Any]) -> list[dict[str, Any]]:
    answer = member.get(f"{member.v1}/subscribers/{who['uuid']}/rewards")
    assert answer.status_code == 200, answer.text
    return answer.json()["rewards"]  # type: ignore[no-any-return]


def post_of(member: Member, kind: str) -> list[QueuedEmail]:
    async def work(tx: Tx) -> list[QueuedEmail]:
        return [
            each
            for each in await emails.of_account(in_account(tx, member.account_id), Page(1, 200))
            if each.kind == kind
        ]

    return member.service.read(work)


def catch_up(member: Member) -> None:
    """The background work of rewards, to its end, whatever the service itself is doing meanwhile.
    On PostgreSQL a new reward waits for the transactions that were in flight when it was created.
    """
    service, site = member.service, member.service.services.site
    for job in (backfill.grant_batch, backfill.supply_batch):
        batch = partial(job, site=site)
        while service.write(batch) or service.read(_is_waiting):
            pass


async def _is_waiting(tx: Tx) -> bool:
    return bool(await tx.all(WAITING))


def tenant_of(member: Member) -> Tenant:
    return Tenant(member.account_id, member.campaign_id)
