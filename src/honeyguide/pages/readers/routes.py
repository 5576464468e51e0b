"""Every address of the reader pages, one row each."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.languages.language import ENGLISH, preferred_language
from honeyguide.pages.handlers import Uses
from honeyguide.pages.readers import forms, hub, signup
from honeyguide.pages.readers.links import PREFIXES
from honeyguide.pages.readers.page_route import ReaderRoute, ReaderServices, endpoint
from honeyguide.pages.readers.showing import lost
from honeyguide.pages.services import PageServices

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
JOIN = "/join"

PAGES = (
    ReaderRoute("GET", "/confirm/{token}", READS, signup.confirm_form),
    ReaderRoute("POST", "/confirm/{token}", WRITES, signup.confirm),
    ReaderRoute("GET", "/m/{code}", SERVICES, signup.form),
    ReaderRoute("POST", "/m/{code}", SERVICES, signup.subscribe, signup.signup_errors),
    ReaderRoute("GET", "/m/{code}/thanks", SERVICES, signup.thanks),
    ReaderRoute("GET", "/hub", SERVICES, hub.ask_form),
    ReaderRoute("POST", "/hub", SERVICES, hub.ask, forms.email_errors),
    ReaderRoute("GET", "/hub/{token}", READS, hub.show),
    ReaderRoute("GET", "/hub/{token}/claim/{earned_id}", READS, hub.claim_form),
    ReaderRoute("POST", "/hub/{token}/claim/{earned_id}", WRITES, hub.claim, hub.claim_errors),
)


def _signup_pages(prefix: str) -> tuple[ReaderRoute, ...]:
    return (
        ReaderRoute("GET", f"{prefix}/{{slug}}/thanks", SERVICES, signup.thanks),
        ReaderRoute("GET", f"{prefix}/{{slug}}", SERVICES, signup.form),
        ReaderRoute("POST", f"{prefix}/{{slug}}", SERVICES, signup.subscribe, signup.signup_errors),
    )


async def _lost(request: Request) -> Response:
    accepted = request.headers.get("accept-language", "")
    return lost(preferred_language(accepted, otherwise=ENGLISH))


def reader_routes(services: PageServices) -> list[Route]:
    """These come last: where signup pages are at the root, the last one takes any other name."""
    # Always under /join, and where the setting says that readers find them.
    prefixes = dict.fromkeys((JOIN, urlsplit(services.site.signup_page_host).path.rstrip("/")))
    pages = [*PAGES, *(page for prefix in prefixes for page in _signup_pages(prefix))]
    shared = ReaderServices(services)
    shows = {page.path: page for page in pages if page.method == "GET"}
    return [
        *(Route(f"{prefix}{{code:path}}", _lost) for prefix in PREFIXES),
        *(
            Route(page.path, endpoint(shared, page, shows[page.path]), methods=[page.method])
            for page in pages
        ),
    ]
