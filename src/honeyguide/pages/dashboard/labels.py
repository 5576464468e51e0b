"""How pages show the words that describe a publication; the API has them as specified."""

from __future__ import annotations

_LABELS = {
    "almost_all_male": "Almost all men",
    "mainly_male": "Mainly men",
    "mixed": "Mixed",
    "mainly_female": "Mainly women",
    "almost_all_female": "Almost all women",
    "web3.0": "Web3",
    "TV & movie": "TV & movies",
}


def label(word: str) -> str:
    """Such as "Tech" for "tech" and "18–24" for "18 - 24"."""
    return _LABELS.get(word) or (word[:1].upper() + word[1:]).replace(" - ", "–")
