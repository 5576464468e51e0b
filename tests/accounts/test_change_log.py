"""Who changed what and when: every setting, decision and payment that a member changes is logged,
and no secret is.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.accounts import keys
from honeyguide.api.routes import ROUTES
from honeyguide.events import change_log, signature
from honeyguide.events.change_log import LoggedChange
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard.routes import PAGES as TABLE
from honeyguide.store.tx import Tx
from tests.accounts.test_password_links import reset_link
from tests.cli.test_change_log_command import run_command
from tests.pages.dashboard.test_form_tenancy import promote
from tests.support import logged_changes, logged_page_changes, partner_network
from tests.support.belongings import (
    claiming,
    earned,
    invitation,
    payout,
    pending,
    rows_of,
    subscriber,
    things_of,
    webhook,
)
from tests.support.changes import new_change
from tests.support.delayed import pass_minute
from tests.support.logged_calls import connect, do
from tests.support.logged_case import Logged
from tests.support.page_forms import PageForms
from tests.support.platforms.generic import GenericTool
from tests.support.readings import in_account, reads_account
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.unlogged_routes import NOT_LOGGED
from tests.support.web import PASSWORD, Operator, operator, text_of

# Tried in tests of their own, below or in `test_logged_logins`, since they need more than one form.
TRIED_BELOW = {
    "/login",
    "/account/sessions",
    "/administration/backups",
    # In tests/pages/dashboard/test_second_factor_pages.py, with a secret key.
    *(f"/account/second-factor{rest}" for rest in ("", "/codes", "/off", "/required")),
    "/administration/second-factors",
    "/login/email/{token}",  # in tests/accounts/test_email_changes.py
    "/password/{token}",
    "/subscribers/referrer",
    "/review/referrer",
    "/review/cards/group",  # in tests/pages/dashboard/test_review_cards.py
    "/look/pages",
    "/look/branding",
    "/look/emails",
    "/look/newsletter/test",
    "/integrations",
    "/integrations/fields",
    "/integrations/{platform}",
    "/settings/campaign",
    "/publications/new",
    "/team/leave",
    "/team/{id}/owner",
}


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Without background work: whatever is logged was logged by a request."""
    service = Service(request.param, secret_key="ab" * 32)
    service.application._work = False
    with service:
        yield service


@pytest.fixture
def alice(service: Service) -> Operator:
    member = operator(service)
    promote(service, member)
    return member


def log_of(owner: Operator) -> list[LoggedChange]:
    """The first first."""
    log = reads_account(change_log.of_account, owner.account_id)
    return owner.service.read(lambda tx: log(tx, most=1_000))[::-1]


def since(owner: Operator, known: list[LoggedChange]) -> list[LoggedChange]:
    return log_of(owner)[len(known) :]


def test_every_route_that_changes_something_is_tried_or_says_why_not() -> None:
    routes = {f"{route.method} {route.path}" for route in ROUTES if route.method != "GET"}
    routes |= {page.path for page in TABLE if page.method == "POST"}
    tried = {case.route for case in (*logged_changes.API, *logged_page_changes.PAGES)} | TRIED_BELOW
    assert tried | NOT_LOGGED.keys() == routes and not tried & NOT_LOGGED.keys(), (
        "a new route that changes something belongs in logged_changes.py, else in NOT_LOGGED"
    )


@pytest.mark.parametrize(
    "case", [*logged_changes.API, *logged_page_changes.PAGES], ids=lambda case: case.route
)
def test_a_change_is_logged_once_with_who_made_it_and_what_differs(
    alice: Operator, case: Logged
) -> None:
    made = case.make(alice)
    made = (made,) if isinstance(made, str) else made
    known = log_of(alice)
    status = do(alice, case, made)
    assert status in (200, 201, 303), status
    pass_minute(alice.service)
    (entry,) = since(alice, known)
    if case.route.startswith("/"):
        # The link in an email says which account, not who reads it.
        by = "" if case.route == "/notices/off/{token}" else alice.user_id
        assert (entry.actor_kind, entry.actor_id) == ("member", by)
    else:
        (key,) = alice.service.read(lambda tx: keys.of_account(tx, alice.account_id))
        assert (entry.actor_kind, entry.actor_id) == ("api_key", key.id)
    assert entry.action == case.action
    for found, expected in zip(entry.differences, (case.before, case.after), strict=True):
        assert (found is None) == (expected is None), entry
        assert (expected or {}).items() <= (found or {}).items(), entry
    before, after = entry.differences
    if before and after:
        assert before.keys() == after.keys() and all(before[name] != after[name] for name in after)
    if case.is_idempotent:
        known = log_of(alice)
        do(alice, case, made)
        pass_minute(alice.service)
        assert since(alice, known) == [], "nothing differs"


def actions(entries: list[LoggedChange]) -> list[str]:
    return [entry.action for entry in entries]


# Long forms: the page that has one, what is changed in it, and what that is logged as.
LONG_FORMS = [
    ("/look/branding", {"accent": "#123456"}, "campaign.changed", {"accent": "#123456"}),
    ("/look/pages", {"promise": "Join us"}, "campaign.changed", {}),
    ("/look/emails", {"subject": "Yours"}, "campaign.changed", {}),
    ("/look/emails", {"is_on": ""}, "emails.changed", {"friend_joined": 0}),
    (
        "/look/newsletter/test",
        {"heading": "Share"},
        "newsletter_block.changed",
        {"heading": "Share"},
    ),
    ("/settings/campaign", {"hold_days": "2"}, "campaign.changed", {"hold_days": 2}),
]
SHOWN_ON = {
    "/look/emails": "/look/emails?email=friend_joined",
    "/look/newsletter/test": "/look/newsletter",
    "/settings/campaign": "/settings",
}


@pytest.mark.parametrize(("path", "changed", "action", "after"), LONG_FORMS)
def test_a_long_form_logs_what_was_changed_in_it(
    alice: Operator, path: str, changed: dict[str, str], action: str, after: dict[str, Any]
) -> None:
    page = SHOWN_ON.get(path, path)
    form = PageForms(alice.web.get(page).text, page.partition("?")[0]).found[path]
    form.pop("csrf")

    def save(**more: str) -> list[LoggedChange]:
        known = log_of(alice)
        answer = alice.web.post(
            page if path == "/look/emails" else path, page=page, **{**form, **more}
        )
        assert answer.status_code == 303, answer.text
        return [entry for entry in since(alice, known) if not _is_drawing(entry)]

    save()  # a page may store what it showed as the default
    (entry,) = save(**changed)
    assert entry.action == action and entry.actor_kind == "member"
    assert after.items() <= (entry.differences[1] or {}).items()
    assert save(**changed) == []


def _is_drawing(entry: LoggedChange) -> bool:
    """The share picture follows the name, the headline and the color."""
    return (entry.differences[1] or {}).keys() == {"share_id", "share_source"}


def test_a_publication_with_a_logo_is_logged(alice: Operator) -> None:
    known = log_of(alice)
    fields = {
        "name": "The Wax",
        "audience_gender": "mixed",
        "categories": "tech",
        "income_levels": "$150k+",
        "age_ranges": "25 - 39",
    }
    answer = alice.web.http.post(
        "/publications/new",
        data={"csrf": alice.web.token("/publications/new"), **fields},
        files={"logo": ("logo.png", partner_network.png(), "image/png")},
    )
    assert answer.status_code == 303, answer.text
    (entry,) = since(alice, known)
    assert entry.action == "publication.created"
    assert {"name": "The Wax"}.items() <= (entry.differences[1] or {}).items()


def test_each_of_several_decisions_is_logged(alice: Operator) -> None:
    person = alice.subscriber(pending(alice))
    known = log_of(alice)
    alice.web.post(
        "/review/referrer",
        page="/settings",
        code=person["referrer_code"],
        show="pending",
        do="reject",
    )
    pass_minute(alice.service)
    (entry,) = since(alice, known)
    assert (entry.action, entry.subject_id) == ("referral.decided", person["uuid"])
    someone, referrer = claiming(alice), alice.subscriber(subscriber(alice))
    known = log_of(alice)
    alice.web.post(
        "/subscribers/referrer", page="/settings", do="set", id=someone, referrer=referrer["email"]
    )
    (entry,) = since(alice, known)
    assert (entry.action, entry.subject_id) == ("referrer.set", someone)
    assert (entry.differences[1] or {})["referrer_id"] == referrer["uuid"]


@pytest.fixture(scope="module")
def tool() -> Iterator[GenericTool]:
    tool = GenericTool(signature.new_secret())
    with tool.serving_apart():
        yield tool


def test_what_is_done_to_an_integration_is_logged_without_its_key(
    alice: Operator, tool: GenericTool
) -> None:
    known = log_of(alice)
    connect(alice, tool)
    alice.web.post("/integrations", do="pause")
    alice.web.post("/integrations", do="pause")
    form = PageForms(alice.web.get("/integrations/fields").text, "/integrations/fields")
    fields = form.found["/integrations/fields"]
    fields.pop("csrf")
    alice.web.post("/integrations/fields", **{**fields, "code": "MY_CODE"})
    connect(alice, tool)  # with a new key
    alice.web.post("/integrations", do="disconnect")
    found = since(alice, known)
    assert actions(found) == [
        "integration.connected",
        "integration.changed",
        "integration.changed",
        "integration.key_replaced",
        "integration.disconnected",
    ]
    assert found[1].differences == ({"status": "active"}, {"status": "paused"})
    assert (found[2].differences[1] or {})["field_names"]["code"] == "MY_CODE"


def test_a_payout_is_in_the_log_of_whom_it_pays(service: Service, alice: Operator) -> None:
    bob = operator(service, "bob")
    theirs, known = payout(bob), log_of(alice)
    for fields in ({"reference": "bank 1"}, {"do": "undo"}):
        answer = alice.web.post(
            "/administration/payouts", page="/settings", payout=theirs, **fields
        )
        assert answer.status_code == 303, answer.text
    paid, unpaid = log_of(bob)[-2:]
    assert actions([paid, unpaid]) == ["payout.paid", "payout.unpaid"]
    assert paid.actor_id == unpaid.actor_id == alice.user_id
    assert paid.differences == unpaid.differences[::-1]
    assert since(alice, known) == []
    assert f"by member {alice.user_id}  payout.unpaid {theirs}" in run_command(bob)


def test_a_new_password_by_link_is_logged(alice: Operator) -> None:
    known = log_of(alice)
    link = reset_link(alice.service, alice)
    answer = alice.web.post(link, password="four calm brown bears")
    assert answer.status_code == 303
    (entry,) = since(alice, known)
    assert (entry.action, entry.actor_kind) == ("account.password_changed", "member")
    assert entry.differences == (None, None)


def test_no_secret_and_no_address_is_logged(alice: Operator, tool: GenericTool) -> None:
    """Of whatever an account can have: what the database keeps as a secret, and what was typed."""
    things_of(alice)
    hook = webhook(alice)
    alice.post(f"/v2/webhooks/{hook}/rotate_secret")
    alice.put(f"/v2/webhooks/{hook}/sparkloop_token", {"sparkloop_token": "sparkloop-secret"})
    codes = ["SECRET-CODE-1"]
    pool = {"name": "Jar", "referrals": 9, "kind": "coupon", "coupon_codes": codes}
    assert alice.post(f"{alice.v1}/rewards", pool).status_code == 201
    alice.web.post("/settings/screening-lists", do="block", entries="somebody@example.org")
    slack = "https://hooks.slack.com/services/T000/B000/slacksecret"
    saved = alice.web.post("/notices/preferences", url=slack)
    assert saved.status_code == 303, saved.text
    invitation(alice)
    alice.service.write(lambda tx: tx.run(statement("DELETE FROM integration")))
    connect(alice, tool)
    new_key = alice.make(keys.create, name="Another")
    rows = rows_of(alice.service, alice.account_id)
    logged = json.dumps(rows["change_log"])
    secrets = {alice.key, new_key, PASSWORD, tool.secret, slack, "slacksecret", "SECRET-CODE-1"}
    secrets |= {"somebody@example.org", "@example.org", "1 Secret Lane"}
    names = {"secret", "old_secrets", "digest", "password_hash", "credentials", "hook_key"}
    names |= {"encrypted_url", "shipping", "person_key", "email_key", "token", "sparkloop_token"}
    for row in itertools.chain(*rows.values()):
        secrets |= {str(row[name]) for name in names & row.keys() if row[name]}
    assert len(secrets) > 20
    assert [secret for secret in secrets if secret in logged] == []
    assert {"webhook.secret_rotated", "slack_webhook.set", "api_key.created"} <= {
        row["action"] for row in rows["change_log"]
    }


def test_another_account_sees_and_erases_nothing_of_it(service: Service, alice: Operator) -> None:
    mallory = operator(service, "mallory")
    person = pending(alice)
    alice.post(f"{alice.v1}/subscribers/{person}/referral/verify")
    ours = log_of(alice)
    assert {entry.account_id for entry in ours} == {alice.account_id}
    assert not {entry.id for entry in log_of(mallory)} & {entry.id for entry in ours}
    found = service.read(lambda tx: change_log.about(in_account(tx, mallory.account_id), person))
    assert found == []
    mallory.make(change_log.erase, person)
    assert log_of(alice) == ours


def test_a_persons_export_has_what_was_done_and_an_erasure_empties_it(alice: Operator) -> None:
    advocate, own = earned(alice, "manual")
    alice.post(f"{alice.v1}/rewards/{own}/approve")
    person = pending(alice)
    alice.post(f"{alice.v1}/subscribers/{person}/referral/reject")
    alice.post(f"{alice.v1}/subscribers/{person}/referral/verify")

    def export(subscriber_id: str) -> dict[str, Any]:
        found = alice.get(f"{alice.v1}/subscribers/{subscriber_id}/export").json()["export"]
        return found  # type: ignore[no-any-return]

    held = export(person)
    statuses = [(each["before"]["status"], each["after"]["status"]) for each in held["decisions"]]
    assert statuses == [("pending", "rejected"), ("rejected", "verified")]
    assert {each["by"] for each in held["decisions"]} == {"api_key"}
    assert [each["action"] for each in held["changes"]] == ["referral.decided"] * 2
    (approved,) = export(advocate)["changes"]
    assert (approved["action"], approved["subject_uuid"]) == ("earned_reward.approved", own)
    assert (approved["before"], approved["after"]) == (
        {"status": "awaiting_approval"},
        {"status": "unlocked"},
    )
    for each in (person, advocate):
        alice.delete(f"{alice.v1}/subscribers/{each}")
        about = reads_account(change_log.about, alice.account_id)
        found = alice.service.read(lambda tx, about=about, each=each: about(tx, each))
        assert found[-1].action == "subscriber.erased" and len(found) >= 2
        assert {entry.differences for entry in found} == {(None, None)}


def test_the_activity_of_a_subscriber_has_every_decision(alice: Operator) -> None:
    person = pending(alice)
    alice.post(f"{alice.v1}/subscribers/{person}/referral/reject")
    alice.web.post(f"/subscribers/{person}", do="verify")
    pass_minute(alice.service)
    shown = text_of(alice.web.get(f"/subscribers/{person}").text)
    assert "The referral was rejected through the API. Rejected manually." in shown, shown
    assert "The referral was verified by you." in shown


@pytest.mark.parametrize("engine", ENGINES)
def test_old_entries_are_purged(engine: str) -> None:
    with Service(engine, change_log_keep_days="10") as service:
        alice = operator(service)
        tenant = Tenant(alice.account_id, alice.campaign_id)

        async def record(tx: Tx) -> None:
            for days in (9, 11):
                at_ms = service.now_ms() - days * DAY_MS
                change = new_change(tx, service.services.site, tenant, at_ms)
                await change_log.record(change, f"days.{days}", "x")

        service.write(record)
        (job,) = [
            job for job in service.services.loop.jobs if job.name == "purge the old change log"
        ]
        service.run(service.services.loop.once(job))
        assert [each for each in actions(log_of(alice)) if "days" in each] == ["days.9"]
