"""Every address of the reader pages, one row each."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages.handlers import Uses
from honeyguide.pages.readers import (
    choices,
    confirm,
    corrected_address,
    forms,
    hub,
    inbox,
    lost_links,
    own_code,
    signup,
    start,
    stop,
    thanks,
)
from honeyguide.pages.readers.links import PREFIXES
from honeyguide.pages.readers.page_route import ReaderRoute, endpoint
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.pages.services import PageServices

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
JOIN = "/join"


def _address(path: str, submit: Any, errors: Any) -> ReaderRoute:
    """A form that anybody can send with anybody's email address."""
    return ReaderRoute("POST", path, SERVICES, submit, errors, takes_address=True)


PAGES = (
    ReaderRoute("GET", "/confirm/{token}", READS, confirm.show),
    ReaderRoute("POST", "/confirm/{token}", WRITES, confirm.confirm),
    ReaderRoute("GET", "/m/{code}", SERVICES, signup.form),
    _address("/m/{code}", signup.subscribe, signup.signup_errors),
    ReaderRoute("GET", "/m/{code}/thanks", SERVICES, thanks.show),
    _address("/m/{code}/thanks", thanks.send_again, inbox.form_errors),
    ReaderRoute("GET", "/stop/{token}", READS, stop.show),
    ReaderRoute("POST", "/stop/{token}", WRITES, stop.stop),
    ReaderRoute("GET", "/hub", SERVICES, hub.ask_form),
    _address("/hub", hub.ask, forms.email_errors),
    ReaderRoute("GET", "/hub/{token}", SERVICES, hub.show),
    ReaderRoute("GET", "/hub/start/{token}", READS, start.show),
    ReaderRoute("GET", "/hub/{token}/choices", READS, choices.show),
    ReaderRoute("POST", "/hub/{token}/choices", WRITES, choices.save, choices.form_errors),
    ReaderRoute("POST", "/hub/{token}/active", WRITES, choices.say_active, choices.form_errors),
    ReaderRoute("GET", "/hub/{token}/active", READS, choices.show),
    ReaderRoute("GET", "/hub/{token}/code", READS, choices.show),
    ReaderRoute("POST", "/hub/{token}/code", WRITES, own_code.save, own_code.form_errors),
    ReaderRoute("GET", "/hub/{token}/leave", READS, choices.leave_form),
    ReaderRoute("POST", "/hub/{token}/leave", WRITES, choices.leave),
    ReaderRoute("GET", "/hub/{token}/link", READS, choices.new_link_form),
    ReaderRoute("POST", "/hub/{token}/link", WRITES, choices.send_new_link),
    ReaderRoute("GET", "/hub/{token}/claim/{earned_id}", READS, hub.claim_form),
    ReaderRoute("POST", "/hub/{token}/claim/{earned_id}", WRITES, hub.claim, hub.claim_errors),
    ReaderRoute("GET", "/hub/{token}/address/{earned_id}", READS, corrected_address.show),
    ReaderRoute("POST", "/hub/{token}/address/{earned_id}", WRITES, corrected_address.save, corrected_address.form_errors),
)


def _signup_pages(prefix: str) -> tuple[ReaderRoute, ...]:
    return (
        ReaderRoute("GET", f"{prefix}/{{slug}}/thanks", SERVICES, thanks.show),
        _address(f"{prefix}/{{slug}}/thanks", thanks.send_again, inbox.form_errors),
        ReaderRoute("GET", f"{prefix}/{{slug}}", SERVICES, signup.form),
        _address(f"{prefix}/{{slug}}", signup.subscribe, signup.signup_errors),
    )


_FIRST_PARTS = {path.split("/")[1] for path in (*(page.path for page in PAGES), JOIN, *PREFIXES)}


def is_reader_path(path: str) -> bool:
    """Whether who asks for this is a reader, also where there is no page."""
    return path.split("/")[1] in _FIRST_PARTS


def reader_routes(services: PageServices) -> list[Route]:
    """These come last: where signup pages are at the root, the last one takes any other name."""
    # Always under /join, and where the setting says that readers find them.
    prefixes = dict.fromkeys((JOIN, urlsplit(services.site.signup_page_host).path.rstrip("/")))
    pages = [*PAGES, *(page for prefix in prefixes for page in _signup_pages(prefix))]
    shared = ReaderServices(services)

    async def lost(request: Request) -> Response:
        return await lost_links.show(shared, request)

    shows = {page.path: page for page in pages if page.method == "GET"}
    return [
        *(Route(f"{prefix}{{code:path}}", lost) for prefix in PREFIXES),
        *(
            Route(page.path, endpoint(shared, page, shows[page.path]), methods=[page.method])
            for page in pages
        ),
    ]
