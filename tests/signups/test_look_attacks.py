"""First looks under attack: what a partner or a stranger tries so that more is paid, so that
somebody else is not, or so that the owner sees something else than there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import network
from honeyguide.signups import delayed_actions, delayed_kinds, first_looks, signups, unconfirmed
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import job_failures
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscribers import Subscriber
from tests.screening.test_look_claims import COUNTED, WAITS, statuses
from tests.signups.test_first_looks import Looking
from tests.support.changes import SITE
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, verify

CAMPAIGN_OF = statement("SELECT id FROM campaign WHERE account_id = :id")
AWAITS = ("pending", "awaiting_confirmation")


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


class Confirming(Looking):
    """Readers have to confirm, and a second partner wants them too."""

    def __init__(self, opened: OpenStore) -> None:
        super().__init__(opened)
        opened.do("UPDATE program SET rule = 'confirmed'")
        opened.run(self.trade.add_partner())

    def enter(self, email: str, partner: int, now_ms: int = NOON_MS) -> Subscriber:
        """On a form; it may be the second time, with another code."""
        code = self.trade.partners[partner].ref_code
        new = NewSubscriber(email=email, referrer_code=code, origin="magic")

        async def enter(tx: Tx) -> Subscriber:
            change = Change(tx, SITE, self.trade.owner, actors.NEW_SUBSCRIBER, now_ms)
            found = await subscribers.find_by_email(change, EmailAddress(email))
            if found is None:
                return await signups.sign_up(change, new)
            again = await unconfirmed.sign_up_again(change, found, new, EmailAddress(email))
            return again or found

        return self.opened.run(self.opened.store.write(enter))

    def press(self, subscriber_id: str, partner: int, now_ms: int = NOON_MS) -> None:
        async def press(tx: Tx) -> None:
            change = Change(tx, SITE, self.trade.owner, actors.subscriber(subscriber_id), now_ms)
            found = await subscribers.get(change, subscriber_id)
            await signups.confirm(change, found, via=self.trade.partners[partner].ref_code)

        self.opened.run(self.opened.store.write(press))
        self.opened.run(self.trade.verify_due(now_ms))

    def of(self, partner: int) -> list[tuple[str, str | None]]:
        sql = (
            "SELECT s.referral_status, s.referral_reason FROM partner_referral AS r "
            "JOIN subscriber AS s ON s.id = r.subscriber_id WHERE r.partner_campaign_id = :id "
            "ORDER BY r.id"
        )
        rows = self.opened.ask(sql, id=self.trade.partners[partner].id)
        return [(row[0], row[1]) for row in rows]


def test_refusing_a_thief_takes_no_reader_from_another_partner(opened: OpenStore) -> None:
    """The thief typed the addresses of readers who have not pressed a button yet."""
    looking = Confirming(opened)
    for number in range(3):
        fake = looking.enter(f"fake{number}@example.org", 0)
        looking.press(fake.id, 0)
    first = looking.enter("first@gmail.com", 1)
    looking.enter("first@gmail.com", 0)
    second = looking.enter("second@gmail.com", 0)
    looking.enter("second@gmail.com", 1)
    never = looking.enter("never@gmail.com", 0)
    looking.jobs()
    card = looking.card()
    assert card is not None and card.third_button == "Take back $9.00"
    looking.answer(first_looks.refuse)
    assert opened.run(opened.store.read(timed(job_failures.skipped, 0), first_looks.REFUSING)) == (
        set()
    )
    for reader in (first, second):
        looking.press(reader.id, 1)
    assert looking.of(1) == [COUNTED, COUNTED]
    assert looking.of(0)[3:] == [("rejected", "unconfirmed")] * 2 + [AWAITS]
    # Who confirms after all that they came through the thief is refused then.
    looking.press(never.id, 0)
    looking.jobs()
    assert looking.of(0)[-1] == ("rejected", "rejected_by_hand")
    opened.run(verify(opened.store))


def test_what_comes_after_the_click_is_no_part_of_looks_right(opened: OpenStore) -> None:
    """The partner sends hundreds in the minute before it is done."""
    looking = Looking(opened)
    looking.come(5)
    looking.jobs()

    async def press(tx: Tx) -> None:
        change = Change(tx, SITE, looking.trade.owner, actors.member("nora"), NOON_MS)
        kind = delayed_kinds.APPROVE_READERS
        assert (await delayed_actions.delay(change, kind, [looking.id], seen="2")).waiting == 1

    async def apply(tx: Tx) -> None:
        (action,) = await delayed_actions.due(tx.at(NOON_MS + 60_000), most=2)
        change = action.change(tx, SITE, NOON_MS + 60_000)
        look = await first_looks.get_locked(change, looking.id)
        await action.facts.apply(change, look, action.arguments)

    opened.run(opened.store.write(press))
    looking.come(40)
    opened.run(opened.store.write(apply))
    assert opened.ask("SELECT allowed, looks FROM first_look") == [(3 + 2 + first_looks.NEXT, 1)]


def test_whoever_leaves_and_joins_again_has_no_more_than_before(opened: OpenStore) -> None:
    looking = Looking(opened)
    looking.come(4)
    place = looking.trade.partners[0]

    async def leave_and_join(tx: Tx) -> str:
        (campaign_id,) = await tx.all(CAMPAIGN_OF, id=place.account_id)
        tenant = Tenant(place.account_id, campaign_id[0])
        change = Change(tx, SITE, tenant, actors.ANY_MEMBER, NOON_MS)
        await network.leave(change, place.id)
        joined, _ = await network.join(change, looking.trade.program.id, None)
        return joined.ref_code

    assert opened.run(opened.store.write(leave_and_join)) == place.ref_code
    looking.come(3)
    assert statuses(opened) == {COUNTED: 3, WAITS: 4}


def test_partners_who_get_a_common_owner_later_share_what_is_left(opened: OpenStore) -> None:
    looking = Looking(opened)
    other = opened.run(looking.trade.add_partner())
    looking.come(2)
    opened.run(looking.trade.arrive(1))
    opened.run(looking.trade.verify_due(NOON_MS))
    opened.do(
        "INSERT INTO member (account_id, user_id, role, created_ms) "
        "SELECT :other, user_id, 'owner', 1 FROM member WHERE account_id = :id",
        other=other.account_id,
        id=looking.trade.partners[0].account_id,
    )
    for _ in range(3):
        opened.run(looking.trade.arrive(1))
    opened.run(looking.trade.verify_due(NOON_MS))
    assert statuses(opened) == {COUNTED: 4, WAITS: 2}
