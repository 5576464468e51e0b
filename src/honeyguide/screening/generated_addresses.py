"""Which email addresses of a group look as if a program had made them: counted up, all of one
pattern, or without sense. One such address is nothing; a group of them is. Everything takes
linear time, because the addresses come from outside.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import NamedTuple

from honeyguide.screening.signals import THRESHOLDS, Signal, SignalFinding

_LONGEST_LOCAL_PART = 64
"""The longest that mail servers take; further characters are not looked at."""
_LONGEST_NUMBER = 9
_LONGEST_SAMPLE = 24

# For each letter, those that often follow it in names of seventy languages: 19 of 20 pairs in
# names, and one of three in random letters.
_PAIRS = """
aabcdefghijklmnoprstuvyz baeioru cacehikorz daehioru eabcdeghiklmnoprstvwyz faeiru gaehiloru
haeimoru iabcdeghjklmnorstvyz jaeiou kaehioru labdegilostuy mabeimou nacdegijnostuy
oabcdefgijlmnorstuv paehiou qu rabcdegiklmnorstuwy sacehiklnopstuw taehiorstu uabcdegiklmnprstyz
vaei waeio yaeinou zaeiou
"""
_USUAL_PAIRS = frozenset(row[0] + second for row in _PAIRS.split() for second in row[1:])
_GIBBERISH_PAIRS = 0.5
"""A word with a smaller share of usual pairs is gibberish: 7 of 10 random words, and one name in a
thousand."""
_DOUBTFUL_PAIRS = 0.7
"""The same among others that are."""
_ALTERNATIONS = 3
"""So often a name does not change between letters and digits; less often once is doubtful."""

_words = re.compile(r"[a-z]{6,}").findall
_number = re.compile(r"[0-9]+")
_alternation = re.compile(r"a(?=#)|#(?=a)").findall
_TO_PATTERN = str.maketrans("abcdefghijklmnopqrstuvwxyz0123456789", "a" * 26 + "#" * 10)
_run = re.compile(r"a+|#+")


class LocalPart(NamedTuple):
    """A local part, prepared for all comparisons."""

    id: str
    text: str
    stem: str
    """With `#` for each number."""
    pattern: str
    """With `a` for each letter and `#` for each digit."""
    last_number: int | None


def findings(local_parts: Iterable[tuple[str, str]]) -> dict[str, SignalFinding]:
    """For the ids of those that look generated. Oldest first; in lower case."""
    group = [_prepare(id, text[:_LONGEST_LOCAL_PART]) for id, text in local_parts]
    found: dict[str, SignalFinding] = {}
    for search in (_same_stem, _same_start, _counter, _same_length, _gibberish, _same_shape):
        for id, value, points in search(group):
            if id not in found or found[id].points < points:
                found[id] = SignalFinding(Signal.GENERATED_ADDRESS, value, points)
    return found


_Found = Iterator[tuple[str, str, int]]


def _prepare(id: str, text: str) -> LocalPart:
    pattern = text.translate(_TO_PATTERN)
    numbers = _number.findall(text) if "#" in pattern else ()
    if not numbers:
        return LocalPart(id, text, text, pattern, None)
    last = int(numbers[-1][-_LONGEST_NUMBER:])
    return LocalPart(id, text, _number.sub("#", text), pattern, last)


def _grouped(group: Iterable[LocalPart], keys: Mapping[str, Hashable]) -> Iterable[list[LocalPart]]:
    by_key: dict[Hashable, list[LocalPart]] = defaultdict(list)
    for each in group:
        if (key := keys.get(each.id)) is not None:
            by_key[key].append(each)
    return by_key.values()


def _same_stem(group: Sequence[LocalPart]) -> _Found:
    """`user1`, `user2`, … or `maria4821`, `maria9134`, …"""
    keys = {each.id: each.stem for each in group if "#" in each.stem and each.stem != "#"}
    for same in _grouped(group, keys):
        letters = sum(map(str.isalpha, same[0].stem))
        is_word = letters >= THRESHOLDS.stem_letters
        if (is_word and _are_many(same, group)) or (
            len(same) >= THRESHOLDS.counted_addresses and _is_dense(same)
        ):
            value = f"{len(same)} like {same[0].stem[:_LONGEST_SAMPLE]}"
            yield from ((each.id, value, 3) for each in same)


def _are_many(same: Sequence[LocalPart], group: Sequence[LocalPart]) -> bool:
    count = len({each.text for each in same})
    return count >= max(THRESHOLDS.stem_addresses, THRESHOLDS.stem_share * len(group))


def _is_dense(same: Sequence[LocalPart]) -> bool:
    numbers = sorted({each.last_number or 0 for each in same})
    near = sum(after - before <= 3 for before, after in itertools.pairwise(numbers))
    return near >= THRESHOLDS.counted_addresses - 1 and near >= 0.6 * (len(numbers) - 1)


def _same_start(group: Sequence[LocalPart]) -> _Found:
    """All but the last two characters alike: `readeraa`, `readerab`, …"""
    keys = {each.id: (len(each.text), each.text[:-2]) for each in group if len(each.text) >= 8}
    for same in _grouped(group, keys):
        if _are_many(same, group):
            value = f"{len(same)} begin with {same[0].text[:-2][:_LONGEST_SAMPLE]}"
            yield from ((each.id, value, 3) for each in same)


def _counter(group: Sequence[LocalPart]) -> _Found:
    """Different names, but their numbers count up in the order of arrival."""
    numbered = [(each.id, each.last_number) for each in group if each.last_number is not None]
    steps = [
        (before, after)
        for (before, low), (after, high) in itertools.pairwise(numbered)
        if 0 < high - low <= 2
    ]
    if len(steps) < THRESHOLDS.counter_steps:
        return
    if len(steps) >= THRESHOLDS.counter_share * (len(numbered) - 1):
        value = f"{len(steps)} numbers count up"
        yield from ((id, value, 3) for id in {id for step in steps for id in step})


def _same_length(group: Sequence[LocalPart]) -> _Found:
    """Character by character a letter or a digit at the same place. Only digits are usual with
    some providers, where the address is a phone number."""
    keys = {each.id: each.pattern for each in group if each.stem != "#"}
    for same in _grouped(group, keys):
        is_many = len(same) >= THRESHOLDS.same_length
        if is_many and len(same) >= THRESHOLDS.same_length_share * len(group):
            value = f"{len(same)} of {len(group)} have the same length and pattern"
            yield from ((each.id, value, 3) for each in same)


def _same_shape(group: Sequence[LocalPart]) -> _Found:
    """`name.name#` and such, whatever the lengths."""
    shapes = {
        each.id: _run.sub(lambda run: run[0][0], each.pattern)
        for each in group
        if "#" in each.stem and each.stem != "#"
    }
    for same in _grouped(group, shapes):
        shape = shapes[same[0].id]
        least = THRESHOLDS.same_shape_plain_share if shape == "a#" else THRESHOLDS.same_shape_share
        if len(same) >= THRESHOLDS.same_shape and len(same) >= least * len(group):
            name = shape.replace("a", "name")[:_LONGEST_SAMPLE]
            value = f"{len(same)} of {len(group)} are like {name}"
            points = 3 if _has_one_length_of_numbers(same, group) else 2
            yield from ((each.id, value, points) for each in same)


def _has_one_length_of_numbers(same: Sequence[LocalPart], group: Sequence[LocalPart]) -> bool:
    """Nearly everybody of the group has as many digits, and too many for an age or a jersey."""
    lengths = Counter(each.pattern.count("#") for each in same)
    digits, count = lengths.most_common(1)[0]
    is_long = digits >= THRESHOLDS.same_digits
    return is_long and count >= THRESHOLDS.same_shape_plain_share * len(group)


def _gibberish(group: Sequence[LocalPart]) -> _Found:
    usual = {each.id: _share_of_usual_pairs(each) for each in group}
    count = sum(share < _GIBBERISH_PAIRS for share in usual.values())
    if count < max(THRESHOLDS.gibberish, THRESHOLDS.gibberish_share * len(group)):
        return
    points = 3 if count >= THRESHOLDS.gibberish_clear_share * len(group) else 2
    value = f"{count} of {len(group)} have no pronounceable name"
    yield from ((id, value, points) for id, share in usual.items() if share < _DOUBTFUL_PAIRS)


def _share_of_usual_pairs(each: LocalPart) -> float:
    """1 for what is too short to tell. Names in other scripts have no pairs and are left alone."""
    alternations = len(_alternation(each.pattern)) if each.last_number is not None else 0
    if alternations >= _ALTERNATIONS:
        return 0.0
    usual = pairs = 0
    for word in _words(each.text):
        pairs += len(word) - 1
        usual += sum(map(_USUAL_PAIRS.__contains__, map(add, word, word[1:])))
    share = usual / pairs if pairs else 1.0
    return min(share, _GIBBERISH_PAIRS) if alternations == _ALTERNATIONS - 1 else share
