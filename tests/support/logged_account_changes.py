"""What a member may change about an account and their login, for `logged_page_changes`."""

from tests.support.belongings import api_key, delayed, invitation, member, member_invitation
from tests.support.logged_case import Logged
from tests.support.web import PASSWORD

ASKED = {"action": "verify"}
_WITHDRAWN = ("invitation.withdrawn", {"id": ...}, None, None)
ACCOUNT_PAGES = [
    Logged("/account/invitations/withdraw", *_WITHDRAWN, invitation),
    Logged("/team/invitations/withdraw", *_WITHDRAWN, member_invitation),
    Logged(
        "/account/keys",
        "api_key.created",
        {"name": "Tool"},
        None,
        {"name": "Tool"},
        is_idempotent=False,
    ),
    Logged("/account/keys/{id}/revoke", "api_key.revoked", {}, None, None, api_key),
    Logged("/account/keys/{id}/rotate", "api_key.rotated", {"overlap": "1"}, None, {}, api_key),
    Logged("/account/undo", "referral.decision_undone", {"action": ...}, ASKED, None, delayed),
    Logged("/account/profile", "account.changed", {"name": "Bee"}, {}, {"name": "Bee"}),
    Logged(
        "/account/password",
        "account.password_changed",
        {"current": PASSWORD, "password": "four calm brown bears"},
        None,
        None,
    ),
    Logged(
        "/account/invitations",
        "invitation.sent",
        {"email": "secret@example.org"},
        None,
        {"as_partner": False},
        is_idempotent=False,
    ),
    Logged(
        "/team/invitations",
        "invitation.sent",
        {"email": "colleague@example.org", "role": "editor"},
        None,
        {"role": "editor"},
        is_idempotent=False,
    ),
    Logged(
        "/team/{id}/role",
        "member.role_changed",
        {"role": "analyst"},
        {"role": "editor"},
        {"role": "analyst"},
        member,
    ),
    Logged("/team/{id}/remove", "member.removed", {}, {"role": "editor"}, None, member),
]
