"""What holds for every address of every route table: a NUL in a path is nowhere, and no hosted page
can have the address of a page of ours.
"""

import re
from typing import Any

import pytest
from starlette.routing import Mount, Route

from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from honeyguide.api.system import System
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.services import PageServices
from honeyguide.pages.site import pages_app
from honeyguide.subscribers import campaigns
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.accounts.test_account_slug import new_slug
from tests.support import partner_network
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import operator

_PARAMETER = re.compile(r"\{[^}]+\}")


def page_routes(service: Service) -> list[tuple[str, str]]:
    """(method, path) of every row that is not the API's."""
    opened = service.services
    pages = pages_app(
        lambda: document(ROUTES, service.url),
        PageServices(
            settings=service.settings,
            store=opened.store,
            site=opened.site,
            clock=opened.clock,
            policy=opened.policy,
            outbound=opened.outbound,
        ),
    )
    found = [
        (method, route.path)
        for route in pages.routes
        if isinstance(route, Route)
        for method in sorted((route.methods or {"GET"}) - {"HEAD"})
    ]
    return found + [("GET", f"{m.path}/{{file}}") for m in pages.routes if isinstance(m, Mount)]


def with_nul(path: str) -> list[str]:
    """The path with a NUL in each of its parameters in turn, alone and inside of a text."""
    places = [match.span() for match in _PARAMETER.finditer(path)]
    return [
        _PARAMETER.sub("x", path[:start]) + nul + _PARAMETER.sub("x", path[end:])
        for start, end in places
        for nul in ("%00", "a%00b")
    ]


def test_a_nul_in_a_path_is_not_found_wherever_it_is(service: Service) -> None:
    alice = operator(service)
    origin = {"origin": service.settings.base_url}
    form = {"csrf": alice.web.token("/settings")}  # all forms of a session take it
    wrong: list[Any] = []
    for method, path in page_routes(service):
        fields = form if method == "POST" else None
        for address in with_nul(path):
            answer = alice.web.http.request(method, address, data=fields, headers=origin)
            if answer.status_code != 404:
                wrong.append((method, address, answer.status_code))
    for route in ROUTES:
        body = {} if route.method in ("POST", "PUT") else None
        for address in with_nul(route.path.replace("{campaign_uuid}", alice.campaign_id)):
            answer = alice.http.request(route.method, address, json=body)
            if (answer.status_code, answer.json().get("code")) != (404, "not_found"):
                wrong.append((route.method, address, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize("path", ["/%00", "/r/%00", "/p/a%00", "/join/%00", "/static/%00.css"])
def test_a_nul_is_nowhere_for_strangers_either(service: Service, path: str) -> None:
    assert service.member().http.get(path).status_code == 404


def test_every_first_part_of_an_address_is_a_reserved_slug(service: Service) -> None:
    """Signup pages may be at the root of the same host. Where a new page makes this fail, add its
    first part to RESERVED_SLUGS.
    """
    paths = [path for _, path in page_routes(service)]
    paths += [route.path for route in ROUTES] + list(System.paths)
    first = {path.split("/")[1] for path in paths}
    ours = {part for part in first if checks._SLUG.fullmatch(part)}
    assert len(ours) > 30
    assert ours - checks.RESERVED_SLUGS == set()


def test_a_newsletter_named_after_a_page_of_ours_gets_another_address(service: Service) -> None:
    slug = new_slug(service, "Review")
    assert slug and slug != "review"


def test_an_address_chosen_before_it_was_reserved_is_kept(service: Service) -> None:
    alice = operator(service)
    for table, where in (("campaign", "id = :target"), ("slug", "target_id = :target")):
        planted = statement(f"UPDATE {table} SET slug = 'earnings' WHERE {where}")
        service.write(lambda tx, planted=planted: tx.run(planted, target=alice.campaign_id))
    saved = CampaignSettings(name="New name", slug="earnings")
    kept = alice.make(campaigns.configure, saved)
    assert (kept.name, kept.slug) == ("New name", "earnings")
    assert alice.web.get("/join/earnings").status_code == 200
    moved = alice.make(campaigns.configure, CampaignSettings(slug=f"x{kept.id[-12:]}"))
    assert moved.slug != "earnings"
    with pytest.raises(Invalid, match="reserved"):
        alice.make(campaigns.configure, saved)


def test_a_program_keeps_such_an_address_too(service: Service) -> None:
    alice = operator(service)
    program = partner_network.offer(alice, slug="wax-program")
    for table, where in (("program", "id = :target"), ("slug", "target_id = :target")):
        planted = statement(f"UPDATE {table} SET slug = 'notices' WHERE {where}")
        service.write(lambda tx, planted=planted: tx.run(planted, target=program["uuid"]))
    path = f"/v2/partner_programs/{program['uuid']}"
    assert alice.put(path, {"slug": "notices", "cpa": 5}).status_code == 200
    assert alice.put(path, {"slug": "stop"}).status_code == 400
    assert alice.put(path, {"slug": ""}).status_code == 400
