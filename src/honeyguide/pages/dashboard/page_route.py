"""One row of the dashboard's route table, and how a request to it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from honeyguide.accounts import accounts, permissions
from honeyguide.accounts.permissions import Right
from honeyguide.kernel.errors import Fault, Forbidden, Invalid, TooMany
from honeyguide.pages import forms, redirects
from honeyguide.pages.dashboard import confirm, nav, page_request
from honeyguide.pages.dashboard.login import recent_login, second_factor
from honeyguide.pages.dashboard.login.recent_login import NeededProof
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.page_rights import PageRights
from honeyguide.pages.handlers import Handler, Uses, WebRoute, call, refused
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

Answer = PageView | Response

# What the rows of the route tables say, by short names.
READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
SLOW_READS, REPLICA_READS = Uses.SLOW_READS, Uses.REPLICA_READS

ANYONE = None
"""Also somebody who is not logged in."""
SEE = Right.READ
SUBSCRIBERS = Right.SUBSCRIBERS
REWARDS = Right.REWARDS
PARTNERS = Right.PARTNERS
MONEY = Right.MONEY
WEBHOOKS = Right.WEBHOOKS
CAMPAIGN = Right.CAMPAIGN
EXPORT = Right.EXPORT
UNDO = Right.UNDO
ACCOUNT = Right.ACCOUNT
OWN_LOGIN = Right.OWN_LOGIN
ADMINISTRATION = Right.ADMINISTRATION
ADMINISTRATION_MONEY = Right.ADMINISTRATION_MONEY


@dataclass(frozen=True)
class PageRoute(WebRoute[PageRequest, Answer]):
    # What a member needs for it; None if it is for anyone, logged in or not.
    right: Right | None
    # What shows the form again, with the errors beside its fields, when the input is refused.
    form: Handler[PageRequest, Answer] | None = None
    fields: forms.Fields = field(default_factory=dict)
    form_uses: Uses = Uses.READS
    # The URL itself says who sent it, so that the button of a mail program can post to it.
    is_signed: bool = False
    # Also for somebody who must set up a second factor before anything else.
    in_setup: bool = False
    # What a stolen session has not, and must be proved again after a while.
    proof: NeededProof = NeededProof.NONE
    # Where a form does several things: whether what was sent is one that needs the proof.
    proof_for: Callable[[PageRequest], bool] = lambda request: True

    @property
    def open_to_all(self) -> bool:
        return self.right is None


def get(
    path: str,
    right: Right | None,
    uses: Uses,
    handler: Handler[PageRequest, Answer],
    **named: Any,
) -> PageRoute:
    return PageRoute("GET", path, uses, handler, right, **named)


def post(
    path: str,
    right: Right | None,
    uses: Uses,
    handler: Handler[PageRequest, Answer],
    *more: Any,
    **named: Any,
) -> PageRoute:
    return PageRoute("POST", path, uses, handler, right, *more, **named)


def post_recent(
    path: str,
    right: Right | None,
    uses: Uses,
    handler: Handler[PageRequest, Answer],
    *more: Any,
    **named: Any,
) -> PageRoute:
    """A form that somebody sends who proved a short while ago who they are."""
    return post(path, right, uses, handler, *more, proof=NeededProof.LOGIN, **named)


def get_recent(
    path: str,
    right: Right | None,
    uses: Uses,
    handler: Handler[PageRequest, Answer],
    **named: Any,
) -> PageRoute:
    """A file or a page that only they get."""
    return get(path, right, uses, handler, proof=NeededProof.LOGIN, **named)


def endpoint(
    services: PageServices, route: PageRoute, rights: PageRights
) -> Callable[[Request], Awaitable[Response]]:
    """What Starlette calls: session, access and the check of every POST come before the handler."""

    async def answer(http: Request) -> Response:
        request = PageRequest(http, services, services.clock(), rights)
        try:
            response = await _answer(request, route)
        except Fault as fault:
            response = page_request.refusal(fault)
        response.headers.setdefault("cache-control", "no-store")
        return response

    return answer


async def _answer(request: PageRequest, route: PageRoute) -> Response:
    await page_request.recognize(request)
    if route.right is not None:
        if request.visitor is None:
            return _to_login(request.http)
        if second_factor.is_missing(request) and not route.in_setup:
            return request.go(second_factor.PAGE)
        if not request.who.may(route.right):
            raise _refusal(request, route.right)
        if request.http.method == "POST" and request.who.is_stopped(route.right):
            raise Forbidden(accounts.PAUSED)
    if request.http.method == "POST" and not route.is_signed:
        await page_request.check_post(request)
    if (question := await _question(request, route)) is not None:
        return await request.render(question)
    try:
        answer = await _call(request, route, route.uses, route.handler)
    except (Invalid, TooMany) as fault:
        if route.form is None:
            raise
        return await _form_again(request, route, route.form, fault)
    return await request.render(answer) if isinstance(answer, PageView) else answer


async def _call(
    request: PageRequest, route: PageRoute, uses: Uses, handler: Handler[PageRequest, Answer]
) -> Answer:
    """Behind the login a handler gets a reading, or a change where its row says that it writes. A
    page that is open to all gets the transaction, and makes one when it knows whose."""
    if route.open_to_all or uses is Uses.SERVICES:
        return await call(uses, handler, request)
    unit = _change if uses is Uses.WRITES else _read
    return await call(uses, partial(unit, handler), request)


async def _read(handler: Handler[PageRequest, Answer], tx: Tx, request: PageRequest) -> Answer:
    """The menu is read with its page, so both share what they know."""
    at = request.reading(tx)
    answer = await handler(at, request)
    if isinstance(answer, PageView):
        request.menu = await nav.load(at, request.who)
    return answer


async def _change(handler: Handler[PageRequest, Answer], tx: Tx, request: PageRequest) -> Answer:
    return await handler(request.change(tx), request)


async def _question(request: PageRequest, route: PageRoute) -> PageView | None:
    """What must be answered before anything is done, as a page."""
    if (question := confirm.question(request)) is not None:
        return question
    if route.proof is not NeededProof.NONE and route.proof_for(request):
        return await recent_login.question(request, route.proof)
    return None


def _to_login(http: Request) -> Response:
    requested = http.url.path + (f"?{http.url.query}" if http.url.query else "")
    back = f"?next={quote(requested)}" if http.method == "GET" and requested != "/" else ""
    return redirects.to_page(f"/login{back}")


def _refusal(request: PageRequest, right: Right) -> Exception:
    """Those who do not run the installation do not learn about its pages."""
    if right in permissions.OF_ADMINISTRATORS and not request.who.is_admin:
        return HTTPException(404)
    allowed = " or ".join(permissions.roles_with(right))
    return Forbidden(
        "Your role in {account} is {role}, and this needs the role {allowed}. Ask an owner of the "
        "account if you should have it.",
        account=request.who.name or request.who.campaign_name,
        role=request.who.role,
        allowed=allowed,
    )


async def _form_again(
    request: PageRequest,
    route: PageRoute,
    form: Handler[PageRequest, Answer],
    fault: Invalid | TooMany,
) -> Response:
    request.errors = forms.errors_of(fault, route.fields)
    answer = await _call(request, route, route.form_uses, form)
    if not isinstance(answer, PageView):
        return answer
    return refused(await request.render(answer), fault)
