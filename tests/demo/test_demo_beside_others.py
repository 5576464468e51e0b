"""The demo beside accounts that are not its own."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from honeyguide import demo, settings
from honeyguide.accounts import accounts
from honeyguide.app import opened
from honeyguide.demo import subscribers as demo_subscribers
from honeyguide.events import webhooks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, notifications, texts
from honeyguide.mail.notifications import Notification
from honeyguide.store.tx import Tx
from tests.support.changes import new_change
from tests.support.readings import change_of_account, in_account
from tests.support.service import fresh_database_url


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same year with a tenth of the people."""
    moments, clicks = demo_subscribers.moments, demo_subscribers.clicks

    def fewer(state: Any, first: float, last: float, *rest: Any, **named: Any) -> Any:
        return moments(state, first / 4, last / 12, *rest, **named)

    monkeypatch.setattr(demo_subscribers, "moments", fewer)
    monkeypatch.setattr(demo_subscribers, "clicks", lambda *given: list(clicks(*given))[:5])


@pytest.mark.usefixtures("small_demo")
def test_deliveries_and_emails_of_others_are_not_the_demos_to_send(tmp_path: Path) -> None:
    chosen = settings.read({}, database_url=fresh_database_url("sqlite", tmp_path))

    async def work() -> None:
        async with opened(chosen) as services:

            async def wait(tx: Tx) -> str:
                past_ms = services.clock() - 9 * DAY_MS
                stranger = await accounts.create(
                    tx.at(past_ms),
                    EmailAddress("real@example.org"),
                    name="Real",
                )
                tenant = Tenant(stranger.account_id, stranger.campaign_id)
                hook = await webhooks.create(
                    new_change(tx, services.site, tenant, 1),
                    "",
                    "http://127.0.0.1:9/hook",
                    webhooks.Flags(),
                    policy=services.policy,
                )
                await webhooks.send_test(
                    change_of_account(tx, stranger.account_id, now_ms=past_ms), "", hook.id
                )
                message = texts.webhook_failing(
                    url="https://example.org", since="then", disables_on="soon", page="/"
                )
                to, kind = "real@example.org", "webhook_failing"
                notification = Notification(stranger.account_id, to, kind, "once", message, "/")
                await notifications.notify(tx.at(9 * DAY_MS), "", notification)
                return stranger.account_id

            stranger_id = await services.store.write(wait)
            await demo.prepare(services)

            async def read(tx: Tx) -> None:
                (hook,) = await webhooks.of_account(in_account(tx, stranger_id), "")
                ((delivery, attempts),), _ = await webhooks.page_of_deliveries(
                    in_account(tx, stranger_id), "", hook.id, Page(1, 9)
                )
                assert (delivery.status, attempts) == ("pending", [])
                wax = await accounts.get_named(tx, demo.OWNER)
                assert await webhooks.of_account(in_account(tx, wax.id), "") == []
                assert await emails.backlog(tx.at(services.clock())) == emails.Backlog(
                    1, 9 * DAY_MS
                )

            await services.store.snapshot(read)

    asyncio.run(work())
