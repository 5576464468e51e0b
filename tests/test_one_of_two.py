"""Of two things of one account, a route changes the one that it names and leaves the other as it
is: every route that says what it is about, over the API and on the dashboard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honeyguide.accounts import attempts
from tests.support import belongings, logged_changes, logged_page_changes
from tests.support.belongings import (
    delayed,
    delivery,
    failed_write,
    imported,
    noted,
    saved_filter,
    sent_shipment,
    session,
    subscriber,
)
from tests.support.delayed import pass_minute
from tests.support.logged_calls import do
from tests.support.logged_changes import Logged, Made
from tests.support.service import ENGINES, Service
from tests.support.tables import Dump, dump
from tests.support.web import Operator, operator
from tests.test_form_tenancy import promote

# What all things of an account share, and what is only about the request.
SHARED = {"api_key", "attempt", "campaign", "job_lease"}


def unlogged(
    route: str, make: Callable[[Operator], Made], given: dict[str, Any], action: str = ""
) -> Logged:
    return Logged(route, action, given, None, None, make)


def webhook_and_delivery(owner: Operator) -> tuple[str, str]:
    made = delivery(owner)
    sql = f"SELECT webhook_id FROM delivery WHERE account_id = :account_id AND id = '{made}'"
    return belongings.newest(owner, sql), made


UNDO = "/account/undo"
_V1 = "/v1/campaigns/{campaign_uuid}/subscribers/{uuid}"
# What is not in the change log, because it sets and decides nothing.
UNLOGGED = [
    unlogged(f"PUT {_V1}", subscriber, {"name": "Another", "tags": ["vip"]}),
    unlogged(f"PUT {_V1}/tags", subscriber, {"tags": ["vip"]}),
    unlogged("PUT /v2/subscribers/{uuid}", subscriber, {"status": "unsubscribed"}),
    unlogged("/subscribers/{id}/edit", subscriber, {"name": "A", "email": "a@example.org"}),
    unlogged("/subscribers/{id}/status", subscriber, {"status": "unsubscribed"}),
    unlogged("/subscribers/{id}/tags", subscriber, {"do": "add", "tag": "vip"}),
    unlogged("/subscribers/tags", subscriber, {"id": ..., "do": "add", "tag": "vip"}),
    unlogged("/subscribers/decide", subscriber, {"id": ..., "do": "erase", "sure": "yes"}),
    unlogged("/subscribers/filters", saved_filter, {"id": ..., "do": "delete"}),
    unlogged("/subscribers/{id}/notes", noted, {"note_id": ..., "do": "delete"}),
    unlogged("/subscribers/import/{id}", imported, {"do": "forget"}),
    unlogged(UNDO, delayed, {"action": ..., "back": "/review"}),
    unlogged("/account/sessions", session, {"id": ...}),
    unlogged("/integrations", failed_write, {"subscriber": ..., "do": "retry"}),
    unlogged("/shipments", sent_shipment, {"one": ..., "do": "deliver"}),
    unlogged("/shipments/note", sent_shipment, {"edited": ..., "tracking_note": "RR 2"}),
    unlogged("/webhooks/{id}/act", webhook_and_delivery, {"delivery": ..., "do": "resend"}),
]
NAMING = [
    case
    for case in (*logged_changes.API, *logged_page_changes.PAGES, *UNLOGGED)
    if case.make is not Logged._field_defaults["make"]
]


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Without background work: whatever changes was changed by the request."""
    service = Service(request.param, secret_key="ab" * 32)
    service.application._work = False
    with service, pytest.MonkeyPatch.context() as patch:
        # All operators log in from one IP address.
        roomy = attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", roomy)
        yield service


def rows_of(tables: Dump) -> set[str]:
    return {
        f"{table}: {row}" for table, rows in tables.items() for row in rows if table not in SHARED
    }


@pytest.mark.parametrize("case", NAMING, ids=lambda case: f"{case.route} {case.action}")
def test_only_what_is_named_changes(service: Service, case: Logged) -> None:
    alice = operator(service)
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
