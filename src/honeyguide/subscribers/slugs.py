"""Slugs of hosted pages, shared by campaigns and programs. A freed one stays with its account, so
that nobody else can take over the links that people have.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

CAMPAIGN, PROGRAM = "campaign", "program"


class Slug(NamedTuple):
    slug: str
    account_id: str
    kind: str
    target_id: str


_sql = beside(__file__)
_CLAIM = _sql.command("claim")
_FREE_OTHERS = _sql.command("free_others")
_FREE = _sql.command("free")
_FIND = _sql.query("find", Slug)


async def claim(
    tx: Tx, account_id: str, kind: str, target_id: str, slug: str, *, param: str = "slug"
) -> str:
    """Gives the slug to a campaign or program and frees the one it had."""
    checks.slug(slug, param=param)
    if not await tx.run(_CLAIM, account_id=account_id, kind=kind, target_id=target_id, slug=slug):
        raise Invalid("{field} is already taken; choose another.", param=param, code="slug_taken")
    await tx.run(_FREE_OTHERS, account_id=account_id, target_id=target_id, slug=slug)
    return slug


async def free(tx: Tx, account_id: str, target_id: str) -> None:
    await tx.run(_FREE, account_id=account_id, target_id=target_id)


async def suggest(tx: Tx, name: str) -> str:
    """A free slug for a program of this name. Its campaign often has the plain one already."""
    plain = checks.slug_from(name)
    for slug in (plain, f"{plain}-partners"):
        if plain and slug not in checks.RESERVED_SLUGS and await find(tx, slug) is None:
            return slug
    return ""


async def find(tx: Tx, slug: str) -> Slug | None:
    """The target of a slug. None if it is not in use."""
    return await tx.one(_FIND, slug=slug)
