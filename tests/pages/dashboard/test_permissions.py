"""Every route of the dashboard for every role: exactly those answer that the table of rights
permits. The routes come from the route tables, so a new one is tried without a word here.
"""

import re
from collections.abc import Iterator

import pytest

from honeyguide.accounts import permissions
from honeyguide.accounts.permissions import OF_ADMINISTRATORS, RIGHTS, Right, Role
from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard import nav
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.pages.dashboard.routes import PAGE_RIGHTS, PAGES
from tests.support.service import Service
from tests.support.team import Colleague, colleague
from tests.support.web import Operator, WebClient, operator, text_of

MEMBERS_ONLY = [page for page in PAGES if page.right is not None]
# What ends the session or the membership that tries is tried by somebody of their own, and so is
# the demo's clock, which ends everybody's.
ENDS = {"/logout", "/team/leave", "/account/password", "/clock"}
NEEDS = re.compile(r"Your role in .* is \w+, and this needs the role ")

Team = dict[Role, Colleague]


def route_name(route: PageRoute) -> str:
    return f"{route.method} {route.path}"


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    with Service("sqlite") as service:
        yield service


@pytest.fixture(scope="module")
def administrators(shared: Service) -> Team:
    """In the first account, which runs the installation."""
    admin = operator(shared, "admin")
    return {role: colleague(shared, admin, role) for role in Role}


@pytest.fixture(scope="module")
def owner(shared: Service, administrators: Team) -> Operator:
    return operator(shared)


@pytest.fixture(scope="module")
def team(shared: Service, owner: Operator) -> Team:
    return {role: colleague(shared, owner, role) for role in Role}


def send(web: WebClient, route: PageRoute) -> tuple[int, str]:
    """Nothing of this name exists, and the form is empty: what is permitted is a 400, a 404 or an
    empty page, and nothing is changed."""
    path = re.sub(r"\{\w+\}", new_id(), route.path)
    if route.method == "GET":
        answer = web.get(path)
    else:
        answer = web.post(path, page="/account", id=new_id())
    return answer.status_code, text_of(answer.text)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "route", [page for page in MEMBERS_ONLY if page.path not in ENDS], ids=route_name
)
def test_exactly_the_permitted_roles_are_answered(
    team: Team, administrators: Team, role: Role, route: PageRoute
) -> None:
    assert route.right is not None
    status, text = send(team[role].web, route)
    if route.right in OF_ADMINISTRATORS:
        assert status == 404, "somebody else's administration is nowhere"
        status, text = send(administrators[role].web, route)
    is_permitted = role is Role.OWNER or role in RIGHTS[route.right].roles
    assert (status == 403 and bool(NEEDS.search(text))) != is_permitted, (status, text[:300])
    assert status < 500


@pytest.mark.parametrize("route", MEMBERS_ONLY, ids=route_name)
def test_somebody_who_is_not_logged_in_is_sent_to_the_login(
    shared: Service, route: PageRoute
) -> None:
    web = WebClient(shared)
    path = re.sub(r"\{\w+\}", new_id(), route.path)
    answer = web.http.request(route.method, path)
    assert answer.status_code == 303 and answer.headers["location"].startswith("/login")


@pytest.mark.parametrize("path", sorted(ENDS))
def test_everybody_may_end_what_is_their_own(path: str) -> None:
    with Service("sqlite") as service:
        owner = operator(service)
        for role in Role:
            web = colleague(service, owner, role).web
            status, text = send(web, next(page for page in MEMBERS_ONLY if page.path == path))
            assert status != 403, text


def test_a_member_of_another_account_only_has_nothing_here(
    shared: Service, owner: Operator, team: Team
) -> None:
    """An owner elsewhere is nobody here: they cannot even switch to it."""
    stranger = operator(shared, "stranger")
    token = stranger.web.token("/account")
    fields = {"csrf": token, "account_id": owner.account_id}
    assert stranger.web.http.post("/account/switch", data=fields).status_code == 404
    member_id = team[Role.EDITOR].user_id
    for act in ("role", "remove", "owner"):
        answer = stranger.web.http.post(
            f"/team/{member_id}/{act}", data={"csrf": token, "role": "analyst"}
        )
        assert answer.status_code == 404, act


def test_owners_have_every_right_and_every_right_is_somebodys() -> None:
    assert set(RIGHTS) == set(Right)
    assert all(permissions.role_may(Role.OWNER, right, is_admin=True) for right in Right)
    assert {page.right for page in MEMBERS_ONLY} == set(Right)


def test_analysts_change_nothing_of_the_newsletter() -> None:
    """What an analyst may post is about their own login, or computes a preview."""
    allowed = {
        page.path
        for page in MEMBERS_ONLY
        if page.method == "POST" and page.right and Role.ANALYST in RIGHTS[page.right].roles
    }
    own = {path for path in allowed if path.startswith(("/account", "/team/leave", "/log"))}
    computed = {path for path in allowed if "/preview" in path}
    assert allowed - own - computed == {"/clock", "/review/check"}


@pytest.mark.parametrize("role", Role)
def test_the_menu_leads_nowhere_that_is_refused(team: Team, role: Role) -> None:
    page = team[role].web.get("/settings/rooms").text
    for each in [*(page for room in nav.ROOMS for page in room.pages), nav.NOTIFICATIONS]:
        if f'href="{each.path}"' in page and not each.path.startswith("/docs"):
            assert team[role].web.get(each.path).status_code == 200, each.path
    assert 'href="/administration"' not in page


LINK = re.compile(r'<a\b[^>]*\bhref="(/[^"]*)"')
PLAIN_PAGES = [page for page in MEMBERS_ONLY if page.method == "GET" and "{" not in page.path]


@pytest.mark.parametrize("role", Role)
def test_search_offers_the_actions_that_a_role_may_do(team: Team, role: Role) -> None:
    page = team[role].web.get("/search").text
    heading, _, actions = page.partition('id="found-actions"')
    assert heading
    offered = set(re.findall(r'href="([^"]*)"', actions.partition("</ul>")[0]))
    analysts = {
        "/program",
        "/review/check",
        "/look/newsletter",
        "/look/emails/stopped",
        "/account#password",
    }
    assert ("/rewards#h-new" in offered) == (role in (Role.OWNER, Role.EDITOR))
    assert offered == analysts if role is Role.ANALYST else offered >= analysts


@pytest.mark.parametrize("role", Role)
def test_no_page_links_to_what_its_reader_may_not_see(team: Team, role: Role) -> None:
    web, refused = team[role].web, set()
    for page in PLAIN_PAGES:
        answer = web.get(page.path)
        links = LINK.findall(answer.text) if answer.status_code == 200 else []
        for path in {link.partition("?")[0].partition("#")[0] for link in links}:
            right = PAGE_RIGHTS.right_for("GET", path)
            if right is not None and not permissions.role_may(role, right, is_admin=False):
                refused.add((page.path, path))
    assert refused == set()


FORM = re.compile(r'<form\b[^>]*method="post"[^>]*>')


@pytest.mark.parametrize("role", [Role.EDITOR, Role.FINANCE, Role.ANALYST])
@pytest.mark.parametrize(
    "path", ["/settings", "/rewards", "/team", "/subscribers/new", "/webhooks"]
)
def test_a_page_closes_the_forms_that_would_be_refused(team: Team, role: Role, path: str) -> None:
    page = team[role].web.get(path)
    assert page.status_code == 200, page.headers
    tags = FORM.findall(page.text)
    assert tags
    for tag in tags:
        action = re.search(r'action="([^"]*)"', tag)
        right = PAGE_RIGHTS.right_for("POST", action[1] if action else path)
        assert right is not None, tag
        is_open = permissions.role_may(role, right, is_admin=False)
        assert ("data-closed" in tag) != is_open, tag


def test_an_owners_page_has_no_closed_form(owner: Operator) -> None:
    assert "data-closed" not in owner.web.get("/settings").text
