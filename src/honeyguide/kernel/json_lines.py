"""How a line of JSON is spelled, in every log and whichever module writes it."""

from __future__ import annotations

import json
from typing import Any


def json_line(value: dict[str, Any]) -> str:
    """Compact, and in ASCII, because a log may go to a stream of any encoding."""
    return json.dumps(value, separators=(",", ":"))
