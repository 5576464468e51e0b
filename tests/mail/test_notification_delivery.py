"""A notification reaches the account that it is for, in the way that this account chose, and
nobody else: by digest, and on Slack.
"""

from collections.abc import Awaitable, Callable

import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.mail import (
    digests,
    email_kinds,
    emails,
    notification_choices,
    notifications,
    slack_messages,
)
from honeyguide.mail.content import email
from honeyguide.mail.notification_choices import Choice
from honeyguide.mail.notification_kinds import CODES_LOW, DAILY, OFF, WEEKLY
from honeyguide.mail.notifications import Notification
from honeyguide.store import Store
from honeyguide.store.tx import timed
from tests.support.readings import changes_account, reads_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, SITE

# NOON_MS is on a Sunday.
TUESDAY_MS = NOON_MS + 2 * DAY_MS

pytestmark = pytest.mark.parametrize("engine", ENGINES)


class Two:
    """Two accounts on one installation."""

    def __init__(self, store: Store, ana: str, bob: str) -> None:
        self.store = store
        self.ana = ana
        self.bob = bob

    async def tell(self, account_id: str, kind: str, sentence: str, *, now_ms: int) -> None:
        await self.store.write(
            timed(notifications.notify, now_ms),
            SITE.base_url,
            Notification(
                account_id=account_id,
                to="somebody@example.org",
                kind=kind,
                once=f"{kind}:{sentence}",
                message=email(sentence, "More about it."),
                link="/",
            ),
        )

    async def choose(self, account_id: str, **chosen: Choice) -> None:
        await self.store.write(changes_account(notification_choices.save, account_id), chosen)

    async def digests_until(self, now_ms: int) -> None:
        while await self.store.write(timed(digests.send_next, now_ms), SITE):
            pass

    async def digests_of(self, account_id: str) -> list[str]:
        """Their texts, newest first."""
        queued = await self.store.read(reads_account(emails.of_account, account_id), Page(1, 200))
        return [
            await self.store.read(reads_account(emails.text_of, account_id), each.id) or ""
            for each in queued
            if each.kind == email_kinds.DIGEST.name
        ]

    async def add_slack(self, account_id: str) -> None:
        await self.store.write(
            changes_account(slack_messages.set_webhook, account_id),
            encrypted_url="x",
            host="hooks.example",
        )

    async def put(self, account_id: str, sentence: str, now_ms: int = NOON_MS) -> None:
        await self.store.write(timed(slack_messages.enqueue, now_ms), account_id, sentence, "/")

    async def claim(self, token: str, now_ms: int = NOON_MS) -> list[str]:
        until_ms = now_ms + MINUTE_MS
        accounts = await self.store.read(
            timed(slack_messages.due_accounts, now_ms), most=slack_messages.BATCH
        )
        claimed = await self.store.write(
            timed(slack_messages.claim, now_ms), accounts, token, until_ms=until_ms
        )
        return sorted(each.sentence for each in claimed)

    async def waiting(self) -> list[tuple[str, str]]:
        """Which account's messages are not posted yet."""
        sql = "SELECT account_id, sentence FROM slack_message ORDER BY sentence"
        return [tuple(row) for row in await self.store.read(lambda tx: tx.all(statement(sql)))]


def with_two(engine: str, test: Callable[[Two], Awaitable[None]]) -> None:
    async def run(store: Store) -> None:
        made = [
            await store.write(
                timed(accounts.create, NOON_MS), EmailAddress(f"{name}@example.org"), name=name
            )
            for name in ("ana", "bob")
        ]
        await test(Two(store, *(each.account_id for each in made)))

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


def test_a_choice_is_about_all_that_it_covers_and_nothing_else(engine: str) -> None:
    async def test(two: Two) -> None:
        for account_id in (two.ana, two.bob):
            await two.choose(account_id, codes_low=Choice(WEEKLY), first_referral=Choice(WEEKLY))
            for kind in (*CODES_LOW.covers, "first_referral"):
                await two.tell(account_id, kind, f"About {kind}", now_ms=NOON_MS)
        await two.choose(two.ana, codes_low=Choice(OFF))
        await two.digests_until(NOON_MS + 8 * DAY_MS)
        (hers,) = await two.digests_of(two.ana)
        assert "About first_referral" in hers and "About reward" not in hers
        (his,) = await two.digests_of(two.bob)
        assert all(f"About {kind}" in his for kind in CODES_LOW.covers)

    with_two(engine, test)


def test_a_daily_digest_leaves_the_weekly_ones_where_they_wait(engine: str) -> None:
    async def test(two: Two) -> None:
        await two.choose(two.ana, first_referral=Choice(DAILY), partner_joined=Choice(WEEKLY))
        await two.tell(two.ana, "partner_joined", "A partner", now_ms=TUESDAY_MS)
        for n in reversed(range(digests.MOST_LISTED + 2)):
            await two.tell(two.ana, "first_referral", f"Referral {n:02}", now_ms=TUESDAY_MS + n)
        tomorrow_ms = digests.due_ms(DAILY, "UTC", TUESDAY_MS + 100)
        monday_ms = digests.due_ms(WEEKLY, "UTC", TUESDAY_MS)
        assert tomorrow_ms is not None and monday_ms is not None and tomorrow_ms < monday_ms
        await two.digests_until(tomorrow_ms)
        (daily,) = await two.digests_of(two.ana)
        assert "A partner" not in daily
        # The oldest first, and how many more there are.
        assert daily.index("Referral 00") < daily.index("Referral 01") < daily.index("Referral 49")
        assert "Referral 50" not in daily and "And 2 more." in daily
        await two.digests_until(monday_ms)
        weekly = (await two.digests_of(two.ana))[0]
        assert "A partner" in weekly and "Referral" not in weekly

    with_two(engine, test)


def test_the_link_that_turns_a_kind_off_keeps_what_was_chosen_for_slack(engine: str) -> None:
    async def test(two: Two) -> None:
        for to_slack in (True, False):
            await two.choose(two.ana, codes_low=Choice(DAILY, to_slack))
            await two.store.write(
                changes_account(notification_choices.turn_off, two.ana), CODES_LOW
            )
            chosen = await two.store.read(reads_account(notification_choices.of_account, two.ana))
            assert chosen["codes_low"] == Choice(OFF, to_slack)
        assert (await two.store.read(reads_account(notification_choices.of_account, two.bob)))[
            "codes_low"
        ] == notification_choices.DEFAULT

    with_two(engine, test)


def test_only_who_has_a_slack_webhook_has_messages_waiting_for_it(engine: str) -> None:
    async def test(two: Two) -> None:
        await two.add_slack(two.ana)
        for account_id in (two.ana, two.bob):
            await two.tell(account_id, "first_referral", "The first", now_ms=NOON_MS)
        assert await two.waiting() == [(two.ana, "The first")]
        await two.choose(two.ana, first_referral=Choice(DAILY, to_slack=False))
        await two.tell(two.ana, "first_referral", "The second", now_ms=NOON_MS)
        assert await two.waiting() == [(two.ana, "The first")]
        await two.add_slack(two.bob)
        await two.put(two.bob, "His")
        await two.store.write(changes_account(slack_messages.delete_webhook, two.ana))
        assert await two.waiting() == [(two.bob, "His")]  # hers have nowhere to go

    with_two(engine, test)


def test_only_what_was_posted_is_gone_and_the_longest_waiting_goes_first(engine: str) -> None:
    async def test(two: Two) -> None:
        await two.add_slack(two.ana)
        most = slack_messages.BATCH
        for n in reversed(range(most + 1)):
            await two.put(two.ana, f"n{n:02}", NOON_MS - 100 + n)
        assert await two.claim("first") == [f"n{n:02}" for n in range(most)]
        assert await two.claim("second") == [f"n{most}"]  # not what the first one has
        await two.put(two.ana, "while it was posted")
        await two.store.write(slack_messages.record_posted, two.ana, "first")
        assert [sentence for _, sentence in await two.waiting()] == [
            f"n{most}",
            "while it was posted",
        ]

    with_two(engine, test)


def test_a_webhook_that_fails_delays_its_own_account_and_says_since_when(engine: str) -> None:
    async def test(two: Two) -> None:
        async def fail(now_ms: int, next_ms: int | None) -> None:
            await two.store.write(
                timed(slack_messages.record_failed, now_ms), two.ana, "t", "No.", next_ms=next_ms
            )

        async def failing_since() -> int | None:
            webhook = await two.store.read(slack_messages.webhook_of, two.ana)
            assert webhook is not None and (webhook.error is None) == (webhook.failed_ms is None)
            return webhook.failed_ms

        for account_id, sentence in ((two.ana, "hers"), (two.bob, "his")):
            await two.add_slack(account_id)
            await two.put(account_id, sentence)
        await two.claim("t")
        later_ms = NOON_MS + 10 * MINUTE_MS
        await fail(NOON_MS, later_ms)
        assert await two.claim("u", NOON_MS + 2 * MINUTE_MS) == ["his"]
        assert await two.claim("t", later_ms) == ["hers", "his"]
        await fail(later_ms, None)
        assert await two.waiting() == [(two.bob, "his")]  # given up
        assert await failing_since() == NOON_MS
        await two.store.write(slack_messages.record_posted, two.ana, "t")
        assert await failing_since() is None
        await fail(later_ms, None)
        await two.add_slack(two.ana)  # another one: the old one's failures are not its own
        assert await failing_since() is None

    with_two(engine, test)
