"""Robots and bad manners at the readers' forms, on both engines: refused with a sentence, at nobody
else's cost.
"""

import re

import pytest
from starlette.requests import Request

from honeyguide.accounts.attempts import Limit
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.pages.readers import forms, hub, signup
from tests.support.newsletter import Newsletter, errors, wrong
from tests.support.service import Service

pytestmark = pytest.mark.usefixtures("roomy_network")


def test_a_form_that_was_never_shown_is_refused(wax: Newsletter) -> None:
    other = Newsletter(wax.service)
    wax.later()
    for token in ("", "x", other.fields(other.page)["token"], wax.fields("/hub")["token"]):
        answer = wax.visitor.post(wax.page, data={"email": "a@example.org", "token": token})
        assert answer.status_code == 400
        assert wrong(answer) == "This page has expired. Please submit the form again."
    assert wax.member.total() == 0


def test_a_form_sent_at_once_is_accepted(wax: Newsletter) -> None:
    email = wax.address()
    answer = wax.visitor.post(wax.page, data={**wax.fields(wax.page), "email": email})
    assert answer.status_code == 303
    assert wax.person(email).origin == "signup"
    assert wax.visitor.post("/hub", data={**wax.fields("/hub"), "email": email}).status_code == 200


def test_an_old_form_says_so_and_comes_back_fresh(wax: Newsletter) -> None:
    hidden, email = wax.fields(wax.page), wax.address()
    wax.later(3 * 86_400)
    first = wax.visitor.post(wax.page, data={**hidden, "email": email})
    assert (first.status_code, wrong(first)) == (
        400,
        "This page has expired. Please submit the form again.",
    )
    assert f'value="{email}"' in first.text
    again = dict(re.findall(r'name="(token)" value="([^"]*)"', first.text))
    assert wax.visitor.post(wax.page, data={**again, "email": email}).status_code == 303


def test_a_robot_that_fills_every_field_is_refused(wax: Newsletter) -> None:
    answer = wax.join("robot@example.org", website="https://spam.example")
    assert answer.status_code == 400
    assert "A hidden field was filled in" in wrong(answer)
    assert wax.member.total() == 0


@pytest.mark.parametrize(
    "email",
    [
        "",
        "nonsense",
        "a@b",
        "two@at@example.org",
        "x" * 300 + "@example.org",
        "a\r\nBcc: b@example.org",
    ],
)
def test_a_bad_address_is_reported_next_to_its_field(wax: Newsletter, email: str) -> None:
    sentence = "Enter a valid email address." if email else "Enter your email address."
    for answer in (wax.join(email), wax.fill_in("/hub", email)):
        assert answer.status_code == 400
        assert errors(answer) == {"email": sentence}
        assert 'aria-invalid="true" aria-describedby="email-error"' in answer.text


def test_forms_take_only_small_plain_forms_of_our_own(wax: Newsletter) -> None:
    hidden = wax.fields(wax.page)
    wax.later()
    data = {**hidden, "email": wax.address()}
    assert wax.visitor.post(wax.page, data={**data, "more": "x" * 20_000}).status_code == 413
    assert (
        wax.visitor.post(wax.page, content=b"&".join(b"a=1" for _ in range(4_000))).status_code
        == 415
    )
    many = "&".join(f"f{n}=1" for n in range(100))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert wax.visitor.post(wax.page, content=many, headers=form).status_code == 400
    assert wax.visitor.post(wax.page, content=b"email=%ff%fe", headers=form).status_code == 400
    assert wax.visitor.post(wax.page, json=data).status_code == 415
    assert wax.visitor.post(wax.page, files={"email": b"x"}).status_code == 415
    assert (
        wax.visitor.post(wax.page, data=data, headers={"sec-fetch-site": "cross-site"}).status_code
        == 403
    )
    assert wax.member.total() == 0
    assert (
        wax.visitor.post(wax.page, data=data, headers={"sec-fetch-site": "same-origin"}).status_code
        == 303
    )


def test_one_address_is_not_sent_in_for_ever(wax: Newsletter) -> None:
    email = wax.address()
    answers = [wax.join(email) for _ in range(signup.SIGNUPS_BY_ADDRESS.most + 1)]
    assert [answer.status_code for answer in answers] == [303] * signup.SIGNUPS_BY_ADDRESS.most + [
        429
    ]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert "Try again in" in wrong(answers[-1])
    wax.later(3_700)
    assert wax.join(email).status_code == 303


def test_one_network_has_a_limit_that_all_processes_count(
    wax: Newsletter, processes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"test {wax.member.campaign_id}"  # no other test counts by this one
    low = Limit(name, 3, 600_000, forms.TOO_MANY)
    monkeypatch.setitem(signup.BY_NETWORK, "signup", low)
    monkeypatch.setattr(hub, "ASKED_BY_NETWORK", low._replace(name=f"{name} hub"))
    sentence = "Too many people are using this form from your network. Please try again"
    for path, accepted in ((wax.page, 303), ("/hub", 200)):
        for n in range(5):
            data = {**wax.fields(path), "email": wax.address()}
            at = processes[n % len(processes)]
            answer = wax.visitor.post(f"{at.url}{path}", data=data)
            assert answer.status_code == (accepted if n < 3 else 429)
        assert 0 < int(answer.headers["retry-after"]) <= 600
        assert errors(answer)[""].startswith(sentence)
        wax.later(600)
        assert wax.fill_in(path, wax.address()).status_code == accepted
        wax.service.set_clock(0)


@pytest.mark.parametrize(
    ("address", "counts_as"),
    [
        ("2001:db8:1:2:ffff::9", "2001:db8:1:2::1"),
        ("192.0.2.7", "192.0.2.7"),
        ("testclient", "testclient"),
    ],
)
def test_limits_count_by_the_network_of_an_address(address: str, counts_as: str) -> None:
    one, other = (
        forms.ip_network(Request({"type": "http", "client": (each, 1)}))
        for each in (address, counts_as)
    )
    assert one == other
    assert one != forms.ip_network(Request({"type": "http", "client": ("2001:db8:1:3::1", 1)}))


def test_a_mailbox_gets_one_confirmation_in_ten_minutes_per_campaign_and_six_a_day(
    service: Service,
) -> None:
    newsletters = [Newsletter(service, name=f"Wax {n}", needs_confirmation=True) for n in range(6)]
    first, email = newsletters[0], newsletters[0].address("victim")
    for _ in range(2):
        assert first.join(email).status_code == 303
    assert len(first.emails("confirm")) == 1
    first.later(601)
    for newsletter in newsletters:
        assert newsletter.join(email).status_code == 303
    assert [len(newsletter.emails("confirm")) for newsletter in newsletters] == [2, 1, 1, 1, 1, 0]
    assert sum(len(newsletter.emails()) for newsletter in newsletters) == CONFIRM.most_a_day
    first.later(86_400)
    first.join(email)
    assert len(first.emails("confirm")) == 3
