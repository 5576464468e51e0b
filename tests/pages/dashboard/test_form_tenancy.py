"""Another account's ids in the fields of a form, not only in its address: nothing changes, nothing
is shown. On both engines.

Every POST of the dashboard's table is either tried here or listed as one whose form names no
object.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from honeyguide.accounts import attempts
from honeyguide.pages.dashboard.routes import PAGES
from tests.support.belongings import (
    Maker,
    awaiting,
    charged_referral,
    claiming,
    delayed,
    delivery,
    earned,
    earned_long_ago,
    failed_write,
    invitation,
    lasting,
    link_host,
    member_invitation,
    newest,
    note,
    noted,
    paid_referral,
    payout,
    pending,
    pending_code,
    program,
    publication,
    rejected,
    saved_filter,
    screening_entry,
    sent_shipment,
    session,
    shipment,
    subscriber,
    unlocked,
    webhook,
)
from tests.support.claims import claimed
from tests.support.ended_fees import ended
from tests.support.first_looks import asked
from tests.support.held_emails import held_code
from tests.support.page_answers import comparable, nobodys
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.trait_groups import group
from tests.support.web import Operator, operator

# Forms that say what to do with the object in the address, or with the account itself, and name no
# other object.
NO_IDS = {
    "/rewards/earlier-claims",
    "/integrations/fields",
    "/integrations/{platform}",
    "/login",
    "/logout",
    "/setup",
    "/signup",
    "/welcome/{token}",
    "/password",
    "/password/{token}",
    "/subscribers/import",
    "/subscribers/import/api",
    "/subscribers/import/api/{id}",
    "/subscribers/import/{id}",
    "/subscribers/new",
    "/subscribers/{id}",
    "/subscribers/{id}/status",
    "/subscribers/{id}/referrer",
    "/subscribers/{id}/adjustments",
    "/subscribers/{id}/codes",
    "/rewards",
    "/rewards/{id}",
    "/rewards/{id}/delete",
    "/look/pages",
    "/look/pages/preview",
    "/look/branding",
    "/look/branding/preview",
    "/look/branding/preview/color",
    "/look/emails",
    "/look/emails/preview",
    "/look/emails/test",
    "/look/emails/stopped",
    "/look/newsletter/test",
    "/look/embed",
    "/look/embed/check",
    "/review/check",
    "/webhooks",
    "/webhooks/{id}",
    "/account/close",
    "/account/keep",
    "/account/keys",
    "/account/keys/{id}/revoke",
    "/account/keys/{id}/rotate",
    "/settings/campaign",
    "/settings/time-zone",
    "/administration/accounts",
    "/administration/backups",
    "/administration/checks",
    "/administration/test-email",
    "/subscribers/{id}/edit",
    "/subscribers/{id}/link",
    "/subscribers/{id}/list",
    "/subscribers/{id}/tags",
    "/account/profile",
    "/account/password",
    "/login/code",
    "/login/email-code",
    "/login/again",
    "/login/email/{token}",
    "/account/email",
    "/account/email/code",
    "/account/email/confirm",
    "/administration/second-factors",
    "/account/email/stop",
    "/account/second-factor",
    "/account/second-factor/codes",
    "/account/second-factor/off",
    "/account/second-factor/required",
    "/account/invitations",
    "/account/name",
    "/account/new",
    "/account/switch",  # to an account, which is no object of one; tried in test_permissions
    "/team/invitations",
    "/team/leave",
    "/team/{id}/role",
    "/team/{id}/remove",
    "/team/{id}/owner",
    "/publications/new",
    "/publications/{id}",
    "/publications/{id}/delete",
    "/program/{id}/change",
    "/program/preview/cost",
    "/program/{id}/act",
    "/program/{id}/verification",
    "/program/partners/{id}/remove",
    "/program/partners/{id}/allow",
    "/earnings/{id}/leave",
    "/network/{id}/join",
    "/notices/preferences",
    "/notices/slack/test",
    "/notices/off/{token}",
    "/clock",
    "/checklist/dismiss",
    "/shipments/tracking",  # ids are in a file; tried in test_tracking_numbers
}


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


def trait_group(owner: Operator) -> str:
    group_id: str = group(owner)["group"]
    return group_id


def resendable(owner: Operator) -> str:
    return earned_long_ago(owner)[1]


TERMS = {
    "cpa": "3",
    "max_payout": "90",
    "total_budget": "300",
    "redirect_url": "https://wax.example/",
}
CARD = {"name": "Mine", "audience_gender": "mixed", "categories": "tech"}


FORMS = [
    Form("/subscribers/decide", "id", pending, {"do": "verify"}),
    Form("/subscribers/decide", "id", pending, {"do": "reject"}),
    Form("/subscribers/decide", "id", subscriber, {"do": "erase", "sure": "yes"}),
    Form("/subscribers/tags", "id", subscriber, {"do": "add", "tag": "vip"}),
    Form("/subscribers/referrer", "id", claiming, {"do": "forget"}),
    Form("/subscribers/filters", "id", saved_filter, {"do": "delete"}),
    Form("/settings/screening-lists", "id", screening_entry, {"do": "remove"}),
    Form("/settings/link-hosts", "id", link_host, {"do": "remove"}),
    Form("/subscribers/{id}/notes", "note_id", note, {"do": "delete"}, subscriber),
    Form("/review/looks", "look", asked, {"do": "right"}),
    Form("/review/looks", "look", asked, {"do": "later"}),
    Form("/review/looks/refuse", "look", asked, {}),
    Form("/review/ended", "id", ended, {"do": "pay"}),
    Form("/review/ended", "id", ended, {"do": "reject", "reason": "robot"}),
    Form("/review/cards/group", "group", trait_group, {"answer": "looks_right"}),
    Form("/review/cards/group", "group", trait_group, {"answer": "reject"}),
    Form("/review", "id", rejected, {"do": "verify"}),
    Form("/review", "id", pending, {"do": "reject"}),
    Form("/review/referrer", "code", pending_code, {"show": "pending", "do": "reject"}),
    Form("/review/confirmations", "code", held_code, {}),
    Form("/subscribers/{id}/rewards", "earned", unlocked, {"do": "redeem"}, subscriber),
    Form("/subscribers/{id}/rewards", "earned", awaiting, {"do": "approve"}, subscriber),
    Form("/subscribers/{id}/emails", "earned", resendable, {"email": "reward"}, subscriber),
    Form("/rewards/hand-over", "earned", unlocked, {"do": "redeem"}),
    Form("/rewards/hand-over", "earned", lambda o: claimed(o)[0], {"do": "decline", "reason": "x"}),
    Form("/rewards/hand-over", "earned", awaiting, {"do": "approve"}),
    Form("/account/undo", "action", delayed, {"back": "/review"}),
    Form("/rewards/preview", "id", unlocked, {"name": "Mine", "referrals": "3"}, only_shows=True),
    Form("/shipments", "id", shipment, {"tracking_note": "RR 1"}),
    Form("/shipments", "id", sent_shipment, {"do": "unsend"}),
    Form("/shipments", "one", shipment, {}),
    Form("/shipments", "one", sent_shipment, {"do": "deliver"}),
    Form("/shipments/note", "edited", sent_shipment, {"tracking_note": "RR 2"}),
    Form("/integrations", "subscriber", failed_write, {"do": "retry"}),
    Form("/webhooks/{id}/act", "delivery", delivery, {"do": "resend"}, webhook),
    Form("/account/sessions", "id", session, {}),
    Form("/account/invitations/withdraw", "id", invitation, {}, admins=True),
    Form("/team/invitations/withdraw", "id", member_invitation, {}),
    Form("/program/new", "publication", publication, TERMS),
    Form("/program/preview/card", "publication", publication, TERMS, only_shows=True),
    Form("/publications/preview/card", "id", publication, CARD, only_shows=True),
    Form("/publications/preview/page", "id", publication, CARD, only_shows=True),
    Form("/program/{id}/reversal", "referral", charged_referral, {"reason": "robot"}, program),
    Form("/administration/payouts", "payout", payout, {"reference": "bank 1"}),
]


@pytest.fixture(autouse=True, scope="module")
def plenty() -> Iterator[None]:
    """All tests share one IP address; the limit on logins has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        roomy = attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", roomy)
        yield


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
    missing = nobodys(hers)
    expected = comparable(fill_in(mallory, form, parent, missing), missing)
    before = lasting(dump(quiet_service))
    answer = fill_in(mallory, form, parent, hers)
    assert answer.status_code in (200, 303, 404), answer.text
    assert comparable(answer, hers) == expected, "the answer tells that it is there"
    assert "secret" not in answer.text.lower()
    assert lasting(dump(quiet_service)) == before


@pytest.mark.parametrize("form", [form for form in FORMS if not form.only_shows], ids=name_of)
def test_the_owner_reaches_what_the_field_names(quiet_service: Service, form: Form) -> None:
    """Or the test above would prove nothing."""
    alice = operator(quiet_service)
    if form.admins or form.path.startswith("/administration"):
        promote(quiet_service, alice)
    if form.maker in (unlocked, awaiting) and form.parent:
        parent, own = earned(alice, "manual" if form.maker is awaiting else "automatic")
    elif form.maker is resendable:
        parent, own = earned_long_ago(alice)
    elif form.maker is charged_referral:
        parent, own = paid_referral(alice)
    elif form.maker is note:
        parent, own = noted(alice)
    elif form.maker is delivery:
        own = delivery(alice)
        parent = newest(
            alice, "SELECT id FROM webhook WHERE account_id = :account_id ORDER BY id DESC"
        )
    else:
        parent, own = "", form.maker(alice)
    before = lasting(dump(quiet_service))
    answer = fill_in(alice, form, parent, own)
    assert answer.status_code == 303, answer.text
    assert lasting(dump(quiet_service)) != before
