"""The first account of a new installation. As soon as there is one, there is no such page."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import invitations, setup_codes
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.pages import forms
from honeyguide.pages.dashboard.login import login, session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

FIELDS = {
    "code": Field("Setup code", "Enter the setup code."),
    **login.EMAIL,
    **login.INVITED,
}
WRONG_CODE = "This is not the setup code. Each start of the service logs a new one: use the latest."
NO_SUCH_PAGE = "There is no page at this address."


async def setup_form(tx: Tx, request: PageRequest) -> PageView:
    if not await invitations.is_untouched(tx):
        raise Missing(NO_SUCH_PAGE)
    return request.view("setup.html", given=request.fields)


async def set_up(services: PageServices, request: PageRequest) -> Response:
    """No email is sent to prove the address: mail may not work yet, and whoever reads the log of
    the server runs the installation.
    """
    store = services.store
    if not await store.read(invitations.is_untouched):
        raise Missing(NO_SUCH_PAGE)
    forms.require(FIELDS, request.fields)
    ip_network = ip_network_of(request.peer) or request.peer
    await store.write(setup_codes.count_attempt, services.site, ip_network)
    if not await store.read(setup_codes.is_right, request.text("code")):
        raise FormErrors({"code": WRONG_CODE})
    email = EmailAddress.parse(request.text("email"))
    password_hash = await login.hash_for_new_account(request, email.text)
    user_id = await store.write(
        invitations.open_first_account,
        email,
        name=request.text("name"),
        password_hash=password_hash,
    )
    started = session_start.start_login(request, user_id, password_hash, "/")
    return await session_start.enter(request, started, login.WELCOME)
