"""The words that describe a publication's audience, as the specification lists them."""

from __future__ import annotations

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
