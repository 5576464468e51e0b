"""Fees that the owner's team ended, and readers who bounced after the fee, on the dashboard."""

from __future__ import annotations

import pytest

from honeyguide.signups import signups
from honeyguide.subscribers.reasons import Reason
from tests.support.delayed import pass_minute
from tests.support.ended_fees import held, reader, unsubscribe
from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of

PATH = "/review/ended"


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


def page(owner: Operator, path: str = PATH) -> str:
    return text_of(owner.web.get(path).text)


def decide(owner: Operator, *ids: str, **fields: str) -> str:
    sent = owner.web.post(PATH, page=PATH, id=list(ids), **fields)
    if sent.status_code != 303:
        return text_of(sent.text)
    return page(owner, sent.headers["location"])


def state(owner: Operator, reader_id: str) -> tuple[str, str | None]:
    found = owner.get(f"{owner.v1}/subscribers/{reader_id}/referral").json()["referral"]
    return found["status"], found["reason"]


def test_the_owner_pays_or_says_why_not(alice: Operator) -> None:
    assert "No fee waits for you" in page(alice)
    joined = held(alice)
    gone, erased, blocked = [reader(alice, joined) for _ in range(3)]
    unsubscribe(alice, gone)
    form = f"/subscribers/{blocked}"
    alice.web.post(f"{form}/list", page=form, do="block")
    alice.web.post("/subscribers/decide", page="/subscribers", id=erased, do="erase", sure="yes")
    assert "Your team ended 3 subscriptions by Bob before the fees were decided" in page(alice)
    assert "Deleted subscriber" in page(alice) and "Pay up to $9.00" in page(alice)
    assert "Decide 3 fees" in page(alice, "/")

    assert "Choose a reason." in decide(alice, gone, do="reject")
    again = f"/subscribers/{gone}"
    refused = alice.web.post(again, page=again, do="reject")
    assert "so say why you reject it" in text_of(refused.text)
    says = decide(alice, gone, erased, do="reject", reason="not_a_reader", text="Never opened")
    assert "2 referrals will be rejected in a minute." in says
    assert "1 referral will be verified in a minute." in decide(alice, blocked, do="pay")
    assert state(alice, gone) == ("pending", "ended_by_team")
    pass_minute(alice.service)
    assert state(alice, gone) == ("rejected", "rejected_by_hand")
    assert state(alice, blocked) == ("verified", "verified_by_hand")
    assert "No fee waits for you" in page(alice)


def test_who_bounced_after_the_fee_is_taken_back_with_one_button(alice: Operator) -> None:
    program = offer(alice)
    verification = f"/v2/partner_programs/{program['uuid']}/verification"
    asked = {"rule": "none", "screening": "flexible", "origins": "all"}
    assert alice.put(verification, asked).status_code == 200
    joined = join(alice.service.member("bob"), program)
    readers = [reader(alice, joined) for _ in range(3)]

    for reader_id, how in zip(readers, (Reason.BOUNCED, Reason.COMPLAINED), strict=False):
        alice.make(signups.depart, reader_id, how)
    here = f"/program/{program['uuid']}"
    assert "Take back 2, $6.00" in page(alice, here)
    listed = alice.get(f"/v2/partner_programs/{program['uuid']}/referrals").json()["referrals"]
    found = {each["subscriber_uuid"]: each["returned"] for each in listed}
    assert found == dict(zip(readers, ("bounced", "complained", None), strict=True))
    chosen = [each["uuid"] for each in listed if each["returned"]]
    shown = "&".join(f"referral={each}" for each in chosen)
    form = alice.web.get(f"{here}/reversal?{shown}&reason=returned").text
    assert 'value="returned" checked' in form and "Take back $6.00" in text_of(form)
    sent = alice.web.post(f"{here}/reversal", page=here, referral=chosen, reason="returned")
    assert "2 charges taken back." in page(alice, sent.headers["location"])
    assert "Bounced or complained after the fee" not in page(alice, here)
