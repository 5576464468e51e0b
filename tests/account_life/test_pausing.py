"""An account that an administrator paused: its members read and change nothing, nobody signs up,
nothing goes out; and everything goes on once it is resumed.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from honeyguide.account_life import closing, pausing
from honeyguide.events import change_log, claiming
from honeyguide.integrations import leases
from honeyguide.integrations.leases import LostLease
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.mail import sending, slack_messages
from honeyguide.rewards import backfill
from honeyguide.screening import moves
from honeyguide.signups import confirmations, delayed_actions
from honeyguide.store.tx import Tx
from tests.support import belongings
from tests.support.embeds import Visitor, embedding
from tests.support.http_client import local_client
from tests.support.partner_network import join, offer, publish
from tests.support.readings import in_account
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

SENTENCE = "This account is paused by an administrator."


@pytest.fixture(params=ENGINES)
def installation(request: pytest.FixtureRequest) -> Iterator[tuple[Service, Operator, Operator]]:
    """Of its own: its first account is the administrator."""
    with Service(request.param, work=False) as service:
        yield service, operator(service, "alice"), operator(service, "bob")


def act(admin: Operator, account: Operator, do: str) -> int:
    answer = admin.web.post(
        "/administration/accounts",
        page="/administration",
        account=account.account_id,
        do=do,
        sure="yes",
    )
    return answer.status_code


def test_members_read_and_change_nothing(installation) -> None:
    _service, alice, bob = installation
    reader = bob.subscribe("one@example.org")
    assert act(alice, bob, "pause") == 303
    page = bob.web.get("/subscribers")
    assert page.status_code == 200 and "An administrator paused this account" in text_of(page.text)
    assert "data-closed" in page.text
    refused = bob.web.post("/settings/time-zone", page="/settings", time_zone="Europe/Rome")
    assert refused.status_code == 403 and SENTENCE in text_of(refused.text)
    assert bob.get(f"{bob.v1}/subscribers/{reader['uuid']}").status_code == 200
    answer = bob.post(f"{bob.v1}/subscribers", {"email": "two@example.org"})
    assert (answer.status_code, answer.json()["code"]) == (403, "account_paused")
    assert SENTENCE in answer.json()["error"]
    # Their own login stays theirs, and the account next door goes on.
    assert bob.web.post("/account/name", page="/account", your_name="Bo").status_code == 303
    assert alice.post(f"{alice.v1}/subscribers", {"email": "a@example.org"}).status_code == 201
    assert act(alice, bob, "resume") == 303
    assert bob.post(f"{bob.v1}/subscribers", {"email": "two@example.org"}).status_code == 201
    assert "paused" not in text_of(bob.web.get("/subscribers").text)


def test_signup_pages_say_so(installation) -> None:
    service, _alice, bob = installation
    address = bob.get(f"{bob.v1}/settings").json()["settings"]["signup_page_url"]
    web = local_client(service.url, {"accept-language": "de"})
    widget = Visitor(bob, embedding(bob))
    bob.make(pausing.pause)
    page = web.get(urlsplit(address).path)
    assert page.status_code == 403 and "Signups are paused" in page.text
    answer = widget.sign_up(email="two@example.org")
    assert answer.status_code == 403
    assert "right now" in answer.json()["errors"][""]
    assert bob.total() == 0
    bob.make(pausing.resume)
    assert web.get(urlsplit(address).path).status_code == 200


def test_what_is_due_waits(installation) -> None:
    service, _alice, bob = installation
    hook = {"url": "http://127.0.0.1:9/hook", "new_referral": True}
    assert bob.post(f"{bob.v1}/webhooks", hook).status_code == 201
    referrer = bob.subscribe("one@example.org")
    bob.put(f"{bob.v1}/settings", {"hold_days": 3})
    bob.subscribe("two@example.org", referrer_code=referrer["ref_code"])
    Visitor(bob, embedding(bob)).sign_up(email="three@example.org")
    service.set_clock(4 * DAY_MS / 1000)
    before = due(service)
    assert before["webhooks"] and before["referrals"] and "hub_link" in before["emails"]
    bob.make(pausing.pause)
    # The owners' own emails are not held.
    emails = {*before["emails"], "account_paused"} - {"hub_link"}
    assert due(service) == {"webhooks": set(), "emails": emails, "referrals": set()}
    bob.make(pausing.resume)
    after = due(service)
    assert after["webhooks"] == before["webhooks"] and after["referrals"] == before["referrals"]
    assert "hub_link" in after["emails"]


def test_no_job_finds_anything_of_a_paused_account(installation) -> None:
    service, _alice, bob = installation
    referrer = bob.subscribe("one@example.org")
    bob.put(f"{bob.v1}/settings", {"hold_days": 3})
    pending = bob.subscribe("two@example.org", referrer_code=referrer["ref_code"])
    bob.web.post(f"/subscribers/{pending['uuid']}", page="/settings", do="verify")
    bob.post(f"{bob.v1}/rewards", {"name": "Mug", "referrals": 1})
    belongings.failed_write(bob)
    for sql, values in PLANTED:
        given = {name: getattr(bob, name) for name in values}
        service.write(lambda tx, sql=sql, given=given: tx.run(statement(sql), **given))
    service.set_clock(DAY_MS / 1000)
    before = waiting(service)
    assert all(before.values()), before
    bob.make(pausing.pause)
    assert not any(waiting(service).values()), waiting(service)
    bob.make(pausing.resume)
    assert waiting(service) == before


PLANTED = (
    (
        "INSERT INTO slack_message (id, account_id, sentence, link, due_ms) "
        "VALUES (:account_id, :account_id, 'x', '/', 1)",
        ["account_id"],
    ),
    (
        "INSERT INTO confirmation_brake (campaign_id, code, account_id, look_ms) "
        "VALUES (:campaign_id, 'code', :account_id, 1)",
        ["campaign_id", "account_id"],
    ),
    ("UPDATE integration SET status = 'active' WHERE id = :account_id", ["account_id"]),
)


def waiting(service: Service) -> dict[str, int]:
    """How much the jobs find that act for accounts."""
    now_ms = service.now_ms()

    async def find(tx: Tx) -> dict[str, int]:
        return {
            "delayed": len(await delayed_actions.due(tx.at(now_ms), most=9)),
            "backfill": len(await backfill.new_rewards(tx.at(now_ms), most=9)),
            "confirmations": len(await confirmations.due_codes(tx.at(now_ms), most=9)),
            "slack": len(await slack_messages.due_accounts(tx.at(now_ms), most=9)),
            "integrations": len(await leases.due(tx.at(now_ms))),
        }

    return service.read(find)


def test_a_worker_that_has_the_lease_of_an_integration_loses_it(installation) -> None:
    service, _alice, bob = installation
    belongings.failed_write(bob)
    sql, _ = PLANTED[-1]
    service.write(lambda tx: tx.run(statement(sql), account_id=bob.account_id))
    integration_id, token = bob.account_id, "token"
    assert service.write(lambda tx: leases.claim(tx, integration_id, token)) is not None
    service.write(lambda tx: leases.renew(tx, integration_id, token))
    bob.make(pausing.pause)
    with pytest.raises(LostLease):
        service.write(lambda tx: leases.renew(tx, integration_id, token))


def test_referrals_by_a_paused_partner_earn_nothing(installation) -> None:
    _service, alice, bob = installation
    code = join(bob, offer(alice))["ref_code"]
    alice.subscribe("before@example.org", referrer_code=code)
    bob.make(pausing.pause)
    alice.subscribe("during@example.org", referrer_code=code)
    bob.make(pausing.resume)
    alice.subscribe("after@example.org", referrer_code=code)
    listed = alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    assert {row["email"].partition("@")[0]: row["referral_status"] for row in listed} == {
        "before": "verified",
        "during": "rejected",
        "after": "verified",
    }
    earned = bob.get("/v2/partner_profile/earnings").json()["earnings"]
    assert earned["confirmed"] == 6


def due(service: Service) -> dict[str, set[str]]:
    now_ms = service.now_ms()
    hooks = service.read(lambda tx: claiming.due_webhooks(tx.at(now_ms)))
    people = service.read(lambda tx: moves.due(tx.at(now_ms), most=10))
    due_emails = service.read(lambda tx: sending.due(tx.at(now_ms), most=50))
    kinds = service.read(lambda tx: tx.all(statement("SELECT id, kind FROM letter")))
    return {
        "webhooks": {hook.id for hook in hooks},
        "emails": {kind for id, kind in kinds if id in due_emails},
        "referrals": {person.id for person in people},
    }


def test_programs_are_off_and_come_on_again(installation) -> None:
    _service, alice, bob = installation
    running = publish(bob, name="Running")
    place = join(alice, offer(bob, running))
    stopped = publish(bob, name="Stopped")
    program = offer(bob, stopped)
    bob.put(f"/v2/publications/{stopped['uuid']}", {"enabled_partner_program": False})

    def flags() -> list[bool]:
        return [
            bob.get(f"/v2/publications/{each['uuid']}").json()["publication"][
                "enabled_partner_program"
            ]
            for each in (running, stopped)
        ]

    assert flags() == [True, False]
    bob.make(pausing.pause)
    assert flags() == [False, False]
    listed = alice.get("/v2/partner_network/partner_programs").json()["partner_programs"]
    assert not {each["uuid"] for each in listed} & {program["uuid"], place["uuid"]} and not listed
    bob.make(pausing.resume)
    assert flags() == [True, False]


def offered(owner: Operator) -> str:
    """The address of a publication with a program."""
    publication = publish(owner)
    offer(owner, publication)
    return f"/v2/publications/{publication['uuid']}"


def is_on(owner: Operator, address: str) -> bool:
    return owner.get(address).json()["publication"]["enabled_partner_program"] is True


def test_a_program_that_is_switched_off_between_two_pauses_stays_off(installation) -> None:
    _service, _alice, bob = installation
    address = offered(bob)
    for stays_on in (True, False):
        bob.put(address, {"enabled_partner_program": stays_on})
        bob.make(pausing.pause)
        assert not is_on(bob, address)
        bob.make(pausing.resume)
        assert is_on(bob, address) == stays_on


@pytest.mark.parametrize("ends_first", ["pause", "closing"])
def test_programs_stay_off_until_a_pause_and_a_closing_are_both_over(
    installation, ends_first: str
) -> None:
    _service, _alice, bob = installation
    address = offered(bob)
    ends = {"pause": pausing.resume, "closing": closing.keep}
    bob.make(closing.ask)
    bob.make(pausing.pause)
    bob.make(ends.pop(ends_first))
    assert not is_on(bob, address)
    bob.make(*ends.values())
    assert is_on(bob, address)


def test_it_is_logged_and_the_owners_get_an_email(installation) -> None:
    service, alice, bob = installation
    act(alice, bob, "pause")
    act(alice, bob, "resume")
    log = bob.service.read(lambda tx: actions(tx, bob.account_id))
    assert log[:2] == ["account.resumed", "account.paused"]
    assert {"account_paused", "account_resumed"} <= due(service)["emails"]


async def actions(tx: Tx, account_id: str) -> list[str]:
    return [each.action for each in await change_log.of_account(in_account(tx, account_id), most=5)]


def test_what_makes_no_sense_is_refused(installation) -> None:
    _, alice, bob = installation
    assert act(alice, alice, "pause") == 400
    assert act(alice, bob, "resume") == 400
    assert act(alice, bob, "explode") == 400
    sent = {"account": alice.account_id, "do": "pause", "sure": "yes"}
    answer = bob.web.post("/administration/accounts", page="/settings", **sent)
    assert answer.status_code == 404
    bob.make(pausing.pause)
    with pytest.raises(Invalid, match="paused already"):
        bob.make(pausing.pause)
