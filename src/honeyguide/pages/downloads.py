"""The header that makes a browser save a response as a file."""

from __future__ import annotations

from urllib.parse import quote


def attachment(file_name: str) -> dict[str, str]:
    """A Content-Disposition header (RFC 6266). A name that is not ASCII is also sent as UTF-8."""
    fallback = "".join(
        c if c.isascii() and c.isprintable() and c not in '"%\\' else "_" for c in file_name
    )
    encoded = "" if fallback == file_name else f"; filename*=UTF-8''{quote(file_name, safe='')}"
    return {"content-disposition": f'attachment; filename="{fallback}"{encoded}'}
