"""The administrator's page on both engines: what the installation owes, when a month closes,
whether the books are right, and what waits. And the demo's clock, after which all of it follows by
itself.
"""

import time
from collections.abc import Callable, Iterator

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard import formats
from honeyguide.partners import rules
from tests.support.partner_network import join, offer, publish
from tests.support.service import ENGINES, Service, until
from tests.support.web import Operator, operator, text_of


@pytest.fixture(params=ENGINES)
def installation(request: pytest.FixtureRequest) -> Iterator[tuple[Service, Operator, Operator]]:
    """Of its own: its first account is the administrator."""
    with Service(request.param) as service:
        yield service, operator(service, "alice"), operator(service, "bob")


def desk_of(who: Operator, query: str = "") -> str:
    answer = who.web.get(f"/administration{query}")
    assert answer.status_code == 200
    return text_of(answer.text)


def eventually(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline, "it never came to this"
        time.sleep(0.05)


def test_who_has_no_backup_reads_what_comes_first(installation) -> None:
    _, alice, _ = installation
    assert "Last backup Never first set HONEYGUIDE_BACKUP_URL" in desk_of(alice)


def test_months_payouts_and_what_waits(installation) -> None:
    service, alice, bob = installation
    place = join(bob, offer(alice, publish(alice)))
    alice.subscribe("one@example.org", referrer_code=place["ref_code"])
    month = rules.month_of(service.now_ms())
    until(lambda: "Emails waiting none" in desk_of(alice))  # she is told that Bob joined
    page = desk_of(alice)
    closes = formats.moment(rules.closes_at(month))
    assert f"{rules.month_name(month)} Open closes {closes} $3.00 so far" in page
    assert "No payouts." in page and "0 pending invitations" in page
    answer = alice.web.post("/account/invitations", page="/account", email="carl@example.org")
    assert answer.status_code == 200
    page = desk_of(alice)
    assert "1 pending invitation" in page and "carl@example.org Invited, expires" in page
    service.set_clock((rules.closes_at(month) + HOUR_MS - system_clock()) / 1000)
    service.run_jobs()
    alice.web.log_in(alice.email)
    page = desk_of(alice)
    assert f"{rules.month_name(month)} Closed {formats.day(service.now_ms())} 0 of 1 $3.00" in page
    assert (
        f"{rules.month_name(rules.previous_month(month))} Closed" in page
        and "none due $0.00" in page
    )


def test_the_books_state_is_that_of_the_last_proof(installation) -> None:
    service, alice, _ = installation
    service.run_jobs()
    assert "Ledger OK checked just now" in desk_of(alice)
    service.set_clock(DAY_MS / 1000 / 2)
    alice.web.log_in(alice.email)
    assert "Ledger OK checked 12 hours ago" in desk_of(alice)
    assert "The ledger balances" in text_of(alice.web.get("/administration/proof").text)
    assert "Ledger OK checked just now" in desk_of(alice), (
        "whoever proves them by hand is noted too"
    )


def test_after_the_clock_is_moved_holds_months_and_payouts_follow_by_themselves(
    installation,
) -> None:
    service, alice, bob = installation
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
    held, paid = offer(alice, publish(alice), **hold), offer(alice, publish(alice), cpa=2)
    alice.subscribe("held@example.org", referrer_code=join(bob, held)["ref_code"])
    alice.subscribe("paid@example.org", referrer_code=join(bob, paid)["ref_code"])
    assert alice.subscriber("held@example.org")["referral_status"] == "pending"
    month = rules.month_of(service.now_ms())
    # Months are looked at once a minute, and it was done when the service began; sooner than that
    # the clock must have called.
    assert (
        alice.web.post("/clock", page="/", step="month", back="/administration").status_code == 303
    )
    eventually(lambda: "0 of 1 $2.00" in desk_of(alice, f"?month={month}"))
    for _ in range(2):
        alice.web.post("/clock", page="/", step="week", back="/")
    eventually(lambda: alice.subscriber("held@example.org")["referral_status"] == "verified")


def test_the_page_lists_the_background_jobs(
    installation: tuple[Service, Operator, Operator],
) -> None:
    _, alice, _ = installation
    eventually(lambda: "Check the ledger day just now" in desk_of(alice))
    found = desk_of(alice)
    assert "Background jobs" in found and "Purge idempotency keys 10 minutes just now" in found
    assert "OK" in found.partition("Background jobs")[2]
