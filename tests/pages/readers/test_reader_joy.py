"""A reward that dropped is celebrated on the referral page: once, to whom it belongs, on both
engines.
"""

import re

import pytest

from honeyguide.rewards.rewards import NewReward
from tests.support.newsletter import Newsletter
from tests.support.web import text_of

pytestmark = pytest.mark.usefixtures("roomy_network")
HEADLINE = "You’ve earned “ {} ”!"


def is_celebrated(page: str, reward: str) -> bool:
    is_joy = 'class="card own-progress joy"' in page
    assert is_joy == (HEADLINE.format(reward) in text_of(page))
    assert is_joy == ('class="newest"' in page)
    return is_joy


def test_the_first_visit_after_a_reward_dropped_celebrates_it(wax: Newsletter) -> None:
    wax.offer()
    ben, ann = wax.advocate(1), wax.advocate(1)
    hub = wax.hub(ben)
    first, second = wax.visitor.get(hub).text, wax.visitor.get(hub).text
    assert is_celebrated(first, "Sticker pack") and not is_celebrated(second, "Sticker pack")
    assert "1 friend reads The Morning Wax because of you." in text_of(first)
    assert is_celebrated(wax.visitor.get(wax.hub(ann)).text, "Sticker pack"), "everybody's own"


def test_each_reward_has_its_moment(wax: Newsletter) -> None:
    wax.offer(NewReward("The mug", 1, "physical"), NewReward("Our tasting guide", 2, "manual"))
    ben = wax.advocate(1)
    hub = wax.hub(ben)
    assert is_celebrated(wax.visitor.get(hub).text, "The mug")
    wax.member.subscribe(wax.address("friend"), referrer_code=ben.ref_code)
    assert is_celebrated(wax.visitor.get(hub).text, "Our tasting guide")
    assert not is_celebrated(wax.visitor.get(hub).text, "Our tasting guide")


def test_what_nobody_saw_is_still_to_be_celebrated(wax: Newsletter) -> None:
    wax.offer()
    hub = wax.hub(wax.advocate(1))
    for headers in (
        {"user-agent": "Slackbot-LinkExpanding 1.0"},
        {"user-agent": ""},
        {"sec-purpose": "prefetch;prerender"},
    ):
        assert wax.visitor.get(hub, headers=headers).status_code == 200
    assert wax.visitor.head(hub).status_code == 200
    assert is_celebrated(wax.visitor.get(hub).text, "Sticker pack")


def test_what_cannot_be_claimed_yet_is_not_celebrated(wax: Newsletter) -> None:
    wax.offer(NewReward("Dinner", 1, "manual", approval="manual"))
    assert not is_celebrated(wax.visitor.get(wax.hub(wax.advocate(1))).text, "Dinner")


def test_what_is_ready_stands_above_everything_else(wax: Newsletter) -> None:
    wax.offer()
    page = wax.visitor.get(wax.hub(wax.advocate(3))).text
    main = page.partition("<main")[2]
    assert 0 < main.index('class="card ready"') < main.index("<h1>")
    ready = re.findall(r"<b>([^<]+)</b>", main[main.index("card ready") : main.index("<h1>")])
    assert ready == ["Sticker pack", "Secret recipes"]
    assert "card ready" not in wax.visitor.get(wax.hub(wax.advocate(0))).text


def test_of_many_that_are_ready_each_has_one_button(wax: Newsletter) -> None:
    wax.offer(NewReward("A badge", 1, "manual", recurring=True))
    page = wax.visitor.get(wax.hub(wax.advocate(5))).text
    claims = re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', page)
    assert len(claims) == len(set(claims)) == 5
    assert page.partition("<h1>")[0].count("/claim/") == 3
