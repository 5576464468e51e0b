"""Which of an advocate's rewards a platform is told about."""

import pytest

from honeyguide.rewards import adjustments, rewards
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.rewards.rewards import NewReward
from tests.support.integrations import Synced
from tests.support.platforms.generic import GenericTool
from tests.support.readings import reads
from tests.support.service import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)


async def test_the_last_reward_that_is_really_theirs_is_written(
    synced: Synced, tool: GenericTool
) -> None:
    """Not an earlier one, and none that waits for an approval or for a code."""
    zelda = await synced.join("zelda@example.org")
    offered = (
        NewReward("Mug", 1, "coupon", coupon_code="MUG"),
        NewReward("Shirt", 2, "coupon", coupon_code="SHIRT"),
        NewReward("Book", 3, "coupon", coupon_code="BOOK", approval="manual"),
        NewReward("Course", 4, "coupon", pool=True),
    )
    for each in offered:
        await synced.offer(each)
    shown = []
    for number in range(4):
        await synced.join(f"friend{number}@example.org", zelda.ref_code)
        synced.pass_a_minute()
        await synced.sync()
        written = tool.contacts[zelda.id]["fields"]
        shown.append((written["RH_TOTREF"], written["RH_COUPON"], written["RH_LASTREWARD"]))
    all_rewards = await synced.store.read(reads(rewards.of_campaign, synced.tenant))
    ids = {each.name: each.id for each in all_rewards}
    assert shown == [
        ("1", "MUG", ids["Mug"]),
        ("2", "SHIRT", ids["Shirt"]),
        ("3", "SHIRT", ids["Shirt"]),
        ("4", "SHIRT", ids["Shirt"]),
    ]


async def test_an_adjustment_changes_what_is_missing_and_not_the_referrals(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.offer(NewReward("Pen", 2, "coupon", coupon_code="PEN"))
    await synced.offer(NewReward("Mug", 5))
    for amount, missing, coupon in ((1, "1", ""), (2, "2", "PEN"), (-3, "2", "PEN")):
        synced.pass_a_minute()
        given = AdjustmentFields(amount=amount, reason="x")
        await synced.make(adjustments.add, ada.id, given)
        await synced.sync()
        written = tool.contacts[ada.id]["fields"]
        found = (written["RH_TOTREF"], written["RH_MISSING"], written["RH_COUPON"])
        assert found == ("0", missing, coupon), amount
