"""No input keeps the event loop busy: the largest that every address takes, in shapes that are hard
to parse, in every field, header, file and query parameter.

Every row of every route table is tried. A route whose address cannot be filled in fails with
advice. SQLite runs its statements on the loop, so one engine is enough, and it is the harder one.
"""

import inspect
import itertools
import json
import re
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pytest

from honeyguide.api.routes import ROUTES
from honeyguide.api.system import System
from honeyguide.api.transport import BODY_LIMIT as BODY_LIMIT_API
from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.field_names import SPARKLOOP
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.pages.dashboard.page_request import FORM_LIMIT
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.readers import start
from honeyguide.pages.readers.forms import BODY_LIMIT
from honeyguide.subscribers.reader_links import stop_token
from tests.api.test_tenancy import Address, body_of
from tests.laws.test_route_tables import page_routes
from tests.support.embeds import SITE, embedding
from tests.support.hostile_world import World
from tests.support.large_files import multiparts
from tests.support.large_requests import (
    FORM,
    MB,
    Sent,
    dashboard_addresses,
    finish,
    forms_of,
    headers_and_queries,
    in_turn,
    large_world,
    next_shape,
    scraped_forms,
    send,
)
from tests.support.loop_steps import LoopSteps
from tests.support.page_forms import PageForms
from tests.support.web import WebClient

HOOK_KEY = "x" * 32
READER_FIELDS = ("email", "name", "token", "website", "ref", "utm_source", "consent", "waited_ms")
READER_QUERY = ("email", "ref", "utm_source", "partner", "of", "language", "sample")
# These end sessions or take things away that others need.
LAST = ("/logout", "/clock", "/delete", "/account/sessions", "/withdraw", "/revoke", "/leave")
_jsons = itertools.cycle(("1,", "[", "{},", '"a",', "null,", "[],", '{"a":1},', "1e308,", "-0.1,"))
_largest, _oversized = itertools.count(), itertools.count()
_QUERY = re.compile(r'query(?:_params)?\.get\(\s*"(\w+)"')
_FIELD = re.compile(r'(?:text|several|file)\(\s*"(\w+)"')


# What takes quadratic time shows in 64 KB. In full, all fields together take minutes. The largest
# bodies are sent in turn, one to each address; in full, each address gets all of them.
SMALL, LARGE = 64 * 1024, 2 * MB


class Depth(NamedTuple):
    alone: int
    """How large a field is that is sent alone."""
    every: int
    """Of so many routes the first."""


DEPTH = pytest.mark.parametrize(
    "depth",
    [
        Depth(SMALL, 12),
        pytest.param(Depth(SMALL, 1), marks=pytest.mark.long),
        pytest.param(Depth(LARGE, 1), marks=pytest.mark.long),
    ],
    ids=["a twelfth with fields of 64 KB", "fields of 64 KB", "fields in full"],
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with large_world() as made:
        yield made


def test_a_step_that_takes_long_would_be_seen(world: World) -> None:
    with LoopSteps(world.service) as steps:
        done = threading.Event()
        world.service.loop.call_soon_threadsafe(lambda: (sum(range(20_000_000)), done.set()))
        assert done.wait(60)
    assert len(steps.slow) == 1 and steps.longest_s == steps.slow[0].seconds


@pytest.mark.parametrize(
    ("slow_tries", "outcomes", "counted"),
    [(3, "aaa", 1), (1, "aaa", 0), (2, "aaa", 0), (1, "abb", 1), (3, "abb", 1), (0, "aaa", 0)],
)
def test_a_step_counts_if_it_is_slow_whenever_the_same_is_done(
    world: World, slow_tries: int, outcomes: str, counted: int
) -> None:
    tries = itertools.count()

    async def work() -> str:
        number = next(tries)
        sum(range(20_000_000 if number < slow_tries else 1))
        return outcomes[number]

    with LoopSteps(world.service) as steps:
        steps.judge("work", lambda: world.service.run(work()))
    assert [step.during for step in steps.slow] == ["work"] * counted


# -- the dashboard


def known_names(module: ModuleType, pattern: re.Pattern[str]) -> list[str]:
    near = [each for each in vars(module).values() if isinstance(each, ModuleType)]
    sources = [module, *(each for each in near if ".pages.dashboard." in each.__name__)]
    return sorted({name for each in sources for name in pattern.findall(inspect.getsource(each))})


def dashboard_rows(method: str) -> list[Any]:
    pages = [page for page in PAGES if page.method == method]
    rows = sorted(pages, key=lambda page: page.path.endswith(LAST))
    return [page for page in rows if page.path != "/logout"]


@DEPTH
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_dashboard(
    world: World, method: str, depth: Depth, capsys: pytest.CaptureFixture[str]
) -> None:
    alone, every = depth
    forms, web = scraped_forms(world), world.alice.web
    origin = world.service.settings.base_url.encode()
    with LoopSteps(world.service) as steps:
        for page in dashboard_rows(method)[::every]:
            module = sys.modules[page.handler.__module__]
            if web.get("/settings").status_code != 200:
                assert web.log_in(world.alice.email).status_code == 303
            client = WebClient(world.service) if page.open_to_all else web
            for found in dashboard_addresses(world, page.path):
                path = found
                if method == "POST" and page.path == "/subscribers/{id}":
                    # Its form erases, and other tests need the one that is found.
                    path = f"/subscribers/{world.alice.subscribe(world.wax.address())['uuid']}"
                for each in headers_and_queries(page.method, path, known_names(module, _QUERY)):
                    send(client.http, steps, each)
                if method == "GET":
                    continue
                typed = dict.fromkeys(known_names(module, _FIELD), "") | dict.fromkeys(
                    page.fields, ""
                )
                with_token = "/password" if page.open_to_all else "/settings"
                typed |= forms.get(found, {}) | {"csrf": client.token(with_token)}
                for body in forms_of(typed, FORM_LIMIT, alone, is_all=alone == LARGE):
                    send(client.http, steps, Sent("POST", path, FORM | {"origin": origin}, body))
    finish(steps, capsys, f"dashboard {method}")


# -- the API


def api_bodies(fields: list[str], base: dict[str, Any], alone: int) -> Iterator[bytes]:
    room = min(BODY_LIMIT_API - 10_000, alone)
    for name in fields:
        for shape in (next_shape(), "\\"):
            text = json.dumps(shape)[1:-1]
            value = text * (room // len(text.encode()))
            rest = json.dumps({other: v for other, v in base.items() if other != name})[1:]
            yield f'{{"{name}": "{value}"{", " if len(rest) > 1 else ""}{rest}'.encode()
        unit = next(_jsons)
        yield f'{{"{name}": [{unit * (room // len(unit))}"x"]}}'.encode()
    most, first = BODY_LIMIT_API - 10_000, next(iter(fields), "a")
    shapes = [
        lambda: b'{"%s": [%s"x"]}' % (first.encode(), next(_jsons).encode() * (most // 8)),
        lambda: b"[" * most,
        lambda: b'{"a":' * (most // 5),
        lambda: b"{" + b"".join(b'"%d":1,' % n for n in range(150_000)) + b'"x":1}',
        lambda: b'{"email":' + b"9" * most + b"}",
    ]
    yield from in_turn(shapes, _largest, alone == LARGE)


@DEPTH
def test_the_api(world: World, depth: Depth, capsys: pytest.CaptureFixture[str]) -> None:
    alone, every = depth
    alice = world.service.member("caller")
    with LoopSteps(world.service) as steps:
        for route in sorted(ROUTES, key=lambda route: route.method == "DELETE")[::every]:
            steps.during = f"making objects for {route.path}"
            path = Address(route, alice).path()
            for each in headers_and_queries(route.method, path, list(route.query)):
                send(alice.http, steps, each)
            if route.body is None:
                continue
            names = [field.encode_name for field in msgspec.structs.fields(route.body)]
            for body in api_bodies(names, body_of(route) or {}, alone):
                sent = Sent(route.method, path, {"content-type": b"application/json"}, body)
                send(alice.http, steps, sent)
            if route.body.takes_form:
                for each in multiparts(route.method, path, names, BODY_LIMIT_API):
                    send(alice.http, steps, each)
    finish(steps, capsys, "API")


# -- everybody else

OVERSIZED = [
    lambda: b"[" * MB,
    lambda: b"a" * MB,
    lambda: b'{"a":' * (MB // 5),
    lambda: b"&a=" * (MB // 3),
]


def public_address(world: World, path: str) -> str:
    site, star = world.service.services.site, world.wax.person(world.star["uuid"])
    embed = embedding(world.alice)
    hub = world.wax.hub(star).rpartition("/")[2]
    tokens = {
        "/confirm/": "x" * 40,
        "/stop/": stop_token(site, star.ref_code, star.link_version),
        "/hub/start/": start.token(site, star.ref_code),
        "/hub/": hub,
    }
    token = next((token for begin, token in tokens.items() if path.startswith(begin)), "")
    values = {
        "token": token,
        "earned_id": world.ids["unclaimed"],
        "slug": world.wax.campaign.slug,
        "code": world.code if path.startswith(("/p", "/m")) else star.ref_code,
        "code:path": world.code if path.startswith("/p") else star.ref_code,
        "public_id": embed.public_id,
        "what": "signup",
        "key": HOOK_KEY,
        "logo_id": world.alice.account_id,
        "color": "112233",
        "file": "style.css",
        "id": world.alice.account_id,
        "path": "subscribers",
        "path:path": "subscribers",
    }
    names = re.findall(r"\{([^}]+)\}", path)
    if unknown := [name for name in names if not values.get(name)]:
        pytest.fail(f"Give {unknown} of {path} a value in `public_address`.")
    for name in names:
        path = path.replace(f"{{{name}}}", values[name])
    return path


def connect_a_tool(world: World) -> None:
    """So that a webhook is verified, and not only refused for its address."""
    if world.service.read(lambda tx: integrations.find_by_hook_key(tx, HOOK_KEY)) is not None:
        return  # another depth of the same test did
    new = NewIntegration(
        platform="generic",
        credentials={"url": "http://127.0.0.1:9/", "secret": signature.new_secret()},
        audience=Audience(id="list", name="The list"),
        field_names=SPARKLOOP,
        code_field="",
        adds_existing=False,
        hook_key=HOOK_KEY,
    )
    keys = EncryptionKeys(world.service.settings.secret_keys)
    world.alice.make(integrations.connect, keys, new)


@DEPTH
def test_readers_embeds_links_hooks_and_probes(
    world: World, depth: Depth, capsys: pytest.CaptureFixture[str]
) -> None:
    alone, every = depth
    ours = {page.path for page in PAGES}
    rows = [(method, path) for method, path in page_routes(world.service) if path not in ours]
    rows += [("GET", path) for path in sorted(System.paths)]
    client = WebClient(world.service).http
    connect_a_tool(world)
    with LoopSteps(world.service) as steps:
        for method, path in rows[::every]:
            steps.during = f"finding {path}"
            address = public_address(world, path)
            for each in headers_and_queries(method, address, list(READER_QUERY)):
                send(client, steps, each)
            if method != "POST":
                continue
            fields = dict.fromkeys(READER_FIELDS, "")
            if not path.startswith("/embed/"):
                fields |= PageForms(client.get(address).text, address).found.get(address, {})
            head = FORM | ({"origin": SITE.encode()} if path.startswith("/embed/") else {})
            is_all = alone == LARGE
            forms = forms_of(fields, BODY_LIMIT, min(alone, BODY_LIMIT), is_all=is_all)
            for body in itertools.chain(forms, in_turn(OVERSIZED, _oversized, is_all)):
                send(client, steps, Sent(method, address, head, body))
    finish(steps, capsys, "everybody else")
