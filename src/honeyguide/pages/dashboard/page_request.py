"""One request to a page of the dashboard: who sent it, what they sent, and how it is answered.

Every POST is checked here: its Origin must be ours, and its form must carry the visitor's token.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit
from zoneinfo import ZoneInfo

from starlette.datastructures import FormData, ImmutableMultiDict, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from honeyguide.accounts import sessions
from honeyguide.accounts.sessions import Visitor
from honeyguide.kernel import actors, log_context
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.errors import Fault, Invalid, Unavailable
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages import cookies, redirects, rendering
from honeyguide.pages.dashboard import nav
from honeyguide.pages.dashboard.nav import Menu, MenuFacts
from honeyguide.pages.dashboard.page_rights import PageRights
from honeyguide.pages.handlers import refused
from honeyguide.pages.services import PageServices
from honeyguide.store.change import Change, changes
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx

FORM_LIMIT = 512 * 1024
FORM_FIELDS = 1_000
# Decoding the largest form takes a tenth of a second, so a large one is decoded in a thread.
LARGE_FORM = 64 * 1024
FORM_FILES = 3
TOO_MANY_COOKIES = (
    "Your browser sent more than 8 KB of cookies. Delete this website’s cookies and try again."
)
SESSION_S = sessions.LONGEST_MS // 1000
KEPT_SESSION_S = sessions.KEPT_MS // 1000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

EXPIRED_FORM = (
    "This form has expired. Go back, reload the page and try again. If you switched to another "
    "newsletter in another tab, switch back first."
)

Fields = ImmutableMultiDict[str, str]


P = ParamSpec("P")
T = TypeVar("T")


class PageView(NamedTuple):
    """A page to render once its transaction is over."""

    template: str
    values: dict[str, Any]
    status: int = 200


@dataclass
class PageRequest:
    http: Request
    services: PageServices
    now_ms: int
    rights: PageRights
    visitor: Visitor | None = None
    form_token: str = ""  # of somebody who is not logged in
    fields: Fields = field(default_factory=lambda: ImmutableMultiDict([]))
    files: dict[str, UploadFile] = field(default_factory=dict)
    """By the name of the field; one that was left empty has no file name."""
    flash: str = ""
    undo: str = ""
    """What the flash message offers to undo: a delayed action, several of one batch, or what took
    effect at once, which `flash_undo` in the templates knows by its name: `resume.<id>`."""
    has_large_form: bool = False
    kept: dict[str, str] = field(default_factory=dict)
    """What was stored of a form although something else in it is wrong (`kept_pictures`)."""
    menu: MenuFacts | None = None
    """Read with the page that is shown, if that reads anything."""
    errors: dict[str, str] = field(default_factory=dict)
    """What is wrong with the form that was sent: a sentence for each field."""

    @property
    def _csrf(self) -> bytes:
        if self.visitor is None:
            return bytes.fromhex(self.services.site.keyed_hash("form", self.form_token))
        # Of the account too: a form that was open when its user switched in another tab must not
        # change the other account.
        secret = f"{self.visitor.digest} {self.visitor.account_id}"
        return bytes.fromhex(self.services.site.keyed_hash("csrf", secret))

    @property
    def csrf(self) -> str:
        """The form's token, masked anew for every page.

        A secret that is the same in every page can be guessed from the compressed length.
        """
        pad = secrets.token_bytes(32)
        return (pad + _xor(pad, self._csrf)).hex()

    def is_my_csrf(self, token: str) -> bool:
        try:
            both = bytes.fromhex(token)
        except ValueError:
            return False
        return len(both) == 64 and hmac.compare_digest(_xor(both[:32], both[32:]), self._csrf)

    @property
    def who(self) -> Visitor:
        assert self.visitor is not None, "only pages behind the login ask who it is"
        return self.visitor

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.who.account_id, self.who.campaign_id)

    def reading(self, tx: Tx) -> Reading:
        return Reading(tx, self.services.site, self.tenant, self.now_ms)

    def change(self, tx: Tx) -> Change:
        actor = actors.member(self.who.user_id)
        return Change(tx, self.services.site, self.tenant, actor, self.now_ms)

    async def read(
        self, unit: Callable[Concatenate[Reading, P], Awaitable[T]], *args: P.args, **kw: P.kwargs
    ) -> T:
        """One reading in a transaction of its own, for handlers that get the services."""
        work = reads(unit, self.services.site, self.tenant, self.now_ms)
        return await self.services.store.read(work, *args, **kw)

    async def apply(
        self, unit: Callable[Concatenate[Change, P], Awaitable[T]], *args: P.args, **kw: P.kwargs
    ) -> T:
        """One change in a transaction of its own, for handlers that get the services."""
        actor = actors.member(self.who.user_id)
        work = changes(unit, self.services.site, self.tenant, actor, self.now_ms)
        return await self.services.store.write(work, *args, **kw)

    def may_see(self, address: str) -> bool:
        """Whether a link to this address opens for the visitor."""
        return self.rights.may_see(self.visitor, address)

    def may_send(self, address: str) -> bool:
        """Whether a form for this address is taken from the visitor; "" is this page's own."""
        return self.rights.may_send(self.visitor, address or self.http.url.path)

    @property
    def zone(self) -> ZoneInfo:
        """Where the account cuts its days."""
        return ZoneInfo(self.who.time_zone)

    @property
    def peer(self) -> str:
        return self.http.client.host if self.http.client else ""

    @property
    def query(self) -> dict[str, str]:
        return {
            name: value for name, value in self.http.query_params.items() if "\x00" not in value
        }

    def at(self, name: str) -> str:
        """A part of the address."""
        return str(self.http.path_params[name])

    def text(self, name: str) -> str:
        return self.fields.get(name, "").replace("\r\n", "\n").strip()

    def several(self, name: str) -> list[str]:
        return self.fields.getlist(name)

    def file(self, name: str) -> UploadFile | None:
        """The file of this field, if one was chosen."""
        file = self.files.get(name)
        return file if file is not None and file.filename else None

    def view(self, template: str, status: int = 200, **values: Any) -> PageView:
        """A page of the dashboard."""
        return PageView(f"dashboard/{template}", values, status)

    async def render(self, view: PageView) -> Response:
        """The page with everything its frame shows."""
        frame: dict[str, Any] = {
            "visitor": self.visitor,
            "csrf": self.csrf,
            "flash": self.flash,
            "undo": self.undo,
            "this_page": self.this_page,
            "now_ms": self.now_ms,
            "errors": self.errors,
            "may_see": self.may_see,
            "may_send": self.may_send,
        }
        if self.visitor is not None:
            frame |= {"menu": await self._arranged_menu(), "clock": self.clock_note()}
        values = {**frame, **view.values}
        if self.has_large_form:  # which the page may show again, several times
            html = await asyncio.to_thread(rendering.page, view.template, **values)
        else:
            html = rendering.page(view.template, **values)
        response = HTMLResponse(html, view.status)
        if self.flash:
            self.set_cookie(response, "flash", "", 0)
            self.set_cookie(response, "undo", "", 0)
        if self.visitor is None and self.form_token != self.cookie("form"):
            self.set_cookie(response, "form", self.form_token, 24 * 3600)
        return response

    async def _arranged_menu(self) -> Menu:
        facts = self.menu
        if facts is None:
            facts = await self.services.store.read(self._load_menu)
        return nav.arrange(facts, self.http.url.path, may_see=self.may_see)

    async def _load_menu(self, tx: Tx) -> MenuFacts:
        return await nav.load(self.reading(tx), self.who)

    def clock_note(self) -> dict[str, Any] | None:
        """Where time can be moved, every page says how far it was."""
        if not self.services.settings.test_clock:
            return None
        ahead_ms = self.now_ms - system_clock()
        return {"days": round(ahead_ms / DAY_MS), "now_ms": self.now_ms, "here": self.http.url.path}

    @property
    def this_page(self) -> str:
        """The page to come back to: this one, or for a form that was refused the one it was on."""
        is_form = self.http.method == "POST"
        url = referer(self.http) if is_form else urlsplit(str(self.http.url))
        return redirects.local_path(f"{url.path}?{url.query}" if url.query else url.path)

    def go(self, path: str, flash: str = "", *, undo: str = "") -> Response:
        """On to another page, which says what was done and offers to undo it."""
        response: Response = redirects.to_page(path)
        if flash:
            self.set_cookie(response, "flash", quote(flash), 60)
            self.set_cookie(response, "undo", undo, 60)
        return response

    def cookie(self, name: str) -> str:
        return self._cookies.get(_cookie_name(self.services, name), "")

    @cached_property
    def _cookies(self) -> dict[str, str]:
        try:
            return cookies.parse(self.http.headers.getlist("cookie"))
        except cookies.TooManyCookies:
            raise HTTPException(431, TOO_MANY_COOKIES) from None

    def set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        header = cookies.set_cookie_header(
            _cookie_name(self.services, name),
            value,
            max_age_s=seconds,
            is_secure=_is_https(self.services),
        )
        response.headers.append("set-cookie", header)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _is_https(services: PageServices) -> bool:
    return services.settings.base_url.startswith("https:")


def _cookie_name(services: PageServices, name: str) -> str:
    """Only this host, over TLS, can set a `__Host-` cookie; browsers refuse it on plain HTTP."""
    return f"__Host-hg_{name}" if _is_https(services) else f"hg_{name}"


async def recognize(request: PageRequest) -> None:
    """Finds the session; somebody without one gets a token for the forms of the login pages."""
    store = request.services.store
    request.flash = unquote(request.cookie("flash"))[:300]
    undo = request.cookie("undo")
    request.undo = undo if is_id(undo.rpartition(".")[2]) else ""
    if token := request.cookie("session"):
        request.visitor = await store.read(sessions.find, token)
    if request.visitor is None:
        request.form_token = request.cookie("form") or secrets.token_urlsafe(32)
        return
    log_context.set_account(request.visitor.account_id)
    if request.now_ms - request.visitor.seen_ms >= sessions.TOUCH_MS:
        with suppress(Unavailable):  # pages can still be read while nothing can be written
            await store.write(sessions.touch, request.visitor)


async def check_post(request: PageRequest) -> None:
    headers = request.http.headers
    origin = headers.get("origin") or _origin_of(referer(request.http))
    if not _is_ours(request.services, origin) and not _is_from_key_page(request, origin):
        raise HTTPException(403, "This form was sent from another website, so nothing was changed.")
    await _read_form(request)
    if not request.is_my_csrf(request.fields.get("csrf", "")):
        raise HTTPException(403, EXPIRED_FORM)


def _is_from_key_page(request: PageRequest, origin: str) -> bool:
    """A page whose address is a key sends no referrer, and so browsers name no origin either."""
    if origin != "null":
        return False
    is_same = request.http.headers.get("sec-fetch-site") == "same-origin"
    return is_same or "token" in request.http.path_params


def referer(request: Request) -> SplitResult:
    """The page that a request came from, as its browser says. Empty if it says nothing or
    nonsense."""
    try:
        return urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return urlsplit("")


def _origin_of(page: SplitResult) -> str:
    return f"{page.scheme}://{page.netloc}" if page.netloc else ""


def _is_ours(services: PageServices, origin: str) -> bool:
    ours = urlsplit(services.settings.base_url)
    if origin == f"{ours.scheme}://{ours.netloc}":
        return True
    # On one's own machine localhost and 127.0.0.1 are the same place.
    try:
        theirs = urlsplit(origin)
        return (
            services.settings.on_loopback
            and theirs.hostname in _LOOPBACK
            and theirs.port == ours.port
        )
    except ValueError:
        return False


async def _read_form(request: PageRequest) -> None:
    kind = request.http.headers.get("content-type", "").partition(";")[0].strip().lower()
    # A file only from somebody we know: it is kept on the disk while it comes in.
    if kind == "multipart/form-data" and request.visitor is not None:
        form: FormData = await request.http.form(
            max_files=FORM_FILES, max_fields=100, max_part_size=FORM_LIMIT
        )
        texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        request.files = {
            name: value for name, value in form.items() if isinstance(value, UploadFile)
        }
    elif kind == "application/x-www-form-urlencoded":
        body = b""
        async for part in request.http.stream():
            body += part
            if len(body) > FORM_LIMIT:
                raise HTTPException(413, "The form is too large.")
        request.has_large_form = len(body) > LARGE_FORM
        if request.has_large_form:
            texts = await asyncio.to_thread(_parse_form, body)
        else:
            texts = _parse_form(body)
    else:
        raise HTTPException(415, "The form was sent in a format that is not supported.")
    if any("\x00" in value for _, value in texts):
        raise Invalid("The form contains characters that are not allowed.")
    request.fields = ImmutableMultiDict(texts)


def _parse_form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=FORM_FIELDS, errors="strict"
        )
    except ValueError:
        raise Invalid("The form could not be read. Go back and try again.") from None


def refusal(fault: Fault) -> Response:
    status = fault.status
    if status == 404:
        raise HTTPException(404)
    titles = {429: "Too many requests", 503: "We’ll be right back"}
    html = rendering.page(
        "problem.html",
        status=status,
        title=titles.get(status, "That didn’t work"),
        text=fault.message_for("This value"),
    )
    return refused(HTMLResponse(html), fault)
