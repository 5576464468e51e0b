"""Codes that signup forms answer with for an address that is subscribed already.

A new subscriber is shown their code. Whoever types an address that is known is shown a code, too,
which was never seen before and credits that subscriber. It is shown nowhere else, and no name or
other code is found by it, so it tells nobody whether the address was known.
"""

from __future__ import annotations

from collections.abc import Iterable

from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

_sql = beside(__file__)
_INSERT = _sql.command("insert")
_FIND = _sql.query("find", lambda code, ref_code: (str(code), str(ref_code)))


async def add(change: Change, subscriber_id: str, code: str) -> None:
    if not await change.run(_INSERT, code=code, subscriber_id=subscriber_id):
        raise Again


async def find_ref_codes(at: Reading, codes: Iterable[str]) -> dict[str, str]:
    """The `ref_code` of whoever each of these credits. Others are left out."""
    asked = {code: code.lower() for code in codes}
    found = dict(await at.all(_FIND, codes=list(set(asked.values()))))
    return {code: found[folded] for code, folded in asked.items() if folded in found}
