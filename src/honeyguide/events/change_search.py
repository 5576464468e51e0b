"""Finding entries of the change log. One call looks at a bounded number of entries, so a search for
something rare takes as long as any other, and says where to go on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import logged_actions
from honeyguide.events.change_log import LoggedChange
from honeyguide.events.logged_actions import ChangeGroup
from honeyguide.kernel import text_matching
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Entries that one call looks at.
SCANNED = 5_000
_LAST_MS = 2**62


class ChangeFilter(NamedTuple):
    actor_kind: str = ""
    actor_id: str = ""
    group: ChangeGroup | None = None
    text: str = ""
    """Part of an action, of the subject's id or of a value."""
    subject_id: str = ""
    """With `text`: whom or what the text names, found elsewhere."""
    since_ms: int = -_LAST_MS
    until_ms: int = _LAST_MS


class LogPlace(NamedTuple):
    """An entry: what follows is older."""

    changed_ms: int
    id: str


class FoundChanges(NamedTuple):
    entries: list[LoggedChange]
    after: LogPlace | None
    """Where older entries begin; None at the end."""
    is_cut: bool
    """Whether it ended because it had looked at enough, not because it had found enough."""


_sql = beside(__file__)
_FIND = _sql.query("find", LoggedChange)
_SCAN_END = _sql.query("scan_end", LogPlace)


async def find(
    tx: Tx, account_id: str, filters: ChangeFilter, *, after: LogPlace | None = None, most: int
) -> FoundChanges:
    """The newest first."""
    end = LogPlace(filters.until_ms, "")
    begin = min(after, end) if after else end
    bounds: dict[str, Any] = {
        "account_id": account_id,
        "before_ms": begin.changed_ms,
        "before_id": begin.id,
        "since_ms": filters.since_ms,
    }
    entries = await tx.all(
        _FIND,
        **bounds,
        scanned=SCANNED,
        actor_kind=filters.actor_kind,
        actor_id=filters.actor_id,
        has_group=int(filters.group is not None),
        prefixes=logged_actions.prefixes_of(filters.group) if filters.group else [],
        pattern=text_matching.like_pattern(filters.text.lower()) if filters.text else "",
        subject_id=filters.subject_id,
        most=most,
    )
    if len(entries) == most:
        return FoundChanges(entries, LogPlace(entries[-1].changed_ms, entries[-1].id), False)
    scan_end = await tx.one(_SCAN_END, **bounds, skip=SCANNED - 1)
    return FoundChanges(entries, scan_end, scan_end is not None)
