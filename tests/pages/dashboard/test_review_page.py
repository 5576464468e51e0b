"""Referrals to review in groups: who is in one, what its members have in common, what is at stake,
and deciding a group at once.
"""

import re
from typing import Any

import pytest

from honeyguide.kernel import checks
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.people import review as review_page
from honeyguide.screening import evidence, review
from honeyguide.screening.review import ReviewGroup
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.signups import group_looks
from tests.support.delayed import offered, pass_minute
from tests.support.partner_network import join, offer
from tests.support.readings import reading
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

DAY_MS = 86_400_000
NAMES = ("ada", "bela", "carlos", "dmitri", "eleni", "farid", "grete", "hugo", "ines", "jonas")
RARE = [f"{name}@quiet-harbor.example" for name in NAMES[:6]]
COUNTED = [f"otter{number}@gmail.com" for number in range(4)]


@pytest.fixture
def alice(service: Service) -> Operator:
    alice = operator(service)
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    return alice


def suspicious(alice: Operator, name: str, many: int, ip_address: str) -> str:
    """A referrer with so many suspicious referrals, all from the same IP network; their code."""
    code: str = alice.subscribe(f"{name}@example.org", name=name.title(), ip_address=ip_address)[
        "ref_code"
    ]
    for friend in NAMES[:many]:
        alice.subscribe(f"{friend}.{name}@gmail.com", referrer_code=code, ip_address=ip_address)
    return code


def paid(alice: Operator, cpa: float = 2.5) -> str:
    """The code of a partner whose suspicious referrals wait for the owner."""
    program = offer(
        alice, cpa=cpa, referral_pending_duration_enabled=True, referral_pending_duration=14
    )
    path = f"/v2/partner_programs/{program['uuid']}/verification"
    assert alice.put(path, {"rule": "none", "screening": "strong"}).status_code == 200
    code: str = join(alice.service.member("bob"), program)["ref_code"]
    return code


def come(alice: Operator, code: str, *emails: str) -> None:
    """People come with the code, and the job looks at what they have in common."""
    for email in emails:
        alice.subscribe(email, referrer_code=code)
    run_group_job(alice.service)


def run_group_job(service: Service) -> None:
    (job,) = [job for job in service.services.loop.jobs if job.name == group_looks.LOOKING]
    service.run_job(job)


def groups(
    alice: Operator, kind: str = "suspected", page: int = 1, per_page: int = 20
) -> list[ReviewGroup]:
    tenant = Tenant(alice.account_id, alice.campaign_id)
    return alice.service.read(
        lambda tx: review.page_of_groups(reading(tx, tenant), kind, Page(page, per_page))
    )[0]


def sizes(found: list[ReviewGroup]) -> list[tuple[str, int]]:
    return [(group.code, len(group.members)) for group in found]


def referrals(alice: Operator, code: str) -> dict[str, Any]:
    people = alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    return {p["email"]: p["referral_status"] for p in people if p["referrer_code"] == code}


def test_without_evidence_the_reason_makes_a_group(alice: Operator) -> None:
    ann = suspicious(alice, "ann", 2, "9.9.9.9")
    ben = suspicious(alice, "ben", 3, "203.0.113.7")
    found = groups(alice)
    assert sizes(found) == [(ben, 3), (ann, 2)]
    assert found[0].reasons == [("same_network", "203.0.113.7")]
    assert found[0].first_ms < found[0].last_ms
    assert sizes(groups(alice, page=2, per_page=1)) == [(ann, 2)]
    shown = text_of(alice.web.get("/review?by=referrer").text)
    due = formats.day(found[0].due_ms or 0)
    assert "3 referrals by Ben" in shown and "No fee" in shown
    assert "Same IP network as the referrer" in shown and "203.0.113.7" not in shown
    assert "carlos.ben@gmail.com bela.ben@gmail.com" in shown and "Show all 3 by Ben" in shown
    assert f"Verified from {due} on unless you decide earlier." in shown


def test_the_strongest_evidence_makes_a_group_and_dollars_come_first(alice: Operator) -> None:
    suspicious(alice, "ann", 9, "9.9.9.9")
    code = paid(alice)
    come(alice, code, *RARE, *COUNTED)
    found = groups(alice)
    money = [(group.at_stake_cents, len(group.members)) for group in found]
    assert money[:2] == [(1_500, 6), (1_000, 4)] and money[2][0] == 0
    assert {member.email for member in found[0].members} == set(RARE)
    lines = [(line.sentence.split(":")[0], line.is_against, line.n) for line in found[0].evidence]
    assert lines == [
        ("Signups through this link share mail domains that few other subscribers have", True, 6)
    ]
    assert "4 like otter#" in found[1].evidence[0].sentence
    # What speaks for some of a group is a line, too, and comes last.
    confirmed = SignalFinding(Signal.CONFIRMED, "17 Nov 2026", 0)
    alice.make(evidence.record, {found[0].members[0].id: [confirmed]})
    shown = text_of(alice.web.get("/review?by=referrer").text)
    due = formats.day(found[0].due_ms or 0)
    assert found[0].due_ms and found[0].due_ms > alice.service.now_ms() + 43 * DAY_MS
    assert "$15.00 in fees if verified" in shown
    assert "6 of 10 at quiet-harbor.example. All 6" in shown
    assert "For They confirmed their email address: 17 Nov 2026. 1 of 6" in shown
    assert "Rejecting keeps $15.00 in your budget." in shown
    # Less is said to be at stake if less fits: of the cap, then of the budget.
    path = alice.get("/v2/partner_programs").json()["partner_programs"][0]["uuid"]
    came_low = statement("UPDATE partner_referral SET budget_cents = 0, cap_cents = 0")
    alice.service.write(lambda tx: tx.run(came_low))  # else they keep the limits of their arrival
    for terms, sentences in (
        ({"max_payout": 6}, ("$5.00 in fees if verified; $10.00 does not fit", "keeps $5.00 in")),
        ({"total_budget": 3}, ("$2.50 in fees if verified; $12.50 does not fit", "keeps $2.50 in")),
        ({"total_budget": 1}, ("No fee $15.00 does not fit this month",)),
    ):
        assert alice.put(f"/v2/partner_programs/{path}", terms).status_code == 200
        now = text_of(alice.web.get("/review?by=referrer").text)
        assert all(sentence in now for sentence in sentences), now
    assert "in your budget" not in now
    assert f"Rejected from {due} on unless you decide earlier." in shown


def test_counts_in_what_was_found_make_no_other_group(alice: Operator) -> None:
    code = paid(alice)
    come(alice, code, *RARE)
    first = groups(alice)[0].members[0].id
    found = SignalFinding(Signal.RARE_DOMAIN, "4 of 5 at quiet-harbor.example", 3)
    alice.make(evidence.record, {first: [found]})
    assert sizes(groups(alice)) == [(code, 6)]
    other = SignalFinding(Signal.RARE_DOMAIN, "6 of 10 at harbor2.example", 3)
    alice.make(evidence.record, {first: [other]})
    assert sizes(groups(alice)) == [(code, 5), (code, 1)]


def test_home_says_what_happens_to_the_first(alice: Operator) -> None:
    come(alice, paid(alice), *RARE)
    (group,) = groups(alice)
    sentence = (
        f"The first will be rejected automatically on {formats.day(group.due_ms or 0)} unless"
    )
    assert sentence in text_of(alice.web.get("/").text)
    assert "those by partners are rejected on their date" in text_of(alice.web.get("/review").text)
    suspicious(alice, "ann", 1, "9.9.9.9")  # comes later and is due earlier
    assert "The first will be verified automatically on" in text_of(alice.web.get("/").text)


def test_one_group_is_decided_with_a_reason_listed_and_undone(alice: Operator) -> None:
    code = paid(alice)
    come(alice, code, *RARE, *COUNTED)
    rare, other = groups(alice)
    page = alice.web.get(f"/review?show=suspected&code={code}&group={rare.key}").text
    assert re.findall(r'aria-label="Select (\S+@\S+)"', page) == RARE[::-1]
    sent = {"show": "suspected", "code": code, "group": rare.key, "do": "reject"}
    long = {**sent, "decision_reason": "x" * (checks.DESCRIPTION_LIMIT + 1)}
    refused = alice.web.post("/review/referrer?show=suspected&by=referrer", page="/review", **long)
    assert refused.status_code == 400 and f'id="h-decision_reason-{rare.key}"' in refused.text
    assert f'id="h-decision_reason-{other.key}"' not in refused.text
    sent |= {"decision_reason": "A farm", "back": "/review?by=referrer"}
    alice.web.post("/review/referrer", page="/review", **sent)
    shown = alice.web.get("/review?by=referrer").text
    assert text_of(shown).count("6 referrals will be rejected in less than a minute") == 1
    alice.web.post("/account/undo", page="/review", action=offered(shown))
    pass_minute(alice.service)
    assert set(referrals(alice, code).values()) == {"pending"}
    alice.web.post("/review/referrer", page="/review", **sent)
    pass_minute(alice.service)
    assert referrals(alice, code) == {
        **dict.fromkeys(RARE, "rejected"),
        **dict.fromkeys(COUNTED, "pending"),
    }
    person = alice.subscriber(RARE[0])["uuid"]
    assert "A farm" in text_of(alice.web.get(f"/subscribers/{person}").text)
    alice.web.post("/review/referrer", page="/review", **sent)
    assert "Nothing is left to decide in this group." in text_of(alice.web.get("/review").text)


def test_who_is_unchecked_is_left_out(alice: Operator) -> None:
    code = paid(alice)
    come(alice, code, *RARE)
    (group,) = groups(alice)
    page = alice.web.get("/review").text
    ids = re.findall(r'name="id" value="([^"]+)" checked', page)
    assert ids == [each.id for each in group.members]
    stranger = operator(alice.service, "eve").subscribe("someone@example.org")["uuid"]
    sent = {"show": "suspected", "code": code, "group": group.key, "do": "reject", "chosen": "1"}
    kept = [ids[0], ids[2], stranger]
    long = {**sent, "id": kept, "decision_reason": "x" * (checks.DESCRIPTION_LIMIT + 1)}
    refused = alice.web.post("/review/referrer", page="/review", **long)
    assert re.findall(r'name="id" value="([^"]+)" checked', refused.text) == kept[:2]
    alice.web.post("/review/referrer", page="/review", **sent)
    assert "Select at least one referral first." in text_of(alice.web.get("/review").text)
    alice.web.post("/review/referrer", page="/review", **sent, id=kept)
    assert "2 referrals will be rejected in a minute." in text_of(alice.web.get("/review").text)
    pass_minute(alice.service)
    left = {each.email for each in groups(alice)[0].members}
    assert left == set(RARE) - {group.members[0].email, group.members[2].email}


def test_a_long_group_has_pages(alice: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_page, "PER_PAGE", 4)
    code = paid(alice)
    come(alice, code, *RARE, *COUNTED)
    key, seen = groups(alice)[0].key, list[str]()
    path = f"/review?show=suspected&code={code}&group={key}"
    while path:
        page = alice.web.get(path).text
        seen += re.findall(r'aria-label="Select (\S+@\S+)"', page)
        path = "".join(re.findall(r'rel="next" href="([^"]+)"', page)).replace("&amp;", "&")
    assert seen == RARE[::-1]


def test_another_accounts_groups_are_not_seen_or_decided(service: Service, alice: Operator) -> None:
    code = paid(alice)
    come(alice, code, *RARE)
    (group,) = groups(alice)
    eve = operator(service, "eve")
    assert groups(eve) == []
    sent = {"show": "suspected", "code": code, "group": group.key, "do": "verify"}
    eve.web.post("/review/referrer", page="/review", **sent)
    pass_minute(service)
    assert sizes(groups(alice)) == [(code, 6)]


def test_only_the_newest_are_grouped(alice: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    suspicious(alice, "old", 3, "9.9.9.9")
    new = suspicious(alice, "new", 3, "203.0.113.7")
    monkeypatch.setattr(review, "NEWEST", 3)
    assert sizes(groups(alice)) == [(new, 3)]


@pytest.mark.parametrize(("verdict", "status"), [("verify", "verified"), ("reject", "rejected")])
def test_all_of_one_referrer_are_decided(
    alice: Operator, monkeypatch: pytest.MonkeyPatch, verdict: str, status: str
) -> None:
    monkeypatch.setattr(review_page, "MOST_OF_REFERRER", 3)
    ann = suspicious(alice, "ann", 4, "9.9.9.9")
    ben = suspicious(alice, "ben", 1, "203.0.113.7")
    run_group_job(alice.service)
    listed = text_of(alice.web.get(f"/review?code={ann}").text)
    assert "Referrals by Ann" in listed and "dmitri.ann@gmail.com" in listed
    assert "ada.ben@gmail.com" not in listed
    for n, left in (("3 referrals", " Some are left"), ("1 referral", "")):
        alice.web.post("/review/referrer", page="/review", code=ann, show="suspected", do=verdict)
        page = text_of(alice.web.get("/review?by=referrer").text)
        assert f"{n} will be {status} in a minute.{left}" in page
        assert f"{n} will be {status} in less than a minute · Undo for Ann" in page
        pass_minute(alice.service)
    assert sizes(groups(alice)) == [(ben, 1)]
    assert list(referrals(alice, ann).values()) == [status] * 4


def test_a_partners_and_an_erased_referrers_groups_have_names(
    service: Service, alice: Operator
) -> None:
    bob = service.member("bob")
    code = join(bob, offer(alice, referral_pending_duration_enabled=True))["ref_code"]
    alice.subscribe("sent@example.org", referrer_code=code)
    gone = suspicious(alice, "gone", 2, "9.9.9.9")
    alice.delete(f"{alice.v1}/subscribers/gone@example.org")
    shown = text_of(alice.web.get("/review?show=pending&by=referrer").text)
    assert "2 referrals by a deleted subscriber" in shown
    assert "Partner ·" in shown and "Holding period" in shown
    assert {group.code for group in groups(alice, "pending")} == {code, gone}
    one_by_one = text_of(alice.web.get("/review?show=pending&by=one").text)
    assert "sent@example.org referred by Bob , a partner" in one_by_one
    assert one_by_one.count("referred by a deleted subscriber") == 2
    assert "Referrals by Bob" in text_of(alice.web.get(f"/review?show=pending&code={code}").text)
