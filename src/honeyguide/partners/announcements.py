"""What a program's partners are still to be told of its terms, as rows. `term_notifications` tells
them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

NEW_REFERRALS = "New referrals"
COUNT = "count"


class TermChange(NamedTuple):
    id: str
    account_id: str
    program_id: str
    texts: list[list[str]]
    fields: dict[str, Any] | None
    actor_kind: ActorKind
    actor_id: str
    starts_ms: int
    is_telling: bool


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_UNTOLD = _sql.query("untold", TermChange)
_SET_TEXTS = _sql.command("set_texts")
_DELETE_UNTOLD = _sql.command("delete_untold")


async def note(change: Change, program_id: str, lines: list[list[str]]) -> None:
    """Partners are told of several changes together, and of every value that there was."""
    if not lines:
        return
    untold = await change.lock(_UNTOLD, program_id=program_id)
    if not untold:
        await insert(change, program_id, lines, None, change.now_ms)
        return
    known = {line[0]: line for line in untold[0].texts}
    for label, old, new in lines:
        known.setdefault(label, [label, old]).append(new)
    await change.run(_SET_TEXTS, id=untold[0].id, texts=encode(list(known.values())))


async def insert(
    change: Change,
    program_id: str,
    lines: list[list[str]],
    columns: dict[str, Any] | None,
    starts_ms: int,
) -> None:
    await change.run(
        _INSERT,
        id=new_id(),
        program_id=program_id,
        texts=encode(lines),
        fields=None if columns is None else encode(columns),
        actor_kind=change.actor.kind.value,
        actor_id=change.actor.id,
        starts_ms=starts_ms,
    )


def encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def forget(change: Change, program_id: str, label: str) -> bool:
    """What was undone before anybody was told. False if there is nothing to forget."""
    for untold in await change.lock(_UNTOLD, program_id=program_id):
        lines = [line for line in untold.texts if line[0] != label]
        if lines:
            await change.run(_SET_TEXTS, id=untold.id, texts=encode(lines))
        else:
            await change.run(_DELETE_UNTOLD, id=untold.id)
        return len(lines) < len(untold.texts)
    return False
