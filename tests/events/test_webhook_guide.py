"""docs/webhooks.md tells the truth: its payloads are whole, its snippet runs, its schedule is the
one we keep.
"""

import os
import re
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from honeyguide.events import outbox, schedule
from honeyguide.events.signature import new_secret
from honeyguide.pages.dashboard.settings import webhooks
from tests.support import npm_clients
from tests.support.payloads import GUIDE, PAYLOADS, blocks
from tests.support.postgres import free_port
from tests.support.service import until

UNITS_MS = {"seconds": 1_000, "minutes": 60_000, "hours": 3_600_000}


def test_every_type_has_its_example() -> None:
    assert set(PAYLOADS) == {*outbox.TYPES, *outbox.MORE_TYPES}
    for kind, payload in PAYLOADS.items():
        assert list(payload)[:3] == ["type", "timestamp", "id"], kind
        assert payload["subscriber"]["email"] and payload["campaign_id"]


def test_the_python_snippet_runs_and_refuses_what_is_forged() -> None:
    (snippet,) = blocks("python")
    assert snippet == webhooks.VERIFY, "the webhooks page shows the same"
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


@pytest.mark.long
def test_the_javascript_snippet_runs_and_refuses_what_is_forged(tmp_path: Path) -> None:
    (snippet,) = blocks("js")
    (tmp_path / "receiver.mjs").write_text(snippet)
    npm_clients.give_packages(tmp_path)
    secret, port, now = new_secret(), free_port(), datetime.now(UTC)
    body = b'{"type":"test","id":"msg_1"}'
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("msg_1", now, body.decode()),
    }
    env = os.environ | {"WEBHOOK_SECRET": secret, "PORT": str(port)}
    with subprocess.Popen(["node", "receiver.mjs"], cwd=tmp_path, env=env) as receiver:
        try:

            def answered(sent: bytes) -> int:
                url = f"http://127.0.0.1:{port}/"
                return httpx.post(
                    url, content=sent, headers=headers, timeout=20, verify=False
                ).status_code

            until(lambda: _listens(port))
            assert answered(body) == 204
            assert answered(body + b" ") == 400
        finally:
            receiver.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
