"""Every move a referral can make, in any order, against a model: the state is the model's, and
counts are always the rows.
"""

import asyncio
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.screening import moves
from honeyguide.signups import lifecycle, signups
from honeyguide.store import Store, open_store
from honeyguide.subscribers import campaigns, reasons, subscribers
from tests.support.changes import changing
from tests.support.readings import reading, reads
from tests.support.service import ENGINES, fresh_database_url

SITE = Site("https://go.example.org", "https://go.example.org/join", b"x" * 32)
START = 1_750_000_000_000
OWNERS = count(1)  # all examples share one database, and an object's id() is given out again


class Moves(RuleBasedStateMachine):
    """One campaign, two advocates, and whoever they bring. Time moves only by rule."""

    runner: asyncio.Runner
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = START
        self.expected: dict[
            str, tuple[str, str]
        ] = {}  # who brought them, and what the referral must be
        self.due_ms: dict[str, int | None] = {}
        self.awaiting: set[str] = set()
        self.n = 0

    def do(self, work: Any) -> Any:
        return self.runner.run(self.store.write(work))

    def make(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        work = changing(unit, SITE, self.owner, self.now_ms)
        return self.do(lambda tx: work(tx, *args, **kwargs))

    @initialize(
        hold_days=st.sampled_from([0, 0, 3, 30]),
        confirm=st.booleans(),
        every=st.sampled_from([1, 2]),
    )
    def open(self, hold_days: int, confirm: bool, every: int) -> None:
        async def work(tx: Any) -> Tenant:
            made = await accounts.create(
                tx.at(START), EmailAddress(f"o{next(OWNERS)}@example.org"), name=None
            )
            owner = Tenant(*made)
            chosen = campaigns.CampaignSettings(
                hold_days=hold_days, needs_confirmation=confirm, screening="strong"
            )
            await changing(campaigns.configure, SITE, owner, START)(tx, chosen)
            create = changing(rewards.create, SITE, owner, START)
            await create(tx, rewards.NewReward("mug", every, recurring=True))
            return owner

        self.every = every
        self.owner = self.do(work)
        self.advocates = [self.sign_up(None) for _ in range(2)]

    def sign_up(self, code: str | None, email: str | None = None) -> subscribers.Subscriber:
        self.n += 1
        address = EmailAddress(email or f"p{self.n}@example.org")
        new = lifecycle.NewSubscriber(email=address.text, referrer_code=code)
        return self.make(signups.sign_up, new, email=address)  # type: ignore[no-any-return]

    def chosen(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.expected)))

    def became(self, subscriber_id: str, status: str) -> None:
        self.expected[subscriber_id] = (self.expected[subscriber_id][0], status)

    @rule(which=st.integers(0, 1), disposable=st.booleans())
    def arrive(self, which: int, disposable: bool) -> None:
        advocate = self.advocates[which]
        made = self.sign_up(advocate.ref_code, f"x{self.n}@mailinator.com" if disposable else None)
        self.expected[made.id] = (advocate.id, made.referral_status)
        assert (made.referral_status == "rejected") == disposable
        self.due_ms[made.id] = made.referral_due_ms
        if made.referral_reason == "awaiting_confirmation":
            self.awaiting.add(made.id)

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), status=st.sampled_from(["confirmed", "unsubscribed"]))
    def change(self, data: st.DataObject, status: str) -> None:
        who = self.chosen(data)
        if self.expected[who][1] == "pending":
            due_ms = self.due_ms[who]
            if status == "unsubscribed":
                self.became(who, "rejected")
            elif who in self.awaiting:
                self.awaiting.discard(who)
                if due_ms is None or due_ms <= self.now_ms:
                    self.became(who, "verified")
        self.make(signups.update, who, lifecycle.SubscriberChanges(status=status))

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), status=st.sampled_from(["verified", "rejected"]))
    def decide(self, data: st.DataObject, status: str) -> None:
        who = self.chosen(data)
        now = self.expected[who][1]

        if (now, status) == ("verified", "rejected"):
            with pytest.raises(Invalid):
                self.make(signups.decide, who, status)
            return
        before = self.runner.run(self.store.read(reads(subscribers.get, self.owner), who))
        after = self.make(signups.decide, who, status)
        assert (before.referral_status, after.referral_status) == (now, status)
        if now != status:
            assert (after.decided_by, after.decided_ms) == ("api", self.now_ms)
        self.became(who, status)

    @rule(days=st.sampled_from([1, 3, 8, 31]))
    def wait(self, days: int) -> None:
        self.now_ms += days * DAY_MS

        async def find(tx: Any) -> list[tuple[Tenant, str]]:
            return await moves.due(tx.at(self.now_ms), most=1000)

        for owner, subscriber_id in self.runner.run(self.store.read(find)):
            if owner == self.owner:
                verified = self.make(signups.verify_due, subscriber_id)
                assert verified is not None and verified.referral_status == "verified"
        for who, (_, status) in list(self.expected.items()):
            due_ms = self.due_ms[who]
            if (
                status == "pending"
                and who not in self.awaiting
                and due_ms is not None
                and due_ms <= self.now_ms
            ):
                self.became(who, "verified")

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        who = self.chosen(data)
        self.make(signups.erase, who)
        del self.expected[who]

    @invariant()
    def everything_agrees(self) -> None:
        if not hasattr(self, "advocates"):
            return
        for advocate in self.advocates:

            async def read(tx: Any, advocate_id: str = advocate.id) -> Any:
                who = await subscribers.get(reading(tx, self.owner), advocate_id)
                brought, _ = await subscribers.page_of_referred(
                    reading(tx, self.owner), who, campaigns_page()
                )
                return (
                    who,
                    brought,
                    await earned_rewards.earned_by(reading(tx, self.owner), advocate_id),
                )

            who, brought, earned = self.runner.run(self.store.snapshot(read))
            model = {
                one: status for one, (by, status) in self.expected.items() if by == advocate.id
            }
            assert {row.id: row.referral_status for row in brought} == model
            counts = Counter(model.values())
            kept = (who.referrals_verified, who.referrals_pending, who.referrals_rejected)
            assert kept == (counts["verified"], counts["pending"], counts["rejected"])
            assert [each.multiple for each in earned] == list(range(1, len(earned) + 1))
            assert len(earned) >= who.referrals_verified // self.every
            for row in brought:
                assert (row.referral_due_ms is not None) <= (row.referral_status == "pending")
                assert row.referral_reason is not None or row.referral_status == "verified"
                if row.referral_reason is not None:
                    reasons.explain(row.referral_reason, row.referral_due_ms)


def campaigns_page() -> Any:
    from honeyguide.kernel.paging import Page

    return Page(1, 200)


@pytest.mark.parametrize("engine", ENGINES)
def test_whatever_happens_in_whatever_order_counts_equal_the_verified_rows(
    engine: str, tmp_path: Path
) -> None:
    with asyncio.Runner() as runner:
        url = fresh_database_url(engine, tmp_path, migrated=True)
        Moves.runner, Moves.store = runner, runner.run(open_store(url))
        try:
            examples = 40 if engine == "sqlite" else 15
            quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
            run_state_machine_as_test(  # type: ignore[no-untyped-call]
                Moves,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=20,
                    deadline=None,
                    suppress_health_check=quiet,
                ),
            )
        finally:
            runner.run(Moves.store.close())
