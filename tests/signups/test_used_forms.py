"""A signup form is used once, on both engines: again with the same address gives the first answer
again, with another one a fresh form.
"""

import re
import string
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.pages.readers import forms, signup
from honeyguide.pages.readers.links import PREFIXES
from honeyguide.pages.readers.routes import is_reader_path
from honeyguide.rewards import earned_rewards
from honeyguide.signups import used_forms
from tests.laws.test_route_tables import page_routes
from tests.support.changes import SITE
from tests.support.newsletter import Newsletter, errors, follow
from tests.support.partner_network import join, offer, publish
from tests.support.readings import reading
from tests.support.tables import dump

pytestmark = pytest.mark.usefixtures("roomy_network")

USED = {"token": "This form was already used. Please submit it again."}
NOON_MS = 1_760_011_200_000
AGENT = "Mozilla/5.0 (X11; Linux x86_64)"


def send(wax: Newsletter, hidden: dict[str, str], email: str, **fields: str) -> httpx.Response:
    return wax.visitor.post(wax.page, data={**hidden, "email": email, **fields})


def again(page: httpx.Response) -> dict[str, str]:
    """What the form on a page sends when nothing on it is changed."""
    boxes = re.findall(
        r'<input type="checkbox" name="(\w+)" value="([^"]*)"[^>]* checked', page.text
    )
    inputs = re.findall(r'<input (?!type="checkbox")[^>]*>', page.text)
    found = dict(boxes)
    for each in inputs:
        values = dict(re.findall(r'(name|value)="([^"]*)"', each))
        if "name" in values:
            found[values["name"]] = unescape(values.get("value", ""))
    return found


def kept(wax: Newsletter) -> list[dict[str, Any]]:
    rows = dump(wax.service)["used_form"]
    return [row for row in rows if row["account_id"] == wax.member.account_id]


def test_one_form_sent_fifty_times_makes_one_signup(wax: Newsletter) -> None:
    hidden = wax.fields(wax.page)
    answers = [send(wax, hidden, wax.address("robot")) for _ in range(50)]
    assert [each.status_code for each in answers] == [303] + [400] * 49
    assert [errors(each) for each in answers[1:]] == [USED] * 49
    assert wax.member.total() == 1
    assert len(wax.emails()) == 1


@pytest.mark.parametrize("at_once", [False, True])
def test_a_double_click_or_a_reload_gets_the_first_answer(wax: Newsletter, at_once: bool) -> None:
    """More often than one address may be sent in: nothing is counted either."""
    hidden, email = wax.fields(wax.page), wax.address()
    times = 2 * signup.SIGNUPS_BY_ADDRESS.most
    with ThreadPoolExecutor(times if at_once else 1) as pool:
        spelled = (email if number % 2 else email.upper() for number in range(times))
        answers = list(pool.map(lambda each: send(wax, hidden, each), spelled))
    assert {each.status_code for each in answers} == {303}
    assert len({each.headers["location"] for each in answers}) == 1
    follow(wax, answers[-1])
    assert wax.member.total() == 1
    assert len(wax.emails()) == 1


def test_after_the_back_button_another_address_gets_a_fresh_form(wax: Newsletter) -> None:
    wax.brand(consent_text="Yes, please.", asks_name=True)
    friend = wax.member.subscribe(wax.address())
    hidden = wax.fields(f"{wax.page}?ref={friend['ref_code']}&utm_source=podcast")
    assert send(wax, hidden, wax.address()).status_code == 303
    email = wax.address()
    refused = send(wax, hidden, email, name="Ana")
    assert (refused.status_code, errors(refused)) == (400, USED)
    assert refused.headers["cache-control"] == "no-store"
    filled = again(refused)
    assert filled["token"] != hidden["token"]
    typed = {"email": email, "name": "Ana", "website": ""}
    assert filled == {**hidden, **typed, "token": filled["token"]}
    assert wax.visitor.post(wax.page, data=filled).status_code == 303
    person = wax.person(email)
    assert (person.name, person.referrer_code, person.utm_source) == (
        "Ana",
        friend["ref_code"],
        "podcast",
    )


def test_a_used_form_tells_nobody_who_is_subscribed(wax: Newsletter) -> None:
    hidden, known = wax.fields(wax.page), wax.address()
    wax.member.subscribe(known)
    assert send(wax, hidden, wax.address()).status_code == 303
    for email in (known, wax.address()):
        refused = send(wax, hidden, email)
        assert (refused.status_code, errors(refused)) == (400, USED)


def test_an_error_in_a_field_uses_nothing_up(wax: Newsletter) -> None:
    hidden, email = wax.fields(wax.page), wax.address()
    for wrong in ("", "nonsense"):
        assert list(errors(send(wax, hidden, wrong))) == ["email"]
    assert send(wax, hidden, email, website="spam").status_code == 400
    assert send(wax, hidden, email).status_code == 303


def test_a_signup_that_is_refused_later_uses_nothing_up(wax: Newsletter) -> None:
    email = wax.address()
    for _ in range(signup.SIGNUPS_BY_ADDRESS.most):
        wax.join(email)
    hidden = wax.fields(wax.page)
    assert send(wax, hidden, email).status_code == 429
    assert send(wax, hidden, wax.address()).status_code == 303


def test_who_was_erased_meanwhile_needs_a_fresh_form(wax: Newsletter) -> None:
    hidden, email = wax.fields(wax.page), wax.address()
    assert send(wax, hidden, email).status_code == 303
    uuid = wax.person(email).id
    assert wax.member.delete(f"{wax.member.v1}/subscribers/{uuid}").status_code < 300
    refused = send(wax, hidden, email)
    assert (refused.status_code, errors(refused)) == (400, USED)
    assert wax.member.total() == 0
    assert wax.visitor.post(wax.page, data=again(refused)).status_code == 303
    assert wax.person(email).id != uuid


def test_a_magic_link_has_forms_of_its_own(wax: Newsletter) -> None:
    partner = join(wax.service.member("bob"), offer(wax.member, publish(wax.member)))
    path = f"/m/{partner['ref_code']}"
    hidden = wax.fields(path)
    first, second = wax.address(), wax.address()
    for email, status in ((first, 303), (first, 303), (second, 400)):
        assert wax.visitor.post(path, data={**hidden, "email": email}).status_code == status
    assert send(wax, hidden, second).status_code == 400  # nor elsewhere
    assert wax.member.total() == 1


def test_the_same_token_in_other_letters_is_the_same(wax: Newsletter) -> None:
    """The last letter of a token has bits that decoding drops."""
    hidden = wax.fields(wax.page)
    assert send(wax, hidden, wax.address()).status_code == 303
    token = hidden["token"]
    spellings = [token[:-1] + letter for letter in string.ascii_letters + string.digits]
    spellings += [token + "=", token + "=="]
    for each in spellings:
        assert send(wax, {**hidden, "token": each}, wax.address()).status_code == 400
    assert wax.member.total() == 1


def test_the_sentence_is_in_the_readers_language(wax: Newsletter) -> None:
    wax.speak("de")
    hidden = wax.fields(wax.page)
    send(wax, hidden, wax.address())
    refused = errors(send(wax, hidden, wax.address()))
    assert refused == {
        "token": "Dieses Formular wurde schon benutzt. Bitte schick es noch einmal ab."
    }


def test_a_form_is_remembered_for_as_long_as_it_could_be_sent(wax: Newsletter) -> None:
    hidden, service = wax.fields(wax.page), wax.service
    assert send(wax, hidden, wax.address()).status_code == 303

    def purge_at(ahead_ms: int) -> httpx.Response:
        service.set_clock(ahead_ms / 1000)
        while service.write(lambda tx: used_forms.purge(tx.at(service.now_ms()))):
            pass
        return send(wax, hidden, wax.address())

    assert errors(purge_at(2 * DAY_MS - MINUTE_MS)) == USED
    assert len(kept(wax)) == 1
    assert "expired" in errors(purge_at(2 * DAY_MS + 2 * HOUR_MS))[""]
    assert kept(wax) == []


def test_no_page_with_a_token_is_stored(wax: Newsletter) -> None:
    """Every reader page, and every form that is shown again."""
    wax.offer()
    wax.brand(show_leaderboard=True)
    person = wax.advocate(5)
    partner = join(wax.service.member("bob"), offer(wax.member, publish(wax.member)))
    earned = wax.service.read(
        lambda tx: earned_rewards.earned_by(reading(tx, wax.tenant), person.id)
    )
    values = {
        "earned_id": next(each.id for each in earned if each.kind == "physical"),
        "slug": wax.campaign.slug,
        "code": partner["ref_code"],
    }
    shown = set()
    for method, path in page_routes(wax.service):
        if is_reader_path(path) and not path.startswith(PREFIXES):
            # Asking for a new link ends the one before.
            values["token"] = wax.hub(wax.person(person.id)).rpartition("/")[2]
            address = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)
            answer = wax.visitor.request(method, address, data={"x": "y"})
            if 'name="token"' in answer.text:
                shown.add((method, path))
                assert answer.headers["cache-control"] == "no-store", (method, path)
    assert shown == {
        (method, path)
        for path in ("/m/{code}", "/join/{slug}", "/hub", "/hub/{token}/claim/{earned_id}")
        for method in ("GET", "POST")
    } | {
        ("GET", "/hub/{token}"),
        ("POST", "/hub/{token}/choices"),
        ("POST", "/hub/{token}/code"),
        ("POST", "/hub/{token}/active"),
        ("POST", "/hub/{token}/address/{earned_id}"),
    }


def visitor(address: str = "192.0.2.7", agent: str = AGENT) -> Request:
    headers = [(b"user-agent", agent.encode())]
    return Request({"type": "http", "client": (address, 1), "headers": headers})


def test_a_form_tells_who_was_shown_it_until_it_expires() -> None:
    token = forms.single_use_token(SITE, "signup x", visitor(), NOON_MS)

    def found(http: Request, later_ms: int = 0) -> forms.ShownForm | None:
        return forms.find_shown(SITE, "signup x", http, token, NOON_MS + later_ms)

    for later_ms in (0, MINUTE_MS, DAY_MS, 2 * DAY_MS):
        same = found(visitor(), later_ms)
        assert same is not None and same.is_same_visitor and same.shown_ms == NOON_MS
    for other in (visitor("192.0.2.8"), visitor(agent="curl/8"), visitor(agent="")):
        shown = found(other)
        assert shown is not None and not shown.is_same_visitor
    assert found(visitor(), 2 * DAY_MS + 1) is None
    assert found(visitor(), -2 * MINUTE_MS) is None


def test_no_two_forms_are_the_same() -> None:
    tokens = {forms.single_use_token(SITE, "signup x", visitor(), NOON_MS) for _ in range(100)}
    shown = [forms.find_shown(SITE, "signup x", visitor(), each, NOON_MS) for each in tokens]
    assert len({each.token_hash for each in shown if each}) == 100


def test_a_form_from_before_the_upgrade_still_works(wax: Newsletter) -> None:
    site, brand = wax.service.services.site, wax.campaign
    old = forms.token(site, f"signup {brand.id}", wax.service.now_ms())
    email = wax.address()
    assert send(wax, {"token": old}, email).status_code == 303
    assert errors(send(wax, {"token": old}, wax.address())) == USED
