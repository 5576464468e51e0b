"""In and out: log in, log out, open an account, a forgotten password. Known and unknown addresses get the same answer, after
the same work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from honeyguide.accounts import attempts, invitations, passwords, sessions
from honeyguide.kernel import checks, emails
from honeyguide.kernel.errors import Invalid, Missing, TooMany
from honeyguide.pages import forms
from honeyguide.pages.dashboard.visit import SESSION_S, Visit, cookie_name
from honeyguide.pages.forms import Field
from honeyguide.store.tx import Tx

WRONG = "Wrong email or password."
EMAIL = {"email": Field("Email", "Enter your email address.")}
LOGIN = {**EMAIL, "password": Field("Password", "Enter your password.")}
NEW_PASSWORD = {"password": Field("Password", "Enter a password.")}
INVITED = {"name": Field("Newsletter name", "Enter the name of your newsletter."), **NEW_PASSWORD}
FIRST_ACCOUNT = {**EMAIL, **INVITED}


def _key(email: str) -> str:
    """What tries are counted by: also for what is no address at all."""
    try:
        return emails.key(emails.address(email))
    except Invalid:
        return email.strip().lower()[: emails.LONGEST]


def _local(path: str) -> str:
    """Where to go after the login: a page of ours, never an address that a link chose."""
    is_ours = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_ours and not path.startswith(("/login", "/logout")) else "/"


async def begin_session(visit: Visit, account_id: str, path: str, said: str = "") -> Response:
    """A fresh token at every login: one that was planted before is worth nothing after."""

    async def begin(tx: Tx) -> str:
        return await sessions.begin(
            tx, account_id, instead_of=visit.request.cookies.get(cookie_name(visit.desk, "session")),
            user_agent=visit.request.headers.get("user-agent", ""), address=visit.peer, now_ms=visit.now_ms,
        )  # fmt: skip

    token = await visit.write(begin)
    response = visit.go(path, said)
    visit.desk_cookie(response, "session", token, SESSION_S)
    visit.desk_cookie(response, "form", "", 0)
    return response


async def _open_to_strangers(visit: Visit) -> bool:
    return visit.desk.settings.signups == "open" or await visit.desk.store.read(invitations.is_untouched)


async def login_form(visit: Visit) -> Response:
    if visit.visitor is not None:
        return visit.go("/")
    if await visit.desk.store.read(invitations.is_untouched):
        return visit.go("/signup")
    return await _login(visit, next=_local(visit.query.get("next", "/")))


async def _login(visit: Visit, status: int = 200, **values: Any) -> Response:
    shown: dict[str, Any] = {"email": "", "next": "/", "wrong": {}, "may_join": visit.desk.settings.signups == "open", **values}
    return await visit.page("login.html", status, **shown)


async def log_in(visit: Visit) -> Response:
    email, password, after = visit.text("email"), visit.fields.get("password", ""), _local(visit.text("next"))
    if wrong := forms.missing(LOGIN, {"email": email, "password": password}):
        return await _login(visit, 400, email=email, next=after, wrong=wrong)
    key, network, site = _key(email), attempts.network(visit.peer), visit.desk.site

    async def count(tx: Tx) -> None:
        await attempts.count(tx, site, attempts.LOGIN_BY_ADDRESS, network, now_ms=visit.now_ms)
        await attempts.count(tx, site, attempts.LOGIN_BY_ACCOUNT, key, now_ms=visit.now_ms)

    async def find(tx: Tx) -> tuple[str, str | None] | None:
        return await passwords.find(tx, key)

    try:
        await visit.write(count)
    except TooMany as fault:
        response = await _login(visit, 429, email=email, next=after, wrong={"": fault.message})
        response.headers["retry-after"] = str(fault.retry_after_s)
        return response
    found = await visit.desk.store.read(find)
    right = await passwords.matches(found[1] if found else None, password[: passwords.LONGEST])
    if found is None or not right:
        return await _login(visit, 401, email=email, next=after, wrong={"": WRONG})

    async def forget(tx: Tx) -> None:
        await attempts.forget(tx, site, attempts.LOGIN_BY_ACCOUNT, key)

    await visit.write(forget)
    return await begin_session(visit, found[0], after)


async def log_out(visit: Visit) -> Response:
    token = visit.request.cookies.get(cookie_name(visit.desk, "session"), "")

    async def end(tx: Tx) -> None:
        await sessions.end_by_token(tx, token)

    await visit.write(end)
    response = visit.go("/login", "You are now logged out.")
    visit.desk_cookie(response, "session", "", 0)
    return response


async def signup_form(visit: Visit) -> Response:
    if visit.visitor is not None:
        return visit.go("/")
    is_first = await visit.desk.store.read(invitations.is_untouched)
    if not is_first and visit.desk.settings.signups != "open":
        return await visit.page("by_invitation.html")
    return await visit.page("signup.html", is_first=is_first, given={}, wrong={})


async def sign_up(visit: Visit) -> Response:
    if await visit.desk.store.read(invitations.is_untouched):
        return await _open_first(visit)
    if visit.desk.settings.signups != "open":
        raise Missing("Accounts are by invitation only.")

    async def ask(tx: Tx) -> None:
        await invitations.ask_to_join(tx, visit.desk.site, visit.text("email"), now_ms=visit.now_ms)

    return await _letter(visit, ask, "signup.html", is_first=False, given=visit.fields)


async def _letter(visit: Visit, work: Callable[[Tx], Awaitable[None]], template: str, **values: Any) -> Response:
    """Counts the wish, then does the work; whether there was anybody to write to, nobody sees."""
    email, site = visit.text("email"), visit.desk.site
    if wrong := forms.missing(EMAIL, {"email": email}):
        return await visit.page(template, 400, wrong=wrong, **values)

    async def all_of_it(tx: Tx) -> None:
        address = emails.address(email)
        network = attempts.network(visit.peer)
        await attempts.count(tx, site, attempts.LETTERS_BY_ADDRESS, network, now_ms=visit.now_ms)
        await attempts.count(tx, site, attempts.LETTERS_BY_ACCOUNT, emails.key(address), now_ms=visit.now_ms)
        await work(tx)

    try:
        await visit.write(all_of_it)
    except (Invalid, TooMany) as fault:
        status = 429 if isinstance(fault, TooMany) else 400
        return await visit.page(template, status, wrong=forms.errors_of(fault, EMAIL), **values)
    return await visit.page("letter_sent.html", email=email)


async def _open_first(visit: Visit) -> Response:
    """The first account needs no letter: whoever set this up sits in front of it, and mail may not work yet."""

    async def open_account(tx: Tx, password_hash: str) -> str:
        return await invitations.open_first_account(
            tx, visit.text("email"), name=visit.text("name"), password_hash=password_hash, now_ms=visit.now_ms
        )

    return await _with_password(visit, visit.text("email"), open_account, "signup.html", FIRST_ACCOUNT, is_first=True)


async def _with_password(
    visit: Visit, address: str, work: Callable[[Tx, str], Awaitable[str]], template: str, fields: forms.Fields, **values: Any
) -> Response:
    """Checks what was typed, hashes outside of any transaction, then opens the account and the session."""
    given = {"email": address, "name": visit.text("name"), "password": visit.fields.get("password", "")}
    if wrong := forms.missing(fields, given):
        return await visit.page(template, 400, given=visit.fields, wrong=wrong, **values)
    try:
        emails.address(address)
        checks.text(given["name"], param="name", limit=checks.NAME_LIMIT)
        password_hash = await passwords.hashed(passwords.checked(given["password"], email=address))
        account_id = await visit.write(lambda tx: work(tx, password_hash))
    except Invalid as fault:
        return await visit.page(template, 400, given=visit.fields, wrong=forms.errors_of(fault, fields), **values)
    return await begin_session(visit, account_id, "/", "Welcome to Honeyguide.")


async def welcome_form(visit: Visit) -> Response:
    ticket = await visit.read(lambda tx: invitations.find(tx, "invitation", visit.at("token"), now_ms=visit.now_ms))
    if ticket is None:
        return await visit.page("spent.html", 404, sentence=invitations.SPENT, again="/signup")
    return await visit.page("welcome.html", email=ticket.email, given={}, wrong={})


async def welcome(visit: Visit) -> Response:
    token = visit.at("token")
    ticket = await visit.read(lambda tx: invitations.find(tx, "invitation", token, now_ms=visit.now_ms))
    if ticket is None:
        return await visit.page("spent.html", 404, sentence=invitations.SPENT, again="/signup")

    async def accept(tx: Tx, password_hash: str) -> str:
        return await invitations.accept(tx, token, name=visit.text("name"), password_hash=password_hash, now_ms=visit.now_ms)

    return await _with_password(visit, ticket.email, accept, "welcome.html", INVITED, email=ticket.email)


async def forgot_form(visit: Visit) -> Response:
    return await visit.page("forgot.html", email=visit.query.get("email", ""), wrong={})


async def forgot(visit: Visit) -> Response:
    async def ask(tx: Tx) -> None:
        await invitations.forgot_password(tx, visit.desk.site, visit.text("email"), now_ms=visit.now_ms)

    return await _letter(visit, ask, "forgot.html", email=visit.text("email"))


async def reset_form(visit: Visit) -> Response:
    ticket = await visit.read(lambda tx: invitations.find(tx, "password_reset", visit.at("token"), now_ms=visit.now_ms))
    if ticket is None:
        return await visit.page("spent.html", 404, sentence=invitations.SPENT, again="/password")
    return await visit.page("reset.html", wrong={})


async def reset(visit: Visit) -> Response:
    token = visit.at("token")
    if wrong := forms.missing(NEW_PASSWORD, visit.fields):
        return await visit.page("reset.html", 400, wrong=wrong)
    try:
        password_hash = await passwords.hashed(passwords.checked(visit.fields.get("password", ""), email=""))
    except Invalid as fault:
        return await visit.page("reset.html", 400, wrong=forms.errors_of(fault, NEW_PASSWORD))

    async def change(tx: Tx) -> str:
        return await invitations.reset_password(tx, token, password_hash, now_ms=visit.now_ms)

    try:
        account_id = await visit.write(change)
    except Missing as fault:
        return await visit.page("spent.html", 404, sentence=fault.message, again="/password")
    return await begin_session(visit, account_id, "/", "Your password was changed, and all other sessions were logged out.")
