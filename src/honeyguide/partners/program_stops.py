"""Whether programs pay for new referrals, and what follows when that changes: their partners are
told. Whoever pauses, archives or deletes something asks before and after it.
"""

from __future__ import annotations

from honeyguide.mail.notifications import WITHDRAWAL_MS
from honeyguide.partners import announcements
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

_sql = beside(__file__)
_OF_ACCOUNT = _sql.query("of_account", lambda id, state: (str(id), str(state)))
_SET_STOPPED = _sql.command("set_stopped")
_UNDONE = _sql.query("undone", lambda id, stopped_ms: (str(id), int(stopped_ms)))

DELETED = "do not count: the program was deleted"


async def states(change: Change) -> dict[str, str]:
    """What becomes of new referrals to each program of the account, as its partners are told."""
    return dict(await change.all(_OF_ACCOUNT))


async def follow(change: Change, before: dict[str, str]) -> None:
    """Notes for the partners what differs now. A stop that is taken back within its minute, before
    they were told, is not told."""
    after = await states(change)
    undone = {program_id for program_id, _ in await find_undone(change)}
    for program_id, was in before.items():
        now = after.get(program_id, DELETED)
        if now == was:
            continue
        if was == announcements.COUNT:
            await change.run(_SET_STOPPED, id=program_id)
        label = announcements.NEW_REFERRALS
        if program_id in undone and await announcements.forget(change, program_id, label):
            continue
        await announcements.note(change, program_id, [[label, was, now]])


async def find_undone(change: Change) -> list[tuple[str, int]]:
    """Programs that count again and stopped within the last minute, and when they stopped."""
    return await change.all(_UNDONE, since_ms=change.now_ms - WITHDRAWAL_MS)
