"""Manual rewards that their subscriber asked for, and that wait for the operator."""

from honeyguide.kernel import actors
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import earned_rewards
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers
from tests.support.belongings import earned
from tests.support.readings import reading
from tests.support.web import Operator


def claimed(owner: Operator) -> tuple[str, str]:
    """(the earned reward, the subscriber), who asked for what the operator hands over."""
    subscriber_id, own = earned(owner, "automatic")

    async def claim(tx: Tx) -> None:
        tenant = Tenant(owner.account_id, owner.campaign_id)
        person = await subscribers.get(reading(tx, tenant), subscriber_id)
        change = Change(
            tx,
            owner.service.services.site,
            tenant,
            actors.subscriber(subscriber_id),
            owner.service.now_ms(),
        )
        await earned_rewards.claim(change, person, own)

    owner.service.write(claim)
    return own, subscriber_id
