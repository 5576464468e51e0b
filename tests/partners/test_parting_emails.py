"""The email about a partner who left or was removed waits a minute: whoever takes it back before
that has undone it, and nobody hears of either. Later the opposite is told too.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import digests, notification_choices, notifications, slack_messages
from honeyguide.mail.notification_choices import Choice
from honeyguide.mail.notification_kinds import DAILY, DASHBOARD, PARTNER_JOINED
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import OutgoingEmail, SmtpTransport
from honeyguide.partners import network, program_partners
from honeyguide.partners.program_partners import Removal
from honeyguide.store.tx import timed
from tests.partners.test_removed_partners import Deal, notified
from tests.support.changes import SITE, changing
from tests.support.mailbox import Mailbox
from tests.support.queued_emails import Nowhere
from tests.support.readings import changes_account, in_account
from tests.support.service import Service
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, Trade, publish

MINUTE_MS = 60_000
WAYS = ("remove", "block", "leave")
SUBJECTS = {
    "remove": "The Morning Wax removed you from its partner program",
    "block": "Alice removed you from all its partner programs",
    "leave": "Bob left your partner program",
    "allow": "The Morning Wax allows you in its partner program again",
    "unblock": "Alice allows you in its partner programs again",
    "join": "Bob joined your partner program",
}
OPPOSITES = {"remove": "allow", "block": "unblock", "leave": "join"}


# -- with a running service and a mail server


class Correspondence:
    """A deal of which both sides get emails, and what they got since it began."""

    def __init__(self, service: Service, mailbox: Mailbox) -> None:
        self.service, self.mailbox = service, mailbox
        self.deal = Deal(service.member("alice"), service.member("bob"))
        self.wait(0)
        mailbox.received.clear()

    def do(self, what: str) -> None:
        deal = self.deal
        answer = {
            "remove": lambda: deal.alice.delete(deal.partner),
            "allow": lambda: deal.alice.post(f"{deal.partner}/allow"),
            "block": lambda: deal.alice.post(f"{deal.partner}/block"),
            "unblock": lambda: deal.alice.post(f"{deal.partner}/unblock"),
            "leave": lambda: deal.bob.delete(deal.own),
            "join": deal.rejoin,
        }[what]()
        assert answer.status_code == 200, answer.text

    def wait(self, seconds: float) -> None:
        """Until so many seconds after the start, with everything done that is due by then."""
        self.service.set_clock(seconds)
        self.service.run_jobs()

    @property
    def subjects(self) -> list[str]:
        return self.mailbox.subjects


@pytest.fixture
def correspondence(posting: tuple[Service, Mailbox]) -> Iterator[Correspondence]:
    service, mailbox = posting
    service.set_clock(0)
    yield Correspondence(service, mailbox)
    service.set_clock(0)


@pytest.mark.parametrize("what", WAYS)
def test_what_is_undone_within_the_minute_is_told_to_nobody(
    correspondence: Correspondence, what: str
) -> None:
    correspondence.do(what)
    correspondence.wait(50)
    correspondence.do(OPPOSITES[what])
    correspondence.wait(300)
    assert correspondence.subjects == []
    for who in (correspondence.deal.alice, correspondence.deal.bob):
        for kind in ("partner_removed", "partner_allowed", "partner_left"):
            assert notified(who, kind) == []
    assert notified(correspondence.deal.alice, "partner_joined") == [SUBJECTS["join"]], (
        "the first time"
    )
    assert correspondence.deal.status() == ("active", "active")


@pytest.mark.parametrize("what", WAYS)
def test_what_is_not_undone_is_told_once_and_then_its_opposite_too(
    correspondence: Correspondence, what: str
) -> None:
    correspondence.do(what)
    correspondence.wait(50)
    assert correspondence.subjects == []
    correspondence.wait(70)
    assert correspondence.subjects == [SUBJECTS[what]]
    correspondence.do(OPPOSITES[what])
    correspondence.wait(300)
    assert correspondence.subjects == [SUBJECTS[what], SUBJECTS[OPPOSITES[what]]]


@pytest.mark.parametrize("what", WAYS)
def test_what_is_done_again_after_undoing_it_is_told_once(
    correspondence: Correspondence, what: str
) -> None:
    for step in (what, OPPOSITES[what], what):
        correspondence.do(step)
    correspondence.wait(70)
    assert correspondence.subjects == [SUBJECTS[what]]


def test_who_had_left_hears_of_no_removal_and_that_they_can_join_again(
    correspondence: Correspondence,
) -> None:
    correspondence.do("leave")
    correspondence.wait(70)
    correspondence.do("remove")
    correspondence.wait(200)
    assert correspondence.subjects == [SUBJECTS["leave"]]
    correspondence.do("allow")
    correspondence.wait(300)
    assert correspondence.subjects == [SUBJECTS["leave"], SUBJECTS["allow"]]
    said = correspondence.mailbox.received[-1].text
    assert "You had left the program" in said and "The same links count again" not in said


def test_a_notification_that_was_read_stays_and_the_opposite_is_told(
    correspondence: Correspondence,
) -> None:
    correspondence.do("remove")
    bob, now_ms = correspondence.deal.bob, correspondence.service.now_ms()
    ids = [
        row.notification.id
        for row in correspondence.service.read(
            lambda tx: notifications.page_of(in_account(tx, bob.account_id), Page(1, 50))
        )
    ]
    correspondence.service.write(lambda tx: notifications.read(tx.at(now_ms), bob.account_id, ids))
    correspondence.do("allow")
    correspondence.wait(300)
    assert correspondence.subjects == [SUBJECTS["allow"]]
    assert notified(bob, "partner_removed") == [SUBJECTS["remove"]]
    assert notified(bob, "partner_allowed") == [SUBJECTS["allow"]]


# -- on a store alone, at a time of the test's choice


class Parting:
    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        self.trade = opened.run(Trade.begin(opened.store))
        (self.partner,) = self.trade.partners
        self.owner_id = self.trade.owner.account_id

    async def by_owner(self, unit: Any, *args: Any, now_ms: int) -> Any:
        return await self.opened.store.write(changing(unit, SITE, self.trade.owner, now_ms), *args)

    async def by_partner(self, unit: Any, *args: Any, now_ms: int) -> Any:
        tenant = Tenant(self.partner.account_id, "")
        return await self.opened.store.write(changing(unit, SITE, tenant, now_ms), *args)

    async def remove(self, now_ms: int) -> None:
        await self.by_owner(program_partners.remove, self.partner.id, Removal(), now_ms=now_ms)

    async def allow(self, now_ms: int) -> None:
        await self.by_owner(program_partners.allow, self.partner.id, now_ms=now_ms)

    async def leave(self, now_ms: int) -> None:
        await self.by_partner(network.leave, self.partner.id, now_ms=now_ms)

    async def join(self, now_ms: int) -> None:
        await self.by_partner(network.join, self.trade.program.id, None, now_ms=now_ms)

    def kinds(self, table: str) -> list[str]:
        """Except of the first join."""
        rows = self.opened.ask(f"SELECT kind FROM {table} WHERE created_ms > {NOON_MS} ORDER BY id")
        return [kind for (kind,) in rows]


@pytest.fixture
def parting(opened: OpenStore) -> Parting:
    return Parting(opened)


START = NOON_MS + 1


class UndoneMeanwhile(Nowhere):
    """The opposite comes while the email is being sent."""

    def __init__(self, parting: Parting) -> None:
        super().__init__()
        self.parting = parting

    async def send(self, email: OutgoingEmail) -> None:
        await super().send(email)
        if email.kind == "partner_removed":
            # By a clock that is behind, so that the minute is not over there.
            await self.parting.allow(START + MINUTE_MS - 1)


def test_what_is_undone_while_its_email_is_sent_is_told_with_its_opposite(
    parting: Parting,
) -> None:
    store, out = parting.opened.store, UndoneMeanwhile(parting)

    async def play() -> None:
        await send_due(store, Nowhere(), NOON_MS)
        await parting.remove(START)
        await send_due(store, out, START + MINUTE_MS)
        await send_due(store, out, START + MINUTE_MS)

    parting.opened.run(play())
    sent = [email.kind for email in out.sent]
    assert sent == ["partner_removed", "partner_allowed"]
    unsent = parting.opened.ask("SELECT COUNT(*) FROM letter WHERE sent_ms IS NULL")
    assert unsent == [(0,)]
    assert parting.kinds("notice") == ["partner_removed", "partner_allowed"]


def test_an_email_whose_first_attempt_failed_may_have_arrived(
    parting: Parting, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    """So it is not withdrawn."""
    store, run = parting.opened.store, parting.opened.run
    run(send_due(store, smtp, NOON_MS))
    mailbox.say("TAKEN", "451 4.3.0 busy")
    run(parting.remove(START))
    run(send_due(store, smtp, START + MINUTE_MS))
    run(parting.allow(START + MINUTE_MS - 1))
    assert parting.kinds("letter") == ["partner_removed", "partner_allowed"]


def test_the_opposite_after_midnight_undoes_it_too(parting: Parting) -> None:
    """Leaving is told once a day."""
    midnight_ms = NOON_MS + 12 * 60 * MINUTE_MS
    parting.opened.run(parting.leave(midnight_ms - 1))
    parting.opened.run(parting.join(midnight_ms + 1))
    assert (parting.kinds("letter"), parting.kinds("notice")) == ([], [])


def test_a_block_can_be_undone_in_another_program(parting: Parting) -> None:
    opened, trade = parting.opened, parting.trade
    second = opened.run(opened.store.write(lambda tx: publish(tx.at(NOON_MS), trade.owner)))
    joined, _ = opened.run(parting.by_partner(network.join, second.id, None, now_ms=NOON_MS))
    block, unblock = program_partners.block, program_partners.unblock
    opened.run(parting.by_owner(block, joined.id, Removal(), now_ms=START))
    opened.run(parting.by_owner(unblock, parting.partner.id, now_ms=START + 1))
    assert (parting.kinds("letter"), parting.kinds("notice")) == ([], [])


def test_what_waits_for_slack_is_withdrawn_too(parting: Parting) -> None:
    opened, store = parting.opened, parting.opened.store
    slack = {"encrypted_url": "x", "host": "hooks.example"}
    opened.run(
        store.write(
            changes_account(slack_messages.set_webhook, parting.partner.account_id), **slack
        )
    )

    def waiting() -> list[tuple[Any, ...]]:
        return opened.ask("SELECT sentence, due_ms FROM slack_message")

    opened.run(parting.remove(START))
    removal = [(SUBJECTS["remove"], START + MINUTE_MS)]
    assert waiting() == removal
    opened.run(parting.allow(START + 1))
    assert waiting() == []
    opened.run(parting.remove(START))
    opened.run(parting.allow(START + MINUTE_MS))
    assert waiting() == [*removal, (SUBJECTS["allow"], START + MINUTE_MS)]


@pytest.mark.parametrize("delivery", [DASHBOARD, DAILY])
def test_without_an_email_at_once_the_notification_is_withdrawn(
    parting: Parting, delivery: str
) -> None:
    opened, store = parting.opened, parting.opened.store
    chosen = {PARTNER_JOINED.name: Choice(delivery)}
    opened.run(store.write(changes_account(notification_choices.save, parting.owner_id), chosen))
    # A few seconds before the digest of that morning, in which it is not yet.
    morning_ms = NOON_MS + 20 * 60 * MINUTE_MS
    opened.run(parting.leave(morning_ms - 1_000))
    is_sent = opened.run(store.write(timed(digests.send_next, morning_ms + 1_000), SITE))
    assert not is_sent and parting.kinds("notice") == ["partner_left"]
    opened.run(parting.join(morning_ms + 2_000))
    assert (parting.kinds("letter"), parting.kinds("notice")) == ([], [])
    opened.run(parting.leave(morning_ms + 3_000))
    opened.run(parting.join(morning_ms + 3_000 + MINUTE_MS))
    assert parting.kinds("notice") == ["partner_left", "partner_joined"]


def test_leaving_and_joining_all_day_is_told_once(parting: Parting) -> None:
    for hour in range(3):
        at_ms = START + hour * 60 * MINUTE_MS
        parting.opened.run(parting.leave(at_ms))
        parting.opened.run(parting.join(at_ms + MINUTE_MS))
    assert parting.kinds("letter") == ["partner_left", "partner_joined"]
