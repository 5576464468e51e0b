"""Delayed actions with real processes: one that is killed between the click and the action, and
several that do the same actions at once, some of them killed on the way. Everything is done once,
and what was undone never is.
"""

import random

import pytest

from tests.support import partner_network
from tests.support.belongings import pending
from tests.support.delayed import MAKE_DUE, action_of, ask, offered, undo
from tests.support.process import Serving
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of
from tests.support.workers import eager_worker

REFERRALS = 40
KILLS = 4


@pytest.mark.parametrize("engine", ENGINES)
def test_a_process_that_is_killed_after_the_click_forgets_nothing(engine: str) -> None:
    with Service(engine, work=False) as service:
        alice = operator(service)
        decided, undone = pending(alice), pending(alice)
    own = {"port": service.port, "base_url": service.settings.base_url}
    with Serving(service.database_url, **own) as server:
        answer = ask(alice, {"path": f"/subscribers/{decided}", "do": "verify"})
        assert "1 referral will be verified in a minute." in text_of(answer)
        undo(alice, offered(ask(alice, {"path": f"/subscribers/{undone}", "do": "verify"})))
        server.kill()
        server.start()
        assert "in less than a minute · Undo" in text_of(
            alice.web.get(f"/subscribers/{decided}").text
        )
        assert alice.subscriber(decided)["referral_status"] == "pending"
        server.set_clock(61)
        until(lambda: alice.subscriber(decided)["referral_status"] == "verified", 60)
        assert alice.subscriber(undone)["referral_status"] == "pending"


def count(owner: Operator, sql: str) -> int:
    ask_for = statement(f"SELECT COUNT(*) AS n FROM {sql}")
    return int(owner.service.read(lambda tx: tx.all(ask_for, id=owner.account_id))[0][0])


def work_until(owner: Operator, most_left: int) -> None:
    """Three processes work until so many actions are left. Then all of them are killed."""
    url, waiting = owner.service.database_url, "delayed_action WHERE account_id = :id"
    with eager_worker(url), eager_worker(url), eager_worker(url):
        until(lambda: count(owner, waiting) <= most_left, 90)


def paid_referrals(owner: Operator) -> list[str]:
    """Pending ones of a partner, each of which is charged once it is verified."""
    terms = {"referral_pending_duration_enabled": True, "total_budget": 3 * 2 * REFERRALS}
    program = partner_network.offer(owner, max_payout=3 * 2 * REFERRALS, **terms)
    code = partner_network.join(owner.service.member("bob"), program)["ref_code"]
    hook = {"url": "http://127.0.0.1:9/hook", "new_partner_referral": True}
    assert owner.post("/v2/webhooks", hook).status_code == 201
    return [
        owner.subscribe(f"sent{number}@example.org", referrer_code=code)["uuid"]
        for number in range(REFERRALS)
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_processes_that_do_the_same_at_once_do_it_once(engine: str) -> None:
    dice = random.Random(33)
    with Service(engine, work=False) as service:
        alice = operator(service)
        referrals = paid_referrals(alice)
        ask(alice, {"path": "/review", "id": referrals, "do": "verify"})
        undone = set(dice.sample(referrals, 5))
        for each in undone:
            action = action_of(alice, {"subject": each})
            assert action is not None
            undo(alice, action.id)
        service.write(lambda tx: tx.run(MAKE_DUE))
        for most_left in (*sorted(dice.sample(range(1, 35), KILLS), reverse=True), 0):
            work_until(alice, most_left)
        done = len(referrals) - len(undone)
        for sql in (
            "charge WHERE account_id = :id",
            "change_log WHERE account_id = :id AND action = 'referral.decided'",
            "referral_decision WHERE account_id = :id AND status = 'verified'",
            "event WHERE account_id = :id AND type = 'new_partner_referral'",
        ):
            assert count(alice, sql) == done, sql
        for each in referrals:
            status = alice.subscriber(each)["referral_status"]
            assert status == ("pending" if each in undone else "verified")
