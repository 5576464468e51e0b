"""Another account's ids in the fields of a form, not only in its address: nothing changes, nothing
is shown. On both engines.

Every POST of the dashboard's table is either tried here or listed as one whose form names no
object.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from honeyguide.accounts import attempts
from honeyguide.pages.dashboard.routes import PAGES
from tests.support import market
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.web import PASSWORD, Operator, WebClient, operator
from tests.test_tenancy import lasting, make_payout, make_referred, make_subscriber, quiet_service

__all__ = ["quiet_service"]

_numbers = itertools.count(1)

# Forms that say what to do with the object in the address, or with the account itself, and name no
# other object.
NO_IDS = {
    "/integrations/fields",
    "/integrations/{platform}",
    "/login",
    "/logout",
    "/signup",
    "/welcome/{token}",
    "/password",
    "/password/{token}",
    "/subscribers/import",
    "/subscribers/import/{id}",
    "/subscribers/{id}",
    "/rewards",
    "/rewards/{id}",
    "/rewards/{id}/delete",
    "/pages",
    "/pages/preview",
    "/branding",
    "/branding/preview",
    "/branding/preview/color",
    "/emails",
    "/emails/preview",
    "/emails/test",
    "/emails/stopped",
    "/newsletter/test",
    "/embed",
    "/embed/check",
    "/webhooks",
    "/webhooks/{id}",
    "/account/keys",
    "/account/keys/{id}/revoke",
    "/settings/campaign",
    "/settings/time-zone",
    "/administration/backups",
    "/administration/checks",
    "/administration/test-email",
    "/subscribers/{id}/edit",
    "/subscribers/{id}/list",
    "/subscribers/{id}/tags",
    "/account/profile",
    "/account/password",
    "/account/invitations",
    "/publications/new",
    "/publications/{id}",
    "/publications/{id}/delete",
    "/program/{id}/change",
    "/program/preview/cost",
    "/program/{id}/act",
    "/network/{id}/join",
    "/notices/preferences",
    "/notices/slack/test",
    "/notices/off/{token}",
    "/clock",
    "/checklist/dismiss",
}

Maker = Callable[[Operator], str]


class Form(NamedTuple):
    """One form: its address, with `parent` making the object for its {id}; the field with the id,
    and who makes that object.
    """

    path: str
    field: str
    maker: Maker
    fields: dict[str, str]
    parent: Maker | None = None
    only_shows: bool = False
    admins: bool = False


def pending(owner: Operator) -> str:
    owner.put(f"{owner.v1}/settings", {"hold_days": 9})
    friend = owner.subscribe(f"friend{next(_numbers)}@example.org")
    made: str = owner.subscribe(
        f"secret{next(_numbers)}@example.org", referrer_code=friend["ref_code"]
    )["uuid"]
    owner.put(f"{owner.v1}/settings", {"hold_days": 0})
    return made


def pending_code(owner: Operator) -> str:
    """The code of a referrer with a pending referral."""
    made = owner.get(f"{owner.v1}/subscribers/{pending(owner)}").json()["subscriber"]
    return str(made["referrer_code"])


def rejected(owner: Operator) -> str:
    return make_referred(owner, "")[0]


def subscriber(owner: Operator) -> str:
    return make_subscriber(owner, "")[0]


def saved_filter(owner: Operator) -> str:
    owner.web.post(
        "/subscribers/filters", page="/subscribers", name="Secret list", query="status=active"
    )
    return newest(owner, "SELECT id FROM saved_filter WHERE account_id = :account_id")


def noted(owner: Operator) -> tuple[str, str]:
    """(the subscriber, the note)"""
    about = subscriber(owner)
    owner.web.post(f"/subscribers/{about}/notes", page="/settings", note="Secret")
    return about, newest(owner, "SELECT id FROM subscriber_note WHERE account_id = :account_id")


def screening_entry(owner: Operator) -> str:
    page = "/settings/screening-lists"
    owner.web.post(page, do="block", entries=f"secret{next(_numbers)}.example")
    return newest(
        owner, "SELECT id FROM screening_entry WHERE account_id = :account_id ORDER BY id DESC"
    )


def note(owner: Operator) -> str:
    return noted(owner)[1]


def earned(owner: Operator, approval: str, kind: str = "manual") -> tuple[str, str]:
    """(the subscriber, the earned reward)"""
    owner.post(
        f"{owner.v1}/rewards",
        {"name": "Secret mug", "referrals": 1, "approval": approval, "kind": kind},
    )
    advocate = owner.subscribe(f"star{next(_numbers)}@example.org")
    owner.subscribe(f"friend{next(_numbers)}@example.org", referrer_code=advocate["ref_code"])
    (earned,) = owner.get(f"{owner.v1}/subscribers/{advocate['uuid']}/rewards").json()["rewards"]
    return advocate["uuid"], earned["uuid"]


def unlocked(owner: Operator) -> str:
    return earned(owner, "automatic")[1]


def awaiting(owner: Operator) -> str:
    return earned(owner, "manual")[1]


def shipment(owner: Operator) -> str:
    _, mine = earned(owner, "automatic", "physical")
    parts = ("name", "line1", "city", "postcode", "country")
    owner.post(
        f"{owner.v1}/rewards/{mine}/redeem", {"shipping_details": dict.fromkeys(parts, "Secret")}
    )
    return mine


def webhook(owner: Operator) -> str:
    made = owner.post(
        "/v2/webhooks", {"url": "http://127.0.0.1:9/secret", "new_referral": True}
    ).json()["webhook"]
    return str(made["uuid"])


def delivery(owner: Operator) -> str:
    made = owner.post(f"/v2/webhooks/{webhook(owner)}/test", {}).json()["delivery"]
    return str(made["uuid"])


def newest(owner: Operator, sql: str) -> str:
    return str(
        owner.service.read(lambda tx: tx.all(statement(sql), account_id=owner.account_id))[0][0]
    )


def session(owner: Operator) -> str:
    WebClient(owner.service).log_in(owner.email, PASSWORD)
    return newest(owner, "SELECT id FROM session WHERE account_id = :account_id ORDER BY id DESC")


def invitation(owner: Operator) -> str:
    sent = owner.web.post(
        "/account/invitations", page="/account", email=f"secret{next(_numbers)}@example.org"
    )
    assert sent.status_code == 200, sent.text
    return newest(owner, "SELECT id FROM ticket WHERE account_id = :account_id ORDER BY id DESC")


def publication(owner: Operator) -> str:
    return str(market.publish(owner, name="Secret gazette")["uuid"])


def payout(owner: Operator) -> str:
    return make_payout(owner, "")[0]


TERMS = {
    "cpa": "3",
    "max_payout": "90",
    "total_budget": "300",
    "redirect_url": "https://wax.example/",
}
CARD = {"name": "Mine", "audience_gender": "mixed", "categories": "tech"}


def failed_write(owner: Operator) -> str:
    """A subscriber whom a paused integration could not write."""
    person = subscriber(owner)
    planted = (
        "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
        "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, hook_key, "
        "created_ms) VALUES (:account_id, :account_id, :campaign_id, 'generic', 'paused', '', '', "
        "'', '', '{}', '', 0, :account_id, 1)",
        "INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, failed_ms, "
        "reason) VALUES (:account_id, :person, :account_id, 1, 'secret reason')",
    )
    named = {
        "account_id": owner.account_id,
        "campaign_id": owner.campaign_id,
        "person": person,
    }
    for each in planted:
        wanted = {name: value for name, value in named.items() if f":{name}" in each}
        owner.service.write(lambda tx, each=each, wanted=wanted: tx.run(statement(each), **wanted))
    return person


FORMS = [
    Form("/subscribers/decide", "id", pending, {"do": "verify"}),
    Form("/subscribers/decide", "id", pending, {"do": "reject"}),
    Form("/subscribers/decide", "id", subscriber, {"do": "erase"}),
    Form("/subscribers/tags", "id", subscriber, {"do": "add", "tag": "vip"}),
    Form("/subscribers/filters", "id", saved_filter, {"do": "delete"}),
    Form("/settings/screening-lists", "id", screening_entry, {"do": "remove"}),
    Form("/subscribers/{id}/notes", "note_id", note, {"do": "delete"}, subscriber),
    Form("/review", "id", rejected, {"do": "verify"}),
    Form("/review", "id", pending, {"do": "reject"}),
    Form("/review/referrer", "code", pending_code, {"show": "pending", "do": "reject"}),
    Form("/subscribers/{id}/rewards", "earned", unlocked, {"do": "redeem"}, subscriber),
    Form("/subscribers/{id}/rewards", "earned", awaiting, {"do": "approve"}, subscriber),
    Form("/rewards/hand-over", "earned", unlocked, {"do": "redeem"}),
    Form("/rewards/hand-over", "earned", awaiting, {"do": "approve"}),
    Form("/rewards/preview", "id", unlocked, {"name": "Mine", "referrals": "3"}, only_shows=True),
    Form("/shipments", "id", shipment, {"tracking_note": "RR 1"}),
    Form("/integrations", "subscriber", failed_write, {"do": "retry"}),
    Form("/webhooks/{id}/act", "delivery", delivery, {"do": "resend"}, webhook),
    Form("/account/sessions", "id", session, {}),
    Form("/account/invitations/withdraw", "id", invitation, {}, admins=True),
    Form("/program/new", "publication", publication, TERMS),
    Form("/program/preview/card", "publication", publication, TERMS, only_shows=True),
    Form("/publications/preview/card", "id", publication, CARD, only_shows=True),
    Form("/publications/preview/page", "id", publication, CARD, only_shows=True),
    Form("/administration/payouts", "payout", payout, {"reference": "bank 1"}),
]


@pytest.fixture(autouse=True)
def plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests share one IP address; the limit on logins has tests of its own."""
    monkeypatch.setattr(
        attempts, "LOGIN_BY_ADDRESS", attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
    )


def name_of(form: Form) -> str:
    return f"{form.path} {form.fields.get('do', '')}".strip()


def test_every_form_is_tried_or_names_no_object() -> None:
    posts = {page.path for page in PAGES if page.method == "POST"}
    tried = {form.path for form in FORMS}
    assert tried | NO_IDS == posts and not tried & NO_IDS, (
        "a new form belongs in FORMS if a field of it is an id, else in NO_IDS"
    )


def fill_in(who: Operator, form: Form, parent: str, value: str) -> Any:
    return who.web.post(
        form.path.replace("{id}", parent), page="/settings", **{**form.fields, form.field: value}
    )


def promote(service: Service, *people: Operator) -> None:
    admin = statement("UPDATE account SET is_admin = 1 WHERE id = :id")
    for each in people:
        service.write(lambda tx, each=each: tx.run(admin, id=each.account_id))


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_another_accounts_id_in_a_field_changes_and_shows_nothing(
    quiet_service: Service, form: Form
) -> None:
    alice, mallory = operator(quiet_service), operator(quiet_service, "mallory")
    if form.admins:
        promote(quiet_service, alice, mallory)
    hers, parent = form.maker(alice), form.parent(mallory) if form.parent else ""
    before = lasting(dump(quiet_service))
    answer = fill_in(mallory, form, parent, hers)
    assert answer.status_code in (200, 303, 404), answer.text
    assert "secret" not in answer.text.lower()
    assert lasting(dump(quiet_service)) == before


@pytest.mark.parametrize("form", [form for form in FORMS if not form.only_shows], ids=name_of)
def test_the_owner_reaches_what_the_field_names(quiet_service: Service, form: Form) -> None:
    """Or the test above would prove nothing."""
    alice = operator(quiet_service)
    if form.admins or form.path.startswith("/administration"):
        promote(quiet_service, alice)
    if form.maker in (unlocked, awaiting) and form.parent:
        parent, mine = earned(alice, "manual" if form.maker is awaiting else "automatic")
    elif form.maker is note:
        parent, mine = noted(alice)
    elif form.maker is delivery:
        mine = delivery(alice)
        parent = newest(
            alice, "SELECT id FROM webhook WHERE account_id = :account_id ORDER BY id DESC"
        )
    else:
        parent, mine = "", form.maker(alice)
    before = lasting(dump(quiet_service))
    answer = fill_in(alice, form, parent, mine)
    assert answer.status_code == 303, answer.text
    assert lasting(dump(quiet_service)) != before
