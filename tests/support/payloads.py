"""The payloads that docs/webhooks.md shows, by type: what receivers are promised."""

import json
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "webhooks.md"


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


PAYLOADS: dict[str, dict[str, Any]] = {
    payload["type"]: payload
    for payload in map(json.loads, blocks("json"))
    if "type" in payload and "timestamp" in payload
}
