"""A deleted program goes on until its last referral is decided and its last month is closed, and
its owner can see it until then.
"""

from collections.abc import Iterator

import pytest

from honeyguide.kernel.clock import system_clock
from honeyguide.partners import rules
from honeyguide.work import weekly_summaries
from honeyguide.work.weekly_summaries import DueAccount
from tests.support.partner_network import join, offer, publish
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

DAY_S = 86_400
STILL_RUNNING = "Deleted, still running"


@pytest.fixture(params=ENGINES)
def own_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Months are closed in it, and nobody can open them again."""
    with Service(request.param) as service:
        yield service


@pytest.mark.parametrize("what", ["partner_programs", "publications"])
def test_its_owner_sees_a_deleted_program_until_all_is_settled(
    own_service: Service, what: str
) -> None:
    service, alice = own_service, operator(own_service)
    bob, mallory = service.member("bob"), service.member("mallory")
    publication = publish(alice)
    week = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
    program = offer(alice, publication, **week)
    live = offer(alice, publish(alice, name="The Evening Wax"))
    alice.subscribe("cleo@example.org", referrer_code=join(bob, live)["ref_code"])  # a charge
    code = join(bob, program)["ref_code"]
    ana, _ben = [
        alice.subscribe(f"{name}@example.org", referrer_code=code) for name in ("ana", "ben")
    ]
    api, page = f"/v2/partner_programs/{program['uuid']}", f"/program/{program['uuid']}"
    asks = page if what == "partner_programs" else f"/publications/{publication['uuid']}"
    shown = alice.web.get(asks).text
    assert "2 referrals are pending" in shown and "up to $6.00 may still be charged" in shown
    uuid = {"partner_programs": program, "publications": publication}[what]["uuid"]
    assert alice.delete(f"/v2/{what}/{uuid}").status_code == 200

    def check(*, spent: int, pending: int) -> None:
        found = alice.get(f"{api}/spend").json()["spend"]
        assert (found["spent"], found["pending"]) == (spent, pending)
        assert len(alice.get(f"{api}/referrals").json()["referrals"]) == 2
        shown = alice.web.get(page).text
        assert STILL_RUNNING in text_of(shown) and f"/subscribers/{ana['uuid']}" in shown
        assert 'method="post" action="/program/' not in shown and f"{page}/change" not in shown
        listed = alice.web.get("/program")
        assert text_of(listed.text).count(STILL_RUNNING) == 1 and f'href="{page}"' in listed.text
        assert listed.text.count(f'data-href="/program/{live["uuid"]}"') == 1

    def check_as_others() -> None:
        assert alice.get(api).status_code == 404
        assert alice.put(api, {"cpa": 9}).status_code == 404
        assert alice.delete(api).status_code == 404
        assert alice.web.get(f"{page}/change").status_code == 404
        assert program["uuid"] not in alice.get("/v2/partner_programs").text
        for other in (bob, mallory):
            for path in ("spend", "referrals"):
                assert other.get(f"{api}/{path}").status_code == 404

    def pass_days(days: int) -> None:
        service.set_clock(days * DAY_S)
        service.run_jobs()
        alice.web.log_in(alice.email)  # the session ended meanwhile

    check(spent=0, pending=6)
    check_as_others()
    alice.put(f"{alice.v1}/subscribers/ben@example.org", {"status": "unsubscribed"})
    check(spent=0, pending=3)
    pass_days(8)
    check(spent=3, pending=0)  # its month is open
    check_as_others()
    pass_days(75)
    check_as_others()
    for path in (f"{api}/spend", f"{api}/referrals"):
        assert alice.get(path).status_code == 404
    assert alice.web.get(page).status_code == 404
    assert STILL_RUNNING not in text_of(alice.web.get("/program").text)


def test_a_program_that_nobody_is_pending_in_is_gone_at_once(service: Service, bob: Member) -> None:
    alice = operator(service)
    program = offer(alice)
    join(bob, program)
    page = f"/program/{program['uuid']}"
    assert "nothing more will be charged" in alice.web.get(page).text
    asked = text_of(alice.web.post(f"{page}/act", page=page, do="delete").text)
    assert alice.web.get(page).status_code == 404, asked
    assert alice.get(f"/v2/partner_programs/{program['uuid']}/spend").status_code == 404
    assert STILL_RUNNING not in text_of(alice.web.get("/program").text)


def test_a_month_without_a_charge_keeps_nothing_open(service: Service, bob: Member) -> None:
    """What the budget did not allow is decided, and nothing is owed."""
    alice = operator(service)
    program = offer(alice, cpa=3, total_budget=1)
    alice.subscribe("ana@example.org", referrer_code=join(bob, program)["ref_code"])
    api = f"/v2/partner_programs/{program['uuid']}"
    assert alice.get(f"{api}/spend").json()["spend"]["spent"] == 0
    months = statement("SELECT spent_cents FROM budget WHERE program_id = :id")
    assert service.read(lambda tx: tx.all(months, id=program["uuid"])) == [(0,)]
    assert alice.delete(api).status_code == 200
    assert alice.get(f"{api}/spend").status_code == 404
    assert STILL_RUNNING not in text_of(alice.web.get("/program").text)


def budgets_in_email(owner: Operator) -> list[tuple[str, str]]:
    """What the weekly email says about each program, and where that leads."""
    service = owner.service
    account = DueAccount(owner.account_id, owner.email, "UTC", 0, "2000-01-03")
    summary = service.read(
        lambda tx: weekly_summaries.summarize(
            tx.at(service.now_ms()), service.services.site, account
        )
    )
    assert summary is not None
    return [(each.sentence, each.url.removeprefix(service.url)) for each in summary.budgets]


@pytest.mark.parametrize("what", ["partner_programs", "publications"])
def test_what_a_deleted_program_cost_is_part_of_what_its_owner_pays(
    own_service: Service, what: str
) -> None:
    """Home, the weekly email and the page for closing the account agree with the statement."""
    service = own_service
    bob = service.member("bob")  # runs the installation, and that account cannot be closed
    alice = operator(service)
    publication = publish(alice)
    program = offer(alice, publication)
    alice.subscribe("ana@example.org", referrer_code=join(bob, program)["ref_code"])
    uuid = {"partner_programs": program, "publications": publication}[what]["uuid"]
    assert alice.delete(f"/v2/{what}/{uuid}").status_code == 200
    assert "$3.00 of $300.00" in text_of(alice.web.get("/").text)
    assert "$3.00 so far for months that are not closed" in text_of(
        alice.web.get("/account/close").text
    )
    page = f"/program/{program['uuid']}"
    ((sentence, link),) = budgets_in_email(alice)
    assert sentence == "$3.00 of this month’s $300.00 budget is spent." and link == page
    assert alice.web.get(link).status_code == 200
    service.set_clock(75 * DAY_S)
    service.run_jobs()
    alice.web.log_in(alice.email)
    assert "Partner fees" not in text_of(alice.web.get("/").text)
    assert budgets_in_email(alice) == []


def test_a_program_that_became_free_still_costs_what_it_did(service: Service, bob: Member) -> None:
    alice = operator(service)
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    alice.subscribe("ana.before@example.org", referrer_code=code)
    assert alice.put(f"/v2/partner_programs/{program['uuid']}", {"cpa": 0}).status_code == 200
    assert "$3.00 of $300.00" in text_of(alice.web.get("/").text)
    assert [sentence for sentence, _ in budgets_in_email(alice)] == [
        "$3.00 of this month’s $300.00 budget is spent."
    ]


def test_a_month_that_is_over_and_not_closed_is_still_owed(own_service: Service) -> None:
    """To whoever closes an account in the hour between."""
    service = own_service
    operator(service, "root")  # runs the installation, and that account cannot be closed
    alice, bob = operator(service), operator(service, "bob")
    alice.subscribe("ana@example.org", referrer_code=join(bob, offer(alice))["ref_code"])
    end_ms = rules.month_bounds(rules.month_of(service.now_ms()))[1]
    service.set_clock((end_ms + 60_000 - system_clock()) / 1000)
    for who in (alice, bob):
        who.web.log_in(who.email)
        page = text_of(who.web.get("/account/close").text)
        assert "$3.00 so far for months that are not closed yet" in page
