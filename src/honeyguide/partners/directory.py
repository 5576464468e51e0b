"""The network's directory: each listed program's position in each order and the words it is found
by, in narrow rows of their own. Browsing reads those; the wide rows of programs and publications
are read only for the page that is shown.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.paging import Page
from honeyguide.partners import audience
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

SORTS = ("created_at", "cpa", "max_payout", "confirmation_rate")
RATE_DAYS = 30
# What a program is found by: every one of its words is a row, so there are limits.
MOST_WORDS = 200
LONGEST_WORD = 32
# So many words of a search count, the longest ones.
MOST_SEARCHED = 3
# A page is reached by stepping along its order, or by sorting what was found. Sorting is quicker
# for so few, and for a page past the first fortieth of what a search finds, since each step of a
# search costs a lookup.
FEW = 1_000
EARLY = 40

_WORD = re.compile(r"\w+")
# Thai, Lao, Burmese, Khmer, Japanese and Chinese are written without spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
)
_LAST = "\U0010ffff"


class NetworkQuery(NamedTuple):
    """What a partner looks for; the default is everything, newest first."""

    search: str = ""
    category: str = ""
    min_cpa_cents: int = 0
    audience_gender: str = ""
    income_level: str = ""
    age_range: str = ""
    sort: str = "created_at"

    @property
    def traits(self) -> list[str]:
        """The words of the catalogue, those first that fewest programs have."""
        return [
            word
            for word in (self.category, self.audience_gender, self.income_level, self.age_range)
            if word
        ]


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_DROP_PLACES = _sql.command("drop_places")
_DROP_WORDS = _sql.command("drop_words")
_PUT_PLACES = _sql.command("put_places")
_PUT_WORDS = _sql.command("put_words")
_RATE = _sql.command("rate")
_COUNT = _sql.value("count", int)
_COUNT_FOUND = _sql.value("count_found", int)
_PAGE = _sql.value("page", str)
_PAGE_FOUND = _sql.value("page_found", str)


def since_day(now_ms: int) -> int:
    """Confirmation rates are of the days after this one."""
    return now_ms // DAY_MS - RATE_DAYS


def _searched(text: str) -> list[str]:
    """The words that somebody looks for, those first that fewest programs will have."""
    words = {word[:LONGEST_WORD] for word in _WORD.findall(text.lower())}
    return sorted(words, key=lambda word: (-len(word), word))[:MOST_SEARCHED]


def _findable(name: str, text: str) -> list[str]:
    """The words of a name and a text, each once. In scripts without spaces every letter begins a
    word. In a name any letter does, if three are left, so that "letter" finds the Newsletter."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text.lower()):
        for start in (0, *(letter.start() for letter in _UNSPACED.finditer(word, 1))):
            found[word[start : start + LONGEST_WORD]] = None
    for word in _WORD.findall(name.lower()):
        for start in range(1, len(word) - 2):
            found[word[start : start + LONGEST_WORD]] = None
    return list(found)[:MOST_WORDS]


def _as_word(trait: str) -> str:
    """A word of the catalogue among those of the text: none of them begins like it."""
    return f"={trait}="


def _shared(words: list[str]) -> dict[str, int]:
    """How many letters each word shares with the word before it in the dictionary. Of a program's
    words that begin with the search text, only the first shares fewer letters than the text has, so
    a program is found once."""
    shared, before = {}, ""
    for word in sorted(set(words)):
        shared[word] = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, word, strict=False))
        )
        before = word
    return shared


async def refresh(
    tx: Tx,
    account_id: str,
    publication_id: str,
    *,
    traits: list[str],
    name: str,
    text: str,
    now_ms: int,
) -> None:
    """Updates a publication's program in the directory, or removes it, whatever was changed."""
    program_id = await tx.one(_LOCK, account_id=account_id, publication_id=publication_id)
    if program_id is None:
        return
    await drop(tx, account_id, program_id)
    listed = await tx.run(
        _PUT_PLACES, account_id=account_id, program_id=program_id, traits=audience.mask(traits)
    )
    if listed:
        words = _shared([*map(_as_word, traits), *_findable(name, text)])
        await tx.run(
            _PUT_WORDS,
            account_id=account_id,
            program_id=program_id,
            words=msgspec.json.encode(words).decode(),
        )
        await tx.run(_RATE, program_id=program_id, since_day=since_day(now_ms))


async def drop(tx: Tx, account_id: str, program_id: str) -> None:
    for statement in (_DROP_PLACES, _DROP_WORDS):
        await tx.run(statement, account_id=account_id, program_id=program_id)


async def rate_all(tx: Tx, *, now_ms: int) -> None:
    """The order by confirmation rate, brought up to date now and then."""
    await tx.run(_RATE, program_id="", since_day=since_day(now_ms))


async def find(tx: Tx, wanted: NetworkQuery, page: Page) -> tuple[list[str], int]:
    """The programs on one page of the results, in order, and how many there are on all pages."""
    searched = _searched(wanted.search)
    if wanted.search.strip() and not searched:
        return [], 0
    filters: dict[str, Any] = {
        "traits": audience.mask(wanted.traits),
        "min_cpa_cents": wanted.min_cpa_cents,
    }
    by_place = {
        "sort": wanted.sort,
        "most": page.per_page,
        "skip": page.skip,
        **_ranges(searched),
        **filters,
    }
    rarest = [*searched, *map(_as_word, wanted.traits)]
    if not rarest:
        total = await tx.one(_COUNT, min_cpa_cents=wanted.min_cpa_cents) or 0
        return await tx.all(_PAGE, **by_place), total
    by_word = by_place | _ranges([rarest[0], *searched[1:]]) | {"length": len(rarest[0])}
    total = await tx.one(_COUNT_FOUND, **by_word) or 0
    is_late = bool(searched) and page.skip + page.per_page > total // EARLY
    ids = await (
        tx.all(_PAGE_FOUND, **by_word) if total <= FEW or is_late else tx.all(_PAGE, **by_place)
    )
    return ids, total


def _ranges(words: list[str]) -> dict[str, Any]:
    """Where in the dictionary what begins with each of these words is."""
    ranges: dict[str, Any] = {"searched": len(words)}
    for n in range(MOST_SEARCHED):
        word = words[n] if n < len(words) else ""
        ranges |= {f"word_{n + 1}": word, f"past_{n + 1}": word + _LAST}
    return ranges
