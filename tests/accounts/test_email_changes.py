"""A new email address to log in with: both addresses confirm it. On both engines."""

import re
from collections.abc import Iterator

import pytest

from honeyguide.accounts import accounts, attempts, email_changes, members, users
from honeyguide.accounts.email_changes import EmailChange
from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.store.tx import Tx, timed
from tests.support.races import overlapping
from tests.support.readings import reads_account
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore, statement
from tests.support.trade import NOON_MS, SITE
from tests.support.web import Operator, WebClient, mistakes, operator, text_of

OLD, NEW = EmailAddress("ana@example.org"), EmailAddress("ana@new.example")
_EMAILS = statement("SELECT to_email, body_text FROM letter WHERE kind = 'email_change'")
_LINK = re.compile(r"/login/email/([\w-]+)")


async def links(tx: Tx) -> dict[str, str]:
    """The token that each address got last."""
    found = await tx.all(_EMAILS)
    return {to: match[1] for to, text in found if (match := _LINK.search(text or ""))}


class Ana:
    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        self.account_id, self.user_id = self.write(self._create)
        self.write(self._ask)
        self.tokens = opened.run(opened.store.read(links))

    def write(self, work, *args):  # type: ignore[no-untyped-def]
        return self.opened.run(self.opened.store.write(work, *args))

    async def _create(self, tx: Tx) -> tuple[str, str]:
        made = await accounts.create(tx.at(NOON_MS), OLD, name="Ana")
        return made.account_id, await members.first_owner(tx, made.account_id)

    async def _ask(self, tx: Tx) -> None:
        await email_changes.ask(tx.at(NOON_MS), SITE, self.user_id, NEW)

    async def confirm(self, tx: Tx, address: EmailAddress, after_ms: int = 0) -> EmailChange:
        token = self.tokens[address.text]
        return await email_changes.confirm(tx.at(NOON_MS + after_ms), SITE, token)

    def email(self) -> str:
        return self.opened.run(self.opened.store.read(users.get, self.user_id)).email

    def contact(self) -> str:
        return self.opened.run(self.opened.store.read(accounts.get, self.account_id)).email


@pytest.fixture(params=ENGINES)
def ana(request: pytest.FixtureRequest) -> Iterator[Ana]:
    with OpenStore(request.param) as opened:
        yield Ana(opened)


@pytest.mark.parametrize("order", [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"])
def test_both_must_confirm_in_either_order(ana: Ana, order: tuple[EmailAddress, ...]) -> None:
    first, second = order
    for _ in range(2):
        assert not ana.write(ana.confirm, first).is_confirmed
        assert ana.email() == OLD.text
    assert ana.write(ana.confirm, second, DAY_MS - 1).is_confirmed
    assert ana.email() == NEW.text and ana.contact() == NEW.text
    found = ana.opened.run(
        ana.opened.store.read(reads_account(change_log.of_account, ana.account_id), most=9)
    )
    assert [each.action for each in found] == ["account.email_changed"]
    assert "example" not in f"{found[0].before}{found[0].after}"
    with pytest.raises(Missing):
        ana.write(ana.confirm, second)


def test_the_old_address_is_told_once_it_is_changed(ana: Ana) -> None:
    asked = "SELECT to_email, subject FROM letter WHERE kind = 'login_changed'"
    ana.write(ana.confirm, NEW)
    assert ana.opened.ask(asked) == []
    ana.write(ana.confirm, OLD)
    assert ana.opened.ask(asked) == [(OLD.text, "Your email address was changed")]


def test_both_at_the_same_moment_change_it_once(ana: Ana) -> None:
    async def old(tx: Tx) -> EmailChange:
        return await ana.confirm(tx, OLD)

    async def new(tx: Tx) -> EmailChange:
        return await ana.confirm(tx, NEW)

    found = ana.opened.run(overlapping(ana.opened.store, old, new))
    assert [each.is_confirmed for each in found] == [False, True]
    assert ana.email() == NEW.text


def test_after_a_day_it_is_too_late_and_nothing_is_kept(ana: Ana) -> None:
    ana.write(ana.confirm, OLD)
    with pytest.raises(Missing):
        ana.write(ana.confirm, NEW, DAY_MS)

    async def purge(tx: Tx, at_ms: int) -> None:
        await email_changes.purge(tx.at(at_ms))

    for at_ms, left in ((NOON_MS + DAY_MS - 1, 1), (NOON_MS + DAY_MS, 0)):
        ana.write(purge, at_ms)
        assert ana.opened.ask("SELECT COUNT(*) FROM email_change") == [(left,)]


def test_an_address_that_was_taken_meanwhile_is_refused(ana: Ana) -> None:
    async def open_other(tx: Tx) -> None:
        await accounts.create(tx.at(NOON_MS), NEW, name="Other")

    ana.write(ana.confirm, NEW)
    ana.write(open_other)
    with pytest.raises(Invalid, match="Somebody else logs in with this email address"):
        ana.write(ana.confirm, OLD)
    assert ana.email() == OLD.text


def test_asking_again_ends_the_links_before(ana: Ana) -> None:
    before = dict(ana.tokens)
    ana.write(ana._ask)
    assert ana.opened.ask("SELECT COUNT(*) FROM email_change") == [(1,)]
    for token in before.values():
        found = ana.opened.run(ana.opened.store.read(timed(email_changes.find, NOON_MS), token))
        assert found is None


def test_a_contact_that_is_somebody_elses_stays(ana: Ana) -> None:
    ana.opened.do("UPDATE account SET email = 'office@example.org'")
    ana.write(ana.confirm, OLD)
    ana.write(ana.confirm, NEW)
    assert ana.email() == NEW.text and ana.contact() == "office@example.org"


@pytest.fixture(scope="module", params=ENGINES)
def silent(request: pytest.FixtureRequest) -> Iterator[Service]:
    """It sends nothing, so that the links are still there to read."""
    with Service(request.param, work=False) as service:
        yield service


def ask(alice: Operator, email: str) -> dict[str, str]:
    answer = alice.web.post("/account/email", page="/account/security", email=email)
    assert answer.status_code == 303, text_of(answer.text)
    tokens = alice.service.read(links)
    return {to: f"/login/email/{tokens[to]}" for to in (alice.email, email)}


def test_the_links_lead_through_and_other_sessions_end(silent: Service) -> None:
    alice, other = operator(silent), WebClient(silent)
    other.log_in(alice.email)
    links = ask(alice, "alice@new.example")
    assert "becomes your address once both" in text_of(alice.web.get("/account/security").text)
    page = text_of(WebClient(silent).get(links[alice.email]).text)
    assert "Change your email address?" in page and "Stop the change" in page
    half = WebClient(silent).post(links["alice@new.example"], do="confirm")
    assert half.status_code == 200 and "your old address" in text_of(half.text)
    done = alice.web.post(links[alice.email], do="confirm")
    assert (done.status_code, done.headers["location"]) == (303, "/account/security")
    assert alice.web.get("/").status_code == 200 and other.get("/").status_code == 303
    assert WebClient(silent).log_in(alice.email).status_code == 401
    assert WebClient(silent).log_in("alice@new.example").status_code == 303
    assert WebClient(silent).get(links[alice.email]).status_code == 404


def test_the_old_address_stops_it_and_the_new_one_cannot(silent: Service) -> None:
    alice = operator(silent)
    links = ask(alice, "stop@new.example")
    assert WebClient(silent).post(links["stop@new.example"], do="stop").status_code == 404
    assert WebClient(silent).post(links[alice.email], do="stop").status_code == 303
    for link in links.values():
        assert WebClient(silent).get(link).status_code == 404
    ask(alice, "again@new.example")
    assert alice.web.post("/account/email/stop", page="/account/security").status_code == 303
    assert "New email address" in alice.web.get("/account/security").text


def test_it_asks_for_a_real_other_address_and_not_too_often(silent: Service) -> None:
    alice = operator(silent)
    for email, sentence in (
        ("", "Enter an email address."),
        ("nobody", "Enter a valid email address."),
        (alice.email.upper(), "That is your email address already."),
    ):
        answer = alice.web.post("/account/email", page="/account/security", email=email)
        assert answer.status_code == 400 and mistakes(answer.text) == {"email": sentence}
    statuses = [
        alice.web.post("/account/email", page="/account/security", email=f"n{n}@new.example")
        for n in range(attempts.EMAILS_BY_ACCOUNT.most + 1)
    ]
    assert [each.status_code for each in statuses] == [303] * 5 + [429]
    silent.set_clock(61 * MINUTE_MS / 1000)
    ask(alice, "later@new.example")
    silent.set_clock(0)
