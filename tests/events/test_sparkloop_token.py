"""The header `SparkLoop-Token`: receivers written for SparkLoop compare it with a text they know.
It is off until somebody sets it.
"""

import pytest

from tests.support.dispatcher import ReceiverThread, reply
from tests.support.service import Member, Service
from tests.support.web import operator, text_of

URL = "http://127.0.0.1:9/hook"


@pytest.fixture(params=["v1", "v2"])
def base(request: pytest.FixtureRequest, alice: Member) -> str:
    return f"{alice.v1}/webhooks" if request.param == "v1" else "/v2/webhooks"


def made(member: Member, base: str, url: str = URL) -> str:
    answer = member.post(base, {"url": url, "new_referral": True})
    assert answer.status_code == 201, answer.text
    return f"{base}/{answer.json()['webhook']['uuid']}"


def test_the_token_is_sent_only_while_it_is_set(service: Service, alice: Member, base: str) -> None:
    with ReceiverThread() as receiver:
        hook = made(alice, base, receiver.url)
        path = f"{hook}/sparkloop_token"
        assert alice.get(path).json() == {"sparkloop_token": None}
        for token in (None, "s3cret!~", "another", None):
            if token is not None or receiver.requests:
                answer = alice.put(path, {"sparkloop_token": token})
                assert (answer.status_code, answer.json()) == (200, {"sparkloop_token": token})
            alice.post(f"{hook}/test")
            service.run(service.services.dispatcher.deliver_due())
        sent = [request.headers.get("sparkloop-token") for request in receiver.requests]
    assert sent == [None, "s3cret!~", "another", None]
    assert all("webhook-signature" in request.headers for request in receiver.requests)


def test_it_is_no_part_of_the_webhook_and_stays_when_that_changes(alice: Member, base: str) -> None:
    hook = made(alice, base)
    before = alice.get(hook).json()
    alice.put(f"{hook}/sparkloop_token", {"sparkloop_token": "s3cret"})
    assert alice.get(hook).json() == before
    alice.put(hook, {"new_referral": False})
    alice.put(f"{hook}/sparkloop_token", {})
    assert alice.get(f"{hook}/sparkloop_token").json() == {"sparkloop_token": "s3cret"}


@pytest.mark.parametrize(
    "token", ["", " ", "a b", "a\r\nx-evil: 1", "a\nb", "a\x00", "é", "a\x7f", "x" * 256, 7, ["a"]]
)
def test_a_text_that_no_header_can_carry_is_refused(alice: Member, token: object) -> None:
    path = f"{made(alice, '/v2/webhooks')}/sparkloop_token"
    answer = alice.put(path, {"sparkloop_token": token})
    assert (answer.status_code, answer.json()["param"]) == (400, "sparkloop_token")
    assert alice.get(path).json() == {"sparkloop_token": None}
    assert alice.put(path, {"sparkloop_token": "x" * 255}).status_code == 200


def test_nobody_else_reads_or_sets_it(alice: Member, bob: Member, base: str) -> None:
    path = f"{made(alice, base)}/sparkloop_token"
    alice.put(path, {"sparkloop_token": "s3cret"})
    answers = [bob.get(path), bob.put(path, {"sparkloop_token": "mine"})]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert alice.get(path).json() == {"sparkloop_token": "s3cret"}


def test_setting_it_enables_a_webhook_that_was_disabled(service: Service, alice: Member) -> None:
    """A receiver that wants the token refuses everything without it."""
    with ReceiverThread(reply(410)) as receiver:
        hook = made(alice, "/v2/webhooks", receiver.url)
        alice.post(f"{hook}/test")
        service.run(service.services.dispatcher.deliver_due())
    assert alice.get(f"{hook}/deliveries").json()["disabled_at"] is not None
    alice.put(f"{hook}/sparkloop_token", {"sparkloop_token": "s3cret"})
    assert alice.get(f"{hook}/deliveries").json()["disabled_at"] is None


def test_the_page_sets_and_removes_it_and_never_shows_it(service: Service) -> None:
    ann = operator(service)
    page = f"/webhooks/{made(ann, '/v2/webhooks').rpartition('/')[2]}"
    assert "No token is set" in text_of(ann.web.get(page).text)
    assert (
        ann.web.post(f"{page}/act", page=page, do="set_token", sparkloop_token="s3cret").status_code
        == 303
    )
    shown = ann.web.get(page).text
    assert "A token is set." in text_of(shown) and "s3cret" not in shown
    refused = ann.web.post(f"{page}/act", page=page, do="set_token", sparkloop_token="two words")
    assert refused.status_code == 400
    assert "Token must be 1 to 255 ASCII letters" in text_of(refused.text)
    assert "two words" not in refused.text
    assert ann.web.post(f"{page}/act", page=page, do="set_token").status_code == 303
    assert ann.get(f"/v2{page}/sparkloop_token").json() == {"sparkloop_token": None}
