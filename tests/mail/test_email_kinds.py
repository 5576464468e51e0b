"""Every kind of email is declared once, and none that authorizes anything is kept after it is sent.
A real mail server gets one of each kind, on both engines.
"""

import re
from collections import defaultdict
from typing import NamedTuple

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import email_kinds
from honeyguide.mail.email_kinds import EMAIL_KINDS, EmailKind
from honeyguide.mail.notification_kinds import NOTIFICATION_KINDS
from honeyguide.mail.sending import MOST_REFUSALS
from honeyguide.mail.transports import SmtpTransport
from tests.laws.test_route_tables import page_routes
from tests.support.every_email import write_every_email
from tests.support.mailbox import Mailbox, Received
from tests.support.queued_emails import NOW, Letterbox
from tests.support.service import Service, until
from tests.support.tables import Dump, dump, mentions


class SentEmails(NamedTuple):
    by_kind: dict[str, list[Received]]
    tables: Dump
    """The database after everything was sent."""
    tokens: dict[str, set[str]]
    """By kind: what its emails have in place of the {token} of a route."""


@pytest.fixture(scope="module")
def sent(posting: tuple[Service, Mailbox]) -> SentEmails:
    service, mailbox = posting
    write_every_email(service)

    def is_done() -> bool:
        return all(row["due_ms"] is None for row in dump(service)["letter"])

    until(is_done, 60)
    tables = dump(service)
    arrived = {each.id.strip("<>").partition("@")[0]: each for each in mailbox.received}
    by_kind: dict[str, list[Received]] = defaultdict(list)
    for row in tables["letter"]:
        assert row["sent_ms"] is not None, (row["kind"], row["error"])
        by_kind[row["kind"]].append(arrived[row["id"]])
    patterns = token_patterns(service)
    tokens = {
        kind: {token for each in found for token in tokens_in(each, patterns)}
        for kind, found in by_kind.items()
    }
    return SentEmails(by_kind, tables, tokens)


def token_patterns(service: Service) -> list[re.Pattern[str]]:
    """Of each page that needs no login but a token: also of pages yet to come. A link that only
    stops emails is one of them."""
    paths = {path for _, path in page_routes(service) if "{token}" in path}
    starts = {path.partition("{token}")[0] for path in paths}
    assert starts >= {"/hub/", "/confirm/", "/password/", "/welcome/", "/stop/", "/notices/off/"}
    return [re.compile(rf"{service.url}{start}([\w.~=-]+)") for start in sorted(starts)]


def tokens_in(email: Received, patterns: list[re.Pattern[str]]) -> set[str]:
    """In any part and any header."""
    parts = [str(value) for value in email.message.values()]
    parts += [str(part.get_content()) for part in email.message.walk() if not part.is_multipart()]
    return {token for part in parts for pattern in patterns for token in pattern.findall(part)}


def test_one_email_of_every_kind_was_sent(sent: SentEmails) -> None:
    """A kind that is new is written in `tests/support/every_email.py` too."""
    assert sorted(sent.by_kind) == sorted(kind.name for kind in EMAIL_KINDS)


@pytest.mark.parametrize("kind", EMAIL_KINDS, ids=[kind.name for kind in EMAIL_KINDS])
def test_a_kind_that_authorizes_anything_is_forgotten(sent: SentEmails, kind: EmailKind) -> None:
    assert not sent.tokens[kind.name] or kind.is_forgotten, sent.tokens[kind.name]


def test_the_search_finds_the_links_of_those_who_must_have_one(sent: SentEmails) -> None:
    """Otherwise the test above would be green because it sees nothing."""
    found = {kind for kind, tokens in sent.tokens.items() if tokens - {"sample"}}
    assert found == {
        *("password_reset", "open_account", "invitation", "member_invitation", "test_email"),
        "email_change",
        *("confirm", "hub_link"),
        *("friend_joined", "one_more", "reward_unlocked", "shipment_sent", "weekly_summary"),
    }


def test_the_database_holds_nothing_of_a_forgotten_kind_once_it_is_sent(sent: SentEmails) -> None:
    for kind in EMAIL_KINDS:
        for token in sent.tokens[kind.name]:
            assert mentions(sent.tables, token) == [], kind.name
    for row in sent.tables["letter"]:
        held = [row[column] for column in ("body_text", "body_html", "unsubscribe_url")]
        is_forgotten = email_kinds.declared(row["kind"]).is_forgotten
        assert (held == [None] * 3) is is_forgotten, row["kind"]


def test_a_kind_that_is_not_declared_cannot_be_queued(box: Letterbox) -> None:
    with pytest.raises(ValueError, match="no kind of email called 'love_letter'"):
        box.post(kind="love_letter")
    made_up = EmailKind("love_letter", is_forgotten=False)
    with pytest.raises(ValueError, match="no kind of email called 'love_letter'"):
        box.write(lambda tx: box.put(tx, kind=made_up))
    assert box.of_account() == []


def test_what_another_version_queued_is_forgotten(box: Letterbox) -> None:
    box.post(text="https://r.example/key/secret", html="<p>secret</p>")
    box._raw("UPDATE letter SET kind = 'of_another_version' RETURNING id")
    box.settle(NOW)
    email = box.only()
    assert email.status == "sent"
    assert box.columns("body_text, body_html, unsubscribe_url", email.id) == [None] * 3


def test_every_notification_has_a_kind_of_email() -> None:
    """Whichever of them an account gets by email."""
    for choice in NOTIFICATION_KINDS:
        for name in choice.notifications:
            kind = email_kinds.declared(name)
            assert (kind.name, kind.choice, kind.is_waited_for) == (name, choice, False)


def test_what_is_given_up_is_forgotten_too(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    box.post(kind="hub_link", text="secret", html="secret", unsubscribe_url="https://r.example/s")
    box.post(kind="budget_80", text="80 %", html="80 %")
    mailbox.say("RCPT", *["550 no such user"] * 2 * MOST_REFUSALS)
    for attempt in range(MOST_REFUSALS):
        box.send(smtp, NOW + attempt * DAY_MS)
    kept = {
        email.kind: (email.status, *box.columns("body_text, body_html, unsubscribe_url", email.id))
        for email in box.of_account()
    }
    assert kept == {
        "hub_link": ("failed", None, None, None),
        "budget_80": ("failed", "80 %", "80 %", None),
    }
