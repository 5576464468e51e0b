"""Without JavaScript, one page asks before anything is erased, deleted, revoked or rotated."""

import html
import re
from pathlib import Path

import honeyguide
from tests.support.web import Operator, text_of

TEMPLATES = Path(honeyguide.__file__).parent / "pages" / "templates" / "dashboard"
_FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def fields_of(page: str) -> list[tuple[str, str]]:
    """The hidden fields of the form on a page that asks."""
    form = page[page.index('class="card confirm') :]
    return [(name, html.unescape(value)) for name, value in _FIELD.findall(form)]


def test_what_a_form_asks_about_is_asked_first(alice: Operator) -> None:
    alice.web.post("/webhooks", url="http://127.0.0.1:9/hook", event="new_referral")
    found = re.search(r'href="(/webhooks/[0-9a-f-]{36})"', alice.web.get("/webhooks").text)
    assert found
    question = {"ask": "<b>Gone & lost?</b>", "ask_yes": "Delete", "ask_for": "delete"}
    asked = alice.web.post(f"{found[1]}/act", page=found[1], do="delete", **question)
    assert "&lt;b&gt;Gone &amp; lost?" in asked.text and "<b>Gone" not in asked.text
    assert alice.web.get(found[1]).status_code == 200, "nothing happened yet"
    fields = dict(fields_of(asked.text))
    assert fields.keys() == {"csrf", "do", "sure"}
    assert alice.web.http.post(f"{found[1]}/act", data=fields).status_code == 303
    assert alice.web.get(found[1]).status_code == 404


def test_a_list_asks_only_for_the_action_that_destroys_and_says_how_many(alice: Operator) -> None:
    people = [alice.subscribe(f"p{number}@example.org")["uuid"] for number in range(2)]
    path, page = "/subscribers/decide", "/subscribers"
    assert alice.web.post(path, page=page, id=people, do="verify").status_code == 303
    asked = alice.web.post(path, page=page, id=people, do="erase")
    assert asked.status_code == 200
    assert "Are you sure? 2 subscribers will be erased from every list" in text_of(asked.text)
    assert "Erase 2 subscribers" in text_of(asked.text)
    assert alice.total() == 2, "nothing happened yet"
    fields = fields_of(asked.text)
    assert [value for name, value in fields if name == "id"] == people
    data: dict[str, str | list[str]] = {**dict(fields), "id": people}
    assert alice.web.http.post(path, data=data).status_code == 303
    assert alice.total() == 0


def test_a_form_from_elsewhere_is_refused_before_it_is_shown_back(alice: Operator) -> None:
    data = {"ask": "Pay here", "csrf": "00"}
    answer = alice.web.http.post("/subscribers/decide", data=data)
    assert answer.status_code == 403 and "Pay here" not in answer.text


def test_every_question_is_asked_without_javascript_too() -> None:
    """What has `data-ask` for the dialog has the fields for the page as well."""
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.count("data-ask=") <= text.count("asks_first("), path.name
