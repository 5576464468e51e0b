"""Which files at a backup place are no longer needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from honeyguide.kernel.clock import DAY_MS
from honeyguide.operating.backups.names import backup_ms, erasures_ms

# Clocks of machines differ. Erasures this much older than a backup are kept with it.
MARGIN_MS = DAY_MS


def expired(
    names: Iterable[str], good: Collection[str], *, keep_days: int, now_ms: int
) -> list[str]:
    """Backups older than `keep_days`, and erasures older than this and every backup that stays.
    The newest good backup stays, however old; so does the newest of all. Files that are not ours
    stay.
    """
    all_names = list(names)
    made = {name: at for name in all_names if (at := backup_ms(name)) is not None}
    newest = [max(group, key=made.__getitem__) for group in (made, made.keys() & good) if group]
    kept_since_ms = now_ms - keep_days * DAY_MS
    old = [name for name, at in made.items() if at < kept_since_ms and name not in newest]
    # A backup may be missing from the list of a place that does not answer well.
    oldest_kept = min([kept_since_ms, *(at for name, at in made.items() if name not in old)])
    erasures = {name: at for name in all_names if (at := erasures_ms(name)) is not None}
    old += [name for name, at in erasures.items() if at < oldest_kept - MARGIN_MS]
    return sorted(old)
