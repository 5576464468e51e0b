"""A real server is killed while an owner removes partners and ends what is pending, and while
others leave: nothing is half done after a kill, what was answered stays done, and in the end
everything is done once.
"""

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from honeyguide.signups.removed_partners import MOST_AT_ONCE
from honeyguide.store import Store, open_store
from tests.support.partner_network import join, offer
from tests.support.process import Serving
from tests.support.service import Member, Service, until
from tests.support.stores import statement
from tests.support.trade import verify

PENDING = 6
KILLS = 6
FEE_CENTS = 300
DAY_S = 86_400
# So that a job which was killed is soon done by the next process.
SHORT_LEASES = "from honeyguide.work import loop; loop.LEASE_MS = 1_000"
TO_BE_ENDED = "subscriber WHERE referral_status = 'pending' AND referral_reason = 'partner_removed'"


class Partners:
    """Of a program of Alice's: those whom she removes, one of them with more pending referrals than
    are ended at once, and as many who leave."""

    def __init__(self, service: Service) -> None:
        self.url = service.database_url
        self.alice = service.member("alice")
        terms = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
        program = offer(self.alice, total_budget=9_000, max_payout=900, **terms)
        self.removed: list[str] = []
        self.left: list[str] = []
        self.interrupted = 0
        self.asks: dict[str, Callable[[], httpx.Response]] = {}
        for number in range(2 * KILLS + 2):
            partner = service.member(f"partner{number}")
            joined = join(partner, program)
            for n in range(MOST_AT_ONCE + PENDING if number == 0 else PENDING):
                self.alice.subscribe(f"p{number}.{n}@example.org", referrer_code=joined["ref_code"])
            self._ask(partner, program["uuid"], joined["uuid"], leaves=number % 2 == 1)

    def _ask(self, partner: Member, program: str, joined: str, *, leaves: bool) -> None:
        if leaves:
            path = f"/v2/partner_profile/partner_campaigns/{joined}"
            self.asks[joined] = lambda: partner.delete(path)
            self.left.append(joined)
        else:
            path = f"/v2/partner_programs/{program}/partners/{joined}"
            self.asks[joined] = lambda: self.alice.delete(path, params={"end_pending": "true"})
            self.removed.append(joined)

    def ask(self, ids: list[str], *, enough: int, then: Callable[[], None]) -> set[str]:
        """Asks for these, a few at a time, and does `then` when so many were answered. Who was
        answered. Others were interrupted, or not asked for any more."""
        answered: set[str] = set()
        lock, done = threading.Lock(), threading.Event()

        def one(partner_id: str) -> None:
            if done.is_set():
                return
            try:
                answer = self.asks[partner_id]()
            except httpx.TransportError:
                with lock:
                    self.interrupted += 1
                return
            assert answer.status_code == 200, answer.text
            with lock:
                answered.add(partner_id)
                if len(answered) >= enough:
                    done.set()

        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(one, each) for each in ids]
            assert done.wait(60)
            then()
        for each in asked:
            each.result()
        return answered

    def charged_cents(self) -> int:
        return int(self._run(verify).charged_cents)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        async def find(store: Store) -> list[tuple[Any, ...]]:
            return await store.read(lambda tx: tx.all(statement(sql)))

        return self._run(find)

    def count(self, sql: str) -> int:
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {sql}")[0][0])

    def _run(self, work: Callable[[Store], Any]) -> Any:
        async def inside() -> Any:
            store = await open_store(self.url)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(inside())

    def check_whole(self, answered: set[str]) -> set[str]:
        """Each partner is out with all that follows from it, or not at all. Who is out."""
        self._run(verify)
        out = {
            row[0]
            for row in self.rows(
                "SELECT id FROM partner_campaign "
                "WHERE removed_ms IS NOT NULL OR left_ms IS NOT NULL"
            )
        }
        assert answered <= out
        logged = self.rows(
            "SELECT subject_id FROM change_log "
            "WHERE action IN ('partner_campaign.removed', 'partner_campaign.left')"
        )
        assert sorted(row[0] for row in logged) == sorted(out)
        for table in ("notice", "letter"):
            condition = f"{table} WHERE kind IN ('partner_removed', 'partner_left')"
            assert self.count(condition) == len(out), table
        untouched = self.rows(
            "SELECT DISTINCT partner_campaign_id FROM subscriber WHERE referral_status = 'pending' "
            "AND referral_reason = 'holding_period'"
        )
        assert {row[0] for row in untouched} == set(self.asks) - (out & set(self.removed))
        return out


@pytest.mark.long
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_removing_and_leaving_survive_kills(engine: str) -> None:
    dice = random.Random(33)
    with Service(engine, work=False) as service:
        partners = Partners(service)
    own = {"port": service.port, "base_url": service.settings.base_url}
    answered: set[str] = set()
    server = Serving(service.database_url, **own)
    server.before = SHORT_LEASES
    with server:
        for _ in range(KILLS):
            waiting = [each for each in partners.asks if each not in answered]
            # The one with the most pending referrals is asked for among the others.
            dice.shuffle(waiting)
            if len(waiting) < 3:
                break
            answered |= partners.ask(waiting, enough=dice.randint(1, 2), then=server.kill)
            answered = partners.check_whole(answered)
            server.start()
        everybody = list(partners.asks)
        assert partners.ask(everybody, enough=len(everybody), then=lambda: None) == set(everybody)
        until(lambda: partners.count(TO_BE_ENDED) == 0, 60)
        server.kill()
        assert partners.check_whole(set(everybody)) == set(everybody)
        assert partners.interrupted >= 3, "hardly anybody was still asking"
        ended = MOST_AT_ONCE + PENDING * len(partners.removed)
        for sql in (
            "subscriber WHERE referral_status = 'rejected'",
            "referral_decision WHERE status = 'rejected'",
        ):
            assert partners.count(sql) == ended, sql
        server.set_clock(1.1 * DAY_S)
        server.start()
        finished = PENDING * len(partners.left)
        until(lambda: partners.count("charge") >= finished, 60)
        server.kill()
    assert partners.charged_cents() == finished * FEE_CENTS, "what was ended is never charged"
