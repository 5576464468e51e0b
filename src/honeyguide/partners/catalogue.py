"""The words a publication may describe itself with, as the specification lists them, and their places in a bit mask."""

from __future__ import annotations

from collections.abc import Iterable

CATEGORIES = (
    "marketing", "tech", "food & drink", "sports", "health & fitness", "news", "finance", "web3.0", "TV & movie", "literature",
    "science", "politics", "lifestyle", "business", "art & design", "travel", "media",
)  # fmt: skip
GENDERS = ("almost_all_male", "mainly_male", "mixed", "mainly_female", "almost_all_female")
INCOME_LEVELS = ("less than $20k", "$20k - $50k", "$50k - $75k", "$75k - $100k", "$100k - $150k", "$150k+")
AGE_RANGES = ("under 18", "18 - 24", "25 - 39", "40 - 59", "60+")
STATUSES = ("active", "archived")


def mask(chosen: Iterable[str], allowed: tuple[str, ...]) -> int:
    """One bit per word: a filter is then a single `&`."""
    return sum(1 << allowed.index(word) for word in set(chosen))
