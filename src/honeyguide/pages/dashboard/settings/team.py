"""The team: who is in the account with which role, and who is invited."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import attempts, invitations, members, permissions
from honeyguide.accounts.permissions import RIGHTS, Right, Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

INVITE = {
    "email": Field("Email", "Enter an email address."),
    "role": Field("Role", "Choose a role."),
}
PURPOSES = ("team", "partner", "newsletter")
ROLE = {"role": Field("Role", "Choose a role.")}
ABOUT = {
    Role.OWNER: "Everything, and who is in the team",
    Role.EDITOR: "Subscribers, rewards, pages, emails and partners",
    Role.FINANCE: "Payouts and fees taken back; sees everything else",
    Role.ANALYST: "Sees everything and changes nothing",
}
# Of a newsletter, in the table of what each role may do.
_LISTED = [right for right in Right if right not in permissions.OF_ADMINISTRATORS]


async def show(at: Reading, request: PageRequest) -> PageView:
    return await _page(at, request)


async def _page(at: Reading, request: PageRequest, *, invitation_link: str = "") -> PageView:
    account_id = request.who.account_id
    return request.view(
        "team.html",
        members=await members.of_account(at.tx, account_id),
        invitations=await invitations.of_inviter(at),
        purpose=_purpose(request),
        roles=ABOUT,
        rights=[(RIGHTS[right].about, permissions.roles_with(right)) for right in _LISTED],
        is_owner=request.who.may(Right.ACCOUNT),
        entered=request.fields if request.errors else {},
        invitation_link=invitation_link,
        invited_email=request.text("email"),
        has_mail_server=request.services.site.has_mail_server,
    )


def _purpose(request: PageRequest) -> str:
    """What the form invites to: the team, a program, or a newsletter of one's own."""
    if request.http.url.path == "/account/invitations":
        return "partner" if request.text("as_partner") else "newsletter"
    asked = request.query.get("for", "")
    is_offered = asked == "partner" or request.who.may(Right.ADMINISTRATION)
    return asked if asked in PURPOSES and is_offered else "team"


async def invite(change: Change, request: PageRequest) -> PageView:
    forms.require(INVITE, request.fields)
    email = EmailAddress.parse(request.text("email"))
    role = permissions.parse_role(request.text("role"))
    site = request.services.site
    mailbox = f"invitation {email.person}"
    await attempts.count(change.tx, site, attempts.EMAILS_BY_ACCOUNT, mailbox)
    link = await invitations.invite_member(change, email, role)
    # Not a redirect: the link is in this one response and in the email.
    return await _page(change, request, invitation_link=link)


async def invite_to_own(change: Change, request: PageRequest) -> PageView:
    """Into an account of their own: as a partner, or with a newsletter."""
    forms.require({"email": INVITE["email"]}, request.fields)
    email = EmailAddress.parse(request.text("email"))
    as_partner = bool(request.text("as_partner"))
    link = await invitations.invite(change, email, as_partner=as_partner)
    return await _page(change, request, invitation_link=link)


async def withdraw(change: Change, request: PageRequest) -> Response:
    await invitations.withdraw(change, request.text("id"))
    return request.go("/team", "Invitation withdrawn.")


async def change_role(change: Change, request: PageRequest) -> Response:
    role = permissions.parse_role(request.text("role"))
    await members.change_role(change, request.at("id"), role)
    return request.go("/team", "Role changed. It holds from their next click on.")


async def remove(change: Change, request: PageRequest) -> Response:
    if request.at("id") == request.who.user_id:
        raise Invalid("To leave the team yourself, use “Leave”.")
    await members.remove(change, request.at("id"))
    return request.go("/team", "Member removed.")


async def hand_over(change: Change, request: PageRequest) -> Response:
    await members.hand_over(change, request.at("id"))
    return request.go("/team", "The account has a new owner. You are an editor now.")


async def leave(change: Change, request: PageRequest) -> Response:
    left = request.who.name or request.who.campaign_name
    await members.leave(change)
    return request.go("/", f"You left {left}.")
