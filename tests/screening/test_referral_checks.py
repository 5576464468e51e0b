"""What would happen to this address? The answer is what then happens, and asking leaves nothing
behind.
"""

from typing import Any

import pytest

from honeyguide.events import outbox
from honeyguide.mail import emails
from honeyguide.pages.dashboard import formats
from honeyguide.signups import referral_checks, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers.subscribers import Subscriber
from tests.pages.dashboard.test_review_page import RARE, come, paid
from tests.support.partner_network import join, offer
from tests.support.service import Service, until
from tests.support.tables import dump
from tests.support.web import Operator, mistakes, operator, text_of


def check(alice: Operator, email: str, code: str, **fields: Any) -> dict[str, Any]:
    asked = {"email": email, "referrer_code": code, **fields}
    answer = alice.post(f"{alice.v1}/referral_checks", asked)
    assert answer.status_code == 200, answer.text
    return answer.json()["referral_check"]  # type: ignore[no-any-return]


def lively(service: Service) -> Operator:
    """An operator whose signups have as many consequences as possible."""
    alice = operator(service)
    flags = dict.fromkeys(("new_subscriber", "new_referral"), True)
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", **flags})
    assert hook.status_code == 201, hook.text
    alice.post(f"{alice.v1}/rewards", {"name": "Mug", "referrals": 1})
    return alice


@pytest.mark.parametrize(
    ("settings", "email", "ip_address"),
    [
        ({}, "new@gmail.com", None),
        ({}, "ana@gmail.com", None),
        ({}, "ana+2@gmail.com", None),
        ({}, "x@mailinator.com", None),
        ({"hold_days": 3}, "new@gmail.com", None),
        ({"needs_confirmation": True}, "new@gmail.com", None),
        ({"screening": "strong"}, "new@gmail.com", "9.9.9.9"),
        ({"screening": "strict"}, "new@gmail.com", "9.9.9.9"),
    ],
)
def test_the_answer_is_what_then_happens(
    alice: Operator, settings: dict[str, Any], email: str, ip_address: str | None
) -> None:
    code = alice.subscribe("ana@googlemail.com", ip_address="9.9.9.9")["ref_code"]
    alice.put(f"{alice.v1}/settings", settings)
    fields = {"origin": "api", **({"ip_address": ip_address} if ip_address else {})}
    body = check(alice, email, code, **fields)
    del fields["origin"]
    alice.subscribe(email, referrer_code=code, **fields)
    real = alice.get(f"{alice.v1}/subscribers/{email}/referral").json()["referral"]
    assert body["decision"] == real["status"]
    assert {name: body[name] for name in ("reason", "explanation")} == {
        name: real[name] for name in ("reason", "explanation")
    }
    assert (body["due_at"] is None) == (real["due_at"] is None)
    assert body["must_confirm"] == bool(settings.get("needs_confirmation"))
    same = ("code", "sentence", "points")
    assert [[each[name] for name in same] for each in body["evidence"]] == [
        [each[name] for name in same] for each in real["evidence"]
    ]


def test_a_partners_code_means_the_magic_link_and_evidence_is_told(
    service: Service, alice: Operator
) -> None:
    held = check(alice, "new@gmail.com", paid(alice))
    assert (held["decision"], held["reason"]) == ("pending", "holding_period")
    assert held["due_at"] is not None and held["evidence"] == []
    code = join(service.member("carol"), offer(alice))["ref_code"]
    come(alice, code, *RARE)
    # A new program screens signups with the magic link, and those by API once the owner says so.
    body = check(alice, "nils@quiet-harbor.example", code)
    assert (body["decision"], body["reason"]) == ("pending", "needs_review")
    assert "quiet-harbor.example" in body["evidence"][0]["sentence"]
    magic = check(alice, "nils@quiet-harbor.example", code, origin="magic")
    assert magic["reason"] == "needs_review"
    assert check(alice, "nils@quiet-harbor.example", code, origin="api")["decision"] == "verified"


def test_the_origin_is_that_of_the_codes_link(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, came, sign_up = operator(service), list[str](), signups.sign_up

    async def noted(change: Change, new: NewSubscriber, **kwargs: Any) -> Subscriber:
        came.append(new.origin)
        return await sign_up(change, new, **kwargs)

    monkeypatch.setattr(signups, "sign_up", noted)
    check(alice, "new@gmail.com", paid(alice))
    check(alice, "new@gmail.com", "nobodys1")
    check(alice, "new@gmail.com", "nobodys1", origin="embed")
    assert came == ["magic", "signup", "embed"]


def test_who_is_subscribed_and_who_never_confirmed(alice: Operator) -> None:
    ana, ben = (alice.subscribe(f"{name}@gmail.com")["ref_code"] for name in ("ana", "ben"))
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    alice.subscribe("new@gmail.com", referrer_code=ana)
    same = check(alice, "new@gmail.com", ana)
    assert (same["decision"], same["reason"]) == ("rejected", "already_subscribed")
    assert same["explanation"] == referral_checks.ALREADY_SUBSCRIBED
    # Nobody who never confirmed blocks another referral, but the API does not take them twice.
    assert check(alice, "new@gmail.com", ben)["reason"] == "awaiting_confirmation"
    assert check(alice, "new@gmail.com", ben, origin="api")["reason"] == "already_subscribed"
    assert alice.subscriber("new@gmail.com")["referrer_code"] == ana
    body = check(alice, "other@gmail.com", "nobodys1")
    assert (body["decision"], body["reason"]) == ("rejected", None)
    assert body["explanation"] == referral_checks.UNKNOWN_CODE


def test_another_accounts_codes_are_unknown(service: Service) -> None:
    alice, eve = operator(service), operator(service, "eve")
    ana, theirs = alice.subscribe("ana@gmail.com")["ref_code"], paid(alice)
    for code in (ana, theirs):
        assert check(eve, "new@gmail.com", code)["explanation"] == referral_checks.UNKNOWN_CODE


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": None}, "email is required."),
        ({"referrer_code": " "}, "referrer_code is required."),
        ({"email": "nobody"}, "Email is invalid"),
        ({"origin": "import"}, "origin must be one of: api, signup, magic, embed."),
        ({"status": "gone"}, "status must be one of"),
        ({"ip_address": "x" * 5_000}, "ip_address"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(
    alice: Operator, fields: dict[str, Any], sentence: str
) -> None:
    asked = {"email": "new@gmail.com", "referrer_code": "k7m2x9pa", **fields}
    answer = alice.post(f"{alice.v1}/referral_checks", asked)
    assert answer.status_code == 400 and sentence in answer.text, answer.text


def test_nothing_is_left_behind(quiet_service: Service) -> None:
    alice = lively(quiet_service)
    ana, ben = (alice.subscribe(f"{name}@gmail.com")["ref_code"] for name in ("ana", "ben"))
    partner = paid(alice)
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True, "screening": "strong"})
    alice.subscribe("waits@gmail.com", referrer_code=ana)
    alice.web.get("/review/check")
    before = dump(quiet_service)
    for code in (ana, partner, "nobodys1"):
        for origin in (None, *referral_checks.ORIGINS):
            for status in ("active", "confirmed", "unsubscribed"):
                check(alice, "new@gmail.com", code, origin=origin, status=status)
    assert check(alice, "waits@gmail.com", ben)["reason"] == "awaiting_confirmation"
    alice.web.post("/review/check", email="new@gmail.com", referrer_code=ana, origin="")
    assert dump(quiet_service) == before
    alice.subscribe("real@gmail.com", referrer_code=ana)
    assert dump(quiet_service) != before, "the comparison sees what a signup writes"


def test_nobody_is_woken(quiet_service: Service) -> None:
    alice = lively(quiet_service)
    code = alice.subscribe("ana@gmail.com")["ref_code"]
    woken: list[str] = []
    for topic in (outbox.DELIVERIES, emails.TOPIC, "all told"):
        quiet_service.services.store.listen(topic, lambda topic=topic: woken.append(topic))

    async def tell(tx: Tx) -> None:
        tx.wake("all told")

    def woken_topics() -> list[str]:
        """PostgreSQL tells of commits in their order, a little later."""
        quiet_service.write(tell)
        until(lambda: "all told" in woken)
        found = [topic for topic in woken if topic != "all told"]
        woken.clear()
        return found

    woken_topics()
    check(alice, "new@gmail.com", code)
    assert woken_topics() == []
    alice.subscribe("real@gmail.com", referrer_code=code)
    assert outbox.DELIVERIES in woken_topics()


def test_the_form_shows_the_decision_on_the_same_page(service: Service, alice: Operator) -> None:
    code = paid(alice)
    assert 'href="/review/check"' in alice.web.get("/review").text
    sent = {"email": "new@gmail.com", "referrer_code": code, "origin": ""}
    page = alice.web.post("/review/check", **sent)
    due = formats.day(service.now_ms() + 14 * 86_400_000)
    assert page.status_code == 200
    assert "If new@gmail.com signed up now" in text_of(page.text)
    assert f"It will be verified on {due} unless you decide earlier." in text_of(page.text)
    assert alice.get(f"{alice.v1}/subscribers/new@gmail.com").status_code == 404
    unknown = text_of(alice.web.post("/review/check", **sent | {"referrer_code": "nobodys"}).text)
    assert "No referral Nobody here has this code" in unknown and "Rejected" not in unknown
    refused = alice.web.post("/review/check", email="nobody", referrer_code="", origin="")
    assert refused.status_code == 400
    assert mistakes(refused.text)["referrer_code"] == "Enter a referral code."
    refused = alice.web.post("/review/check", email="nobody", referrer_code=code, origin="")
    assert mistakes(refused.text)["email"] == "Enter a valid email address."
