"""Whoever is erased at the very moment when something else is said, sent or earned leaves nothing
behind all the same, and costs nobody else anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import accounts, idempotency
from honeyguide.events import webhooks
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import import_parts, imported_line, importing, people
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import LineFormat
from honeyguide.pages.readers import page_branding, requested_emails
from honeyguide.rewards import backfill, earned_rewards, rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import NewReward
from honeyguide.rewards.shipments import PostalAddress
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import branding, subscribers
from honeyguide.subscribers.subscribers import Subscriber
from tests.support import imports
from tests.support.changes import changing, new_change
from tests.support.races import overlapping
from tests.support.readings import change_of_account, changes_of, reading
from tests.support.service import ENGINES, Member
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, SITE

OPERATOR = actors.member("wax")
ROW = PostalAddress("Zelda Quixote", "77 Unmistakable Row", "Port Nowhere", "ZQ7", "XX")


class Wax:
    """A newsletter on a store alone, with a webhook that wants to hear of everything."""

    def __init__(self, store: Store, owner: Tenant) -> None:
        self.store = store
        self.tenant = owner

    @classmethod
    async def begin(cls, store: Store) -> Wax:
        async def work(tx: Tx) -> Tenant:
            made = await accounts.create(
                tx.at(NOON_MS), EmailAddress("wax@example.org"), name="Wax"
            )
            tenant = Tenant(made.account_id, made.campaign_id)
            await webhooks.create(
                new_change(tx, SITE, tenant, NOON_MS),
                "",
                "http://127.0.0.1:9/hook",
                webhooks.Flags(True, True, True, True),
                policy=OutboundPolicy(https_only=False, loopback_ok=True),
            )
            return tenant

        return cls(store, await store.write(work))

    def signing_up(
        self, email: str, code: str | None = None
    ) -> Callable[[Tx], Awaitable[Subscriber]]:
        new = NewSubscriber(email=email, referrer_code=code)
        return partial(self.changing(signups.sign_up), new=new)

    async def zelda(self, friends: int = 0) -> Subscriber:
        zelda = await self.store.write(self.signing_up("zelda@example.org"))
        for number in range(friends):
            await self.store.write(self.signing_up(f"friend{number}@example.org", zelda.ref_code))
        return zelda

    async def offer(self, **fields: Any) -> None:
        new = NewReward(**{"name": "Mug", "referrals": 1, **fields})
        await self.store.write(self.changing(rewards.create), new)

    def erasing(self, person: Subscriber) -> Callable[[Tx], Awaitable[None]]:
        return partial(self.changing(signups.erase), id_or_email=person.id)

    def changing(self, unit: Any, actor: Actor = OPERATOR) -> Any:
        return changing(unit, SITE, self.tenant, NOON_MS, actor=actor)

    async def left_of(self, person: Subscriber) -> list[tuple[Any, ...]]:
        """What events and letters still say of a person."""
        query = (
            "SELECT body FROM event WHERE body LIKE :word UNION ALL SELECT to_email FROM letter "
            "WHERE to_email LIKE :word"
        )
        return await self.store.read(lambda tx: tx.all(statement(query), word=f"%{person.email}%"))


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param) as store:
        yield store


def test_who_signs_up_with_the_code_of_somebody_just_being_erased_is_in(opened: OpenStore) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        zelda = await wax.zelda()
        _, made = await overlapping(
            wax.store, wax.erasing(zelda), wax.signing_up("new@example.org", zelda.ref_code)
        )
        assert isinstance(made, Subscriber), made
        assert (
            await wax.store.read(lambda tx: subscribers.get(reading(tx, wax.tenant), made.id))
            is not None
        )
        assert await wax.left_of(zelda) == []

    opened.run(scenario())


def test_a_new_milestone_reaches_somebody_just_being_erased_without_a_word_of_it(
    opened: OpenStore,
) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        zelda = await wax.zelda(friends=2)
        await wax.offer()
        walking = partial(timed(backfill.grant_batch, NOON_MS), site=SITE)
        walked, _ = await overlapping(wax.store, walking, wax.erasing(zelda))
        assert walked is True
        assert await wax.left_of(zelda) == []

    opened.run(scenario())


def test_a_letter_to_somebody_just_being_erased_is_not_sent(opened: OpenStore) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        zelda = await wax.zelda()

        async def writing(tx: Tx) -> None:
            reader = await subscribers.get(reading(tx, wax.tenant), zelda.id)
            brand = page_branding.of_campaign(await branding.of(reading(tx, wax.tenant)))
            await requested_emails.send_hub_link(
                Change(tx, SITE, brand.tenant, actors.subscriber(reader.id), NOON_MS), brand, reader
            )

        outcomes = await overlapping(wax.store, writing, wax.erasing(zelda))
        assert outcomes == (None, None)
        written = statement("SELECT kind, to_email FROM letter")
        assert await wax.store.read(lambda tx: tx.all(written)) == [("hub_link", None)]
        assert await wax.left_of(zelda) == []

    opened.run(scenario())


@pytest.mark.parametrize("erased_first", [True, False])
def test_the_address_in_a_claim_is_not_kept_when_its_person_is_just_being_erased(
    opened: OpenStore, erased_first: bool
) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        await wax.offer(kind="physical")
        zelda = await wax.zelda(friends=1)
        (earned,) = await wax.store.read(
            lambda tx: earned_rewards.earned_by(reading(tx, wax.tenant), zelda.id)
        )
        claiming = partial(
            wax.changing(earned_rewards.claim, actors.subscriber(zelda.id)),
            subscriber=zelda,
            earned_id=earned.id,
            shipping=ROW,
        )
        works = [wax.erasing(zelda), claiming] if erased_first else [claiming, wax.erasing(zelda)]
        outcomes = await overlapping(wax.store, *works)
        assert isinstance(
            outcomes[works.index(claiming)], Missing if erased_first else EarnedReward
        )
        assert await wax.left_of(zelda) == []
        kept = statement("SELECT status, shipping FROM won_reward")
        assert await wax.store.read(lambda tx: tx.all(kept)) == [
            ("unlocked" if erased_first else "redeemed", None)
        ]

    opened.run(scenario())


def test_the_stored_answer_of_a_resend_does_not_outlive_a_person_just_being_erased(
    opened: OpenStore,
) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        zelda = await wax.zelda(friends=1)
        done = "UPDATE delivery SET status = 'delivered' RETURNING webhook_id, id"
        ((webhook_id, delivery_id),) = await wax.store.write(lambda tx: tx.all(statement(done)))
        account_id = wax.tenant.account_id

        async def resending(tx: Tx) -> None:
            await idempotency.claim(tx.at(NOON_MS), account_id, "again", "fingerprint")
            again, _ = await webhooks.resend(
                change_of_account(tx, account_id, now_ms=NOON_MS), "", webhook_id, delivery_id
            )
            await idempotency.complete(
                tx, account_id, "again", status=200, body="Welcome, Zelda", about=again.id
            )

        await overlapping(wax.store, resending, wax.erasing(zelda))
        assert (
            await wax.store.read(lambda tx: tx.all(statement("SELECT body FROM idempotency"))) == []
        )

    opened.run(scenario())


def test_an_import_adds_nothing_to_somebody_just_being_erased(opened: OpenStore) -> None:
    consent = '[{"text": "I agree", "agreed_at": "2024-01-01T10:00:00.000Z"}]'
    mug = (
        '[{"name": "Mug", "referrals": 1, "status": "unlocked", '
        '"earned_at": "2024-01-01T10:00:00.000Z"}]'
    )
    columns = {"email": 0, "consents": 1, "earned_rewards": 2}
    lines = [ImportLine(2, ["zelda@example.org", consent, mug])]
    read = imported_line.read(lines, LineFormat(columns, DateOrder.ISO, []), NOON_MS)
    (person,) = read.people
    assert person.consents and person.earned

    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        await wax.offer()
        zelda = await wax.zelda()
        adding = partial(wax.changing(people.add), import_id=new_id(), people=[person])
        outcomes = await overlapping(wax.store, wax.erasing(zelda), adding)
        assert [type(each).__name__ for each in outcomes] == ["NoneType", "AddedPeople"]
        for table in ("consent", "won_reward"):
            kept = statement(f"SELECT subscriber_id FROM {table} WHERE subscriber_id = :id")
            assert await wax.store.read(lambda tx, kept=kept: tx.all(kept, id=zelda.id)) == []

    opened.run(scenario())


def test_what_an_erased_person_won_can_be_marked_as_redeemed_and_keeps_no_address(
    alice: Member,
) -> None:
    alice.post(f"{alice.v1}/rewards", {"name": "Mug", "referrals": 1, "kind": "physical"})
    zelda = alice.subscribe("zelda@example.org")
    alice.subscribe("friend@example.org", referrer_code=zelda["ref_code"])
    (earned,) = alice.get(f"{alice.v1}/subscribers/{zelda['uuid']}/rewards").json()["rewards"]
    alice.delete(f"{alice.v1}/subscribers/{zelda['uuid']}")
    address = {
        "name": "Zelda",
        "line1": "77 Unmistakable Row",
        "city": "Port Nowhere",
        "postcode": "ZQ7",
        "country": "XX",
    }
    answer = alice.post(
        f"{alice.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": address}
    )
    assert (answer.status_code, answer.json()["reward"]["status"]) == (200, "redeemed")
    kept = statement("SELECT shipping FROM won_reward WHERE id = :id")
    assert alice.service.read(lambda tx: tx.all(kept, id=earned["uuid"])) == [(None,)]


def test_an_import_that_refuses_a_line_of_somebody_just_being_erased_keeps_nothing_of_it(
    opened: OpenStore,
) -> None:
    async def scenario() -> None:
        wax = await Wax.begin(opened.store)
        zelda = await wax.zelda()
        lines = [ImportLine(2, ["Zelda <zelda@example.org>"]), ImportLine(3, ["not an address"])]
        keeping = partial(
            timed(imports.keep, NOON_MS),
            tenant=wax.tenant,
            file_name="x.csv",
            header=["email"],
            lines=lines,
        )
        import_id = await wax.store.write(keeping)
        await wax.store.write(changes_of(importing.start, wax.tenant), import_id)
        stepping = partial(
            timed(import_parts.import_lines, NOON_MS),
            import_id=import_id,
            numbers=[2, 3],
            site=SITE,
        )
        assert await overlapping(wax.store, stepping, wax.erasing(zelda)) == (True, None)
        refused = await wax.store.read(
            lambda tx: importing.errors(reading(tx, wax.tenant), import_id)
        )
        assert [row.content for row in refused] == ['["not an address"]']
        kept = await wax.store.read(lambda tx: importing.get(reading(tx, wax.tenant), import_id))
        assert (kept.total, kept.done, kept.failed) == (1, 1, 2)

    opened.run(scenario())
