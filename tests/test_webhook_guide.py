"""docs/webhooks.md tells the truth: its payloads are whole, its snippet runs, its schedule is the
one we keep.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from standardwebhooks.webhooks import Webhook

from honeyguide.events import outbox, schedule
from honeyguide.events.signature import new_secret
from honeyguide.pages.dashboard import webhook_examples
from tests.support.payloads import GUIDE, PAYLOADS, blocks

UNITS_MS = {"seconds": 1_000, "minutes": 60_000, "hours": 3_600_000}


def test_every_type_has_its_example() -> None:
    assert set(PAYLOADS) == {*outbox.TYPES, *outbox.MORE_TYPES}
    for kind, payload in PAYLOADS.items():
        assert list(payload)[:3] == ["type", "timestamp", "id"], kind
        assert payload["subscriber"]["email"] and payload["campaign_id"]


def test_the_python_snippet_runs_and_refuses_what_is_forged() -> None:
    (snippet,) = blocks("python")
    assert snippet == webhook_examples.VERIFY, "the webhooks page shows the same"
    space: dict[str, Any] = {}
    exec(snippet, space)
    secret, body, now = new_secret(), b'{"type":"test","id":"msg_1"}', datetime.now(UTC)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("msg_1", now, body.decode()),
    }
    assert space["receive"](secret, headers, body) == 204
    assert space["receive"](secret, headers, body + b" ") == 400
    assert space["receive"](new_secret(), headers, body) == 400


def test_the_schedule_in_the_table_is_the_one_we_keep() -> None:
    rows = re.findall(
        r"^\| (\d+) \| (\d+) (seconds|minutes|hours) \|",
        GUIDE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert [int(row[0]) for row in rows] == list(range(2, schedule.ATTEMPTS + 1))
    assert tuple(int(number) * UNITS_MS[unit] for _, number, unit in rows) == schedule.WAITS_MS
