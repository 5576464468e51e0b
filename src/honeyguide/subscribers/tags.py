"""Tags: short words that an operator gives to subscribers, to find them again.

A tag is lower-case text without commas. It exists as long as a subscriber has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

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


async def of_subscriber(tx: Tx, tenant: Tenant, subscriber_id: str) -> list[str]:
    return await tx.all(_OF_SUBSCRIBER, account_id=tenant.account_id, subscriber_id=subscriber_id)


async def of_subscribers(tx: Tx, tenant: Tenant, ids: Sequence[str]) -> dict[str, list[str]]:
    """By subscriber; those without tags are left out."""
    found: dict[str, list[str]] = {}
    for subscriber_id, tag in await tx.all(
        _OF_SUBSCRIBERS, account_id=tenant.account_id, ids=list(ids)
    ):
        found.setdefault(subscriber_id, []).append(tag)
    return found


async def in_use(tx: Tx, tenant: Tenant) -> list[str]:
    """The campaign's tags in alphabetical order."""
    return await tx.all(_IN_USE, campaign_id=tenant.campaign_id, most=MOST_LISTED)


async def add(
    tx: Tx, tenant: Tenant, ids: Sequence[str], tags: Sequence[str], *, now_ms: int
) -> int:
    """To each of these subscribers of the campaign, and how many they are. Their rows are locked,
    so that an erasure finds the tags."""
    locked = await tx.lock(_LOCK, **tenant._asdict(), ids=list(ids))
    await _add(tx, tenant, [(each, tag) for each in locked for tag in tags], now_ms=now_ms)
    return len(locked)


async def add_by_email(
    tx: Tx, tenant: Tenant, tags_by_email: Mapping[str, Sequence[str]], *, now_ms: int
) -> None:
    """To subscribers known by the key of their email address, as an import does."""
    locked = await tx.lock(_LOCK_BY_EMAIL, **tenant._asdict(), keys=list(tags_by_email))
    pairs = [(each, tag) for each, key in locked for tag in tags_by_email[key]]
    await _add(tx, tenant, pairs, now_ms=now_ms)


async def _add(tx: Tx, tenant: Tenant, pairs: list[tuple[str, str]], *, now_ms: int) -> None:
    rows = [{"subscriber_id": subscriber_id, "tag": tag} for subscriber_id, tag in pairs]
    await tx.run(_ADD, **tenant._asdict(), rows=rows, now_ms=now_ms)


async def remove(tx: Tx, tenant: Tenant, ids: Sequence[str], tags: Sequence[str]) -> int:
    """From each of these subscribers of the campaign, and how many they are."""
    locked = await tx.lock(_LOCK, **tenant._asdict(), ids=list(ids))
    await tx.run(_REMOVE, account_id=tenant.account_id, ids=locked, tags=list(tags))
    return len(locked)


async def replace(
    tx: Tx, tenant: Tenant, subscriber_id: str, tags: Sequence[str], *, now_ms: int
) -> None:
    """The subscriber has these tags afterwards, and no others."""
    await add(tx, tenant, [subscriber_id], tags, now_ms=now_ms)
    await tx.run(
        _REMOVE_OTHERS, account_id=tenant.account_id, subscriber_id=subscriber_id, tags=list(tags)
    )


async def erase(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
    await tx.run(_REMOVE_OTHERS, account_id=tenant.account_id, subscriber_id=subscriber_id, tags=[])
