"""What files at a backup place are called: `honeyguide-20261116T020000123Z.db.gz`, with `.age` if
encrypted, and `honeyguide-erasures-20261116T020000123Z-….json`. Names sort by time, which has
milliseconds, so that two backups in one second have two names.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_STAMP = r"(\d{8}T\d{6})(\d{3})Z"
_BACKUP = re.compile(rf"honeyguide-{_STAMP}\.(db\.gz|dump)(\.age)?", re.ASCII)
_ERASURES = re.compile(rf"honeyguide-erasures-{_STAMP}-[0-9a-f]+\.json", re.ASCII)
_FORMAT = "%Y%m%dT%H%M%S"


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
