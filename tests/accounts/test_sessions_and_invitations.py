"""Sessions and links for one use, as they are kept: which are found, shown and purged, and when."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.accounts import accounts, invitations, members, sessions
from honeyguide.accounts.accounts import Account
from honeyguide.accounts.sessions import NewSession
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.store.tx import Tx, timed
from tests.support.changes import changing
from tests.support.readings import reads_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, SITE

EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES)
INVITED = EmailAddress("new@example.org")


def with_accounts(engine: str, test: Callable[[Store, list[Account]], Awaitable[None]]) -> None:
    async def run(store: Store) -> None:
        async def begin(tx: Tx, name: str) -> Account:
            address = EmailAddress(f"{name}@example.org")
            made = await accounts.create(tx.at(NOON_MS), address, name=name)
            return await accounts.get(tx, made.account_id)

        await test(store, [await store.write(begin, name) for name in ("ana", "bob")])

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


async def log_in(
    store: Store, account: Account, browser: str, now_ms: int, instead_of: str | None = None
) -> str:
    return await store.write(
        timed(sessions.begin, now_ms),
        NewSession(
            user_id=await store.read(members.first_owner, account.id),
            account_id=account.id,
            user_agent=browser,
            address="192.0.2.1",
        ),
        instead_of=instead_of,
    )


async def rows(store: Store, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await store.read(lambda tx: tx.all(statement(sql)))]


@EACH_ENGINE
def test_open_sessions_are_listed_by_last_use_and_ended_ones_purged(engine: str) -> None:
    async def test(store: Store, found: list[Account]) -> None:
        ana, bob = found
        now_ms = NOON_MS + 20 * DAY_MS
        await log_in(store, ana, "idle", now_ms - 13 * HOUR_MS)
        old = await log_in(store, ana, "used long", now_ms - 15 * DAY_MS)
        early = await log_in(store, ana, "early", now_ms - 3 * HOUR_MS)
        await log_in(store, ana, "late", now_ms - 2 * HOUR_MS)
        await log_in(store, bob, "his", now_ms)

        async def use(token: str, first_ms: int) -> None:
            visitor = await store.read(timed(sessions.find, first_ms), token)
            assert visitor is not None
            await store.write(timed(sessions.touch, now_ms - HOUR_MS), visitor)

        await use(early, now_ms)
        await use(old, now_ms - 15 * DAY_MS)
        assert await store.read(timed(sessions.find, now_ms), old) is None
        ana_id = await store.read(members.first_owner, ana.id)
        listed = await store.read(timed(sessions.of_user, now_ms), ana_id)
        assert [each.user_agent for each in listed] == ["early", "late"]
        await store.write(timed(sessions.purge, now_ms))
        kept = await rows(store, "SELECT user_agent FROM session ORDER BY user_agent")
        assert kept == [("early",), ("his",), ("late",)]

    with_accounts(engine, test)


@EACH_ENGINE
def test_a_login_ends_the_browsers_old_session_and_no_other(engine: str) -> None:
    async def test(store: Store, found: list[Account]) -> None:
        ana, bob = found
        before = await log_in(store, ana, "before", NOON_MS)
        await log_in(store, ana, "other browser", NOON_MS)
        await log_in(store, bob, "x" * 1_000, NOON_MS, instead_of=before)
        kept = await rows(store, "SELECT user_agent FROM session ORDER BY user_agent")
        assert kept == [("other browser",), ("x" * 255,)]

    with_accounts(engine, test)


def by(account: Account, unit: Any, now_ms: int = NOON_MS) -> Any:
    return changing(unit, SITE, Tenant(account.id, ""), now_ms)


@EACH_ENGINE
def test_an_invitation_is_for_one_use_of_its_kind_and_forgets_the_address(engine: str) -> None:
    async def test(store: Store, found: list[Account]) -> None:
        ana, bob = found
        link = await store.write(by(ana, invitations.invite), INVITED)
        token = link.rpartition("/")[2]
        with pytest.raises(Missing):  # it is no link to anybody's password
            await store.write(timed(invitations.reset_password, NOON_MS), SITE, token, "hash")
        (ticket,) = await store.read(reads_account(invitations.of_inviter, ana.id, now_ms=NOON_MS))
        with pytest.raises(Missing):
            await store.write(by(bob, invitations.withdraw), ticket.id)
        last_ms = NOON_MS + 7 * DAY_MS - 1
        await store.write(
            timed(invitations.accept, last_ms), token, name="New", password_hash="hash"
        )
        assert await rows(store, "SELECT email FROM ticket") == [(None,)]
        with pytest.raises(Missing):
            await store.write(
                timed(invitations.accept, last_ms), token, name="New", password_hash="hash"
            )
        assert await store.read(reads_account(invitations.of_inviter, ana.id, now_ms=last_ms)) == []
        with pytest.raises(Missing):  # it was accepted
            await store.write(by(ana, invitations.withdraw), ticket.id)

    with_accounts(engine, test)


@EACH_ENGINE
def test_links_last_as_long_as_their_email_says(engine: str) -> None:
    async def test(store: Store, found: list[Account]) -> None:
        ana = found[0]
        for n, email in enumerate(("first@example.org", "second@example.org")):
            to = EmailAddress(email)
            await store.write(by(ana, invitations.invite, NOON_MS + n), to)
        await store.write(
            timed(invitations.forgot_password, NOON_MS), SITE, EmailAddress(ana.email)
        )

        async def waiting(now_ms: int) -> list[str | None]:
            listed = await store.read(reads_account(invitations.of_inviter, ana.id, now_ms=now_ms))
            return [each.email for each in listed]

        async def kept_kinds(now_ms: int) -> list[tuple[object, ...]]:
            await store.write(timed(invitations.purge, now_ms))
            return await rows(store, "SELECT kind FROM ticket ORDER BY kind, id")

        week_ms = NOON_MS + 7 * DAY_MS
        assert await waiting(week_ms - 1) == ["second@example.org", "first@example.org"]
        assert await waiting(week_ms) == ["second@example.org"]
        hour_ms = NOON_MS + HOUR_MS
        assert ("password_reset",) in await kept_kinds(hour_ms - 1)
        assert await kept_kinds(hour_ms) == [("invitation",)] * 2
        assert await kept_kinds(week_ms) == [("invitation",)]

    with_accounts(engine, test)
