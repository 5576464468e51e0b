"""The sentence on top of Home, and the figures below it, without a database."""

from typing import Any

import pytest

from honeyguide.pages.dashboard.home import home_sentence, overview_numbers
from honeyguide.pages.dashboard.home.home_comb import Bringer
from honeyguide.pages.dashboard.home.home_sentence import SentenceFacts

MATEO = Bringer("Mateo Torres", 13)
USUAL: dict[str, Any] = {
    "days": 30,
    "new": 158,
    "referred": 126,
    "imported": 0,
    "clicks": 516,
    "new_before": 133,
    "referred_before": 106,
    "earlier": "the 30 days before",
    "subscribers": 33,
    "partners": 3,
    "has_people": True,
    "bringers": [Bringer("Dana Sato", 4), MATEO],
    "referred_ever": 800,
    "first_rewards": 0,
}
QUIET = {"new": 0, "referred": 0}
SMALL = {"new": 36, "referred": 15, "subscribers": 3, "partners": 0, "referred_before": 2}
LEA = [Bringer("Lea Brandt", 6, "Ida Holm"), Bringer("Ida Holm", 5)]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {},
            "126 people came through 33 subscribers and 3 partners, 19% more than in the 30 days "
            "before. Mateo Torres brought 13.",
        ),
        (
            {"referred_before": 150, "partners": 0},
            "126 people came through 33 subscribers, 16% fewer than in the 30 days before. Mateo "
            "Torres brought 13.",
        ),
        (
            {"referred_before": 125, "subscribers": 0, "partners": 1, "bringers": [MATEO]},
            "126 people came through 1 partner, about as many as in the 30 days before. Mateo "
            "Torres brought 13.",
        ),
        (
            {"referred_before": 19},
            "126 people came through 33 subscribers and 3 partners. Mateo Torres brought 13.",
        ),
        (
            {"referred_before": None, "new_before": None},
            "126 people came through 33 subscribers and 3 partners. Mateo Torres brought 13.",
        ),
        (
            {"first_rewards": 2},
            "126 people came through 33 subscribers and 3 partners, 19% more than in the 30 days "
            "before. The first 2 rewards were earned.",
        ),
        (
            {**SMALL, "bringers": LEA},
            "15 of 36 new subscribers came through three people. Lea Brandt came through Ida Holm, "
            "and brought 6.",
        ),
        (
            {**SMALL, "referred": 19, "subscribers": 12, "partners": 1},
            "19 of 36 new subscribers came through 12 subscribers and 1 partner. Mateo Torres "
            "brought 13.",
        ),
        (
            {**SMALL, "referred": 1, "referred_ever": 1, "bringers": [Bringer("Ida Holm", 1)]},
            "Your first referral came in these 30 days. Ida Holm brought 1.",
        ),
        (
            {**SMALL, "referred": 3, "referred_ever": 3, "bringers": [Bringer("Ida Holm", 3)]},
            "Your first 3 referrals came in these 30 days. Ida Holm brought 3.",
        ),
        (
            {"new": 6_220, "referred": 4_420, "new_before": 5_456, "has_people": False},
            "6,220 people joined in these 30 days, 14% more. "
            "71% came through subscribers and partners.",
        ),
        (
            {"referred": 0, "bringers": [], "clicks": 1},
            "158 people joined in these 30 days, none of them through a referral. "
            "Referral links were clicked once.",
        ),
        (
            {"new": 1, "referred": 0, "bringers": [], "clicks": 0},
            "1 person joined in these 30 days, not through a referral. Nobody clicked a referral "
            "link.",
        ),
        ({**QUIET, "days": 1, "new_before": None, "clicks": 0}, "Nobody joined on this day."),
        (QUIET, "Nobody joined in these 30 days. In the 30 days before, 133 did."),
        (
            QUIET | {"earlier": "the day before", "new_before": 1},
            "Nobody joined in these 30 days. The day before, 1 did.",
        ),
        (
            {**QUIET, "new_before": 0},
            "Nobody joined in these 30 days. Links were clicked 516 times.",
        ),
        (
            {**QUIET, "new_before": None, "clicks": 0, "imported": 1_204},
            "Nobody new joined in these 30 days. 1,204 subscribers came by import.",
        ),
    ],
)
def test_the_sentence_says_what_is_most_worth_saying(facts: dict[str, Any], sentence: str) -> None:
    found = home_sentence.choose(SentenceFacts(**{**USUAL, **facts}))
    assert f"{found.main} {found.more}".strip() == sentence


def test_a_right_to_left_name_does_not_reorder_the_sentence() -> None:
    found = home_sentence.choose(SentenceFacts(**{**USUAL, "bringers": [Bringer("ليلى", 3)]}))
    assert found.more == "\u2068ليلى\u2069 brought 3."


@pytest.mark.parametrize(
    ("now", "before", "text", "is_up"),
    [
        (158, 133, "19%", True),
        (20, 40, "50%", False),
        (36, 4, "32", True),
        (3, 19, "16", False),
        (7, 0, "7", True),
        (1_001, 1_000, "1", True),
        (5, 5, "", True),
        (5, None, "", True),
    ],
)
def test_no_percentage_on_a_base_under_twenty(
    now: int, before: int | None, text: str, is_up: bool
) -> None:
    assert overview_numbers.change(now, before) == (text, is_up)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (7, 8, "7 of 8"),
        (19, 19, "19 of 19"),
        (88, 93, "95%"),
        (399, 400, "99%"),
        (400, 400, "100%"),
    ],
)
def test_a_share_of_few_is_said_in_numbers(part: int, whole: int, text: str) -> None:
    assert overview_numbers.share(part, whole) == text
