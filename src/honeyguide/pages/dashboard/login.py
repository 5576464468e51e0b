"""In and out: log in, log out, open an account, a forgotten password. Known and unknown addresses get the same answer, after
the same work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from honeyguide.accounts import attempts, invitations, passwords, sessions
from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import LONGEST, EmailAddress
from honeyguide.kernel.errors import Invalid, Missing, TooMany
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import SESSION_S, PageRequest, cookie_name
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
        return EmailAddress.parse(email).key
    except Invalid:
        return email.strip().lower()[:LONGEST]


def _local(path: str) -> str:
    """Where to go after the login: a page of ours, never an address that a link chose."""
    is_ours = (
        path.startswith("/")
        and not path.startswith("//")
        and "\\" not in path
        and path.isprintable()
    )
    return path if is_ours and not path.startswith(("/login", "/logout")) else "/"


async def begin_session(
    request: PageRequest, account_id: str, path: str, flash: str = ""
) -> Response:
    """A fresh token at every login: one that was planted before is worth nothing after."""

    async def begin(tx: Tx) -> str:
        return await sessions.begin(
            tx,
            account_id,
            instead_of=request.http.cookies.get(cookie_name(request.services, "session")),
            user_agent=request.http.headers.get("user-agent", ""),
            address=request.peer,
            now_ms=request.now_ms,
        )

    token = await request.write(begin)
    response = request.go(path, flash)
    request.set_cookie(response, "session", token, SESSION_S)
    request.set_cookie(response, "form", "", 0)
    return response


async def _open_to_strangers(request: PageRequest) -> bool:
    return request.services.settings.signups == "open" or await request.services.store.read(
        invitations.is_untouched
    )


async def login_form(request: PageRequest) -> Response:
    if request.visitor is not None:
        return request.go("/")
    if await request.services.store.read(invitations.is_untouched):
        return request.go("/signup")
    return await _login(request, next=_local(request.query.get("next", "/")))


async def _login(request: PageRequest, status: int = 200, **values: Any) -> Response:
    shown: dict[str, Any] = {
        "email": "",
        "next": "/",
        "wrong": {},
        "may_join": request.services.settings.signups == "open",
        **values,
    }
    return await request.page("login.html", status, **shown)


async def log_in(request: PageRequest) -> Response:
    email, password, after = (
        request.text("email"),
        request.fields.get("password", ""),
        _local(request.text("next")),
    )
    if wrong := forms.missing(LOGIN, {"email": email, "password": password}):
        return await _login(request, 400, email=email, next=after, wrong=wrong)
    key, network, site = (
        _key(email),
        ip_network_of(request.peer) or request.peer,
        request.services.site,
    )

    async def count(tx: Tx) -> None:
        await attempts.count(tx, site, attempts.LOGIN_BY_ADDRESS, network, now_ms=request.now_ms)
        await attempts.count(tx, site, attempts.LOGIN_BY_ACCOUNT, key, now_ms=request.now_ms)

    async def find(tx: Tx) -> tuple[str, str | None] | None:
        return await passwords.find(tx, key)

    try:
        await request.write(count)
    except TooMany as fault:
        response = await _login(request, 429, email=email, next=after, wrong={"": fault.message})
        response.headers["retry-after"] = str(fault.retry_after_s)
        return response
    found = await request.services.store.read(find)
    right = await passwords.matches(found[1] if found else None, password[: passwords.LONGEST])
    if found is None or not right:
        return await _login(request, 401, email=email, next=after, wrong={"": WRONG})

    async def forget(tx: Tx) -> None:
        await attempts.forget(tx, site, attempts.LOGIN_BY_ACCOUNT, key)

    await request.write(forget)
    return await begin_session(request, found[0], after)


async def log_out(request: PageRequest) -> Response:
    token = request.http.cookies.get(cookie_name(request.services, "session"), "")

    async def end(tx: Tx) -> None:
        await sessions.end_by_token(tx, token)

    await request.write(end)
    response = request.go("/login", "You are now logged out.")
    request.set_cookie(response, "session", "", 0)
    return response


async def signup_form(request: PageRequest) -> Response:
    if request.visitor is not None:
        return request.go("/")
    is_first = await request.services.store.read(invitations.is_untouched)
    if not is_first and request.services.settings.signups != "open":
        return await request.page("by_invitation.html")
    return await request.page("signup.html", is_first=is_first, given={}, wrong={})


async def sign_up(request: PageRequest) -> Response:
    if await request.services.store.read(invitations.is_untouched):
        return await _open_first(request)
    if request.services.settings.signups != "open":
        raise Missing("Accounts are by invitation only.")

    async def ask(tx: Tx, email: EmailAddress) -> None:
        await invitations.ask_to_join(tx, request.services.site, email, now_ms=request.now_ms)

    return await _letter(request, ask, "signup.html", is_first=False, given=request.fields)


async def _letter(
    request: PageRequest,
    work: Callable[[Tx, EmailAddress], Awaitable[None]],
    template: str,
    **values: Any,
) -> Response:
    """Counts the wish, then does the work; whether there was anybody to write to, nobody sees."""
    email, site = request.text("email"), request.services.site
    if wrong := forms.missing(EMAIL, {"email": email}):
        return await request.page(template, 400, wrong=wrong, **values)

    async def all_of_it(tx: Tx) -> None:
        address = EmailAddress.parse(email)
        network = ip_network_of(request.peer) or request.peer
        await attempts.count(tx, site, attempts.LETTERS_BY_ADDRESS, network, now_ms=request.now_ms)
        await attempts.count(
            tx,
            site,
            attempts.LETTERS_BY_ACCOUNT,
            address.key,
            now_ms=request.now_ms,
        )
        await work(tx, address)

    try:
        await request.write(all_of_it)
    except (Invalid, TooMany) as fault:
        status = 429 if isinstance(fault, TooMany) else 400
        return await request.page(template, status, wrong=forms.errors_of(fault, EMAIL), **values)
    return await request.page("email_sent.html", email=email)


async def _open_first(request: PageRequest) -> Response:
    """The first account needs no letter: whoever set this up sits in front of it, and mail may not work yet."""

    async def open_account(tx: Tx, password_hash: str) -> str:
        return await invitations.open_first_account(
            tx,
            EmailAddress.parse(request.text("email")),
            name=request.text("name"),
            password_hash=password_hash,
            now_ms=request.now_ms,
        )

    return await _with_password(
        request, request.text("email"), open_account, "signup.html", FIRST_ACCOUNT, is_first=True
    )


async def _with_password(
    request: PageRequest,
    address: str,
    work: Callable[[Tx, str], Awaitable[str]],
    template: str,
    fields: forms.Fields,
    **values: Any,
) -> Response:
    """Checks what was typed, hashes outside of any transaction, then opens the account and the session."""
    given = {
        "email": address,
        "name": request.text("name"),
        "password": request.fields.get("password", ""),
    }
    if wrong := forms.missing(fields, given):
        return await request.page(template, 400, given=request.fields, wrong=wrong, **values)
    try:
        EmailAddress.parse(address)
        checks.text(given["name"], param="name", limit=checks.NAME_LIMIT)
        password_hash = await passwords.hashed(passwords.checked(given["password"], email=address))
        account_id = await request.write(lambda tx: work(tx, password_hash))
    except Invalid as fault:
        return await request.page(
            template, 400, given=request.fields, wrong=forms.errors_of(fault, fields), **values
        )
    return await begin_session(request, account_id, "/", "Welcome to Honeyguide.")


async def welcome_form(request: PageRequest) -> Response:
    ticket = await request.read(
        lambda tx: invitations.find(tx, "invitation", request.at("token"), now_ms=request.now_ms)
    )
    if ticket is None:
        return await request.page(
            "link_expired.html", 404, sentence=invitations.SPENT, again="/signup"
        )
    return await request.page("welcome.html", email=ticket.email, given={}, wrong={})


async def welcome(request: PageRequest) -> Response:
    token = request.at("token")
    ticket = await request.read(
        lambda tx: invitations.find(tx, "invitation", token, now_ms=request.now_ms)
    )
    if ticket is None:
        return await request.page(
            "link_expired.html", 404, sentence=invitations.SPENT, again="/signup"
        )

    async def accept(tx: Tx, password_hash: str) -> str:
        return await invitations.accept(
            tx, token, name=request.text("name"), password_hash=password_hash, now_ms=request.now_ms
        )

    return await _with_password(
        request, ticket.email, accept, "welcome.html", INVITED, email=ticket.email
    )


async def forgot_form(request: PageRequest) -> Response:
    return await request.page("forgot.html", email=request.query.get("email", ""), wrong={})


async def forgot(request: PageRequest) -> Response:
    async def ask(tx: Tx, email: EmailAddress) -> None:
        await invitations.forgot_password(tx, request.services.site, email, now_ms=request.now_ms)

    return await _letter(request, ask, "forgot.html", email=request.text("email"))


async def reset_form(request: PageRequest) -> Response:
    ticket = await request.read(
        lambda tx: invitations.find(
            tx, "password_reset", request.at("token"), now_ms=request.now_ms
        )
    )
    if ticket is None:
        return await request.page(
            "link_expired.html", 404, sentence=invitations.SPENT, again="/password"
        )
    return await request.page("reset.html", wrong={})


async def reset(request: PageRequest) -> Response:
    token = request.at("token")
    if wrong := forms.missing(NEW_PASSWORD, request.fields):
        return await request.page("reset.html", 400, wrong=wrong)
    try:
        password_hash = await passwords.hashed(
            passwords.checked(request.fields.get("password", ""), email="")
        )
    except Invalid as fault:
        return await request.page("reset.html", 400, wrong=forms.errors_of(fault, NEW_PASSWORD))

    async def change(tx: Tx) -> str:
        return await invitations.reset_password(tx, token, password_hash, now_ms=request.now_ms)

    try:
        account_id = await request.write(change)
    except Missing as fault:
        return await request.page(
            "link_expired.html", 404, sentence=fault.message, again="/password"
        )
    return await begin_session(
        request,
        account_id,
        "/",
        "Your password was changed, and all other sessions were logged out.",
    )
