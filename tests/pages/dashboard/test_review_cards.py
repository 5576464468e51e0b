"""A group over a whole program in Review: one card, one click, and who is beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from honeyguide.signups import first_looks
from tests.support.delayed import pass_minute
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.trait_groups import (
    DOMAIN,
    NAMES,
    come,
    group_ids,
    is_approved,
    look,
    paid_program,
    partner_of,
)
from tests.support.web import Operator, operator, text_of

SHARE_OWNER = statement(
    "INSERT INTO member (account_id, user_id, role, created_ms) SELECT j.account_id, m.user_id, "
    "'owner', 1 FROM partner_campaign AS j, member AS m JOIN partner_campaign AS o "
    "ON o.account_id = m.account_id WHERE j.ref_code = :code AND o.ref_code = :other_code",
    "adds member",
)
TOLD = statement("SELECT COUNT(*) FROM notice WHERE account_id = :id AND kind = 'group_waits'")
LOGGED = statement(
    "SELECT actor_kind, actor_id FROM change_log WHERE account_id = :id "
    "AND action = 'group.approved'"
)


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


def reasons(alice: Operator, *codes: str) -> Counter[Any]:
    people = alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    return Counter(
        (each["referral_status"], each["email"].endswith(DOMAIN))
        for each in people
        if each["referrer_code"] in codes
    )


def answer(alice: Operator, word: str) -> str:
    (group_id,) = group_ids(alice)
    fields = {"group": group_id, "answer": word, "back": "/review"}
    sent = alice.web.post("/review/cards/group", page="/review", **fields)
    assert sent.headers["location"] == "/review"
    said = text_of(alice.web.get("/review").text)
    pass_minute(alice.service)
    look(alice.service)
    return said


def test_one_card_over_all_codes_of_one_owner(alice: Operator) -> None:
    program = paid_program(alice)
    one, two = partner_of(alice, program), partner_of(alice, program)
    alice.service.write(lambda tx: tx.run(SHARE_OWNER, code=one, other_code=two))
    come(alice, one, *(f"{name}@{DOMAIN}" for name in NAMES[:4]), ip_address="81.7.1.1")
    come(alice, two, *(f"{name}@{DOMAIN}" for name in NAMES[4:]), ip_address="81.7.1.2")
    come(alice, two, *(f"{name}@gmail.com" for name in NAMES))
    look(alice.service)
    shown = text_of(alice.web.get("/review").text)
    assert "8 referrals by Partner" in shown and "and 1 more partner with the same owner" in shown
    assert f"8 at {DOMAIN}" in shown and "$20.00 in fees if verified" in shown
    assert shown.count("Looks right") == 1 and "Differs" not in shown
    assert "1 group will be approved in a minute." in answer(alice, "looks_right")
    assert "Nothing to review" in text_of(alice.web.get("/review").text)
    logged = alice.service.read(lambda tx: tx.all(LOGGED, id=alice.account_id))
    assert logged == [("member", alice.user_id)]
    assert reasons(alice, one, two) == {("pending", True): 8, ("pending", False): 8}


def test_a_group_over_partners_costs_what_each_of_their_caps_leaves(alice: Operator) -> None:
    program = paid_program(alice)
    one, two = partner_of(alice, program), partner_of(alice, program)
    path = f"/v2/partner_programs/{program['uuid']}"
    assert alice.put(path, {"max_payout": 5}).status_code == 200
    alice.service.write(lambda tx: tx.run(SHARE_OWNER, code=one, other_code=two))
    come(alice, one, *(f"{name}@{DOMAIN}" for name in NAMES[:4]))
    come(alice, two, *(f"{name}@{DOMAIN}" for name in NAMES[4:]))
    look(alice.service)
    assert "$10.00 in fees if verified" in text_of(alice.web.get("/review").text)


def test_who_joins_a_group_after_the_click_is_not_approved_with_it(alice: Operator) -> None:
    code = partner_of(alice, paid_program(alice))
    come(alice, code, *(f"{name}@{DOMAIN}" for name in NAMES))
    look(alice.service)
    look(alice.service)
    (group_id,) = group_ids(alice)
    fields = {"group": group_id, "people": "8", "answer": "looks_right", "back": "/review"}
    alice.web.post("/review/cards/group", page="/review", **fields)
    come(alice, code, *(f"more.{name}@{DOMAIN}" for name in NAMES))
    look(alice.service)
    pass_minute(alice.service)
    look(alice.service)
    look(alice.service)
    assert not is_approved(alice, group_id)
    assert "16 referrals" in text_of(alice.web.get("/review").text)


def test_the_owner_is_told_of_a_group_and_reminded(alice: Operator) -> None:
    code = partner_of(alice, paid_program(alice))
    come(alice, code, *(f"{name}@{DOMAIN}" for name in NAMES))
    look(alice.service)
    look(alice.service)
    for days, n in ((0, 1), (0.5, 1), (1, 2), (3, 3), (6, 3), (7, 4), (12, 4)):
        alice.service.set_clock(days * 86_400 + 1)
        (job,) = [j for j in alice.service.services.loop.jobs if j.name == first_looks.ASKING]
        alice.service.run_job(job)
        told = alice.service.read(lambda tx: tx.all(TOLD, id=alice.account_id))
        assert told == [(n,)], days


def test_one_click_rejects_the_group_and_nobody_beside_it(alice: Operator) -> None:
    code = partner_of(alice, paid_program(alice))
    for number, name in enumerate(NAMES):
        come(alice, code, f"{name}@{DOMAIN}", ip_address=f"81.7.{number}.1")
    come(alice, code, *(f"{name}@gmail.com" for name in NAMES))
    look(alice.service)
    shown = text_of(alice.web.get("/review").text)
    assert "Differs: No two of them came from one IP network" in shown
    assert "8 referrals will be rejected in a minute." in answer(alice, "reject")
    assert reasons(alice, code) == {("rejected", True): 8, ("pending", False): 8}
    come(alice, code, f"one.more@{DOMAIN}")
    look(alice.service)
    assert "1 referral by Partner" in text_of(alice.web.get("/review").text)


def test_a_card_that_has_doubled_says_so(alice: Operator) -> None:
    code = partner_of(alice, paid_program(alice))
    come(alice, code, *(f"{name}@{DOMAIN}" for name in NAMES))
    look(alice.service)
    answer(alice, "looks_right")
    come(alice, code, *(f"{name}.2@{DOMAIN}" for name in NAMES[:7]))
    look(alice.service)
    assert "Nothing to review" in text_of(alice.web.get("/review").text)
    come(alice, code, f"one.more@{DOMAIN}")
    look(alice.service)
    shown = text_of(alice.web.get("/review").text)
    assert "looks right when it had 8 confirmed subscribers. It has doubled since." in shown


def test_a_group_of_another_account_cannot_be_answered(service: Service, alice: Operator) -> None:
    code = partner_of(alice, paid_program(alice))
    come(alice, code, *(f"{name}@{DOMAIN}" for name in NAMES))
    look(service)
    (group_id,) = group_ids(alice)
    bob = operator(service, "bob")
    sent = bob.web.post("/review/cards/group", page="/review", group=group_id, answer="looks_right")
    assert "There is no such group." in text_of(bob.web.get(sent.headers["location"]).text)
