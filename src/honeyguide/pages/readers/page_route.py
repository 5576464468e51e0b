"""One row of the reader pages' route table, and how a request to it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel.errors import Fault, Invalid, Missing, TooMany, Unavailable
from honeyguide.languages.language import Language
from honeyguide.pages.handlers import WebRoute, refused
from honeyguide.pages.readers import errors, forms, lost_links
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.reader_services import ReaderServices, language_of
from honeyguide.pages.readers.showing import shown, sorry
from honeyguide.pages.readers.stopped import SignupsStopped


class ReaderView(NamedTuple):
    """A page to render once its transaction is over."""

    template: str
    brand: PageBranding | None
    is_private: bool
    values: dict[str, Any]


@dataclass
class ReaderRequest:
    http: Request
    services: ReaderServices
    now_ms: int
    fields: dict[str, str] = field(default_factory=dict)
    """The form that was sent."""
    refusal: Fault | None = None
    """Why that form was refused, when it is shown again."""

    def at(self, name: str) -> str:
        """A part of the path."""
        return str(self.http.path_params[name])

    def query(self, name: str) -> str:
        return self.http.query_params.get(name, "")

    @property
    def accepted_languages(self) -> str:
        return self.http.headers.get("accept-language", "")

    @property
    def language(self) -> Language:
        """Where no newsletter says it: the browser's."""
        return language_of(self.http)

    def view(
        self, template: str, brand: PageBranding | None, *, private: bool = False, **values: Any
    ) -> ReaderView:
        return ReaderView(template, brand, private, values)

    def token(self, purpose: str) -> str:
        """For a form of the page that is shown."""
        return forms.token(self.services.site, purpose, self.now_ms)

    def single_use_token(self, purpose: str) -> str:
        return forms.single_use_token(self.services.site, purpose, self.http, self.now_ms)

    def check_form(self, purpose: str) -> ShownForm:
        return forms.check(self.services.site, purpose, self.http, self.fields, self.now_ms)

    async def count(self, limit: Limit) -> None:
        """One more form from this network: refused if there were too many lately."""
        ip_network, store = forms.ip_network(self.http), self.services.store
        await store.write(attempts.count, self.services.site, limit, ip_network)


Answer = ReaderView | Response


@dataclass(frozen=True)
class ReaderRoute(WebRoute[ReaderRequest, Answer]):
    # Of a form that is shown again when it is refused: the sentences to show, by field. What shows
    # it is the GET row with the same path.
    errors: Callable[[Language, Fault, Mapping[str, str]], dict[str, str]] | None = None
    takes_address: bool = False
    """Anybody can send it with anybody's email address."""


def endpoint(
    services: ReaderServices, route: ReaderRoute, form: ReaderRoute
) -> Callable[[Request], Awaitable[Response]]:
    """What Starlette calls. Whatever stops a handler becomes a page that a reader understands."""

    async def answer(http: Request) -> Response:
        began_s = asyncio.get_running_loop().time()
        request = ReaderRequest(http, services, services.clock())
        try:
            response = await _answer(request, route, form)
        except Fault as fault:
            response = await _failure(request, fault)
        if route.takes_address:
            await forms.wait_until(began_s + forms.ANSWER_AFTER_S)
        return response

    return answer


async def _failure(request: ReaderRequest, fault: Fault) -> Response:
    """Only a page that is not there is shown in the newsletter's branding. What stopped the handler
    otherwise may be the database."""
    if isinstance(fault, Missing):
        return await lost_links.show(request.services, request.http)
    if isinstance(fault, SignupsStopped):
        language = fault.brand.language
        title, sentence = language.gettext(fault.title), errors.sentence(language, fault)
        return refused(sorry(language, fault.status, title, sentence, brand=fault.brand), fault)
    language = request.language
    gettext = language.gettext
    title, sentence = gettext("Something went wrong"), errors.sentence(language, fault)
    if isinstance(fault, Unavailable):
        title, sentence = gettext("We’ll be right back"), gettext("Please try again in a minute.")
    elif isinstance(fault, TooMany):
        title = gettext("Too many requests")
    return refused(sorry(language, fault.status, title, sentence), fault)


async def _answer(request: ReaderRequest, route: ReaderRoute, form: ReaderRoute) -> Response:
    try:
        if route.errors is not None:
            request.fields = await forms.read(request.http)
        answer = await route.call(request)
        return _rendered(request, route, answer)
    except (Invalid, TooMany) as fault:
        if route.errors is None:
            raise
        request.refusal = fault
        answer = await form.call(request)
        return refused(_rendered(request, route, answer), fault)


def _rendered(request: ReaderRequest, route: ReaderRoute, answer: Answer) -> Response:
    if isinstance(answer, Response):
        return answer
    brand = answer.brand
    language = brand.language if brand else request.language
    wrong: dict[str, str] = {}
    if request.refusal is not None and route.errors is not None:
        wrong = route.errors(language, request.refusal, request.fields)
    values = {"errors": wrong, **answer.values}
    return shown(answer.template, brand, language, private=answer.is_private, **values)
