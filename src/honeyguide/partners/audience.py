"""The words that describe a publication's audience, as the specification lists them, and the types
of the fields that hold them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from honeyguide.kernel import checks
from honeyguide.kernel.public import doc

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
    doc(
        "1 to 3 categories.",
        ["food & drink", "lifestyle"],
        label="Categories",
        rule=partial(checks.some_of, allowed=CATEGORIES, most=MOST_CATEGORIES),
    ),
]
PublicationStatus = Annotated[
    str,
    doc(
        "`active` or `archived`.",
        "active",
        rule=partial(checks.one_of, allowed=STATUSES),
        default="active",
    ),
]
Gender = Annotated[
    str,
    doc(
        "Gender of the audience.",
        "mixed",
        label="Audience",
        rule=partial(checks.one_of, allowed=GENDERS),
    ),
]
IncomeLevels = Annotated[
    list[str],
    doc(
        "Income levels of the audience, at least one.",
        ["$50k - $75k"],
        label="Annual income",
        rule=partial(checks.some_of, allowed=INCOME_LEVELS),
    ),
]
AgeRanges = Annotated[
    list[str],
    doc(
        "Age ranges of the audience, at least one.",
        ["25 - 39", "40 - 59"],
        label="Ages",
        rule=partial(checks.some_of, allowed=AGE_RANGES),
    ),
]
