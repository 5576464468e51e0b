"""The second step of a login: the code of an authenticator app, or a recovery code."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import attempts, logins, second_factors
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.login import session_start
from honeyguide.pages.dashboard.login.session_start import PendingLogin
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

FORM = {"code": Field("Code", "Enter the code that your authenticator app shows.")}
WRONG = "That code is not right, or it was used already. Enter the one that your app shows now."
TOO_LATE = "That took too long. Enter your email address and password again."
UNREADABLE = (
    "Your second factor cannot be checked, because the secret key of this installation has "
    "changed. Use a recovery code, or ask the administrator to reset your second factor."
)


async def show(tx: Tx, request: PageRequest) -> PageView | Response:
    if request.visitor is not None:
        return request.go("/")
    if await session_start.find_pending(tx, request) is None:
        return request.go("/login")
    return await page(tx, request)


async def page(tx: Tx, request: PageRequest) -> PageView:
    return request.view("login_code.html")


async def log_in(services: PageServices, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    pending = await services.store.read(session_start.find_pending, request)
    if pending is None:
        return request.go("/login", TOO_LATE)
    flash = await services.store.write(_enter_code, request, pending)
    if flash is None:
        raise FormErrors({"code": WRONG}, status=401)
    return await session_start.enter(request, pending, flash, has_code=True)


async def _enter_code(tx: Tx, request: PageRequest, pending: PendingLogin) -> str | None:
    """What to say after the login, or None for a wrong code."""
    typed, user_id, site = request.text("code"), pending.user_id, request.services.site
    if not await use_typed(tx, request, user_id, typed):
        await logins.record_failure(tx, site, user_id, user_id)
        return None
    if not second_factors.is_recovery_code(typed):
        return ""
    left = await second_factors.count_recovery_codes(tx, user_id)
    return f"You used a recovery code. {formats.plural(left, 'code')} left: see Security."


async def use_typed(tx: Tx, request: PageRequest, user_id: str, typed: str) -> bool:
    """Whether it is a code of the app or a recovery code that was not used yet. Wrong ones are
    counted, whichever page they were typed on."""
    site = request.services.site
    await attempts.count(tx, site, attempts.CODE_BY_USER, user_id)
    if not await _use(tx, request, user_id, typed):
        return False
    await attempts.take_back(tx, site, attempts.CODE_BY_USER, user_id)
    return True


async def _use(tx: Tx, request: PageRequest, user_id: str, typed: str) -> bool:
    services = request.services
    if second_factors.is_recovery_code(typed):
        return await second_factors.use_recovery_code(tx, services.site, user_id, typed)
    keys = EncryptionKeys(services.settings.secret_keys)
    try:
        return await second_factors.use_code(tx, keys, user_id, typed)
    except Undecryptable:
        raise Invalid(UNREADABLE, param="code") from None
