"""What happens in an account that is paused, is being closed, is closed, or both: every job in
every state, closing that waits, and referrals by partners that are always decided.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from honeyguide.account_life import closing, pausing
from honeyguide.app import Application
from honeyguide.kernel import actors, clock
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.store.tx import Tx
from tests.account_life.test_closing import (
    account_of,
    books_are_right,
    close,
    count,
    installation,
    run_closing,
)
from tests.support.job_cases import CASES
from tests.support.job_world import World
from tests.support.partner_network import join, offer, publish
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import statement

__all__ = ["installation"]

# How long after the request the waiting period ends.
WAIT_MS = closing.WAIT_DAYS * DAY_MS


class Done(NamedTuple):
    """Whether a job does its work for an account in each state."""

    paused: bool = True
    closing: bool = True
    closed: bool = True
    both: bool = True
    """It is paused, and the waiting period for closing it is over."""


ALWAYS = Done()
# What it would send, verify or take in goes on when the account is resumed.
NOT_WHILE_PAUSED = Done(paused=False, both=False)
STATES = {
    "close accounts": Done(paused=False, closing=False, closed=True, both=False),
    "send weekly summaries": Done(paused=False, closed=False, both=False),
    **dict.fromkeys(
        (
            "apply delayed actions",
            "begin changed terms of programs",
            "release confirmation emails that wait",
            "give added coupon codes to waiting advocates",
            "post notifications to Slack",
            "import uploaded files",
            "adopt what another tool wrote to a platform",
            "fetch from another service",
            "verify referrals after their holding period",
            "reject unconfirmed referrals",
            "grant new rewards to advocates who already qualify",
            "ask owners to look at new partners",
            "refuse readers of a first look",
        ),
        NOT_WHILE_PAUSED,
    ),
    **dict.fromkeys(
        (
            "check link hosts",
            "close months and create payouts",
            "compare imports with their files",
            "count the public figures of programs",
            "count who joined on each day",
            "delete what was kept about disconnected platforms",
            "fill in search texts after an upgrade",
            "find flooded accounts",
            "forget accounts that were closed years ago",
            "forget the values of old evidence",
            "give subscribers their new person keys",
            "look at what referrals have in common",
            "look at what the referrals of a program have in common",
            "look up mail hosts",
            "notify of keys that expire",
            "purge expired sessions and invitations",
            "purge idempotency keys",
            "purge old attempt counts",
            "purge old emails",
            "purge old events",
            "purge old imports",
            "purge old mail hosts",
            "purge old records of erasures",
            "purge old visitor hashes",
            "purge old webhooks of email platforms",
            "purge the old change log",
            "purge used forms",
            "remove postal addresses after sending",
            "send budget notifications",
            "send digests of notifications",
            "send emails",
            "send payout notifications",
            "store the digests of closed months",
            "tell partners of changed terms",
            "tell subscribers what was sent",
            "update confirmation rates",
            "update the page index",
        ),
        ALWAYS,
    ),
}


class FourAccounts(World):
    """One in each state."""

    accounts: dict[str, Member]

    @property
    def both(self) -> tuple[Member, ...]:
        return tuple(self.accounts.values())

    @both.setter
    def both(self, accounts: tuple[Member, ...]) -> None:
        self.accounts = dict(zip(Done._fields, accounts, strict=True))


def put_into(world: World, who: Member, state: str) -> None:
    now_ms = clock.system_clock()
    paused_ms = now_ms if state in ("paused", "both") else None
    closes_ms = {"closing": now_ms + WAIT_MS, "closed": 1, "both": 1}.get(state)
    world.do(
        "UPDATE account SET paused_ms = :paused_ms, closes_ms = :closes_ms, closed_ms = :closed_ms "
        "WHERE id = :id",
        paused_ms=paused_ms,
        closes_ms=closes_ms,
        closed_ms=1 if state == "closed" else None,
        id=who.account_id,
    )


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[FourAccounts]:
    service = Service(request.param)
    service.application = Application(service.settings, work=False)
    with service:
        service.member("admin")
        yield FourAccounts(service)


def test_the_table_has_every_job() -> None:
    assert STATES.keys() == CASES.keys()


# Its work is an account that was closed years ago.
STATELESS = {"forget accounts that were closed years ago"}


@pytest.mark.parametrize("name", sorted(CASES.keys() - STATELESS))
def test_each_job_in_each_state(world: FourAccounts, name: str) -> None:
    case = CASES[name]
    world.accounts = {state: world.service.member() for state in Done._fields}
    case.prepare(world)
    for state, who in world.accounts.items():
        put_into(world, who, state)
    for _ in range(3):  # one run may do a part of it
        world.run(name)
    done = {state: case.is_done(world, who) for state, who in world.accounts.items()}
    assert done == STATES[name]._asdict()


def test_closing_waits_for_the_end_of_a_pause(installation) -> None:
    service, _alice, bob = installation
    close(bob)
    asked_ms = account_of(service, bob).closes_ms
    reminders = "SELECT COUNT(*) FROM letter WHERE once_key LIKE 'closing_soon:%'"
    assert count(service, reminders) == 1
    bob.make(pausing.pause)
    assert count(service, reminders) == 0, "nothing is closed in three days"
    service.set_clock((WAIT_MS + DAY_MS) / 1000)
    assert run_closing(service) == 0
    service.run_jobs()
    assert account_of(service, bob).closed_ms is None
    bob.make(pausing.resume)
    account = account_of(service, bob)
    assert account.closes_ms == pytest.approx(service.now_ms() + 3 * DAY_MS, abs=60_000)
    assert count(service, reminders) == 0, "the email about the end of the pause says it"
    ((subject, text),) = service.read(
        lambda tx: tx.all(
            statement("SELECT subject, body_text FROM letter WHERE kind = 'account_resumed'")
        )
    )
    day = clock.short_day(account.closes_ms)
    assert f"will be closed on {day}" in subject and "/account/close" in text
    assert count(
        service,
        "SELECT COUNT(*) FROM change_log WHERE action = 'account.closing_postponed' "
        f"AND before LIKE '%{clock.iso(asked_ms)}%'",
    )
    assert run_closing(service) == 0
    service.set_clock((WAIT_MS + 4 * DAY_MS + 60_000) / 1000)
    assert run_closing(service) > 0 and account_of(service, bob).closed_ms
    assert books_are_right(service)


def test_a_short_pause_moves_no_day_and_the_reminder_comes(installation) -> None:
    service, _alice, bob = installation
    close(bob)
    closes_ms = account_of(service, bob).closes_ms
    bob.make(pausing.pause)
    service.set_clock(DAY_MS / 1000)
    bob.make(pausing.resume)
    assert account_of(service, bob).closes_ms == closes_ms
    due = f"SELECT COUNT(*) FROM letter WHERE due_ms = {closes_ms - 3 * DAY_MS}"
    assert count(service, due) == 1


def test_it_can_be_kept_during_the_pause_and_after_it(installation) -> None:
    service, _alice, bob = installation
    close(bob)
    bob.make(pausing.pause)
    service.set_clock((WAIT_MS + DAY_MS) / 1000)
    # A member changes nothing; an administrator may, on the server.
    bob.make(closing.keep)
    assert account_of(service, bob).closes_ms is None
    bob.make(pausing.resume)
    assert account_of(service, bob).paused_ms is None
    bob.make(closing.ask)
    bob.make(pausing.pause)
    service.set_clock((2 * WAIT_MS + 2 * DAY_MS) / 1000)
    bob.make(pausing.resume)
    bob.make(closing.keep)
    assert account_of(service, bob).closes_ms is None


def test_a_closed_account_cannot_be_paused(installation) -> None:
    service, _alice, bob = installation
    close(bob)
    service.set_clock((WAIT_MS + 60_000) / 1000)
    run_closing(service)
    with pytest.raises(Invalid, match="closed already"):
        bob.make(pausing.pause)


def test_a_pause_between_two_steps_of_closing_stops_it(installation) -> None:
    service, _alice, bob = installation
    publish(bob)
    close(bob)
    service.set_clock((WAIT_MS + 60_000) / 1000)
    assert run_closing(service, steps=1) == 1
    bob.make(pausing.pause)
    actor, now_ms = actors.job(closing.CLOSING), service.now_ms()

    async def step(tx: Tx) -> bool:
        return await closing.close_some(tx.at(now_ms), service.services.site, actor, bob.account_id)

    assert service.write(step) is False
    assert account_of(service, bob).closed_ms is None


HOLD = {"referral_pending_duration_enabled": True, "referral_pending_duration": 30}


def test_a_partner_is_paid_although_the_account_was_paused_while_it_closed(installation) -> None:
    service, alice, bob = installation
    place = join(alice, offer(bob, publish(bob), **HOLD))
    bob.subscribe("paid@example.org", referrer_code=place["ref_code"])
    close(bob)
    bob.make(pausing.pause)
    service.set_clock(40 * DAY_MS / 1000)
    service.run_jobs()
    assert count(service, "SELECT COUNT(*) FROM transfer") == 0, "it waits for the resume"
    bob.make(pausing.resume)
    service.run_jobs()
    assert count(service, "SELECT COUNT(*) FROM transfer") == 1
    service.set_clock(44 * DAY_MS / 1000)
    service.run_jobs()
    assert count(service, "SELECT COUNT(*) FROM account WHERE emptied_ms IS NOT NULL") == 1
    assert books_are_right(service)


def test_whoever_never_confirmed_does_not_keep_a_closed_account_from_being_emptied(
    installation,
) -> None:
    """In a program without verification settings that wait had no end."""
    service, alice, bob = installation
    place = join(alice, offer(bob, publish(bob)))
    assert bob.put(f"{bob.v1}/settings", {"needs_confirmation": True}).status_code == 200
    bob.subscribe("paid@example.org", referrer_code=place["ref_code"], status="active")
    forget_terms = "UPDATE partner_referral SET rule = NULL"
    service.write(lambda tx: tx.run(statement(forget_terms)))
    pending = "SELECT COUNT(*) FROM subscriber WHERE referral_reason = 'awaiting_confirmation'"
    assert count(service, pending) == 1
    close(bob)
    service.set_clock((WAIT_MS + 60_000) / 1000)
    run_closing(service)
    assert count(service, pending) == 1 and account_of(service, bob).closed_ms
    service.set_clock(31 * DAY_MS / 1000)
    service.run_jobs()
    service.run_jobs()
    assert count(service, "SELECT COUNT(*) FROM account WHERE emptied_ms IS NOT NULL") == 1
    decided = "SELECT COUNT(*) FROM referral_decision WHERE reason = 'unconfirmed'"
    assert count(service, decided) == 1


def test_an_import_does_not_go_on_in_a_closed_account(installation) -> None:
    service, _alice, bob = installation
    running = (
        "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, status, "
        "total, created_ms) "
        "VALUES ('i', :account_id, :campaign_id, 'x', '[]', '{}', 'running', 1, 1)"
    )
    ids = {"account_id": bob.account_id, "campaign_id": bob.campaign_id}
    service.write(lambda tx: tx.run(statement(running), **ids))
    close(bob)
    service.set_clock((WAIT_MS + 60_000) / 1000)
    run_closing(service)
    assert count(service, "SELECT COUNT(*) FROM import WHERE status = 'running'") == 0
