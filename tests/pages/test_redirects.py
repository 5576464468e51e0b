"""No request chooses where a browser is sent: whatever it asks for, it is a page of ours."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx
import pytest

import honeyguide
from honeyguide.accounts import attempts
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.redirects import local_path
from tests.laws.test_route_tables import page_routes
from tests.support.hostile_world import World
from tests.support.large_requests import dashboard_addresses
from tests.support.page_forms import PageForms
from tests.support.service import Service
from tests.support.web import PASSWORD, WebClient
from tests.work.test_event_loop import public_address

EVIL = "evil.example"
# As a browser gets them: it drops tabs and line ends, and takes a backslash for a slash.
ELSEWHERE = (
    *(f"//{EVIL}", f"/\t/{EVIL}", f"\t//{EVIL}", f"/\r/{EVIL}", f"/\n/{EVIL}", f"/\\{EVIL}"),
    *(f"\\\\{EVIL}", f"https://{EVIL}", f"https:{EVIL}", f"//a@{EVIL}", f"///{EVIL}", f"@{EVIL}"),
    *(f"/./\t/{EVIL}", f"/.//{EVIL}", f"/\x0b/{EVIL}", f"/\u2028/{EVIL}"),
    *(f"javascript:{EVIL}", f"/a//{EVIL}", f"/{EVIL}@{EVIL}", f" //{EVIL}"),
)
HOSTILE = [
    *ELSEWHERE,
    *(quote(text, safe="/:") for text in ELSEWHERE),
    *(quote(text, safe="") for text in ELSEWHERE),
    *(quote(quote(text, safe=""), safe="") for text in ELSEWHERE),
]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    async def nothing(*args: object, **kwargs: object) -> None: ...

    with pytest.MonkeyPatch.context() as patch, Service("sqlite", log="off") as service:
        patch.setattr(attempts, "count", nothing)  # a refusal would hide what comes after it
        yield World(service)


def leads_away(base: str, location: str) -> bool:
    """Whether a browser, or a proxy that decodes once or twice, goes to another host."""
    for _ in range(3):
        seen = re.sub(r"[\x00-\x20\x7f\u2028\u2029]", "", location).replace("\\", "/")
        if urlsplit(urljoin(base, seen)).netloc != urlsplit(base).netloc:
            return True
        location = unquote(location.partition("?")[0])
    return False


class Walk:
    """What was answered with a redirect, and which of it leads away."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.redirects = 0
        self.away: list[tuple[str, str]] = []

    def note(self, asked: str, answer: httpx.Response) -> str:
        location = answer.headers.get("location", "")
        if location:
            self.redirects += 1
            if leads_away(self._base, location):
                self.away.append((asked, location))
        return location


@pytest.mark.parametrize("path", ["/", "/login", "/subscribers?q=a@b.example&x=//y#z", "/a/b%20c"])
def test_a_page_of_ours_is_kept(path: str) -> None:
    assert local_path(path) == path and not leads_away("http://x", path)


@pytest.mark.parametrize("path", ["", "login", *HOSTILE])
def test_nothing_else_is(path: str) -> None:
    kept = local_path(path, "/rewards")
    assert kept == "/rewards" or (kept == path and not leads_away("http://x", f"http://x{path}"))
    if path in ("", "login", *ELSEWHERE):
        assert kept == "/rewards"


def test_every_address_that_redirects(world: World) -> None:
    """One that says where to go on gets everything in its place."""
    client, walk = world.alice.web.http, Walk(world.service.url)
    starts = ["/", "/login", "/login/"]
    for method, path in page_routes(world.service):
        if method == "GET" and path != "/logout" and "{" in path:
            start, address = path.partition("{")[0], re.sub(r"\{[^}]+\}", "marked", path)
            if "marked" in client.get(address).headers.get("location", ""):
                starts.append(start)
    assert "/dashboard/" in starts
    for start in starts:
        for text in HOSTILE:
            raw = quote(text, safe="%/:@\\") if text in ELSEWHERE else text
            for address in (f"{start}{raw}", f"{start}{raw}/"):
                walk.note(address, client.get(f"{world.service.url}{address}"))
    assert walk.away == [] and walk.redirects > 100


def addresses(world: World, path: str) -> list[str]:
    if path in {page.path for page in PAGES}:
        return dashboard_addresses(world, path)
    return [] if "{path" in path else [public_address(world, path)]


def test_no_host_that_a_request_names_is_sent_to(world: World) -> None:
    walk = Walk("http://honeyguide")
    for method, path in page_routes(world.service):
        if method == "GET" and "{" not in path:
            for end in ("", "/"):
                answer = WebClient(world.service).http.get(path + end, headers={"host": EVIL})
                assert EVIL not in walk.note(path, answer), path
    assert walk.redirects > 30


# What a form sends of where it was, and what a browser says of it.
BACK = ("back", "next", "here", "to", "url", "return")


def test_every_form_that_goes_back_to_where_it_was(world: World) -> None:
    """A form follows what it is told if a mark of ours comes back; then it gets everything else."""
    web, walk, following = world.alice.web, Walk(world.service.url), []
    base = world.service.settings.base_url
    turns = itertools.cycle(HOSTILE)
    token = web.token("/settings")

    def sent(address: str, where: str) -> httpx.Response:
        fields = dict.fromkeys(BACK, where) | {"csrf": token}
        referer = quote(f"{base}{where}", safe=":/?=%@\\")
        return web.http.post(address, data=fields, headers={"origin": base, "referer": referer})

    for method, path in page_routes(world.service):
        if method != "POST" or path.endswith(("/logout", "/erase", "/clock")):
            continue
        for address in addresses(world, path)[:1]:
            answer = sent(address, "/review?marked")
            if web.get("/settings").status_code != 200:
                assert web.log_in(world.alice.email).status_code == 303
                token = web.token("/settings")
            if "marked" not in walk.note(path, answer):
                continue
            following.append(path)
            for text in itertools.islice(turns, len(HOSTILE) // 3):
                walk.note(f"{path} {text}", sent(address, text))
    assert walk.away == [] and len(following) > 5, following


@pytest.mark.parametrize("referer", ["http://[", "//[x", "http://[::1", "http://a]b/"])
def test_a_referrer_that_is_no_address_is_none(world: World, referer: str) -> None:
    stranger = WebClient(world.service).http
    for path in ("/login", "/password/x"):
        answer = stranger.post(path, data={"csrf": "x"}, headers={"referer": referer})
        assert answer.status_code == 403, path
    web, base = world.bob.web, world.service.settings.base_url
    sent = {"csrf": web.token("/settings"), "name": "", "your_name": ""}
    headers = {"origin": base, "referer": referer}
    assert web.http.post("/account/name", data=sent, headers=headers).status_code == 400
    world.service.set_clock(3_600)
    for path in ("/subscribers/export.csv", "/account/keys"):
        assert web.http.get(path, headers={"referer": referer}).status_code < 500, path
    assert web.http.post("/account/keys", data=sent, headers=headers).status_code < 500
    world.service.set_clock(0)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_login_goes_to_a_page_of_ours(world: World, text: str) -> None:
    web = WebClient(world.service)
    page = web.http.get("/login", params={"next": text}).text
    assert not leads_away("http://x", PageForms(page, "/login").found["/login"]["next"])
    sent = {"email": world.bob.email, "password": PASSWORD, "next": text}
    answer = web.http.post("/login", data=sent | {"csrf": web.token("/login")})
    assert answer.status_code == 303 and not leads_away("http://x", answer.headers["location"])


def test_pages_whose_address_is_a_key_pass_it_on_to_nobody(world: World) -> None:
    found = set()
    for _, path in page_routes(world.service):
        if "{token}" not in path:
            continue
        ours = path in {page.path for page in PAGES}
        good = (world.addresses(path) if ours else [public_address(world, path)])[0]
        for address in (good, path.replace("{token}", "x" * 40).format(earned_id="x")):
            for answer in (
                WebClient(world.service).http.get(address),
                world.alice.web.http.get(address),
                WebClient(world.service).http.post(address),
            ):
                assert answer.headers["referrer-policy"] == "no-referrer", address
        found.add(path)
    assert {"/password/{token}", "/welcome/{token}", "/hub/{token}", "/notices/off/{token}"} < found


def test_one_file_makes_redirects() -> None:
    """`readers/links.py` follows the links of subscribers and partners, to where an owner chose."""
    root = Path(honeyguide.__file__).parent
    made = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Name) and node.id == "RedirectResponse")
        or (isinstance(node, ast.Constant) and node.value == b"location")
    }
    assert made == {"pages/redirects.py", "pages/readers/links.py"}
    given = {
        call
        for path in root.joinpath("pages").rglob("*.py")
        for call in re.findall(r"(?<!def )(?:to|see)_website\(([^,)]*)", path.read_text())
    }
    assert given == {"url", "brand.thankyou_page_url", "honeyguide.DOCUMENTS_URL"}
