"""The words that describe a publication's audience, as the specification lists them, and the types
of the fields that hold them."""

from __future__ import annotations

from typing import Annotated

from honeyguide.kernel.public import choice, choices

CATEGORIES = (
    "marketing",
    "tech",
    "food & drink",
    "sports",
    "health & fitness",
    "news",
    "finance",
    "web3.0",
    "TV & movie",
    "literature",
    "science",
    "politics",
    "lifestyle",
    "business",
    "art & design",
    "travel",
    "media",
)
GENDERS = ("almost_all_male", "mainly_male", "mixed", "mainly_female", "almost_all_female")
INCOME_LEVELS = (
    "less than $20k",
    "$20k - $50k",
    "$50k - $75k",
    "$75k - $100k",
    "$100k - $150k",
    "$150k+",
)
AGE_RANGES = ("under 18", "18 - 24", "25 - 39", "40 - 59", "60+")
STATUSES = ("active", "archived")
MOST_CATEGORIES = 3

Categories = Annotated[
    list[str],
    choices(
        "What it is about: 1 to 3 categories.",
        ["food & drink", "lifestyle"],
        allowed=CATEGORIES,
        most=MOST_CATEGORIES,
        label="Categories",
    ),
]
PublicationStatus = Annotated[
    str,
    choice(
        "An archived publication's program accepts no new referrals.",
        "active",
        allowed=STATUSES,
        default="active",
    ),
]
Gender = Annotated[
    str, choice("Gender of the audience.", "mixed", allowed=GENDERS, label="Audience")
]
IncomeLevels = Annotated[
    list[str],
    choices(
        "Income levels of the audience, at least one.",
        ["$50k - $75k"],
        allowed=INCOME_LEVELS,
        label="Annual income",
    ),
]
AgeRanges = Annotated[
    list[str],
    choices(
        "Age ranges of the audience, at least one.",
        ["25 - 39", "40 - 59"],
        allowed=AGE_RANGES,
        label="Ages",
    ),
]
