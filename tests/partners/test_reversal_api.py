"""`POST /v2/partner_programs/:uuid/referrals/:uuid/reversal`, its page, and who sees what of it."""

import json
import re
from typing import Any

import pytest

from honeyguide.partners import rules
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.tables import dump
from tests.support.trade import verify
from tests.support.web import operator, text_of


@pytest.fixture
def charged(alice: Member, bob: Member) -> tuple[dict[str, Any], dict[str, Any]]:
    """Alice's program, and a referral of Bob's that was charged."""
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    made = alice.post(
        f"{alice.v1}/subscribers", {"email": "ann@example.org", "referrer_code": code}
    )
    assert made.status_code == 201
    return program, referral(alice, program)


def referral(owner: Member, program: dict[str, Any]) -> dict[str, Any]:
    answer = owner.get(f"/v2/partner_programs/{program['uuid']}/referrals")
    return answer.json()["referrals"][0]


def path(program: dict[str, Any], of: dict[str, Any]) -> str:
    return f"/v2/partner_programs/{program['uuid']}/referrals/{of['uuid']}/reversal"


def test_the_owner_takes_a_fee_back(alice: Member, bob: Member, charged: Any) -> None:
    program, paid = charged
    assert (paid["charged"], paid["reversal"]) == (3, None)
    answer = alice.post(path(program, paid), {"reason": "other", "text": "Never opened an issue."})
    assert answer.status_code == 201, answer.text
    got = answer.json()["referral"]
    assert (got["status"], got["reason"], got["charged"]) == ("rejected", "reversed", None)
    reversal = got["reversal"]
    assert (reversal["reason"], reversal["text"]) == ("other", "Never opened an issue.")
    assert referral(alice, program) == got
    spend = alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]
    assert spend["spent"] == 0
    assert bob.get("/v2/partner_profile/earnings").json()["earnings"]["confirmed"] == 0
    again = alice.post(path(program, paid), {"reason": "robot"})
    assert (again.status_code, again.json()["code"]) == (400, "already_reversed")
    alice.service.run(verify(alice.service.services.store))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "reason"),
        ({"reason": ""}, "reason"),
        ({"reason": None}, "reason"),
        ({"reason": 5}, "reason"),
        ({"reason": "spite"}, "reason"),
        ({"reason": ["robot"]}, "reason"),
        ({"reason": "other"}, "text"),
        ({"reason": "other", "text": " "}, "text"),
        ({"reason": "robot", "text": 7}, "text"),
        ({"reason": "robot", "text": "x" * 501}, "text"),
        ({"reason": "robot", "text": "a\x00b"}, "text"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(
    alice: Member, charged: Any, body: dict[str, Any], param: str
) -> None:
    program, paid = charged
    answer = alice.post(path(program, paid), body)
    assert (answer.status_code, answer.json()["param"]) == (400, param), answer.text
    assert referral(alice, program) == paid


def test_only_the_owner_can_take_it_back(
    alice: Member, bob: Member, mallory: Member, charged: Any
) -> None:
    program, paid = charged
    for stranger in (bob, mallory):
        answer = stranger.post(path(program, paid), {"reason": "robot"})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    other = offer(alice)
    for wrong in (
        path(other, paid),
        path(program, {"uuid": program["uuid"]}),
        path(program, {"uuid": "x"}),
    ):
        assert alice.post(wrong, {"reason": "robot"}).status_code == 404
    assert referral(alice, program) == paid


def test_another_partner_of_the_program_sees_nothing_of_it(
    service: Service, alice: Member, bob: Member, charged: Any
) -> None:
    program, paid = charged
    carol = operator(service, "carol")
    join(carol, program)
    assert (
        alice.post(path(program, paid), {"reason": "other", "text": "Secret why"}).status_code
        == 201
    )
    assert carol.post(path(program, paid), {"reason": "robot"}).status_code == 404
    assert carol.get(f"/v2/partner_programs/{program['uuid']}/referrals").status_code == 404
    month = rules.month_of(service.services.clock())
    for where in (
        f"/earnings?month={month}&show=rejected",
        f"/statements/partner/{month}",
        f"/statements/partner/{month}.csv",
        f"/network/{program['uuid']}",
        "/notices",
    ):
        answer = carol.web.get(where)
        assert answer.status_code == 200, where
        assert "Secret why" not in answer.text and "Something else" not in answer.text, where


def test_both_sides_are_told_and_the_partner_does_not_learn_who(
    service: Service, alice: Member, bob: Member, mallory: Member, charged: Any
) -> None:
    program, paid = charged
    for member in (alice, bob, mallory):
        hook = member.post("/v2/webhooks", {"url": "http://127.0.0.1:9/", "new_referral": False})
        more = f"/v2/webhooks/{hook.json()['webhook']['uuid']}/more_events"
        assert member.put(more, {"partner_referral_reversed": True}).status_code == 200
    assert alice.post(path(program, paid), {"reason": "other", "text": "Why so"}).status_code == 201
    held = dump(service)

    def events_of(member: Member) -> list[dict[str, Any]]:
        return [
            json.loads(row["body"])
            for row in held["event"]
            if (row["account_id"], row["type"]) == (member.account_id, "partner_referral_reversed")
        ]

    (to_owner,), (to_partner,) = events_of(alice), events_of(bob)
    assert to_owner["subscriber"]["email"] == "ann@example.org"
    assert set(to_partner["subscriber"]) == {"id", "referred", "referral_status", "created_at"}
    for event in (to_owner, to_partner):
        assert event["reversal"] == {"reason": "other", "text": "Why so", "amount": 3}
    assert events_of(mallory) == []
    for member, count in ((alice, 1), (bob, 1), (mallory, 0)):
        notices = [
            row
            for row in held["notice"]
            if (row["account_id"], row["kind"]) == (member.account_id, "charge_reversed")
        ]
        emails = [
            row
            for row in held["letter"]
            if (row["account_id"], row["kind"]) == (member.account_id, "charge_reversed")
        ]
        assert (len(notices), len(emails)) == (count, count), member


def test_several_fees_are_taken_back_on_one_page(service: Service) -> None:
    alice, bob = operator(service, "alice"), operator(service, "bob")
    owner, partner = alice.web, bob.web
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    for email in ("ann@example.org", "ben@example.org"):
        second = alice.subscribe(email, referrer_code=code)
    first = referral(alice, program)
    page = owner.get(f"/program/{program['uuid']}").text
    ids = re.findall(r'name="referral" value="([^"]+)"', page)
    assert len(ids) == 2 and first["uuid"] in ids
    ask = f"/program/{program['uuid']}/reversal?" + "&".join(f"referral={each}" for each in ids)
    asked = text_of(owner.get(ask).text)
    assert asked.count("Take back $6.00") == 2, "the heading and the button"
    assert "The referrals become rejected" in asked
    reverse = f"/program/{program['uuid']}/reversal"
    unsaid = owner.post(reverse, page=ask, referral=ids, reason="")
    assert unsaid.status_code == 400 and "Choose a reason." in unsaid.text
    refused = owner.post(reverse, page=ask, referral=ids, reason="other", text="")
    assert refused.status_code == 400 and "Say why." in refused.text
    assert all(f'value="{each}"' in refused.text for each in ids)
    given = {"reason": "other", "text": "<b>Both</b> bots"}
    done = owner.post(reverse, page=ask, referral=[*ids, ids[0]], **given)
    assert done.status_code == 303
    shown = text_of(owner.get(done.headers["location"]).text)
    assert "2 charges taken back." in shown and shown.count("<b>Both</b> bots") == 2
    seen = text_of(owner.get(f"/subscribers/{second['uuid']}").text)
    assert "$3.00 was taken back: Something else: <b>Both</b> bots" in seen
    assert "Nothing to take back" in text_of(owner.get(ask).text)
    again = owner.post(reverse, page=f"/program/{program['uuid']}", referral=ids, reason="robot")
    assert "2 charges were left: This charge is already reversed." in text_of(
        owner.get(again.headers["location"]).text
    )
    # What the partner sees: the amount and the reason, never who it was.
    month = rules.month_of(service.services.clock())
    for where in (f"/earnings?month={month}&show=rejected", f"/statements/partner/{month}"):
        seen = text_of(partner.get(where).text)
        assert "Something else: <b>Both</b> bots" in seen, where
        assert "example.org" not in seen.replace(bob.email, ""), where
    # One notification for both.
    notices = [row for row in dump(service)["notice"] if row["kind"] == "charge_reversed"]
    recipients = [row["account_id"] for row in notices]
    assert recipients.count(alice.account_id) == recipients.count(bob.account_id) == 1
    assert partner.get(ask).status_code == 404
    assert partner.post(reverse, page="/earnings", referral=ids, reason="robot").status_code == 404


def test_each_partner_hears_of_their_own_fees_and_the_owner_of_each_partner(
    service: Service,
) -> None:
    alice = operator(service, "alice")
    program = offer(alice)
    partners = [service.member(name) for name in ("bob", "carol")]
    for count, partner in enumerate(partners, 1):
        code = join(partner, program)["ref_code"]
        for number in range(count):
            alice.subscribe(f"p{count}{number}@example.org", referrer_code=code)
    home = f"/program/{program['uuid']}"
    ids = re.findall(r'name="referral" value="([^"]+)"', alice.web.get(home).text)
    done = alice.web.post(f"{home}/reversal", page=home, referral=ids, reason="robot")
    assert done.status_code == 303 and len(ids) == 3
    said = [row for row in dump(service)["notice"] if row["kind"] == "charge_reversed"]

    def heard(member: Member) -> list[str]:
        of_account = [row for row in said if row["account_id"] == member.account_id]
        return sorted(re.findall(r"\$[0-9.]+", " ".join(row["sentence"] for row in of_account)))

    bob, carol = partners
    assert (heard(bob), heard(carol), heard(alice)) == (["$3.00"], ["$6.00"], ["$3.00", "$6.00"])


def test_the_fee_of_a_deleted_subscriber_is_taken_back_on_the_page(service: Service) -> None:
    alice, bob = operator(service, "alice"), operator(service, "bob")
    program = offer(alice)
    ann = alice.subscribe("ann@example.org", referrer_code=join(bob, program)["ref_code"])
    charged = referral(alice, program)["uuid"]
    assert alice.delete(f"{alice.v1}/subscribers/{ann['uuid']}").status_code in (200, 204)
    home = f"/program/{program['uuid']}"
    assert f'name="referral" value="{charged}"' in alice.web.get(home).text
    ask = f"{home}/reversal?referral={charged}"
    assert "Deleted subscriber" in text_of(alice.web.get(ask).text)
    given = {"referral": [charged], "reason": "other", "text": "A robot all the same"}
    done = alice.web.post(f"{home}/reversal", page=ask, **given)
    shown = text_of(alice.web.get(done.headers["location"]).text)
    assert "1 charge taken back." in shown and "Deleted subscriber" in shown
    taken = referral(alice, program)
    assert (taken["status"], taken["reason"], taken["email"]) == ("rejected", "reversed", None)
    month = rules.month_of(service.services.clock())
    for who, side in ((alice, "owner"), (bob, "partner")):
        seen = text_of(who.web.get(f"/statements/{side}/{month}").text)
        assert "Something else" in seen and "A robot all the same" not in seen, side


def test_what_the_owner_wrote_leaves_the_partners_unsent_email_with_the_erasure(
    engine: str,
) -> None:
    with Service(engine, work=False) as service:
        alice, bob = service.member("alice"), service.member("bob")
        program = offer(alice)
        code = join(bob, program)["ref_code"]
        texts = {"ann@example.org": "a", "ben@example.org": "Ann <Lee> & co"}
        for email, text in texts.items():
            person = alice.subscribe(email, referrer_code=code)
            paid = referral(alice, program)
            body = {"reason": "other", "text": text}
            assert alice.post(path(program, paid), body).status_code == 201

        def unsent() -> str:
            letters = [row for row in dump(service)["letter"] if row["kind"] == "charge_reversed"]
            return " ".join(row["body_text"] + row["body_html"] for row in letters)

        assert "Ann <Lee> & co" in unsent() and "Ann &lt;Lee&gt; &amp; co" in unsent()
        assert alice.delete(f"{alice.v1}/subscribers/{person['uuid']}").status_code == 200
        left = unsent()
        assert "Lee" not in left and "the subscriber was erased" in left
        assert " writes: a\n" in left and " writes: a</p>" in left, "the other one stays"
