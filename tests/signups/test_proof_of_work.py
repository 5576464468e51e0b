"""The work that forms ask for while their code is flooded: ALTCHA's protocol, proved by its own
library, for one form and code, once and in time.
"""

from __future__ import annotations

import base64
import html
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import altcha
import pytest

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import forms
from honeyguide.signups import confirmations, proof_of_work
from honeyguide.signups.confirmations import FREE
from honeyguide.store.statements import Statement
from tests.support.changes import SITE
from tests.support.embeds import Visitor, embedding
from tests.support.held_emails import Link
from tests.support.http_client import local_client
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer
from tests.support.service import Member
from tests.support.stores import statement

WORKED = statement("SELECT COUNT(*) FROM letter WHERE account_id = :id AND has_worked = 1")
HELD = statement("SELECT COUNT(*) FROM letter WHERE account_id = :id AND held_code IS NOT NULL")
LINES = "Many people are signing up through this link right now"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    monkeypatch.setattr(forms, "ANSWER_AFTER_S", 0)
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)
    monkeypatch.setattr(proof_of_work, "TRIES_PER_S", 5)
    monkeypatch.setattr(proof_of_work, "COST", 1)


@pytest.fixture
def link(alice: Member) -> Link:
    """Flooded just now: one email waits."""
    flooded = Link(alice, now_ms=alice.service.now_ms() - MINUTE_MS)
    flooded.arrive(FREE + 1)
    return flooded


def solve(challenge: dict[str, Any]) -> str:
    """As a browser does, by the library's own solver."""
    given = altcha.Challenge.from_dict(challenge)
    solution = altcha.solve_challenge(given)
    assert solution is not None
    return altcha.Payload(given, solution).to_base64()


def asked(page: str) -> dict[str, Any] | None:
    """What a page asks for."""
    found = re.search(r'data-challenge="([^"]+)"', page)
    return json.loads(html.unescape(found[1])) if found else None


class Reader:
    """Fills in a hosted page."""

    def __init__(self, link: Link, path: str) -> None:
        self.http, self.path = local_client(link.service.url, {}), path
        self.page = self.http.get(path).text
        found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.page)
        self.fields = {name: html.unescape(value) for name, value in found}

    def send(self, email: str, **fields: str) -> str:
        """What the page says that comes after it."""
        data = {**self.fields, "email": email, **fields}
        answer = self.http.post(self.path.partition("?")[0], data=data)
        if answer.status_code != 303:
            return answer.text
        return self.http.get(answer.headers["location"]).text


def hosted(link: Link, code: str = "") -> Reader:
    page = Newsletter(link.service, member=link.member).page
    return Reader(link, f"{page}?ref={code or link.code}")


def count_worked(link: Link) -> int:
    return _count(link, WORKED)


def _count(link: Link, question: Statement[Any]) -> int:
    n: int = link.service.read(lambda tx: tx.one(question, id=link.member.account_id))[0]
    return n


# -- the protocol


def made(form: str = "form", code: str = "code", waiting: int = 0) -> dict[str, Any]:
    return proof_of_work.challenge(SITE, form, code, waiting=waiting)


def is_solved(
    solution: str, form: str = "form", code: str = "code", *, now_ms: int = 1_000
) -> bool:
    return proof_of_work.is_solved(SITE, form, code, solution, shown_ms=0, now_ms=now_ms)


def test_solved_work_counts_for_its_form_and_code_in_time() -> None:
    solution = solve(made())
    assert is_solved(solution)
    assert is_solved(solution, now_ms=proof_of_work.VALID_MS)
    assert not is_solved(solution, now_ms=proof_of_work.VALID_MS + 1)
    assert not is_solved(solution, "another")
    assert not is_solved(solution, code="another")


def test_a_solution_of_a_challenge_that_somebody_made_easier_is_none() -> None:
    challenge = made()
    challenge["parameters"]["keyPrefix"] = "00"
    assert not is_solved(solve(challenge))


@pytest.mark.parametrize(
    "content",
    [
        "é",
        "\ud800",
        "x" * 9_000,
        [],
        {},
        {"challenge": 1, "solution": 1},
        {"challenge": {"parameters": [], "signature": "x"}, "solution": {}},
        {"challenge": made(), "solution": {"counter": -1, "derivedKey": None}},
        {"challenge": made(), "solution": {"counter": "x", "derivedKey": "zz"}},
    ],
)
def test_nonsense_is_no_work_and_no_error(content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    assert not is_solved(encoded)
    assert not is_solved(text)


def test_a_larger_flood_asks_for_more_work_and_never_for_more_than_ten_seconds() -> None:
    tries = [proof_of_work.most_tries(n) for n in (0, 499, 500, 1_000, 2_000, 10**9)]
    seconds = [each / proof_of_work.TRIES_PER_S for each in tries]
    assert seconds == [4, 4, 6, 8, 10, 10]  # half of it on average


# -- forms


def test_only_a_flooded_code_asks_for_work(link: Link) -> None:
    other = link.member.subscribe("other@example.org")["ref_code"]
    assert asked(hosted(link, other).page) is None
    assert asked(hosted(link).page) is not None


def test_who_did_the_work_gets_the_email_first(link: Link) -> None:
    link.arrive(40)
    reader = hosted(link)
    challenge = asked(reader.page)
    assert challenge is not None
    said = reader.send("worker@example.org", work=solve(challenge))
    assert LINES not in said and "Nothing after a few minutes?" in said
    assert count_worked(link) == 1
    link.now_ms = link.service.now_ms()
    link.release_or_cancel(0)
    # The service's own job may have sent it already.
    assert link.statuses(["worker@example.org"]) in (["waiting"], ["sent"])
    # Chance chooses among all who did no work: these and the one who came before.
    assert _count(link, HELD) == 1 + 40 - confirmations.OTHERS.most


@pytest.mark.parametrize("work", ["", "nonsense"])
def test_without_work_the_signup_goes_on_and_the_page_says_so(link: Link, work: str) -> None:
    said = hosted(link).send("idle@example.org", work=work)
    assert LINES in said and "Nothing after a few minutes?" in said
    assert link.statuses(["idle@example.org"]) == ["held"]
    assert count_worked(link) == 0


def test_the_work_of_another_form_or_code_counts_as_none(link: Link) -> None:
    busy = Link(link.member, now_ms=link.now_ms)
    busy.arrive(FREE + 1)
    first, second, other = hosted(link), hosted(link), hosted(link, busy.code)
    challenge = asked(first.page)
    assert challenge is not None
    solution = solve(challenge)
    for number, reader in enumerate((second, other)):
        assert LINES in reader.send(f"thief{number}@example.org", work=solution)
    # The form that it belongs to, with another code in it.
    first.fields["ref"] = busy.code
    assert LINES in first.send("thief2@example.org", work=solution)
    assert count_worked(link) == 0


def test_work_is_used_up_with_its_form(link: Link) -> None:
    reader = hosted(link)
    challenge = asked(reader.page)
    assert challenge is not None
    solution = solve(challenge)
    reader.send("worker@example.org", work=solution)
    assert "This form was already used" in reader.send("second@example.org", work=solution)
    assert count_worked(link) == 1


def test_of_two_who_send_one_solution_at_once_one_has_worked(link: Link) -> None:
    reader = hosted(link)
    challenge = asked(reader.page)
    assert challenge is not None
    solution = solve(challenge)
    with ThreadPoolExecutor(8) as pool:
        addresses = [f"racer{number}@example.org" for number in range(8)]
        list(pool.map(lambda each: Reader.send(reader, each, work=solution), addresses))
    assert count_worked(link) == 1


def test_late_work_counts_for_an_email_that_waits(link: Link) -> None:
    hosted(link).send("reader@example.org")
    again = hosted(link)
    challenge = asked(again.page)
    assert challenge is not None
    again.send("reader@example.org", work=solve(challenge))
    assert count_worked(link) == 1


def test_a_magic_link_asks_for_work(alice: Member) -> None:
    bob = alice.service.member("bob")
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    link = Link(alice, now_ms=alice.service.now_ms() - MINUTE_MS)
    assert asked(Reader(link, f"/m/{code}").page) is None
    for number in range(FREE + 1):
        link.now_ms += 1
        link.ask(f"friend{number}@example.org", code=code)
    reader = Reader(link, f"/m/{code}")
    challenge = asked(reader.page)
    assert challenge is not None
    assert LINES not in reader.send("worker@example.org", work=solve(challenge))
    assert count_worked(link) == 1


def test_the_token_of_an_embed_brings_the_work_for_its_code(link: Link) -> None:
    visitor = Visitor(link.member, embedding(link.member))
    assert set(visitor.get("token").json()) == {"token"}
    given = visitor.get("token", ref=link.code).json()
    solution = solve(given["challenge"])
    fields = {"ref": link.code, "token": given["token"]}
    assert visitor.sign_up("worker@example.org", work=solution, **fields).status_code == 200
    assert count_worked(link) == 1
    assert visitor.sign_up("thief@example.org", work=solution, ref=link.code).status_code == 200
    assert count_worked(link) == 1
