"""One service per engine and test process; each test makes accounts of its own in it, so tests
never see each other. And what several files need of it: a newsletter with readers, a box of
letters, a mail server, a store alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from honeyguide.mail.transports import SmtpTransport
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import hub, signup
from tests.support.mailbox import FROM, Mailbox
from tests.support.newsletter import Newsletter
from tests.support.partner_market import Market
from tests.support.public_command import command_for_others
from tests.support.queued_emails import Letterbox
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore

ROOMY = 100_000
# Both engines run the same statements here, and SQLite runs all of these tests. Of those on
# PostgreSQL, the first of so many is in every run and the rest in the long one.
SPARSE_ON_POSTGRES = {
    "test_account_check.py": 2,
    "test_account_page.py": 3,
    "test_administration_page.py": 4,
    "test_backups.py": 4,
    "test_bodies.py": 4,
    "test_change_log.py": 5,
    "test_checklist.py": 3,
    "test_cli_people.py": 4,
    "test_consents.py": 3,
    "test_dashboard_imports.py": 4,
    "test_dashboard_pages.py": 4,
    "test_dashboard_sessions.py": 3,
    "test_deleted_programs.py": 3,
    "test_delivery_disabling.py": 2,
    "test_email_kinds.py": 4,
    "test_embed_attacks.py": 3,
    "test_form_tenancy.py": 4,
    "test_hostile_origins.py": 4,
    "test_integration_keys.py": 3,
    "test_job_isolation.py": 3,
    "test_login_pages.py": 3,
    "test_metrics.py": 3,
    "test_money_amounts.py": 4,
    "test_newsletter_page.py": 3,
    "test_notification_choices.py": 3,
    "test_oldest_dates.py": 3,
    "test_overview_page.py": 3,
    "test_overview_ranges.py": 3,
    "test_partner_pages.py": 3,
    "test_partner_signups.py": 3,
    "test_partner_simulation.py": 2,
    "test_platform_webhooks.py": 4,
    "test_program_forms.py": 3,
    "test_program_pages.py": 3,
    "test_publication_logos.py": 2,
    "test_rate_limit.py": 3,
    "test_raw_bytes.py": 6,
    "test_reader_emails.py": 3,
    "test_reader_hub.py": 3,
    "test_restore.py": 3,
    "test_route_tables.py": 3,
    "test_shipments.py": 3,
    "test_signed_links.py": 3,
    "test_subscriber_actions.py": 3,
    "test_subscriber_notes_and_tags.py": 3,
    "test_sync_confirmation.py": 3,
    "test_sync_in.py": 3,
    "test_sync_interrupted.py": 3,
    "test_sync_out.py": 3,
    "test_sync_removals.py": 3,
    "test_tenancy.py": 10,
    "test_text_languages.py": 3,
    "test_unreliable_places.py": 3,
    "test_v1_subscriber_lists.py": 3,
    "test_v2_webhooks.py": 3,
}
# They begin first, so that a run ends with short ones and all test processes end together.
LONG_FILES = frozenset(
    {
        *("test_cli_people.py", "test_dashboard.py", "test_demo.py", "test_durability.py"),
        *("test_event_loop.py", "test_faults.py", "test_forms.py", "test_jobs.py"),
        *("test_lab.py", "test_robots.py"),
        *("test_loop_kills.py", "test_page_tenancy.py", "test_partner_simulation.py"),
        *("test_partners.py", "test_platform_nonsense.py", "test_reader_pages.py"),
        *("test_restore.py", "test_schemathesis.py", "test_subscribers_model.py"),
        *("test_tenancy.py", "test_wheel.py"),
    }
)


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
    """Marks what `SPARSE_ON_POSTGRES` leaves out of most runs."""
    seen = Counter[str]()
    for item in items:
        every = SPARSE_ON_POSTGRES.get(item.path.name)
        if every and "postgres" in item.name.partition("[")[2]:
            if seen[item.path.name] % every:
                item.add_marker(pytest.mark.long)
            seen[item.path.name] += 1


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


@pytest.fixture(scope="session", params=ENGINES)
def shared_service(request: pytest.FixtureRequest) -> Iterator[Service]:
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
def processes(service: Service) -> Iterator[list[Service]]:
    """On PostgreSQL, two that share nothing but the database."""
    if service.engine == "sqlite":
        yield [service]
        return
    with Service("postgres", database_url=service.database_url) as another:
        yield [service, another]


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
def market(request: pytest.FixtureRequest) -> Iterator[Market]:
    with Service(request.param) as service:
        yield Market(service)
