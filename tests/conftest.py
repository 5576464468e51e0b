"""One service per engine and file; each test makes accounts of its own in it, so tests never see
each other. And what several files need: a newsletter with subscribers, queued emails, a
mail server, a store alone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import random
import re
import zlib
from collections.abc import AsyncIterator, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.accounts import attempts
from honeyguide.events import signature
from honeyguide.mail.transports import SmtpTransport
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import forms, hub, signup
from honeyguide.store import Store
from tests.support import disks, used_databases
from tests.support.mailbox import FROM, Mailbox
from tests.support.network_operators import PartnerNetwork
from tests.support.newsletter import Newsletter
from tests.support.process import migrated
from tests.support.public_command import command_for_others
from tests.support.queued_emails import Letterbox
from tests.support.scratch import delete_folder, open_folder
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore, opened_store

if TYPE_CHECKING:
    from tests.support.integrations import Synced
    from tests.support.occupied import Occupied
    from tests.support.platforms.generic import GenericTool
    from tests.support.synced_platform import OnPlatform, OpenPlatform

HERE = Path(__file__).parent
ROOMY = 100_000
# Both engines run the same statements, and SQLite runs all tests. Of those on PostgreSQL, one of so
# many is in every run, chosen by its name, and the others are in the long one,
SPARSE = 12
# unless the file is about money, limits or claims, or about what the engines do differently.
ON_BOTH = re.compile(
    r"account_check|arrival_limits|at_once|attempts|budget|charge|chosen_codes|claim|connections|(?<!import_)counts"
    "|erasure|fault"
    "|holds|reward_codes|idempotency|ledger|migrate|money_rules|month|moment|payout|races|rate_limit"
    "|import_stages|reversal|spend|statement|store|switch|upgrade|used_forms|wakeups"
)
# Of tests that start or kill processes, every run has those of one engine, again by their names.
ON_EITHER = re.compile(r"durability|kills|(?<!charges_)parallel|restore")
# They begin first, so that a run ends with short ones and all test processes end together.
LONG_FILES = frozenset(
    {
        *("test_charges_parallel.py", "test_claim_histories.py", "test_claims.py"),
        *("test_cli_people.py", "test_dashboard.py", "test_event_loop_answers.py"),
        *("test_dashboard_journeys.py", "test_demo.py", "test_durability.py"),
        *("test_event_loop.py", "test_evidence.py", "test_faults.py", "test_forms.py"),
        *("test_jobs.py", "test_lab.py", "test_loop_kills.py", "test_month_digests.py"),
        *("test_needed_proofs.py", "test_one_of_two.py", "test_page_tenancy.py"),
        *("test_partner_simulation.py", "test_partners.py", "test_payouts_api.py"),
        *("test_platform_nonsense.py", "test_reader_languages.py", "test_reader_pages.py"),
        *("test_tenancy.py", "test_restore.py", "test_reversals_parallel.py", "test_robots.py"),
        *("test_schemathesis.py", "test_subscribers_model.py", "test_sync_interrupted.py"),
    }
)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the workers of xdist write into the same folder
        config.add_cleanup(partial(delete_folder, open_folder()))


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "of the tests of each file: `reversed`, or `random:` and any text as the seed"
    parser.addoption("--order", default="", help=about)


def reorder(items: list[pytest.Item], order: str) -> None:
    """Within each file, so that what its tests share is opened once."""
    places = {item: place for place, item in enumerate(items)}
    if order == "reversed":
        places = {item: -place for item, place in places.items()}
    elif order.startswith("random:"):
        places = {item: random.Random(f"{order}{item.nodeid}").random() for item in items}
    elif order:
        raise pytest.UsageError(f"--order is `reversed` or `random:SEED`, not {order!r}")
    files = {path: place for place, path in enumerate(dict.fromkeys(i.path for i in items))}
    items.sort(key=lambda item: (files[item.path], places[item]))


def leave_to_long_run(items: list[pytest.Item]) -> None:
    """Marks the tests on one engine that most runs leave out."""
    by_name = {item.nodeid: item for item in items}
    for name, on_sqlite in by_name.items():
        function, _, parameters = name.partition("[")
        twin = f"{function}[{parameters.replace('sqlite', 'postgres', 1)}"
        on_postgres = by_name.get(twin)
        if on_postgres is None or twin == name:
            continue
        file = on_sqlite.path.name
        number = zlib.crc32(f"tests/{name[name.index(file) :]}".encode())
        if ON_EITHER.search(file):
            (on_sqlite, on_postgres)[number % 2].add_marker(pytest.mark.long)
        elif not ON_BOTH.search(file) and number % SPARSE:
            on_postgres.add_marker(pytest.mark.long)


def compile_share(config: pytest.Config) -> None:
    """In a fresh checkout, each test process would compile all modules, at the same time as the
    others. So each begins with modules of its own, and then finds most of the rest compiled.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for file in sorted(HERE.rglob("test_*.py"))[number::count]:
        name = ".".join(file.relative_to(HERE.parent).with_suffix("").parts)
        with contextlib.suppress(Exception):  # which the collection then reports
            importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is loaded now stays until the end, so the garbage collector need not look at it."""
    gc.disable()
    try:
        compile_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Files run in the order of the alphabet, after those that take long."""
    leave_to_long_run(items)
    if order := config.getoption("order"):
        reorder(items, order)
    yield  # pytest puts tests together that share a fixture with parameters
    items.sort(key=lambda item: item.path.name not in LONG_FILES)


@pytest.fixture(scope="module", params=ENGINES)
def shared_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """One for the tests of a file, so that no file depends on which others ran before it."""
    with Service(request.param) as service:
        yield service


@pytest.fixture
def service(shared_service: Service) -> Iterator[Service]:
    """The running service, its clock set back to now after each test."""
    yield shared_service
    shared_service.set_clock(0)


@pytest.fixture
def alice(service: Service) -> Member:
    return service.member("alice")


@pytest.fixture
def bob(service: Service) -> Member:
    return service.member("bob")


@pytest.fixture
def mallory(service: Service) -> Member:
    return service.member("mallory")


@pytest.fixture
def wax(service: Service) -> Newsletter:
    return Newsletter(service)


@pytest.fixture(scope="session", autouse=True)
def quick_answers() -> Iterator[None]:
    """Reader forms and commits on SQLite wait for nothing; what they wait for has its own tests."""
    with disks.quick_commits(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "ANSWER_AFTER_S", 0)
        yield


@pytest.fixture
def roomy_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests of a process share one service and one address; the limits per network have tests
    of their own.
    """
    for origin, limit in signup.BY_NETWORK.items():
        monkeypatch.setitem(signup.BY_NETWORK, origin, limit._replace(most=ROOMY))
    monkeypatch.setattr(hub, "ASKED_BY_NETWORK", hub.ASKED_BY_NETWORK._replace(most=ROOMY))
    for name in ("BY_NETWORK", "TOKENS_BY_NETWORK"):
        monkeypatch.setattr(endpoint, name, getattr(endpoint, name)._replace(most=ROOMY))


@pytest.fixture
def roomy_logins(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests of a process log in from one address; these limits have tests of their own."""
    for name in ("LOGIN_BY_ADDRESS", "LOGIN_BY_INSTALLATION", "EMAILS_BY_ADDRESS"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=ROOMY))


@pytest.fixture
def processes(service: Service) -> Iterator[list[Service]]:
    """On PostgreSQL, two that share nothing but the database."""
    if service.engine == "sqlite":
        yield [service]
        return
    with Service("postgres", database_url=service.database_url) as another:
        yield [service, another]


@pytest.fixture(scope="module", params=ENGINES)
def quiet_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Without background work: whatever is written was written by a request or by a job that the
    test runs.
    """
    with Service(request.param, work=False) as service:
        yield service


@pytest.fixture(scope="module", params=ENGINES)
def shared_box(request: pytest.FixtureRequest) -> Iterator[Letterbox]:
    with Letterbox(request.param) as box:
        yield box


@pytest.fixture
def box(shared_box: Letterbox) -> Letterbox:
    shared_box.empty()
    return shared_box


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture
def smtp(mailbox: Mailbox) -> SmtpTransport:
    return SmtpTransport(mailbox.url, FROM)


@pytest.fixture(scope="module", params=ENGINES)
def posting(request: pytest.FixtureRequest) -> Iterator[tuple[Service, Mailbox]]:
    """A service of its own that sends to a mail server, and where anybody may open an account."""
    with (
        Mailbox() as mailbox,
        Service(request.param, smtp_url=mailbox.url, signups="open") as service,
    ):
        yield service, mailbox


@pytest.fixture(scope="session")
def command_for_all() -> Iterator[Path]:
    with command_for_others() as command:
        yield command


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=4) as opened:
        yield opened


@pytest.fixture
def postgres() -> Iterator[OpenStore]:
    with OpenStore("postgres", pool_size=1) as opened:
        yield opened


@pytest.fixture
def sqlite() -> Iterator[OpenStore]:
    with OpenStore("sqlite") as opened:
        yield opened


@pytest.fixture
def ana(alice: Member) -> Iterator[Member]:
    """Whatever a test sends, the next honest request is answered."""
    yield alice
    assert alice.get("/v1/campaigns").status_code == 200
    assert alice.subscribe("afterwards@example.org")["email"] == "afterwards@example.org"


@pytest.fixture(scope="module", params=ENGINES)
def partner_network(request: pytest.FixtureRequest) -> Iterator[PartnerNetwork]:
    with Service(request.param) as service:
        yield PartnerNetwork(service)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs a test that is `async def`."""
    return "asyncio"


@pytest.fixture
def engine() -> str:
    """Unless the test has both as its parameter."""
    return "sqlite"


@pytest.fixture
def database_url(engine: str) -> Iterator[str]:
    yield (url := migrated(engine))
    used_databases.give_back(url)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened_store(database_url) as store:
        yield store


# Few files need the stand-ins of email platforms, so these fixtures import what they open.


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """The platform that the file is about, unless the test has others as its parameter."""
    return str(request.module.PLATFORM)


@pytest.fixture
async def on_platform(key: str) -> AsyncIterator[Any]:
    """The stand-in of the platform, its module, and access to it."""
    from tests.support.platforms.cases import CASES

    async with CASES[key].open() as opened:
        yield opened


@pytest.fixture
async def synced(store: Store) -> AsyncIterator[Synced]:
    """A newsletter, and the worker that syncs it once it is connected."""
    from tests.support.integrations import newsletter

    async with newsletter(store) as synced:
        yield synced


@pytest.fixture
async def new_tool() -> AsyncIterator[GenericTool]:
    """The generic tool, with which nobody is connected yet."""
    from tests.support.platforms.generic import GenericTool

    tool = GenericTool(signature.new_secret())
    async with tool.serving():
        yield tool


@pytest.fixture
async def tool(synced: Synced, new_tool: GenericTool) -> GenericTool:
    """The generic tool, with which the newsletter is connected."""
    from tests.support.integrations import connect_tool

    await connect_tool(synced, new_tool)
    return new_tool


@pytest.fixture
def open_platform(store: Store, monkeypatch: pytest.MonkeyPatch) -> OpenPlatform:
    """For tests that go through several platforms; they connect them."""
    from tests.support.synced_platform import BesidePlatform

    return partial(BesidePlatform.open, store, monkeypatch)


@pytest.fixture
async def on(store: Store, monkeypatch: pytest.MonkeyPatch, key: str) -> AsyncIterator[OnPlatform]:
    """A newsletter that is connected with the platform."""
    from tests.support.synced_platform import OnPlatform

    async with OnPlatform.open(store, monkeypatch, key) as on:
        await on.connect()
        yield on


@pytest.fixture
async def occupied(
    store: Store, monkeypatch: pytest.MonkeyPatch, key: str
) -> AsyncIterator[Occupied]:
    """A newsletter beside a platform that another tool has used; they are not connected yet."""
    from tests.support.occupied import Occupied

    async with Occupied.open(store, monkeypatch, key) as occupied:
        yield occupied
