"""Choosing a code on pages: a reader on their referral page, an operator on the subscriber's."""

import re

import httpx
import pytest

from honeyguide.subscribers.subscribers import Subscriber
from tests.support.embeds import Visitor, embedding
from tests.support.newsletter import Newsletter, errors, link_of
from tests.support.service import Service
from tests.support.web import operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_network")


def token_of(html: str) -> str:
    form = html[html.index('/code"') :]
    return re.findall(r'name="token" value="([^"]+)"', form)[0]


def choose(wax: Newsletter, person: Subscriber, code: str, **headers: str) -> httpx.Response:
    hub = wax.hub(person)
    token = token_of(wax.visitor.get(hub).text)
    data = {"token": token, "code": code}
    return wax.visitor.post(f"{hub}/code", data=data, headers=headers)


def test_a_reader_chooses_their_own_link_and_shares_it(wax: Newsletter) -> None:
    ben, site = wax.advocate(0), wax.service.services.site
    hub = wax.hub(ben)
    assert link_of(wax.visitor.get(hub).text) == site.reader_link(ben.ref_code)
    slug = wax.page.rpartition("/")[2]
    for code in ("Ben-B", "benny"):
        answer = choose(wax, ben, f" {code} ")
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{hub}?chosen=1#your-link"
        page = wax.visitor.get(answer.headers["location"]).text
        assert link_of(page) == site.campaign_link(slug, code)
        assert 'role="status">Saved.' in page
        embedded = Visitor(wax.member, embedding(wax.member)).post(
            "hub", token=hub.rpartition("/")[2]
        )
        assert embedded.json()["link"] == site.campaign_link(slug, code)
    # They made the change themselves.
    listed = wax.member.get(f"{wax.member.v1}/subscribers/{ben.id}/codes").json()["codes"]
    assert [each["code"] for each in listed] == ["benny", "Ben-B", ben.ref_code]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("", "Please enter a code."),
        ("a b", "Your code must be 3 to 64 letters (A to Z), digits, hyphens or underscores."),
        ("login", "Your code is reserved; choose another."),
        ("sh1t", "Your code contains a word that we do not allow; choose another."),
        ("TAKEN", "Your code is already taken; choose another."),
        ('"><script>', "Your code must be 3 to 64 letters"),
    ],
)
def test_what_is_refused_is_shown_beside_the_field(
    wax: Newsletter, code: str, sentence: str
) -> None:
    ben, other = wax.advocate(0), wax.advocate(0)
    wax.member.post(f"{wax.member.v1}/subscribers/{other.id}/codes", {"code": "taken"})
    answer = choose(wax, ben, code)
    assert answer.status_code == 400
    shown = errors(answer)
    assert list(shown) == ["code"] and shown["code"].startswith(sentence)
    assert "<details open>" in answer.text and '"><script>' not in answer.text
    assert link_of(answer.text).endswith(f"/r/{ben.ref_code}")


def test_a_fourth_code_and_another_language(wax: Newsletter) -> None:
    wax.brand(follow_browser_language=True)
    ben = wax.advocate(0)
    for number in range(3):
        assert choose(wax, ben, f"ben-{number}").status_code == 303
    refused = choose(wax, ben, "ben-4", **{"accept-language": "de"})
    assert errors(refused) == {
        "code": "Höchstens 3 neue Codes pro Jahr. Alle früheren Codes funktionieren weiter."
    }
    assert "Eigenen Link wählen" in refused.text


def test_a_code_needs_the_form_of_ones_own_page(wax: Newsletter) -> None:
    ben, eve = wax.advocate(0), wax.advocate(0)
    token = token_of(wax.visitor.get(wax.hub(eve)).text)
    for wrong in (token, "", "x"):
        data = {"token": wrong, "code": "ben-b"}
        answer = wax.visitor.post(f"{wax.hub(ben)}/code", data=data)
        assert answer.status_code == 400
    assert wax.visitor.post("/hub/nobody/code", data={"code": "ben-b"}).status_code == 404
    assert wax.visitor.get(f"{wax.hub(ben)}/code").status_code == 303
    listed = wax.member.get(f"{wax.member.v1}/subscribers/{ben.id}/codes").json()["codes"]
    assert len(listed) == 1


def test_an_operator_sees_and_chooses_codes(service: Service) -> None:
    alice = operator(service)
    ana = alice.subscribe("ana@example.org")
    path = f"/subscribers/{ana['uuid']}"
    saved = alice.web.post(f"{path}/codes", page=path, code="Ana-B")
    assert (saved.status_code, saved.headers["location"]) == (303, f"{path}#h-codes")
    page = alice.web.get(path).text
    base = service.services.site.base_url
    links = re.findall(r"<code>(https?://[^<]+/r/[^<]+)</code>", page)
    assert [link.rpartition("/")[2] for link in links] == ["Ana-B", ana["ref_code"]]
    assert links[1] == f"{base}/r/{ana['ref_code']}"
    assert "Chosen," in text_of(page) and "Assigned by us," in text_of(page)
    for code, sentence in (
        ("", "Enter a code."),
        ("a", "Code must be 3 to 64 letters"),
        ("admin", "Code is reserved"),
    ):
        refused = alice.web.post(f"{path}/codes", page=path, code=code)
        assert refused.status_code == 400 and sentence in text_of(refused.text), code
