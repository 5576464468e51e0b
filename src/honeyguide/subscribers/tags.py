"""Tags: short words that an operator gives to subscribers, to find them again.

A tag is lower-case text without commas. It exists as long as a subscriber has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

LONGEST = 50
MOST_AT_ONCE = 50
# How many tags of a campaign are offered to choose from.
MOST_LISTED = 500
# What separates tags in one text, and what is around each: some platforms put them into quotes.
_SEPARATORS = re.compile(r"[,;|\n]")
_AROUND = '" \t\r\n\v\f'


_sql = beside(__file__)
_OF_SUBSCRIBER = _sql.value("of_subscriber", str)
_OF_SUBSCRIBERS = _sql.query("of_subscribers", lambda subscriber_id, tag: (subscriber_id, tag))
_IN_USE = _sql.value("in_use", str)
_LOCK = _sql.value("lock", str)
_LOCK_BY_EMAIL = _sql.query("lock_by_email", lambda id, email_key: (id, email_key))
_ADD = _sql.command("add")
_REMOVE = _sql.command("remove")
_REMOVE_OTHERS = _sql.command("remove_others")


def check_tags(texts: Collection[str], *, param: str = "tags") -> list[str]:
    """Each once, as it is stored: lower case, with single spaces."""
    if len(texts) > MOST_AT_ONCE:
        raise Invalid("{field} can have at most {most} tags.", param=param, most=MOST_AT_ONCE)
    return list(dict.fromkeys(_check_tag(text, param=param) for text in texts))


def _check_tag(text: str, *, param: str) -> str:
    tag = " ".join(checks.text(text, param=param, limit=checks.NAME_LIMIT).split()).lower()
    if not tag or "," in tag or len(tag) > LONGEST or not tag.isprintable():
        raise Invalid(
            "{field}: a tag must be 1 to {most} characters, without commas.",
            param=param,
            most=LONGEST,
        )
    return tag


def split_tags(text: str, *, param: str = "tags") -> list[str]:
    """Tags typed into one field or written into one cell, such as `vip, podcast`."""
    parts = (part.strip(_AROUND) for part in _SEPARATORS.split(text))
    return check_tags(dict.fromkeys(filter(None, parts)), param=param)


async def of_subscriber(at: Reading, subscriber_id: str) -> list[str]:
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def of_subscribers(at: Reading, ids: Sequence[str]) -> dict[str, list[str]]:
    """By subscriber; those without tags are left out."""
    found: dict[str, list[str]] = {}
    for subscriber_id, tag in await at.all(_OF_SUBSCRIBERS, ids=list(ids)):
        found.setdefault(subscriber_id, []).append(tag)
    return found


async def in_use(at: Reading) -> list[str]:
    """The campaign's tags in alphabetical order."""
    return await at.all(_IN_USE, most=MOST_LISTED)


async def add(change: Change, ids: Sequence[str], tags: Sequence[str]) -> int:
    """To each of these subscribers of the campaign, and how many they are. Their rows are locked,
    so that an erasure finds the tags."""
    locked = await change.lock(_LOCK, ids=list(ids))
    await _add(change, [(each, tag) for each in locked for tag in tags])
    return len(locked)


async def add_by_email(change: Change, tags_by_email: Mapping[str, Sequence[str]]) -> None:
    """To subscribers known by the key of their email address, as an import does."""
    locked = await change.lock(_LOCK_BY_EMAIL, keys=list(tags_by_email))
    pairs = [(each, tag) for each, key in locked for tag in tags_by_email[key]]
    await _add(change, pairs)


async def _add(change: Change, pairs: list[tuple[str, str]]) -> None:
    rows = [{"subscriber_id": subscriber_id, "tag": tag} for subscriber_id, tag in pairs]
    await change.run(_ADD, rows=rows)


async def remove(change: Change, ids: Sequence[str], tags: Sequence[str]) -> int:
    """From each of these subscribers of the campaign, and how many they are."""
    locked = await change.lock(_LOCK, ids=list(ids))
    await change.run(_REMOVE, ids=locked, tags=list(tags))
    return len(locked)


async def replace(change: Change, subscriber_id: str, tags: Sequence[str]) -> None:
    """The subscriber has these tags afterwards, and no others."""
    await add(change, [subscriber_id], tags)
    await change.run(_REMOVE_OTHERS, subscriber_id=subscriber_id, tags=list(tags))


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_REMOVE_OTHERS, subscriber_id=subscriber_id, tags=[])
