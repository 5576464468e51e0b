"""The feed of changed subscribers: everything that an email platform shows of somebody is noticed,
in the transaction of the change, and only for campaigns that have an integration.
"""

from typing import Any

import pytest

from honeyguide.events import changes
from honeyguide.kernel.errors import Missing
from honeyguide.rewards import adjustments, earned_rewards, rewards
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import SubscriberChanges
from honeyguide.store.tx import Tx
from tests.signups.test_erasure_races import Wax
from tests.support.changes import changing
from tests.support.readings import changes_of, reads
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE

INTEGRATION = (
    "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
    "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, hook_key, "
    "created_ms) "
    "SELECT 'g', account_id, id, 'x', 'active', '', '', '', '', '{}', '', 0, 'x', 1 FROM campaign"
)
COUNT = "SELECT COUNT(*) FROM subscriber_change"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_change_that_a_platform_shows_is_in_the_feed(engine: str) -> None:
    with OpenStore(engine) as opened:
        wax = opened.run(Wax.begin(opened.store))
        write = opened.store.write
        zelda = opened.run(wax.zelda())
        assert opened.ask(COUNT) == [(0,)]  # nobody reads it yet
        opened.do(INTEGRATION)

        def taken() -> set[str]:
            return set(opened.run(write(reads(changes.take, wax.tenant), most=100)))

        def by(unit: Any) -> Any:
            return changing(unit, SITE, wax.tenant, NOON_MS)

        def change(subscriber_id: str, **fields: str) -> None:
            made = SubscriberChanges(**fields)
            opened.run(write(by(signups.update), subscriber_id, made))

        ada = opened.run(write(wax.signing_up("ada@example.org", zelda.ref_code)))
        assert taken() == {ada.id, zelda.id}  # the new one, and the referrer's count
        change(ada.id, name="Ada")
        assert taken() == {ada.id}
        change(ada.id, email="ada@example.com")
        assert taken() == {ada.id}
        change(ada.id, email="ada@example.com")
        assert taken() == set()  # it was that already
        change(ada.id, status="unsubscribed")
        assert taken() == {ada.id}
        added = AdjustmentFields(amount=1, reason="x")
        opened.run(write(by(adjustments.add), zelda.id, added))
        assert taken() == {zelda.id}
        pool = NewReward("Mug", 1, "coupon", pool=True)
        reward = opened.run(write(by(rewards.create), pool))
        opened.run(write(by(earned_rewards.unlock), zelda.id))
        assert taken() == {zelda.id}  # earned, and out of stock
        opened.run(write(by(earned_rewards.add_codes), reward.id, ["MUG-1"]))
        assert taken() == {zelda.id}  # got a code
        opened.run(write(wax.erasing(ada)))
        assert taken() == {ada.id, zelda.id}  # the referrer's count went down too
        opened.run(write(changes_of(changes.record, wax.tenant), zelda.id))
        assert taken() == {zelda.id}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_change_that_is_rolled_back_is_not_in_the_feed(engine: str) -> None:
    with OpenStore(engine) as opened:
        wax = opened.run(Wax.begin(opened.store))
        opened.do(INTEGRATION)

        async def work(tx: Tx) -> None:
            await wax.signing_up("ada@example.org")(tx)
            await tx.flush()
            raise Missing("Roll back.")

        with pytest.raises(Missing):
            opened.run(opened.store.write(work))
        assert opened.ask(COUNT) == [(0,)]


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_changes_of_one_subscriber_are_taken_as_one(engine: str) -> None:
    with OpenStore(engine) as opened:
        wax = opened.run(Wax.begin(opened.store))
        opened.do(INTEGRATION)
        zelda = opened.run(wax.zelda(friends=10))
        taken = opened.run(opened.store.write(reads(changes.take, wax.tenant), most=100))
        assert len(taken) == 11 and taken.count(zelda.id) == 1
        assert opened.ask(COUNT) == [(0,)]
