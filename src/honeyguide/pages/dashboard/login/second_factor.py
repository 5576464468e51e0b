"""Set up a second factor, get new recovery codes, turn it off, and ask it of all members.

The new secret travels in the form, signed for its user, and is stored once a code proves that the
app has it.
"""

from __future__ import annotations

import segno
from markupsafe import Markup
from starlette.responses import Response

from honeyguide.accounts import accounts, members, second_factors, sessions
from honeyguide.events import change_log
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PAGE, SECURITY = "/account/second-factor", "/account/security"
FORM = {"code": Field("Code", "Enter the code that the app shows.")}
RESET = {"email": Field("Email address", "Enter the email address they log in with.")}
NO_SECRET_KEY = (
    "This installation has no secret key yet, which second factors are encrypted with. Its "
    "administrator can make one with `honeyguide init`."
)


def is_missing(request: PageRequest) -> bool:
    """Whether somebody must set one up before they get to see anything else."""
    who = request.who
    is_needed = who.needs_second_factor or request.services.settings.require_second_factor == "yes"
    # Without a key nobody could set one up, and everybody would be locked out.
    can_have_one = bool(request.services.settings.secret_keys)
    return bool(is_needed) and can_have_one and not who.has_second_factor


def _purpose(request: PageRequest) -> str:
    return f"second factor of {request.who.user_id}"


async def show(at: Reading, request: PageRequest) -> PageView | Response:
    if request.who.has_second_factor:
        return request.go(SECURITY)
    if not request.services.settings.secret_keys:
        return request.go(SECURITY, NO_SECRET_KEY)
    site = request.services.site
    # The same secret again after a wrong code: the app has it already.
    typed_for = site.unseal(_purpose(request), request.fields.get("secret", ""))
    secret = typed_for.decode() if typed_for else second_factors.new_secret()
    link = second_factors.app_link(secret, email=request.who.email, service="Honeyguide")
    return request.view(
        "second_factor.html",
        is_forced=is_missing(request),
        secret=" ".join(secret[n : n + 4] for n in range(0, len(secret), 4)),
        sealed=site.seal(_purpose(request), secret.encode()),
        app_link=link,
        qr=_qr_code(link),
    )


def _qr_code(link: str) -> Markup:
    """Dark on light in both themes: many apps cannot read the opposite."""
    code = segno.make(link, error="m", micro=False)
    return Markup(
        code.svg_inline(
            omitsize=True, border=3, dark="#211b12", light="#ffffff", svgclass="qr", lineclass=None
        )
    )


async def turn_on(change: Change, request: PageRequest) -> PageView:
    forms.require(FORM, request.fields)
    site, actor = request.services.site, actors.member(request.who.user_id)
    secret = site.unseal(_purpose(request), request.fields.get("secret", ""))
    if secret is None:
        raise Invalid("This form has expired. Scan the new code below.", param="code")
    codes = await second_factors.turn_on(
        change.tx,
        site,
        EncryptionKeys(request.services.settings.secret_keys),
        actor,
        request.text("code"),
        secret=secret.decode(),
    )
    await sessions.save_proof(change.tx, request.who._replace(second_factor_ms=request.now_ms))
    return _codes_page(request, codes, is_new=True)


def _codes_page(request: PageRequest, codes: list[str], *, is_new: bool) -> PageView:
    # Not a redirect: the codes are in this one response and nowhere else.
    return request.view("recovery_codes.html", 201, codes=codes, is_new=is_new)


async def renew_codes(change: Change, request: PageRequest) -> PageView:
    actor = actors.member(request.who.user_id)
    codes = await second_factors.renew_recovery_codes(change.tx, request.services.site, actor)
    return _codes_page(request, codes, is_new=False)


async def turn_off(change: Change, request: PageRequest) -> Response:
    user_id = request.who.user_id
    await second_factors.turn_off(
        change.tx,
        request.services.site,
        actors.member(user_id),
        user_id,
        second_factors.TURNED_OFF,
    )
    return request.go(SECURITY, "Your second factor is off.")


async def reset(change: Change, request: PageRequest) -> Response:
    """By an administrator, for somebody who has lost their phone and their recovery codes."""
    forms.require(RESET, request.fields)
    email = EmailAddress.parse(request.text("email"))
    user_id = await second_factors.reset(change.tx, change.site, change.actor, email)
    joined = {each.account_id for each in await members.of_user(change.tx, user_id)}
    if change.tenant.account_id not in joined:  # where it is logged already
        await change_log.record(change, second_factors.RESET, user_id)
    done = f"{email.text} can log in with the password alone. We wrote to them."
    return request.go("/administration", done)


async def require_of_all(change: Change, request: PageRequest) -> Response:
    """Switches it on or off that all members need one."""
    is_needed = request.text("needed") == "yes"
    if is_needed and not request.who.has_second_factor:
        raise Invalid("Set up your own second factor first.", param="needed")
    await accounts.set_needs_second_factor(change, is_needed)
    if is_needed:
        return request.go(SECURITY, "Members without a second factor set one up before they go on.")
    return request.go(SECURITY, "Members choose for themselves.")
