"""Whoever unsubscribed or was erased is left alone: by forms that anybody can fill in, by the lists
of email platforms, and by files that wait. On both engines.
"""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from honeyguide.integrations import incoming
from honeyguide.integrations.incoming import ANY_TIME
from honeyguide.integrations.leases import Lease
from honeyguide.integrations.reports import ChangeKind, PlatformChange
from honeyguide.kernel.clock import DAY_MS
from honeyguide.moving import importing, stored_files, uploaded_files
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import SubscriberChanges
from tests.support.changes import SITE
from tests.support.embeds import Visitor, embedding
from tests.support.imported import Program
from tests.support.integrations import Synced
from tests.support.mailbox import Mailbox
from tests.support.newsletter import Newsletter
from tests.support.readings import changes_of
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore

pytestmark = pytest.mark.usefixtures("roomy_network")
Form = Callable[[Newsletter, str], None]
NEVER = re.compile(r"https?://[^/\s]+(/stop/[\w-]+\?never=1)")


def hosted(wax: Newsletter, email: str) -> None:
    assert wax.join(email).status_code == 303


def asks(wax: Newsletter, email: str) -> None:
    path = f"/hub?of={wax.campaign.slug}"
    answer = wax.visitor.post(path, data={**wax.fields(path), "email": email})
    assert answer.status_code == 200


def embedded(wax: Newsletter, email: str) -> None:
    visitor = Visitor(wax.member, embedding(wax.member))
    assert visitor.sign_up(email).status_code == 200
    assert visitor.post("find", email=email).status_code == 200


FORMS: list[Form] = [hosted, asks, embedded]


@pytest.fixture
def posted(posting: tuple[Service, Mailbox]) -> Iterator[Newsletter]:
    service, mailbox = posting
    mailbox.received.clear()
    service.set_clock(0)
    yield Newsletter(service)
    service.set_clock(0)


@pytest.fixture
def inbox(posting: tuple[Service, Mailbox]) -> Mailbox:
    return posting[1]


def unsubscribed(wax: Newsletter, email: str = "") -> str:
    email = email or wax.address("gone")
    made = wax.member.subscribe(email)
    path = f"{wax.member.v1}/subscribers/{made['uuid']}"
    assert wax.member.put(path, {"status": "unsubscribed"}).status_code == 200
    return email


def sent_to(wax: Newsletter, email: str, least: int = 0) -> int:
    """Some of the forms look up the address after they have answered."""
    until = time.monotonic() + (60 if least else 1)
    while True:
        found = sum(each.to_email == email for each in wax.emails())
        if (least and found >= least) or time.monotonic() > until:
            return found
        time.sleep(0.05)


@pytest.mark.parametrize("form", FORMS)
def test_whoever_unsubscribed_gets_one_email_a_day_over_all_forms(
    wax: Newsletter, form: Form
) -> None:
    email, other = unsubscribed(wax), Newsletter(wax.service, name="The Other")
    unsubscribed(other, email)
    form(wax, email)
    assert sent_to(wax, email, least=1) == 1
    wax.later(3_700)
    for each in FORMS:
        each(wax, email)
        each(other, email)
    assert sent_to(wax, email) == 1 and sent_to(other, email) == 0
    wax.later(86_400)
    form(wax, email)
    assert sent_to(wax, email, least=2) == 2
    wax.service.set_clock(0)


def test_never_again_ends_every_email_until_they_are_subscribed_again(
    posted: Newsletter, inbox: Mailbox
) -> None:
    email = unsubscribed(posted)
    hosted(posted, email)
    link = inbox.link_to(email, "/stop/")
    assert link.endswith("?never=1")
    assert "Never email me again" in posted.visitor.get(link).text
    assert "Get these emails again" not in posted.visitor.get(link).text, "a GET changes nothing"
    assert "Get these emails again" in posted.visitor.post(link).text
    for day in range(1, 3):
        posted.service.set_clock(day * 90_000)
        for form in FORMS:
            form(posted, email)
    assert sent_to(posted, email) == 1
    posted.visitor.post(link.replace("never=1", "again=1"))
    hosted(posted, email)
    assert sent_to(posted, email, least=2) == 2
    posted.visitor.post(link)
    person = posted.person(email)
    path = f"{posted.member.v1}/subscribers/{person.id}"
    assert posted.member.get(f"{path}/export").json()["export"]["wants_no_email_at_all"] is True
    posted.member.put(path, {"status": "confirmed"})
    posted.service.set_clock(4 * 90_000)
    asks(posted, email)
    assert sent_to(posted, email, least=3) == 3, "they are subscribed"


def test_whoever_is_subscribed_is_not_asked_to_be_left_alone(
    posted: Newsletter, inbox: Mailbox
) -> None:
    hosted(posted, email := posted.address())
    assert inbox.link_to(email, "/hub/")
    assert not any(NEVER.search(got.text) for got in inbox.received)


# -- what a platform says


@pytest.mark.usefixtures("tool")
@pytest.mark.parametrize(
    ("joined_there_ms", "listed", "comes_back"),
    [
        (-DAY_MS, True, False),
        (None, True, False),
        (DAY_MS, True, True),
        (-DAY_MS, False, False),
        (None, False, True),
        (DAY_MS, False, True),
    ],
)
@pytest.mark.parametrize(
    "kind",
    [ChangeKind.JOINED, ChangeKind.CONFIRMED, ChangeKind.ENGAGED, ChangeKind.CHANGED_ADDRESS],
)
async def test_only_a_newer_joining_there_brings_back_who_was_erased(
    synced: Synced, joined_there_ms: int | None, listed: bool, comes_back: bool, kind: ChangeKind
) -> None:
    """A list is read every night, and has everybody who is on it; a webhook says what happens. Who
    clicks, confirms or gets another address was there before, unless the platform says when they
    came."""
    await synced.join("ada@example.org")
    await synced.erase("ada@example.org")
    erased_ms = synced.now_ms
    synced.now_ms += 2 * DAY_MS
    change = PlatformChange(
        kind=kind,
        email="new@example.org" if kind == ChangeKind.CHANGED_ADDRESS else "Ada@example.org",
        old_email="Ada@example.org" if kind == ChangeKind.CHANGED_ADDRESS else None,
        created_ms=None if joined_there_ms is None else erased_ms + joined_there_ms,
    )
    integration, joined_ms = await synced.integration(), ANY_TIME if listed else synced.now_ms
    lease = Lease(synced.store, SITE, lambda: synced.now_ms, integration, "")
    await lease.change(incoming.apply, change, joined_ms=joined_ms)
    says_when = joined_there_ms is not None or kind == ChangeKind.JOINED
    assert (await synced.find(change.email.lower()) is not None) == (comes_back and says_when)


# -- files


@pytest.fixture(params=ENGINES)
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    with OpenStore(request.param) as opened:
        yield Program(opened)


REFUSED = "email,name\nnot an address,Old@example.org\nben@example.org,Ben\n"
WAITING = "email,name,referrer\nold@example.org,Ann,\nben@example.org,Ben,OLD@example.org\n"


def stored(program: Program) -> str:
    tables = ("SELECT lines FROM import_part", "SELECT content FROM import_error")
    return "\n".join(text for sql in tables for (text,) in program.opened.ask(sql)).lower()


def wait(program: Program, text: str) -> str:
    """Stores a file that is not started."""
    file = stored_files.in_parts(uploaded_files.read(text.encode(), "people.csv"))
    return program.opened.run(stored_files.store_file(program.write, "people.csv", file))


def test_an_erasure_reaches_former_addresses_in_files(program: Program) -> None:
    program.bring(REFUSED)
    assert "old@example.org" in stored(program)
    ann = program.subscribe("old@example.org")
    waiting = wait(program, WAITING)
    program.change(signups.update, ann.id, SubscriberChanges(email="new@example.org"))
    assert "old@example.org" not in stored(program)
    assert program.find_import(waiting).total == 2, "the file that waits is whole"
    program.change(signups.erase, "new@example.org")
    assert "new@example.org" not in stored(program) and "ben@example.org" in stored(program)


def test_a_file_that_waits_follows_a_change_of_address(program: Program) -> None:
    ann = program.subscribe("old@example.org", name="Ann")
    waiting = wait(program, WAITING)
    program.change(signups.update, ann.id, SubscriberChanges(email="new@example.org"))
    program.opened.run(
        program.opened.store.write(changes_of(importing.start, program.tenant), waiting)
    )
    program.go_on(waiting)
    assert program.referrers() == {"ben@example.org": "new@example.org"}
    assert program.opened.ask("SELECT email FROM subscriber WHERE email = 'old@example.org'") == []
