"""Where to report a security problem: `/.well-known/security.txt` (RFC 9116)."""

from __future__ import annotations

from email.utils import parseaddr

from honeyguide.kernel.clock import DAY_MS, iso

# The RFC asks for less than a year. The day moves on while the service runs, so that a copy
# that somebody kept ends, and the file itself does not.
_VALID_DAYS = 180


def security_txt(contact: str, mail_from: str, base_url: str, *, now_ms: int) -> str | None:
    """None if nobody is named: neither a contact, nor a sender who can be written to."""
    if not contact:
        contact = parseaddr(mail_from)[1]
        if contact.endswith("@localhost"):
            return None
    uri = contact if contact.startswith("https://") else f"mailto:{contact}"
    expires_ms = (now_ms // DAY_MS + _VALID_DAYS) * DAY_MS
    lines = [
        f"Contact: {uri}",
        f"Expires: {iso(expires_ms)}",
        "Preferred-Languages: en",
        f"Canonical: {base_url}/.well-known/security.txt",
    ]
    return "\n".join(lines) + "\n"
