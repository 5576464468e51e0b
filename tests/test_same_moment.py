"""Two who change the same thing at the same moment, or ask for the same thing: neither undoes the other's change, and a limit
holds for both together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import accounts
from honeyguide.pages.readers import post
from honeyguide.partners import arrivals, importing
from honeyguide.partners.importing import Line, Outcome
from honeyguide.referrals import campaigns, milestones, slugs
from honeyguide.referrals.campaigns import Owner, Settings
from honeyguide.referrals.milestones import Changes, NewReward
from honeyguide.referrals.people import Subscriber
from honeyguide.referrals.subscribers import NewSubscriber
from honeyguide.store.tx import Tx
from tests.support.races import overlapping
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE, fresh_copy


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, fresh_copy(request.param)) as store:
        yield store


def new_owner(opened: OpenStore, name: str = "wax") -> Owner:
    create = partial(accounts.create, email=f"{name}@example.org", name=name, now_ms=NOON_MS)
    return Owner(*opened.run(opened.store.write(create)))


def signing_up(owner: Owner, email: str) -> Any:
    return partial(arrivals.sign_up, site=SITE, owner=owner, new=NewSubscriber(email), now_ms=NOON_MS)


@pytest.mark.parametrize("other", [{"hold_days": 3}, {"name": "Beeswax"}])
def test_two_changes_of_one_campaign_both_hold(opened: OpenStore, other: dict[str, Any]) -> None:
    owner = new_owner(opened)
    moving = partial(campaigns.configure, owner=owner, chosen=Settings(slug="the-wax"))
    changing = partial(campaigns.configure, owner=owner, chosen=Settings(**other))
    opened.run(overlapping(opened.store, moving, changing))
    campaign = opened.run(opened.store.read(lambda tx: campaigns.get(tx, owner)))
    found = opened.run(opened.store.read(lambda tx: slugs.find(tx, campaign.slug)))
    assert campaign.slug == "the-wax" and found is not None, "its page is where it says"
    assert {name: getattr(campaign, name) for name in other} == other


def test_a_new_name_outlives_a_change_of_the_settings_at_the_same_moment(opened: OpenStore) -> None:
    owner = new_owner(opened)
    renaming = partial(campaigns.rename, owner=owner, name="Beeswax")
    opened.run(overlapping(opened.store, renaming, partial(campaigns.configure, owner=owner, chosen=Settings(hold_days=3))))
    campaign = opened.run(opened.store.read(lambda tx: campaigns.get(tx, owner)))
    assert (campaign.name, campaign.hold_days) == ("Beeswax", 3)


def test_two_changes_of_one_reward_both_hold(opened: OpenStore) -> None:
    owner = new_owner(opened)
    create = partial(milestones.create, owner=owner, new=NewReward("Mug", 5), now_ms=NOON_MS)
    reward = opened.run(opened.store.write(create))
    easier, renamed = (
        partial(milestones.update, owner=owner, reward_id=reward.id, changes=changes)
        for changes in (Changes(referrals=3), Changes(name="The mug"))
    )
    opened.run(overlapping(opened.store, easier, renamed))
    now = opened.run(opened.store.read(lambda tx: milestones.get(tx, owner, reward.id)))
    assert (now.name, now.referrals) == ("The mug", 3)


def test_a_mailbox_gets_no_more_letters_from_forms_filled_in_at_once_than_one_after_another(opened: OpenStore) -> None:
    owners = [new_owner(opened, f"wax{n}") for n in range(post.MOST_A_DAY + 1)]
    readers: list[Subscriber] = [opened.run(opened.store.write(signing_up(owner, "zelda@example.org"))) for owner in owners]
    asking = [
        partial(post.send_hub_link, site=SITE, owner=owner, newsletter="Wax", reader=reader, now_ms=NOON_MS)
        for owner, reader in zip(owners, readers, strict=True)
    ]
    for one in asking[:-2]:
        opened.run(opened.store.write(one))
    opened.run(overlapping(opened.store, *asking[-2:]))
    assert opened.ask("SELECT COUNT(*) FROM letter WHERE kind = 'hub_link'") == [(post.MOST_A_DAY,)]


@pytest.mark.parametrize("place", [0, 1, 9])
def test_an_import_skips_whoever_signs_up_at_the_same_moment(opened: OpenStore, place: int) -> None:
    owner = new_owner(opened)
    people = [f"reader{n}@example.org" for n in range(10)]
    lines = [Line(n + 2, [email]) for n, email in enumerate(people)]

    async def bringing(tx: Tx) -> Outcome:
        return await importing.bring(tx, SITE, owner, lines, {"email": 0}, now_ms=NOON_MS)

    _, outcome = opened.run(overlapping(opened.store, signing_up(owner, people[place]), bringing))
    assert outcome == Outcome(added=9, skipped=1, refused=[])
    assert opened.ask("SELECT COUNT(*) FROM subscriber") == [(10,)]
