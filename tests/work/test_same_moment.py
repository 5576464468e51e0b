"""Two who change the same thing at the same moment, or ask for the same thing: neither undoes the
other's change, and a limit holds for both together.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import accounts, invitations
from honeyguide.events import webhooks
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail.email_kinds import HUB_LINK
from honeyguide.moving import stages
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import LineFormat
from honeyguide.moving.stages import ImportPlan, Stage, StageResult
from honeyguide.pages.readers import page_branding, requested_emails
from honeyguide.partners import programs, publications
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import NewReward, RewardFields
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import branding, campaigns, slugs
from honeyguide.subscribers.campaigns import CampaignSettings
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import changing
from tests.support.races import overlapping
from tests.support.readings import in_account, reading
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE, Trade, terms


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param) as store:
        yield store


def new_owner(opened: OpenStore, name: str = "wax") -> Tenant:
    email = EmailAddress(f"{name}@example.org")
    create = partial(timed(accounts.create, NOON_MS), email=email, name=name)
    return Tenant(*opened.run(opened.store.write(create)))


def signing_up(owner: Tenant, email: str, code: str | None = None) -> Any:
    sign_up = changing(signups.sign_up, SITE, owner, NOON_MS)
    return partial(sign_up, new=NewSubscriber(email=email, referrer_code=code))


@pytest.mark.parametrize("other", [{"hold_days": 3}, {"name": "Beeswax"}])
def test_two_changes_of_one_campaign_both_hold(opened: OpenStore, other: dict[str, Any]) -> None:
    owner = new_owner(opened)
    configure = changing(campaigns.configure, SITE, owner, NOON_MS)
    moving = partial(configure, chosen=CampaignSettings(slug="the-wax"))
    setting = partial(configure, chosen=CampaignSettings(**other))
    opened.run(overlapping(opened.store, moving, setting))
    campaign = opened.run(opened.store.read(lambda tx: campaigns.get(reading(tx, owner))))
    found = opened.run(opened.store.read(lambda tx: slugs.find(tx, campaign.slug)))
    assert campaign.slug == "the-wax" and found is not None, "its page is where it says"
    assert {name: getattr(campaign, name) for name in other} == other


def test_a_new_name_outlives_a_change_of_the_settings_at_the_same_moment(opened: OpenStore) -> None:
    owner = new_owner(opened)
    renaming = partial(changing(campaigns.rename, SITE, owner, NOON_MS), name="Beeswax")
    configure = changing(campaigns.configure, SITE, owner, NOON_MS)
    setting = partial(configure, chosen=CampaignSettings(hold_days=3))
    opened.run(overlapping(opened.store, renaming, setting))
    campaign = opened.run(opened.store.read(lambda tx: campaigns.get(reading(tx, owner))))
    assert (campaign.name, campaign.hold_days) == ("Beeswax", 3)


def test_two_changes_of_one_reward_both_hold(opened: OpenStore) -> None:
    owner = new_owner(opened)
    create = changing(rewards.create, SITE, owner, NOON_MS)
    reward = opened.run(opened.store.write(create, NewReward("Mug", 5)))
    update = changing(rewards.update, SITE, owner, NOON_MS)
    easier, renamed = (
        partial(update, reward_id=reward.id, changes=changes)
        for changes in (RewardFields(referrals=3), RewardFields(name="The mug"))
    )
    opened.run(overlapping(opened.store, easier, renamed))
    now = opened.run(opened.store.read(lambda tx: rewards.get(reading(tx, owner), reward.id)))
    assert (now.name, now.referrals) == ("The mug", 3)


def test_two_changes_of_one_program_both_hold(opened: OpenStore) -> None:
    async def scenario() -> None:
        trade = await Trade.begin(opened.store, cpa=300, max_payout=9_000)
        dearer, capped = (
            partial(
                changing(programs.update, SITE, trade.owner, NOON_MS),
                program_id=trade.program.id,
                given=terms(**change),
            )
            for change in ({"cpa": 400}, {"max_payout": 5_000})
        )
        await overlapping(opened.store, dearer, capped)
        now = await opened.store.read(
            lambda tx: programs.get(in_account(tx, trade.owner.account_id), trade.program.id)
        )
        assert (now.cpa_cents, now.max_payout_cents) == (400, 5_000)

    opened.run(scenario())


def test_two_changes_of_one_publication_both_hold(opened: OpenStore) -> None:
    async def scenario() -> None:
        trade = await Trade.begin(opened.store)
        account_id, publication_id = trade.owner.account_id, trade.program.publication_id
        renamed, described = (
            partial(
                changing(publications.update, SITE, trade.owner, NOON_MS),
                publication_id=publication_id,
                given=fields,
                logo=None,
            )
            for fields in (
                publications.PublicationChanges(name="Beeswax"),
                publications.PublicationChanges(description="All of it."),
            )
        )
        await overlapping(opened.store, renamed, described)
        now = await opened.store.read(
            lambda tx: publications.get(in_account(tx, account_id), publication_id)
        )
        assert (now.name, now.description) == ("Beeswax", "All of it.")

    opened.run(scenario())


def winner_of(
    opened: OpenStore, owner: Tenant, new: NewReward, codes: list[str] | None = None
) -> str:
    """The id of what somebody earned by bringing one friend."""
    create = changing(rewards.create, SITE, owner, NOON_MS)
    reward = opened.run(opened.store.write(create, new))
    if codes:
        add = changing(earned_rewards.add_codes, SITE, owner, NOON_MS)
        opened.run(opened.store.write(add, reward.id, codes))
    ana = opened.run(opened.store.write(signing_up(owner, "ana@example.org")))
    opened.run(opened.store.write(signing_up(owner, "ben@example.org", ana.ref_code)))
    ((earned_id,),) = opened.ask("SELECT id FROM won_reward")
    return earned_id  # type: ignore[no-any-return]


def test_a_reward_redeemed_by_two_at_once_is_told_of_once(opened: OpenStore) -> None:
    owner = new_owner(opened)
    hook = partial(
        changing(webhooks.create, SITE, owner, NOON_MS),
        scope="",
        url="http://127.0.0.1:9/hook",
        flags=webhooks.Flags(reward_redeemed=True),
        policy=OutboundPolicy(https_only=False, loopback_ok=True),
    )
    opened.run(opened.store.write(hook))
    earned_id = winner_of(opened, owner, NewReward("Mug", 1))
    redeeming = [
        partial(
            changing(earned_rewards.redeem, SITE, owner, NOON_MS, actor=actor), earned_id=earned_id
        )
        for actor in (actors.subscriber("ana"), actors.api_key("key"))
    ]
    opened.run(overlapping(opened.store, *redeeming))
    assert opened.ask("SELECT redeemed_by FROM won_reward") == [("reader",)]
    assert opened.ask("SELECT COUNT(*) FROM event WHERE type = 'reward_redeemed'") == [(1,)]


def test_a_reward_approved_by_two_at_once_takes_one_code(opened: OpenStore) -> None:
    owner = new_owner(opened)
    earned_id = winner_of(
        opened, owner, NewReward("Jar", 1, "coupon", approval="manual", pool=True), ["A", "B"]
    )
    approve = changing(earned_rewards.approve, SITE, owner, NOON_MS)
    approving = partial(approve, earned_id=earned_id)
    outcomes = opened.run(overlapping(opened.store, approving, approving))
    assert all(isinstance(each, EarnedReward) for each in outcomes), outcomes
    assert opened.ask("SELECT coupon_code FROM won_reward") == [("A",)]
    assert opened.ask("SELECT code, won_id FROM coupon ORDER BY code") == [
        ("A", earned_id),
        ("B", None),
    ]
    assert opened.ask("SELECT codes_left FROM reward") == [(1,)]


def test_a_link_in_a_letter_used_by_two_at_once_works_once(opened: OpenStore) -> None:
    new_owner(opened)
    opened.run(
        opened.store.write(
            partial(
                timed(invitations.forgot_password, NOON_MS),
                site=SITE,
                email=EmailAddress("wax@example.org"),
            )
        )
    )
    ((text,),) = opened.ask("SELECT body_text FROM letter WHERE kind = 'password_reset'")
    token = text.partition("/password/")[2].split()[0]
    using = [
        partial(
            timed(invitations.reset_password, NOON_MS),
            site=SITE,
            token=token,
            password_hash=password_hash,
        )
        for password_hash in ("one", "other")
    ]
    first, second = opened.run(overlapping(opened.store, *using))
    assert isinstance(second, Missing)
    assert opened.ask("SELECT id, password_hash FROM login_user") == [(first, "one")]


def test_two_first_accounts_at_once_make_one_administrator_and_one_refusal(
    opened: OpenStore,
) -> None:
    opening = [
        partial(
            timed(invitations.open_first_account, NOON_MS),
            email=EmailAddress(f"{name}@example.org"),
            name=name,
            password_hash="x",
        )
        for name in ("wax", "honey")
    ]
    first, second = opened.run(overlapping(opened.store, *opening))
    assert isinstance(second, Missing), second
    assert opened.ask("SELECT user_id, role FROM member") == [(first, "owner")]
    assert opened.ask("SELECT email, is_admin FROM account") == [("wax@example.org", 1)]
    assert opened.ask("SELECT COUNT(*) FROM campaign") == [(1,)]


def test_a_mailbox_gets_no_more_letters_from_forms_filled_in_at_once_than_one_after_another(
    opened: OpenStore,
) -> None:
    most = HUB_LINK.most_a_day
    owners = [new_owner(opened, f"wax{n}") for n in range(most + 1)]
    readers: list[Subscriber] = [
        opened.run(opened.store.write(signing_up(owner, "zelda@example.org"))) for owner in owners
    ]

    async def ask(tx: Tx, owner: Tenant, reader: Subscriber) -> None:
        brand = page_branding.of_campaign(await branding.of(reading(tx, owner)))
        await requested_emails.send_hub_link(
            Change(tx, SITE, brand.tenant, actors.subscriber(reader.id), NOON_MS), brand, reader
        )

    asking = [
        partial(ask, owner=owner, reader=reader)
        for owner, reader in zip(owners, readers, strict=True)
    ]
    for one in asking[:-2]:
        opened.run(opened.store.write(one))
    opened.run(overlapping(opened.store, *asking[-2:]))
    assert opened.ask("SELECT COUNT(*) FROM letter WHERE kind = 'hub_link'") == [(most,)]


@pytest.mark.parametrize("place", [0, 1, 9])
def test_an_import_skips_whoever_signs_up_at_the_same_moment(opened: OpenStore, place: int) -> None:
    owner = new_owner(opened)
    people = [f"reader{n}@example.org" for n in range(10)]
    lines = [ImportLine(n + 2, [email]) for n, email in enumerate(people)]

    bring = changing(stages.run, SITE, owner, NOON_MS)
    form = LineFormat({"email": 0}, DateOrder.ISO, [])
    plan = ImportPlan("an import", form, "people.csv", gives_rewards=False)
    bringing = partial(bring, plan=plan, stage=Stage.PEOPLE, lines=lines)
    _, outcome = opened.run(overlapping(opened.store, signing_up(owner, people[place]), bringing))
    assert outcome == StageResult(added=9, skipped=1, refused=[], findings=[])
    assert opened.ask("SELECT COUNT(*) FROM subscriber") == [(10,)]
