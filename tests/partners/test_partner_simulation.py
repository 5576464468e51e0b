"""A whole partner network by chance, beside a model that is simple enough to be obviously right:
owners and caps, partners who are removed, leave and come back, arrivals, holds, fees taken back,
confirmations that are needed or not, people who leave, are erased and come back, programs switched
off and on, months that end, clocks that jump, an email platform that is written to. After every
step the books are proved and the model agrees; the seed is in the failure.

`make test-long PYTEST_ARGS="-n 2 -k networks"` plays 10,000 seeds; `SEEDS=500` in front chooses
another number.
"""

import os
import random
from functools import partial
from typing import Any

import pytest

from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.partners import network, payouts, programs
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import SubscriberChanges
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import API_KEY, changing
from tests.support.network_model import Model, Offer, Reader, _after, _first_ms, month_of
from tests.support.network_partings import Partings
from tests.support.network_platform import NetworkPlatform, network_platform
from tests.support.stores import OpenStore
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, SITE, Trade, verify

STEPS = 50
TEAM = actors.member("0190b000-0000-7000-8000-000000000001")
ASKED = ("api", "signup", "magic", "embed")
EVERY_RUN = {"sqlite": 16, "postgres": 8}


class PartnerNetwork(Partings):
    """The service and the model, moved together."""

    def __init__(self, store: Store, seed: int, platform: NetworkPlatform) -> None:
        self.store, self.chance, self.model = store, random.Random(seed), Model()
        self.platform = platform
        self.now_ms = NOON_MS + self.chance.randrange(0, 16 * DAY_MS)
        self.trades: list[Trade] = []
        self.offers: list[Offer] = []
        self.log: list[str] = []
        self.written, self.left = set[str](), set[str]()

    async def begin(self) -> None:
        for _ in range(self.chance.choice([1, 1, 2])):
            offer = Offer(
                self.chance.choice([100, 300, 333]),
                self.chance.choice([300, 999, 2_000, 5_000]),
                self.chance.choice([300, 700, 5_000]),
                self.chance.choice([0, 0, 1, 14]),
            )
            trade = await Trade.begin(
                self.store,
                partners=self.chance.choice([1, 2, 3]),
                now_ms=self.now_ms,
                cpa=offer.cpa,
                total_budget=offer.budget,
                max_payout=offer.cap,
                referral_pending_duration_enabled=offer.hold_days > 0,
                referral_pending_duration=offer.hold_days,
            )
            await trade.listen()
            join = changing(network.join, SITE, trade.owner, self.now_ms)
            own, _ = await self.store.write(join, trade.program.id, None)
            trade.partners.append(
                own
            )  # the last place, -1 to the model: nobody earns from themselves
            await self.platform.connect(trade.owner, self.now_ms)
            self.trades.append(trade)
            self.offers.append(offer)

    def _reader(self, *statuses: str) -> tuple[Trade, Reader] | None:
        found = [each for each in self.model.readers if each.here and each.status in statuses]
        if not found:
            return None
        reader = self.chance.choice(found)
        return self.trades[self.offers.index(reader.offer)], reader

    async def step(self) -> None:
        moves = (
            [self.arrive] * 14
            + [self.decide] * 3
            + [self.confirm] * 6
            + [self.leave] * 2
            + [self.erase] * 5
            + [self.days_pass] * 3
        )
        moves += [
            self.verify_due,
            self.budget,
            self.budget,
            self.cap,
            self.fee,
            self.fee,
            self.pause,
            self.pay,
        ]
        moves += [self.clock_jumps] * 2 + [self.months_end] * 3
        moves += [self.ask] * 2 + [self.sync] * 3
        moves += [self.reverse] * 5 + [self.remove, self.allow, self.quit, self.join_again]
        moves += [self.block, self.unblock]
        moves += [self.borrow_address] * 4 + [self.share_member] * 2
        move = self.chance.choice(moves)
        self.log.append(move.__name__)
        await move()

    async def arrive(self) -> None:
        number = self.chance.randrange(len(self.offers))
        trade, offer = self.trades[number], self.offers[number]
        place = self.chance.randrange(len(trade.partners))
        partner = -1 if place == len(trade.partners) - 1 else place
        person = self.chance.randrange(10)
        spelling = self.chance.choice(
            [f"p{person}@gmail.com", f"P.{person}@gmail.com", f"p{person}+x@googlemail.com"]
        )
        origin = self.chance.choice([*ASKED, *ASKED, "import", "platform"])
        try:
            made = await trade.arrive(place, email=spelling, now_ms=self.now_ms, origin=origin)
        except Invalid:
            same = [
                r
                for r in self.model.readers
                if r.here and r.listed_as == person and r.offer is offer
            ]
            assert same, "an address was refused that nobody has"
            return
        reader = self.model.arrive(offer, partner, person, self.now_ms, is_asked=origin in ASKED)
        reader.id = made.id

    async def decide(self) -> None:
        """The owner verifies, whatever it waits for."""
        if found := self._reader("pending", "rejected", "verified"):
            trade, reader = found
            await trade.confirm(reader.id, now_ms=self.now_ms)
            if reader.status != "verified":
                reader.by_hand = True
                self.model.verify(reader, self.now_ms)

    async def confirm(self) -> None:
        if found := self._reader("pending", "rejected", "verified"):
            trade, reader = found
            await trade.change(reader.id, now_ms=self.now_ms, status="confirmed")
            self.model.confirm(reader, self.now_ms)

    async def borrow_address(self) -> None:
        """The owner gives somebody an address of another person, or their own one back."""
        if found := self._reader("pending", "verified"):
            trade, reader = found
            person = self.chance.choice([reader.person, self.chance.randrange(10)])
            email = f"p{person}+{len(self.log)}@gmail.com"
            await trade.change(reader.id, now_ms=self.now_ms, email=email)
            reader.listed_as = person

    async def ask(self) -> None:
        """From now on the newsletter asks new subscribers to confirm, or no longer."""
        trade, offer = self._pick()
        offer.needs_confirmation = not offer.needs_confirmation
        await trade.configure(needs_confirmation=offer.needs_confirmation)

    async def sync(self) -> None:
        """Nobody who still has to confirm is queued, or written to the platform."""
        written = await self.platform.sync(self.now_ms)
        queue = await self.trades[0].rows("SELECT subscriber_id FROM integration_subscriber")
        waiting = {r.id for r in self.model.readers if r.must_confirm}
        assert not waiting & written
        assert not waiting & {row[0] for row in queue}
        self.written |= written

    async def end(self) -> None:
        """Everybody else who stayed is on the platform in the end."""
        await self.sync()
        stayed = {r.id for r in self.model.readers if r.here and not r.must_confirm}
        assert stayed - self.left <= self.written

    async def leave(self) -> None:
        if found := self._reader("pending", "verified"):
            trade, reader = found
            self.left.add(reader.id)
            gone = SubscriberChanges(status="unsubscribed")
            by_team = await self._by_anybody(trade, signups.update, reader.id, gone)
            self.model.leave(reader, self.now_ms, by_team=by_team)

    async def erase(self) -> None:
        if found := self._reader("pending", "verified", "rejected"):
            trade, reader = found
            by_team = await self._by_anybody(trade, signups.erase, reader.id)
            self.model.leave(reader, self.now_ms, by_team=by_team, erased=True)

    async def _by_anybody(self, trade: Trade, unit: Any, *given: Any) -> bool:
        actor = self.chance.choice([API_KEY, TEAM])
        work = changing(unit, SITE, trade.owner, self.now_ms, actor=actor)
        await self.store.write(work, *given)
        return actor is TEAM

    async def verify_due(self) -> None:
        """Those due at the same moment may verify_due in any order, so each is told to the model as
        the service took it.
        """
        for reader in [r for r in self.model.readers if r.must_confirm and not r.is_ended]:
            assert await self._verify_one(reader) is None, "time never replaces a confirmation"
        for reader in self.model.verify_due(self.now_ms):
            await self._verify_one(reader)
            if reader.must_confirm:  # the owner's team ended it, and nobody decided
                reader.status = "rejected"
            else:
                self.model.verify(reader, self.now_ms)
        await self.trades[0].verify_due(self.now_ms)

    async def _verify_one(self, reader: Reader) -> Subscriber | None:
        trade = self.trades[self.offers.index(reader.offer)]
        return await self.store.write(
            changing(signups.verify_due, SITE, trade.owner, self.now_ms), reader.id
        )

    async def days_pass(self) -> None:
        self.now_ms += self.chance.choice([1, HOUR_MS, DAY_MS, 3 * DAY_MS, 9 * DAY_MS])
        await self.verify_due()

    async def clock_jumps(self) -> None:
        """Back a little, back over an edge, or just before one."""
        edge_ms = _first_ms(_after(month_of(self.now_ms)))
        self.now_ms = self.chance.choice(
            [self.now_ms - 5_000, self.now_ms - 20 * DAY_MS, edge_ms - 1, edge_ms, edge_ms + 1]
        )

    def _pick(self) -> tuple[Trade, Offer]:
        number = self.chance.randrange(len(self.offers))
        return self.trades[number], self.offers[number]

    async def budget(self) -> None:
        trade, offer = self._pick()
        chosen = self.chance.choice(
            [0, 299, 300, 301, 600, 1_000, max(offer.spent.values(), default=0), offer.budget + 1]
        )
        await trade.offer(now_ms=self.now_ms, total_budget=chosen)
        self.model.set_budget(offer, chosen, self.now_ms)

    async def cap(self) -> None:
        trade, offer = self._pick()
        offer.cap = self.chance.choice([0, 100, 300, 666, 5_000])
        await trade.offer(now_ms=self.now_ms, max_payout=offer.cap)

    async def fee(self) -> None:
        trade, offer = self._pick()
        offer.cpa, offer.hold_days = (
            self.chance.choice([0, 1, 100, 300, 999]),
            self.chance.choice([0, 0, 0, 1, 14]),
        )
        await trade.offer(
            now_ms=self.now_ms,
            cpa=offer.cpa,
            referral_pending_duration=offer.hold_days,
            referral_pending_duration_enabled=offer.hold_days > 0,
        )

    async def pause(self) -> None:
        trade, offer = self._pick()
        offer.paused = not offer.paused and self.chance.random() < 0.5
        switch = changing(programs.switch, SITE, trade.owner, self.now_ms)
        await self.store.write(switch, trade.program.id, on=not offer.paused)

    async def months_end(self) -> None:
        if self.chance.random() < 0.6:
            self.now_ms = _first_ms(_after(month_of(self.now_ms))) + self.chance.choice(
                [HOUR_MS - 1, HOUR_MS, 2 * DAY_MS]
            )
        begun = {
            row[0]
            for row in await self.trades[0].rows("SELECT month FROM period WHERE closed_ms IS NULL")
        }
        await self.trades[0].close_and_pay_out(self.now_ms)
        self.model.close(self.now_ms, begun)

    async def pay(self) -> None:
        waiting = await self.store.read(partial(payouts.of_month, month=""))
        if waiting:
            payout = self.chance.choice(waiting)
            if payout.paid_ms is None:
                await self.store.write(
                    partial(
                        timed(payouts.mark_paid, self.now_ms), payout_id=payout.id, reference="bank"
                    )
                )
            else:
                await self.store.write(
                    partial(timed(payouts.unmark_paid, self.now_ms), payout_id=payout.id)
                )

    async def check(self) -> None:
        """The service says of every reader, budget, partner, month and payout what the
        model says.
        """
        ask = self.trades[0].rows
        found = await ask(
            "SELECT r.subscriber_id, s.referral_status, r.charged_cents, r.uncharged_reason FROM "
            "partner_referral AS r "
            "JOIN subscriber AS s ON s.id = r.subscriber_id"
        )
        readers = self.model.readers
        assert sorted(found) == sorted((r.id, r.status, r.charged, r.why_not) for r in readers)
        await self._check_confirmations()
        earned: dict[tuple[str, str], int] = {}
        for trade, offer in zip(self.trades, self.offers, strict=True):
            budgets = await ask(
                "SELECT month, spent_cents, reached_ms FROM budget WHERE program_id = :id",
                id=trade.program.id,
            )
            assert {month: cents for month, cents, _ in budgets if cents} == {
                m: c for m, c in offer.spent.items() if c
            }
            assert {
                month for month, _, reached_ms in budgets if reached_ms is not None
            } == offer.reached
            shares = await ask(
                "SELECT partner_campaign_id, month, spent_cents FROM partner_spend "
                "WHERE program_id = :id",
                id=trade.program.id,
            )
            expected = {
                (trade.partners[place].id, month): cents
                for (place, month), cents in offer.earned.items()
                if cents
            }
            assert {(place, month): cents for place, month, cents in shares if cents} == expected
            for (place, month), cents in offer.earned.items():
                if cents:
                    earned[trade.partners[place].account_id, month] = cents
        closed = {
            row[0] for row in await ask("SELECT month FROM period WHERE closed_ms IS NOT NULL")
        }
        assert closed == self.model.closed
        paid = {
            (who, month): cents
            for who, month, cents in await ask("SELECT account_id, month, amount_cents FROM payout")
        }
        assert paid == {key: cents for key, cents in earned.items() if key[1] in closed}
        await verify(self.store)

    async def _check_confirmations(self) -> None:
        """Nobody who must confirm costs anything or is told of, unless the owner decided so."""
        readers, ask = self.model.readers, self.trades[0].rows
        found = await ask("SELECT id, must_confirm FROM subscriber")
        assert dict(found) == {r.id: int(r.must_confirm) for r in readers}
        charged = await ask(
            "SELECT r.subscriber_id FROM charge AS c "
            "JOIN partner_referral AS r ON r.id = c.partner_referral_id"
        )
        result = {reader_id for trade in self.trades for reader_id in await trade.announced()}
        waiting = {r.id for r in readers if r.must_confirm and not r.by_hand}
        assert not waiting & {row[0] for row in charged}
        assert not waiting & result
        for reader in readers:
            if reader.here:
                assert (reader.id in result) is reader.was_verified


async def play(store: Store, seed: int, steps: int) -> None:
    async with network_platform(store) as platform:
        partner_network = PartnerNetwork(store, seed, platform)
        await partner_network.begin()
        try:
            for _ in range(steps):
                await partner_network.step()
                await partner_network.check()
            await partner_network.end()
        except Exception as error:
            error.add_note(
                f"seed {seed}, step {len(partner_network.log)}: "
                f"{' '.join(partner_network.log[-12:])}"
            )
            raise


def play_all(engine: str, seeds: Any, steps: int = STEPS) -> None:
    """Each seed in a database of its own: months that close are everybody's."""
    for seed in seeds:
        with OpenStore(engine, pool_size=2) as opened:
            opened.run(play(opened.store, seed, steps))


# In parts, so that parallel runs share them out.
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in (1, 2, 3))]
)
def test_a_network_by_chance_agrees_with_the_model(engine: str, part: int) -> None:
    play_all(engine, range(part, EVERY_RUN[engine], 4))


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_ten_thousand_networks_agree_with_the_model(part: int) -> None:
    seeds = int(os.environ.get("SEEDS", "10000"))
    play_all("sqlite", range(1_000 + part, 1_000 + seeds, 8))
