"""Home on both engines: the figures, why some were rejected, what was earned, what needs the
operator, what partners cost.
"""

import re

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import formats
from honeyguide.rewards import recent_counts
from honeyguide.subscribers import clicks
from honeyguide.subscribers.reasons import Reason
from tests.support.delayed import pass_minute
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of


def home(who: Operator, query: str = "") -> str:
    answer = who.web.get(f"/{query}")
    assert answer.status_code == 200
    return answer.text


def card(page: str, name: str) -> str:
    """What a person reads of the figure with this name."""
    found = re.search(
        rf'<div class="figure">\s*<span(?: class="name")?>{name}.*?</div>',
        page,
        re.DOTALL,
    )
    assert found is not None, f"there is no figure {name}"
    return text_of(found[0]).strip()


def bring(owner: Operator, code: str, *emails: str) -> None:
    for email in emails:
        owner.subscribe(email, referrer_code=code)


def test_rejections_are_counted_by_their_reason(service: Service, alice: Operator) -> None:
    ann = alice.subscribe("ann@gmail.com")
    bring(
        alice,
        ann["ref_code"],
        "a.nn@gmail.com",
        "a@mailinator.com",
        "b@mailinator.com",
        "real@example.org",
    )
    sentence = (
        "3 rejected: 2 with a disposable email address, 1 with an alias of the referrer’s email "
        "address."
    )
    assert sentence in text_of(home(alice))
    service.set_clock(40 * DAY_MS / 1000)
    alice.web.log_in(alice.email)
    assert "rejected:" not in text_of(home(alice)), "none of them in the last 30 days"
    assert sentence in text_of(home(alice, "?range=year"))


def test_every_reason_has_words_of_its_own() -> None:
    """Every one that a rejected referral can have."""
    without = {reason.value for reason in Reason if not reason.facts.counted}
    assert without == {
        "awaiting_activity",
        "awaiting_confirmation",
        "awaiting_first_look",  # it waits; who is never looked at ends as unreviewed
        "ended_by_team",  # it waits for the owner
        "holding_period",
        "needs_review",
        "own_program",
        "verified_by_hand",
        "screening_hold_over",
    }


def test_what_an_advocate_brings_leaves_partners_readers_out(
    alice: Operator, bob: Operator
) -> None:
    place = join(bob, offer(alice, publish(alice), total_budget=6))
    ann = alice.subscribe("ann@example.org")
    bring(alice, ann["ref_code"], "f1@example.org", "f2@example.org")
    bring(alice, place["ref_code"], *(f"p{n}@example.org" for n in range(5)))
    page = home(alice)
    assert card(page, "Referred") == "Referred 7 7 verified"
    assert (
        "7 of 8 new subscribers came through 1 subscriber and 1 partner. Bob brought 5."
        in text_of(page)
    )
    assert "2 referrals by 1 subscriber: 2.0 each" in text_of(page)


def test_rewards_earned_claimed_and_to_approve(alice: Operator) -> None:
    assert "Rewards Earned" not in text_of(home(alice)), "no reward, no card"
    for name, count, approval in (("Guide", 1, "automatic"), ("Mug", 2, "manual")):
        fields = {"name": name, "referrals": count, "approval": approval}
        assert alice.post(f"{alice.v1}/rewards", fields).status_code == 201
    ann = alice.subscribe("ann@example.org")
    bring(alice, ann["ref_code"], "f1@example.org", "f2@example.org")
    earned = alice.get(f"{alice.v1}/subscribers/ann@example.org/rewards").json()["rewards"]
    guide = next(each["uuid"] for each in earned if each["name"] == "Guide")
    page = home(alice)
    assert (
        card(page, "Earned") == "Earned 2 in this range"
        and card(page, "Claimed") == "Claimed 0 1 unclaimed"
    )
    assert "1 earned reward awaits your approval" in text_of(page)
    assert (
        alice.post(f"{alice.v1}/subscribers/ann@example.org/rewards/{guide}/redeem").status_code
        == 200
    )
    assert card(home(alice), "Claimed") == "Claimed 1 0 unclaimed"
    assert "All rewards earned" in text_of(page), "Ann is past the last reward"


def test_where_rewards_are_too_many_to_count_the_page_says_so(
    alice: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, approval in (("Guide", "automatic"), ("Mug", "manual")):
        fields = {"name": name, "referrals": 1, "approval": approval}
        assert alice.post(f"{alice.v1}/rewards", fields).status_code == 201
    for number in range(3):
        lead = alice.subscribe(f"lead{number}@example.org")
        bring(alice, lead["ref_code"], f"friend{number}@example.org")
    redeemed = alice.get(f"{alice.v1}/subscribers/lead0@example.org/rewards").json()["rewards"]
    guide = next(each["uuid"] for each in redeemed if each["name"] == "Guide")
    assert (
        alice.post(f"{alice.v1}/subscribers/lead0@example.org/rewards/{guide}/redeem").status_code
        == 200
    )
    for most, earned in ((3, "6"), (2, "5+")):
        monkeypatch.setattr(recent_counts, "MOST_EARNED", most)
        page = home(alice)
        assert card(page, "Earned") == f"Earned {earned} in this range"
        assert card(page, "Claimed") == "Claimed 1 2 unclaimed", "counted to their end"


def test_a_budget_that_is_nearly_spent_needs_a_decision(alice: Operator, bob: Operator) -> None:
    offer(alice)  # another one under the same name
    program = offer(alice, publish(alice), cpa=2, max_payout=10, total_budget=10)
    code = join(bob, program)["ref_code"]
    bring(alice, code, *(f"p{n}@example.org" for n in range(3)))
    assert "Nothing needs you." in text_of(home(alice)), "six of ten dollars"
    bring(alice, code, "p4@example.org")
    page = home(alice)
    assert f'href="/program/{program["uuid"]}/change"' in page
    page = text_of(page)
    assert "at 80% $8.00 of $10.00 is spent this month (UTC)." in page
    assert page.index("New subscribers") < page.index("1 thing needs you budget at 80%")
    alice.delete(f"/v2/partner_programs/{program['uuid']}")
    assert "Nothing needs you." in text_of(home(alice)), "nobody can change what was deleted"


def test_what_waits_for_the_operator_is_what_screening_suspects(
    service: Service, alice: Operator
) -> None:
    """Of all that wait, not those whose hold ends by itself; counted and listed alike."""
    alice.web.post(
        "/settings/campaign",
        page="/settings",
        name="A",
        slug=f"a{alice.campaign_id[-6:]}",
        screening="strong",
        hold_days="5",
        destination_url="",
    )
    ann, ben = (
        alice.subscribe(f"{name}@example.org", ip_address="198.51.100.7") for name in ("ann", "ben")
    )
    alice.subscribe("near@example.org", referrer_code=ann["ref_code"], ip_address="198.51.100.7")
    for n in range(5):  # a household of three raises no question
        alice.subscribe(
            f"office{n}@example.org", referrer_code=ann["ref_code"], ip_address="198.51.100.8"
        )
    bring(alice, ben["ref_code"], *(f"held{n}@example.org" for n in range(10)))
    suspects = ["near@example.org", "office3@example.org", "office4@example.org"]
    page = text_of(alice.web.get("/review").text)
    assert all(email in page for email in suspects) and "held0@example.org" not in page
    assert "Review waiting: 3 " in page
    due = formats.day(service.now_ms() + 7 * DAY_MS)
    sentence = f"3 referrals look suspicious The first will be verified automatically on {due}"
    assert sentence in text_of(home(alice))
    assert alice.web.get("/review?show=pending").text.count('aria-label="Select') - 1 == 1 + 5 + 10
    bring(alice, ben["ref_code"], "burst@example.org")
    assert "People waiting: 4 " in text_of(home(alice)), "the eleventh within an hour"
    assert alice.delete(f"{alice.v1}/subscribers/near@example.org").status_code == 200
    decided = alice.get(f"{alice.v1}/subscribers/office3@example.org").json()["subscriber"]["uuid"]
    alice.web.post("/review", id=decided, do="verify")
    pass_minute(service)
    assert "People waiting: 2 " in text_of(home(alice)), "one is erased, one is decided"
    service.set_clock(8 * DAY_MS / 1000)
    service.run_jobs()
    alice.web.log_in(alice.email)
    assert (
        "People waiting" not in text_of(home(alice))
        and "Nothing to review" in alice.web.get("/review").text
    )


def test_signups_without_a_click_are_no_share_of_the_clicks(
    service: Service, alice: Operator, bob: Operator
) -> None:
    """Those that came by the API."""
    place = join(bob, offer(alice, publish(alice), cpa=0))
    seen = clicks.click(
        service.services.site,
        account_id=alice.account_id,
        target_id=place["uuid"],
        code=place["ref_code"],
        address="198.51.100.7",
        user_agent="a browser",
        now_ms=service.now_ms(),
    )
    service.write(lambda tx: clicks.count_clicks(tx, [seen]))
    bring(alice, place["ref_code"], "ann@example.org", "ben@example.org")
    assert card(home(alice), "Clicks on links") == "Clicks on links 1 2 signed up"
    page = text_of(alice.web.get(f"/program/partners/{place['uuid']}").text)
    assert "Clicks 1 one per visitor and hour Signups 2 Confirmed their address 2" in page


def test_a_program_that_is_off_and_cost_nothing_is_not_counted(service: Service) -> None:
    alice, bob = operator(service), service.member("bob")
    place = join(bob, offer(alice))
    paused = publish(alice)
    also = join(bob, offer(alice, paused))
    bring(alice, place["ref_code"], "ann@example.org")
    assert "$3.00 in 2 programs" in card(home(alice), "Partner fees")
    path = f"/v2/publications/{paused['uuid']}"
    assert alice.put(path, {"enabled_partner_program": False}).status_code == 200
    assert "$3.00 of $300.00" in card(home(alice), "Partner fees")
    assert alice.put(path, {"enabled_partner_program": True}).status_code == 200
    bring(alice, also["ref_code"], "ben@example.org")
    assert alice.put(path, {"status": "archived"}).status_code == 200
    assert "$6.00 in 2 programs" in card(home(alice), "Partner fees"), "it cost something"
