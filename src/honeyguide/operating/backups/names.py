"""What files at a backup place are called: `honeyguide-20261116T020000123Z.db.gz`, with `.age` if
encrypted, and `honeyguide-erasures-20261116T020000123Z-….json`. Names sort by time, which has
milliseconds, so that two backups in one second have two names. Which of them are no longer needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from honeyguide.kernel.clock import DAY_MS

_STAMP = r"(\d{8}T\d{6})(\d{3})Z"
_BACKUP = re.compile(rf"honeyguide-{_STAMP}\.(db\.gz|dump)(\.age)?", re.ASCII)
_ERASURES = re.compile(rf"honeyguide-erasures-{_STAMP}-[0-9a-f]+\.json", re.ASCII)
_FORMAT = "%Y%m%dT%H%M%S"


# Clocks of machines differ. Erasures this much older than a backup are kept with it.
MARGIN_MS = DAY_MS


def backup_name(now_ms: int, ending: str, *, is_encrypted: bool) -> str:
    return f"honeyguide-{stamp(now_ms)}.{ending}{'.age' if is_encrypted else ''}"


def erasures_name(now_ms: int, distinct: str) -> str:
    return f"honeyguide-erasures-{stamp(now_ms)}-{distinct}.json"


def backup_ms(name: str) -> int | None:
    """When the backup of this name was started; None if the name is not a backup's."""
    return _time(_BACKUP.fullmatch(name))


def erasures_ms(name: str) -> int | None:
    return _time(_ERASURES.fullmatch(name))


def stamp(now_ms: int) -> str:
    second, ms = divmod(now_ms, 1000)
    return f"{datetime.fromtimestamp(second, UTC).strftime(_FORMAT)}{ms:03d}Z"


def _time(found: re.Match[str] | None) -> int | None:
    if found is None:
        return None
    try:
        at = datetime.strptime(found[1], _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(at.timestamp()) * 1000 + int(found[2])


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
