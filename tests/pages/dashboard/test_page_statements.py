"""How many statements a page of the dashboard runs, its session and its menu included, on the
demo's data."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from honeyguide import demo, settings
from honeyguide.accounts import accounts, members, sessions
from honeyguide.accounts.sessions import NewSession
from honeyguide.app import Services, opened
from honeyguide.pages.services import PageServices
from honeyguide.pages.site import pages_app
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from tests.support.noted_statements import Counted
from tests.support.stores import statement

# A page may run fewer than so many.
BUDGETS = {
    "/": 30,
    "/?range=year&compare=year&by=site": 31,
    "/subscribers/{id}": 28,
    "/subscribers": 16,
    "/review": 16,
    "/program": 16,
    "/program/{id}": 23,
    "/program/partners/{id}": 16,
    "/earnings": 16,
}
# Of those whose page has most to say: referred, with referrals and with rewards.
BUSIEST = statement("""
SELECT s.id FROM subscriber AS s
WHERE s.account_id = :account_id AND s.referrer_code IS NOT NULL AND s.erased_ms IS NULL
ORDER BY s.referrals_verified DESC, s.id LIMIT 10""")
UNITS = ("read", "snapshot", "slow_snapshot", "replica_snapshot", "write")


class NotingStore:
    """A store that notes the statements of all its transactions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in UNITS:
            return method

        async def noted(unit: Any, *args: Any, **kwargs: Any) -> Any:
            async def work(tx: Any) -> Any:
                counted: Any = Counted(tx, self.names.append)
                return await unit(counted, *args, **kwargs)

            return await method(work)

        return noted


async def _log_in(tx: Tx, now_ms: int) -> tuple[str, list[str]]:
    """The owner's session, and the subscribers to look at."""
    account = await accounts.get_named(tx, demo.OWNER)
    user_id = await members.first_owner(tx, account.id)
    new = NewSession(user_id=user_id, account_id=account.id, user_agent="", address="127.0.0.1")
    token = await sessions.begin(tx.at(now_ms), new)
    return token, [row[0] for row in await tx.all(BUSIEST, account_id=account.id)]


async def _statements(services: Services) -> dict[str, list[list[str]]]:
    """The names of those that each page ran, for each address of its kind."""
    await demo.prepare(services)
    now_ms = services.clock()
    token, people = await services.store.write(_log_in, now_ms)
    noting: Any = NotingStore(services.store)
    page_services = PageServices(
        settings=services.settings,
        store=noting,
        site=services.site,
        clock=lambda: now_ms,
        policy=services.policy,
        outbound=services.outbound,
    )
    transport = httpx.ASGITransport(app=pages_app(dict, page_services))
    cookie = {"cookie": f"hg_session={token}"}
    base_url = services.settings.base_url
    found: dict[str, list[list[str]]] = {}
    async with httpx.AsyncClient(transport=transport, base_url=base_url, headers=cookie) as web:
        programs = re.findall(r'"/program/([\w-]{36})"', (await web.get("/program")).text)
        page_of_program = (await web.get(f"/program/{programs[0]}")).text
        ids = {
            "/subscribers/{id}": people,
            "/program/{id}": programs,
            "/program/partners/{id}": re.findall(r"/program/partners/([\w-]{36})", page_of_program),
        }
        assert all(ids.values())
        for page in BUDGETS:
            for each in ids.get(page, [""]):
                noting.names = []
                answer = await web.get(page.format(id=each))
                assert answer.status_code == 200, (page, each)
                found.setdefault(page, []).append(noting.names)
    return found


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    folder: Path = tmp_path_factory.mktemp("demo")
    url, emails = f"sqlite:///{folder}/demo.db", f"file://{folder}/emails"
    given = settings.read({}, database_url=url, smtp_url=emails, secret_key="ab" * 32)

    async def run() -> dict[str, list[list[str]]]:
        async with opened(given) as services:
            return await _statements(services)

    return asyncio.run(run())


@pytest.mark.parametrize("page", BUDGETS)
def test_a_page_keeps_its_budget_of_statements(
    statements: dict[str, list[list[str]]], page: str
) -> None:
    for names in statements[page]:
        assert len(names) < BUDGETS[page], Counter(names).most_common()


def test_home_asks_nothing_twice_but_the_length_of_two_lists(
    statements: dict[str, list[list[str]]],
) -> None:
    (names,) = statements["/"]
    twice = {name for name, n in Counter(names).items() if n > 1}
    assert twice == {"subscribers.page_index.total"}
