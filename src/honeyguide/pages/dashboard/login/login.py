"""Log in and out, open an account, reset a forgotten password.

Known and unknown email addresses get the same answer after the same work.
"""

from __future__ import annotations

from email.utils import parseaddr

from starlette.responses import Response

from honeyguide.accounts import (
    attempts,
    email_proofs,
    invitations,
    logins,
    passwords,
    sessions,
)
from honeyguide.accounts.invitations import LinkTo, Ticket
from honeyguide.kernel import checks, money
from honeyguide.kernel.email_addresses import LONGEST, EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.pages import forms, redirects
from honeyguide.pages.dashboard.login import guessing, session_start
from honeyguide.pages.dashboard.login.guessing import Guess
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.partners import network
from honeyguide.partners.network import NetworkProgram
from honeyguide.settings import Settings
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

WRONG = "Wrong email or password."
WELCOME = "Welcome to Honeyguide."
EMAIL = {"email": Field("Email", "Enter your email address.")}
LOGIN = {**EMAIL, "password": Field("Password", "Enter your password.")}
NEW_PASSWORD = {"password": Field("Password", "Enter a password.")}
INVITED = {"name": Field("Newsletter name", "Enter the name of your newsletter."), **NEW_PASSWORD}


def _email_key(email: str) -> str:
    """Attempts are counted under this key, also when the text is not an email address."""
    try:
        return EmailAddress.parse(email).key
    except Invalid:
        return email.strip().lower()[:LONGEST]


def _after_login(path: str) -> str:
    """Where to go after the login: a page of ours that is not the login itself."""
    path = redirects.local_path(path)
    return "/" if path.startswith(("/login", "/logout")) else path


async def login_form(tx: Tx, request: PageRequest) -> PageView | Response:
    if request.visitor is not None:
        return request.go("/")
    if await invitations.is_untouched(tx):
        return request.go("/setup")
    return await login_page(tx, request)


async def login_page(tx: Tx, request: PageRequest) -> PageView:
    path = _after_login(request.text("next") or request.query.get("next", "/"))
    return request.view(
        "login.html",
        email=request.text("email"),
        next=path,
        program=await _listed_program(tx, path),
        money=money.show,
        may_join=request.services.settings.signups == "open",
        asks_code="code" in request.errors,
    )


async def _listed_program(tx: Tx, path: str) -> NetworkProgram | None:
    """The program that an invite link leads to, if its owner lists it in the network. Strangers
    learn nothing about the others."""
    program_id = path.partition("?")[0].removeprefix("/network/")
    try:
        program = await network.get(tx, "", program_id)
    except Missing:
        return None
    return program if program.show_in_directory else None


async def log_in(services: PageServices, request: PageRequest) -> Response:
    forms.require(LOGIN, request.fields)
    key, password = _email_key(request.text("email")), request.fields["password"]
    found = await services.store.read(passwords.find, key)
    guess = Guess(key, *(found or ("", None)), code=request.text("code"))
    admitted = await services.store.write(guessing.admit, request, guess)
    if isinstance(admitted, FormErrors):
        raise admitted
    is_right = await passwords.matches(found[1] if found else None, password[: passwords.LONGEST])
    if found is None or not is_right:
        user_id = found[0] if found else None
        await services.store.write(logins.record_failure, services.site, user_id, key)
        raise FormErrors({"": WRONG}, status=401)
    if admitted.counted is not None:
        subject = admitted.subject
        await services.store.write(attempts.forget, services.site, admitted.counted, subject)
    path = _after_login(request.text("next"))
    started = session_start.start_login(request, *found, path)
    return await session_start.enter(request, started, has_code=admitted.has_code)


async def log_out(change: Change, request: PageRequest) -> Response:
    await sessions.end_by_token(change.tx, request.cookie("session"))
    response = request.go("/login", "You are now logged out.")
    request.set_cookie(response, "session", "", 0)
    return response


async def signup_form(tx: Tx, request: PageRequest) -> PageView | Response:
    if request.visitor is not None:
        return request.go("/")
    if await invitations.is_untouched(tx):
        return request.go("/setup")
    return await signup_page(tx, request)


async def signup_page(tx: Tx, request: PageRequest) -> PageView:
    if request.services.settings.signups != "open":
        return request.view("by_invitation.html", contact=_contact(request.services.settings))
    return request.view("signup.html", given=request.fields)


def _contact(settings: Settings) -> str:
    """Whom to ask for an invitation: the sender of our emails, unless nobody reads the answers.
    The administrator's own address is not shown to strangers."""
    address = parseaddr(settings.mail_from)[1]
    mailbox, _, host = address.partition("@")
    return "" if host == "localhost" or "reply" in mailbox.lower() else address


async def sign_up(tx: Tx, request: PageRequest) -> PageView | Response:
    """Sends a signup link. The first account is opened elsewhere: it would be the administrator's,
    whoever asked for it."""
    if await invitations.is_untouched(tx):
        return request.go("/setup")
    if request.services.settings.signups != "open":
        raise Missing("Accounts are by invitation only.")
    return await _request_link(tx, request, LinkTo.ACCOUNT)


async def _request_link(tx: Tx, request: PageRequest, kind: LinkTo) -> PageView:
    """A network is told when it asks too often. Over the limit of a mailbox the answer is as usual
    and nothing is sent: the links that strangers asked for are there, and work."""
    forms.require(EMAIL, request.fields)
    site = request.services.site
    network = ip_network_of(request.peer) or request.peer
    email = EmailAddress.parse(request.text("email"))
    await attempts.count(tx, site, attempts.EMAILS_BY_ADDRESS, network)
    mailbox = f"{kind} {email.key}"
    if await attempts.is_allowed(tx, site, attempts.EMAILS_BY_ACCOUNT, mailbox):
        await invitations.request_link(tx, kind, email)
    return request.view("email_sent.html", email=request.text("email"))


async def use_link(request: PageRequest, kind: str) -> Ticket | None:
    """What the link is for, if it still works; counted and looked up before anything is hashed."""
    store, site, now_ms = request.services.store, request.services.site, request.now_ms
    limit, network = attempts.LINK_BY_ADDRESS, ip_network_of(request.peer) or request.peer
    attempts.refuse_again(site, limit, network, now_ms=now_ms)
    await store.write(attempts.count, site, limit, network)
    return await store.read(invitations.find, kind, request.at("token"))


async def hash_for_new_account(request: PageRequest, email: str) -> str:
    """Checks the name first: hashing is expensive."""
    checks.name(request.text("name"), param="name")
    return await passwords.hashed(passwords.checked(request.fields["password"], email=email))


def link_expired(request: PageRequest, again: str) -> PageView:
    return request.view("link_expired.html", 404, sentence=invitations.SPENT, again=again)


async def forgot_form(tx: Tx, request: PageRequest) -> PageView:
    email = request.text("email") or request.query.get("email", "")
    return request.view("forgot.html", email=email)


async def forgot(tx: Tx, request: PageRequest) -> PageView:
    return await _request_link(tx, request, LinkTo.PASSWORD)


async def reset_form(tx: Tx, request: PageRequest) -> PageView:
    ticket = await invitations.find(tx, "password_reset", request.at("token"))
    if ticket is None or ticket.user_id is None:
        return link_expired(request, "/password")
    is_proven = await email_proofs.is_proven(tx, ticket.user_id)
    return request.view("reset.html", is_unproven=not is_proven)


async def reset(services: PageServices, request: PageRequest) -> PageView | Response:
    forms.require(NEW_PASSWORD, request.fields)
    password = passwords.checked(request.fields["password"], email="")
    if await use_link(request, "password_reset") is None:
        return link_expired(request, "/password")
    password_hash = await passwords.hashed(password)
    try:
        user_id = await services.store.write(
            invitations.reset_password,
            services.site,
            request.at("token"),
            password_hash,
        )
    except Missing:
        return link_expired(request, "/password")
    who = request.visitor
    # Whoever reads the mail has not proved that they have the second factor.
    started = session_start.start_login(request, user_id, password_hash, "/")
    done = "Your password was changed, and all other sessions were logged out."
    renewed = who if who is not None and who.user_id == user_id else None
    return await session_start.enter(request, started, done, renewed=renewed)
