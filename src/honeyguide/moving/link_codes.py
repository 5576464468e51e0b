"""The referral code in a link of another tool."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

# The parameters in which tools carry a code, the likeliest first.
PARAMETERS = ("rh_ref", "grsf", "kid", "ref", "referral_code", "rc")


def code_in(link: str) -> str | None:
    """A parameter that carries a code, else the last part of the path; None if there is neither."""
    try:
        parts = urlsplit(link if "//" in link else f"//{link}")
        given = parse_qs(parts.query, max_num_fields=100)
    except ValueError:
        return None
    for name in PARAMETERS:
        if name in given:
            return given[name][0].strip()
    return parts.path.rstrip("/").rpartition("/")[2] or None
