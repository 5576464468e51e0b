"""Of two things of one account, a route changes the one that it names and leaves the other as it
is: every route that says what it is about, over the API and on the dashboard.
"""

import contextlib
import itertools
import re
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from honeyguide.accounts import attempts, keys
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import stops
from honeyguide.screening import evidence
from honeyguide.screening.signals import Signal
from honeyguide.store.change import Change
from honeyguide.subscribers import consents
from tests.pages.dashboard.test_form_tenancy import promote
from tests.partners.test_removed_partners import Deal
from tests.support import belongings, logged_changes, logged_page_changes, partner_network
from tests.support.belongings import (
    delayed,
    delivery,
    failed_write,
    imported,
    noted,
    pending,
    saved_filter,
    sent_shipment,
    session,
    subscriber,
)
from tests.support.delayed import pass_minute
from tests.support.fetches import fetch_of
from tests.support.logged_calls import do
from tests.support.logged_changes import Logged, Made
from tests.support.long_tests import one_of
from tests.support.service import ENGINES, Service
from tests.support.tables import Dump, dump
from tests.support.web import Operator

# What all things of an account share, and what is only about the request.
SHARED = {"attempt", "campaign", "job_lease"}


def unlogged(
    route: str, make: Callable[[Operator], Made], given: dict[str, Any], action: str = ""
) -> Logged:
    return Logged(route, action, given, None, None, make)


def webhook_and_delivery(owner: Operator) -> tuple[str, str]:
    made = delivery(owner)
    sql = f"SELECT webhook_id FROM delivery WHERE account_id = :account_id AND id = '{made}'"
    return belongings.newest(owner, sql), made


def another_key(owner: Operator) -> str:
    owner.make(keys.create, name="Another", expires_ms=owner.service.now_ms() + DAY_MS)
    sql = "SELECT id FROM api_key WHERE account_id = :account_id ORDER BY id DESC"
    return belongings.newest(owner, sql)


def left_program(owner: Operator) -> str:
    """One that they joined and left."""
    program = partner_network.offer(owner)
    joined = partner_network.join(owner, program)
    left = owner.delete(f"/v2/partner_profile/partner_campaigns/{joined['uuid']}")
    assert left.status_code == 200
    return str(program["uuid"])


def tagged(owner: Operator) -> str:
    made = subscriber(owner)
    owner.put(f"{owner.v1}/subscribers/{made}/tags", {"tags": ["vip", "early"]})
    return made


def well_known(owner: Operator) -> str:
    """A subscriber of whom everything is stored that can be."""
    made = pending(owner)
    path = f"{owner.v1}/subscribers/{made}"
    code = owner.get(path).json()["subscriber"]["ref_code"]
    reward = {"name": f"Mug of {code}", "referrals": 1, "kind": "physical"}
    for each, body in (
        (f"{owner.v1}/referral_decisions", {**REJECTED, "subscribers": [made]}),
        (f"{path}/adjustments", {"amount": 2, "reason": "Secret reason"}),
        (f"{path}/codes", {"code": f"secret-{code}"}),
        (f"{path}/tags/add", {"tags": ["vip"]}),
        (f"{owner.v1}/rewards", reward),
        (f"{owner.v1}/subscribers", {"email": f"by-{code}@example.org", "referrer_code": code}),
    ):
        assert owner.post(each, body).status_code in (200, 201), each
    owner.web.post(f"/subscribers/{made}/notes", page="/settings", note="Secret")
    owner.make(consent_and_evidence, made)
    mug = owner.get(f"{path}/rewards").json()["rewards"][0]["uuid"]
    owner.post(f"{owner.v1}/rewards/{mug}/redeem", {"shipping_details": SHIPPING})
    return made


async def consent_and_evidence(change: Change, subscriber_id: str) -> None:
    text_id = await consents.add_text(change, "I agree", None)
    await consents.record(change, subscriber_id, text_id)
    await evidence.record(change, {subscriber_id: [Signal.NO_CLICK.found("secret")]})
    await stops.stop(change, subscriber_id)


UNDO = "/account/undo"
REJECTED = {"status": "rejected", "reason": "Secret reason"}
SHIPPING = dict.fromkeys(("name", "line1", "city", "postcode", "country"), "Secret")
_V1 = "/v1/campaigns/{campaign_uuid}/subscribers/{uuid}"
# What is not in the change log, because it sets and decides nothing.
UNLOGGED = [
    unlogged(f"PUT {_V1}", subscriber, {"name": "Another", "tags": ["vip"]}),
    unlogged(f"PUT {_V1}/tags", tagged, {"tags": ["vip"]}),
    unlogged("PUT /v2/subscribers/{uuid}", subscriber, {"status": "unsubscribed"}),
    unlogged("/subscribers/{id}/edit", subscriber, {"name": "A", "email": "a@example.org"}),
    unlogged("/subscribers/{id}/status", subscriber, {"status": "unsubscribed"}),
    unlogged("/subscribers/{id}/tags", subscriber, {"do": "add", "tag": "vip"}),
    unlogged("/subscribers/tags", subscriber, {"id": ..., "do": "add", "tag": "vip"}),
    unlogged("/subscribers/decide", subscriber, {"id": ..., "do": "erase", "sure": "yes"}),
    unlogged("/subscribers/tags", tagged, {"id": ..., "do": "remove", "tag": "vip"}),
    unlogged(f"POST {_V1}/tags/remove", tagged, {"tags": ["vip"]}),
    unlogged("DELETE /v2/subscribers/{uuid}", well_known, {}),
    unlogged("/look/emails/stopped", belongings.email, {"email": ...}),
    unlogged("/account/keys/{id}/revoke", another_key, {}),
    unlogged("/account/keys/{id}/rotate", another_key, {"overlap": "1"}),
    unlogged("/network/{id}/join", left_program, {}),
    unlogged("/subscribers/import/api/{id}", fetch_of, {"do": "forget"}),
    unlogged("/subscribers/filters", saved_filter, {"id": ..., "do": "delete"}),
    unlogged("/subscribers/{id}/notes", noted, {"note_id": ..., "do": "delete"}),
    unlogged("/subscribers/import/{id}", imported, {"do": "forget"}),
    unlogged("/subscribers/import/{id}", imported, {"do": "try", "email": "0"}),
    unlogged("/subscribers/import/{id}", imported, {"do": "start", "email": "0"}),
    unlogged("/subscribers/import/{id}", imported, {"do": "source", "source": "sparkloop"}),
    unlogged(UNDO, delayed, {"action": ..., "back": "/review"}),
    unlogged("/account/sessions", session, {"id": ...}),
    unlogged("/integrations", failed_write, {"subscriber": ..., "do": "retry"}),
    unlogged("/shipments", sent_shipment, {"one": ..., "do": "deliver"}),
    unlogged("/shipments", sent_shipment, {"id": ..., "do": "unsend"}),
    unlogged("/shipments/note", sent_shipment, {"edited": ..., "tracking_note": "RR 2"}),
    unlogged("/webhooks/{id}/act", webhook_and_delivery, {"delivery": ..., "do": "resend"}),
]
NAMING = [
    case
    for case in (*logged_changes.API, *logged_page_changes.PAGES, *UNLOGGED)
    # An account has one API key from the start, which `api_key` finds each time.
    if case.make not in (Logged._field_defaults["make"], belongings.api_key)
]


# Each test reads all tables three times, with what those before it left there.
MOST_TESTS = 10


def started(engine: str) -> Generator[Service, None, None]:
    """Without background work: whatever changes was changed by the request."""
    while True:
        with Service(engine, work=False, secret_key="ab" * 32) as service:
            for _ in range(MOST_TESTS):
                yield service


@pytest.fixture(scope="module", params=ENGINES)
def services(request: pytest.FixtureRequest) -> Iterator[Generator[Service, None, None]]:
    with (
        contextlib.closing(started(request.param)) as services,
        pytest.MonkeyPatch.context() as patch,
    ):
        # All operators log in from one IP address.
        roomy = attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", roomy)
        yield services


@pytest.fixture
def service(services: Generator[Service, None, None]) -> Service:
    return next(services)


def rows_of(tables: Dump) -> set[str]:
    for key in tables["api_key"]:
        del key["last_used_ms"]
    return {
        f"{table}: {row}" for table, rows in tables.items() for row in rows if table not in SHARED
    }


@pytest.mark.parametrize("case", one_of(2, NAMING), ids=lambda case: f"{case.route} {case.action}")
def test_only_what_is_named_changes(service: Service, alice: Operator, case: Logged) -> None:
    promote(service, alice)
    pass_minute(service)  # what earlier tests left to be done
    case.make(alice)
    one = rows_of(dump(service))
    made = case.make(alice)
    of_the_other = one & rows_of(dump(service))
    assert do(alice, case, (made,) if isinstance(made, str) else made) in (200, 201, 202, 303)
    if case.route != UNDO:  # the other one would be done
        pass_minute(service)
    assert of_the_other - rows_of(dump(service)) == set()


@pytest.mark.parametrize(
    ("before", "do", "in_another_program"),
    [
        ("", "remove", ("active", "active")),
        ("remove", "allow", ("removed", "removed")),
        ("", "block", ("blocked", "removed")),
        ("block", "unblock", ("active", "active")),
        ("", "leave", ("active", "active")),
    ],
)
def test_what_is_decided_about_one_partner_changes_no_other(
    service: Service, before: str, do: str, in_another_program: tuple[str, str]
) -> None:
    """Nor the same one in another program, unless it is about all of them."""
    deal = Deal(service.member("alice"), service.member("bob"))
    elsewhere = Deal(deal.alice, deal.bob)
    other = Deal(deal.alice, service.member("carol"), deal.program)

    def act(name: str, on: Deal) -> None:
        {
            "remove": lambda: on.alice.delete(on.partner),
            "leave": lambda: on.bob.delete(on.own),
        }.get(name, lambda: on.alice.post(f"{on.partner}/{name}"))().raise_for_status()

    for each in (deal, elsewhere, other) if before else ():
        act(before, each)
    as_it_was = other.status()
    act(do, deal)
    assert deal.status() != as_it_was
    assert other.status() == as_it_was
    assert elsewhere.status() == in_another_program


# Pages that list things with something to do in each row, and what makes one of them.
LISTS: dict[str, Callable[[Operator], Made]] = {
    "/shipments": belongings.shipment,
    "/shipments?show=sent": sent_shipment,
    "/subscribers": subscriber,
    "/review?show=pending": pending,
    "/rewards": belongings.reward,
    "/rewards#waiting": belongings.awaiting,
    "/webhooks": belongings.webhook,
    "/publications": belongings.publication,
    "/program": belongings.program,
    "/earnings": belongings.partner_campaign,
    "/account/keys": another_key,
    "/account/security": session,
    "/team": belongings.member,
    "/subscribers/import": imported,
    "/subscribers/import/api": fetch_of,
    "/settings/link-hosts": belongings.link_host,
    "/settings/screening-lists": belongings.screening_entry,
    "/administration": belongings.payout,
}
_ROW = re.compile(r"<(tr|li)\b.*?</\1>", re.DOTALL)
_CARD = re.compile(r"<(section)\b.*?</\1>", re.DOTALL)
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# A link may be in several rows: to whom they are about, say.
_CONTROL = re.compile(rf'(?:value|action|data-href)="[^"]*?{_ID}[^"]*"')


@pytest.mark.parametrize("path", LISTS)
def test_no_two_rows_of_a_list_name_the_same_thing(
    service: Service, alice: Operator, path: str
) -> None:
    promote(service, alice)
    for _ in range(3):
        LISTS[path](alice)
    page = alice.web.get(path)
    assert page.status_code == 200
    found = (_CARD if path == "/settings/link-hosts" else _ROW).finditer(page.text)
    parts = [part[0] for part in found]
    for part in parts:
        whole_row = re.search(r'data-href="([^"]+)"', part)
        assert whole_row is None or f' href="{whole_row[1]}"' in part, "the link in the row"
    rows = [set(_CONTROL.findall(part)) for part in parts]
    naming = [row for row in rows if row]
    assert len(naming) >= 2, "a list of several rows"
    for one, other in itertools.combinations(naming, 2):
        assert not one & other
