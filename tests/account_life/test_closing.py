"""Closing an account: two weeks to keep it, then a job closes it step by step, and records of money
stay right for everybody.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.account_life import closing
from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.kernel.errors import Invalid
from honeyguide.partners import ledger_check, rules
from honeyguide.store.tx import Tx
from tests.support import belongings
from tests.support.partner_network import join, offer, publish
from tests.support.readings import in_account
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

JOB = actors.job(closing.CLOSING)


@pytest.fixture(params=ENGINES)
def installation(request: pytest.FixtureRequest) -> Iterator[tuple[Service, Operator, Operator]]:
    """Of its own: its first account is the administrator."""
    with Service(request.param, work=False) as service:
        yield service, operator(service, "alice"), operator(service, "bob")


def close(who: Operator, name: str = "") -> Any:
    newsletter = name or re.match("[a-z]+", who.email)[0]
    return who.web.post("/account/close", page="/account/close", newsletter=newsletter)


def run_closing(service: Service, steps: int = 1_000) -> int:
    """Does up to so many steps of the job; returns how many were done."""
    done = 0
    now_ms, site = service.now_ms(), service.services.site
    for account in service.read(lambda tx: closing.due(tx.at(now_ms), most=10)):

        async def step(tx: Tx, account_id: str = account.id) -> bool:
            return await closing.close_some(tx.at(now_ms), site, JOB, account_id)

        while done < steps:
            done += 1
            if not service.write(step):
                break
    return done


def books_are_right(service: Service) -> bool:
    findings, _ = service.read(ledger_check.verify)
    return not any(finding.broken for finding in findings)


def count(service: Service, sql: str) -> int:
    return service.read(lambda tx: tx.one(statement(sql)))[0]


def account_of(service: Service, who: Operator) -> Any:
    return service.read(lambda tx: accounts.get(tx, who.account_id))


def test_the_page_says_what_is_pending_and_asks_for_the_name(installation) -> None:
    _service, alice, bob = installation
    place = join(alice, offer(bob, publish(bob)))
    bob.subscribe("paid@example.org", referrer_code=place["ref_code"])
    page = text_of(bob.web.get("/account/close").text)
    assert "You owe partners $3.00 so far" in page
    wrong = close(bob, "Something else")
    assert wrong.status_code == 400 and "as it is written above" in text_of(wrong.text)
    assert close(bob).status_code == 303
    again = text_of(bob.web.get("/").text)
    assert "This account will be closed on" in again and "Keep the account" in again


def test_it_can_be_kept_for_two_weeks(installation) -> None:
    service, _alice, bob = installation
    paper = publish(bob)
    offer(bob, paper)

    def is_on() -> bool:
        found = bob.get(f"/v2/publications/{paper['uuid']}").json()["publication"]
        return bool(found["enabled_partner_program"])

    close(bob)
    assert not is_on()
    turned = bob.put(f"/v2/publications/{paper['uuid']}", {"enabled_partner_program": True})
    assert turned.status_code == 400 and "being closed" in turned.json()["error"]
    slug = bob.get(f"{bob.v1}/settings").json()["settings"]["slug"]
    page = bob.web.get(f"/join/{slug}")
    assert page.status_code == 403 and "is closing" in text_of(page.text)
    assert bob.post(f"{bob.v1}/subscribers", {"email": "a@example.org"}).status_code == 201
    waiting = "SELECT COUNT(*) FROM letter WHERE kind = 'account_closing' AND due_ms IS NOT NULL"
    assert count(service, waiting) == 2  # now, and three days before the end
    service.set_clock((closing.WAIT_DAYS - 1) * DAY_MS / 1000)
    assert run_closing(service) == 0
    service.set_clock(0)
    kept = bob.web.post("/account/keep", page="/account/close")
    assert kept.status_code == 303 and is_on()
    assert bob.web.get(f"/join/{slug}").status_code == 200
    assert count(service, waiting) == 1  # the reminder is withdrawn
    log = service.read(lambda tx: change_log.of_account(in_account(tx, bob.account_id), most=2))
    assert [entry.action for entry in log] == ["account.kept", "account.closing"]
    with pytest.raises(Invalid, match="not being closed"):
        bob.make(closing.keep)


def test_after_two_weeks_it_can_be_kept_no_longer(installation) -> None:
    """The job may have shut something already."""
    service, _alice, bob = installation
    close(bob)
    service.set_clock((closing.WAIT_DAYS * DAY_MS + 1_000) / 1000)
    with pytest.raises(Invalid, match="waiting period is over"):
        bob.make(closing.keep)
    run_closing(service)
    with pytest.raises(Invalid, match="waiting period is over"):
        bob.make(closing.keep)


def furnish(alice: Operator, bob: Operator) -> None:
    """Bob's account has everything: subscribers, a program with a partner, and a program of
    others that he joined."""
    place = join(alice, offer(bob, publish(bob)))
    bob.subscribe("paid@example.org", referrer_code=place["ref_code"])
    earning = join(bob, offer(alice, publish(alice)))
    alice.subscribe("sent@example.org", referrer_code=earning["ref_code"])
    for n in range(closing.BATCH + 5):
        bob.subscribe(f"reader{n}@example.org")
    bob.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook"})
    belongings.member_invitation(bob)
    fetch = (
        "INSERT INTO remote_fetch (import_id, account_id, base_url, secret, stage, created_ms) "
        "VALUES (:import_id, :account_id, 'https://other.example', 'secret', 'people', 1)"
    )
    import_id, account_id = belongings.imported(bob), bob.account_id
    slack = (
        "INSERT INTO slack_webhook (account_id, encrypted_url, host) "
        "VALUES (:account_id, 'secret', 'hooks.slack.example')"
    )
    service = bob.service
    service.write(lambda tx: tx.run(statement(fetch), import_id=import_id, account_id=account_id))
    service.write(lambda tx: tx.run(statement(slack), account_id=account_id))


def test_everything_is_shut_and_records_of_money_stay(installation) -> None:
    service, alice, bob = installation
    furnish(alice, bob)
    entries = count(service, "SELECT COUNT(*) FROM transfer")
    close(bob)
    service.set_clock((closing.WAIT_DAYS * DAY_MS + 60_000) / 1000)
    # Killed after each step: another process goes on.
    while run_closing(service, steps=1):
        if account_of(service, bob).closed_ms and not due(service):
            break
        assert books_are_right(service)
    account = account_of(service, bob)
    assert account.closed_ms is not None
    assert count(service, "SELECT COUNT(*) FROM transfer") == entries and books_are_right(service)
    assert bob.get(f"{bob.v1}/subscribers").status_code == 401
    assert bob.web.get("/").headers["location"].startswith("/login")
    theirs = f"account_id = '{bob.account_id}'"
    for table, gone in {
        "subscriber": "AND erased_ms IS NULL",
        "api_key": "AND revoked_ms IS NULL",
        "publication": "AND deleted_ms IS NULL",
        "partner_campaign": "AND left_ms IS NULL",
        "webhook": "",
        "member": "",
        "session": "",
        "ticket": "",
        "slack_webhook": "",
        "remote_fetch": "AND secret <> ''",
    }.items():
        assert count(service, f"SELECT COUNT(*) FROM {table} WHERE {theirs} {gone}") == 0, table
    # What Bob earned is still on the administrator's list when the month closes.
    month = rules.month_of(system_clock())
    service.set_clock((rules.closes_at(month) + HOUR_MS - system_clock()) / 1000)
    service.run_jobs()
    alice.web.log_in(alice.email)
    page = text_of(alice.web.get("/administration").text)
    assert f"{rules.month_name(month)} $3.00" in page and "Closed" in page
    assert books_are_right(service)


def due(service: Service) -> list[Any]:
    now_ms = service.now_ms()
    return service.read(lambda tx: closing.due(tx.at(now_ms), most=10))


def test_a_partners_pending_referral_is_decided_first(installation) -> None:
    service, alice, bob = installation
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 30}
    place = join(alice, offer(bob, publish(bob), **hold))
    bob.subscribe("paid@example.org", referrer_code=place["ref_code"])
    bob.subscribe("other@example.org")
    close(bob)
    service.set_clock((closing.WAIT_DAYS * DAY_MS + 60_000) / 1000)
    run_closing(service)
    theirs = f"account_id = '{bob.account_id}'"
    left = f"SELECT COUNT(*) FROM subscriber WHERE {theirs} AND erased_ms IS NULL"
    assert count(service, left) == 1 and account_of(service, bob).closed_ms
    service.set_clock(31 * DAY_MS / 1000)
    service.run_jobs()
    assert count(service, "SELECT COUNT(*) FROM transfer") == 1 and books_are_right(service)
    service.run_jobs()
    assert count(service, left) == 0 and not due(service)


def test_records_are_forgotten_after_the_set_years(installation) -> None:
    service, alice, bob = installation
    furnish(alice, bob)
    close(bob)
    service.set_clock((closing.WAIT_DAYS * DAY_MS + 60_000) / 1000)
    run_closing(service)

    async def forget(tx: Tx) -> int:
        now_ms = service.now_ms() + 10 * closing.YEAR_MS + 1
        found = await closing.expired(tx.at(now_ms), most=10, keep_years=10)
        for account_id in found:
            await closing.forget(tx.at(now_ms), account_id)
        early = await closing.expired(tx.at(service.now_ms()), most=10, keep_years=10)
        return len(found) + len(early)

    assert service.write(forget) == 1
    account = account_of(service, bob)
    assert (account.email, account.name) == ("", None)
    for table in ("letter", "notice"):
        kept = f"SELECT COUNT(*) FROM {table} WHERE account_id = '{bob.account_id}'"
        assert count(service, kept) == 0, table
    assert books_are_right(service)


def test_what_makes_no_sense_is_refused(installation) -> None:
    _service, alice, bob = installation
    assert close(alice).status_code == 400  # it runs the installation
    close(bob)
    with pytest.raises(Invalid, match="already"):
        bob.make(closing.ask)
