"""Records what follows from changes: events, emails, notifications, the feed for email platforms
and ledger entries. `recorded_history` plays the changes.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from honeyguide.store.tx import Tx
from tests.support.platforms.generic import GenericTool
from tests.support.service import Service
from tests.support.stores import statement

# Saturday, 30 January 2027, 10:00 UTC: a month closes soon.
START_MS = 1_801_303_200_000

# What is recorded of each table, in the order in which rows were made.
RECORDED = {
    "event": "SELECT id, account_id, type, body, subscriber_id, referrer_id FROM event",
    "delivery": "SELECT id, webhook_id, event_id, status FROM delivery",
    "email": "SELECT id, account_id, kind, to_email, from_name, reply_to, subject, body_text, "
    "about_id, once_key, unsubscribe_url, body_html FROM letter",
    "notification": "SELECT id, account_id, kind, once_key, sentence, link FROM notice",
    "transfer": "SELECT id, kind, reference, debit, credit, amount_cents, month FROM transfer",
    "charge": "SELECT id, program_id, partner_campaign_id, month, fee_cents, budget_spent_cents, "
    "partner_spent_cents FROM charge",
    "payout": "SELECT id, account_id, month, amount_cents FROM payout",
}
# In these steps one transaction adds many subscribers. PostgreSQL gets their rows together, in
# whatever order, so what they add to the feed is recorded in the order of their ids.
TOGETHER = ("import_file",)
FEED = "SELECT seq, campaign_id, subscriber_id FROM subscriber_change ORDER BY seq"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CODE = re.compile(r"(?<![0-9A-Za-z])[2-9a-hjkmnp-tw-z]{8,12}(?![0-9A-Za-z])")
# Tests number the accounts that they make.
_OWNER = re.compile(r"(alice|bob|carol)[0-9]+@")
# Of a closed month, over rows whose ids are other ones each time.
_DIGEST = re.compile(r"(?:[0-9a-f]{8} ){7}[0-9a-f]{8}")
_TOKEN = re.compile(r"/(hub|confirm|stop|leave|notices/off)/[\w.~=-]+")


class FrozenClock:
    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


class Recorder:
    """Steps on a clock that stands still between them, and the rows that each of them made."""

    def __init__(self, service: Service, clock: FrozenClock, tool: GenericTool) -> None:
        self.service = service
        self.tool = tool
        self.clock = clock
        self.record: list[dict[str, Any]] = []
        self._last: dict[str, str] = {}
        self._in_feed: set[int] = set()
        self._codes: set[str] = set()

    # -- what follows from a step

    def step(self, name: str, change: Callable[[], Any]) -> Any:
        result = change()
        status = getattr(result, "status_code", None)
        found = self._new_rows()
        if self.tool.seen:  # what the email platform got
            found["written"] = [[json.loads(each.body)] for each in self.tool.seen]
            self.tool.seen.clear()
            # The sync took the feed, and SQLite counts from the start again.
            found.pop("feed", None)
        if name in TOGETHER and "feed" in found:
            found["feed"].sort()
        self.record.append({"step": name, "status": status, **found})
        return result

    def _new_rows(self) -> dict[str, list[list[Any]]]:
        async def read(tx: Tx) -> dict[str, list[tuple[Any, ...]]]:
            for source in ("subscriber", "partner_campaign"):
                codes = f"SELECT id, ref_code FROM {source} WHERE id > :last ORDER BY id"
                for each, code in await tx.all(statement(codes), last=self._last.get(source, "")):
                    self._last[source] = each
                    self._codes.add(code)
            found = {
                table: await tx.all(
                    statement(f"{sql} WHERE id > :last ORDER BY id"), last=self._last.get(table, "")
                )
                for table, sql in RECORDED.items()
            }
            return found | {"feed": await tx.all(statement(FEED))}

        found = self.service.read(read)
        feed = found.pop("feed")
        for table, rows in found.items():
            self._last[table] = rows[-1][0] if rows else self._last.get(table, "")
        found["feed"] = [row[1:] for row in feed if row[0] not in self._in_feed]
        self._in_feed = {row[0] for row in feed}
        return {table: [list(row) for row in rows] for table, rows in found.items() if rows}

    def normalized(self) -> list[dict[str, Any]]:
        """The record, with ids and codes numbered in the order of their appearance, and a digest
        instead of each email's HTML, which is made from the same blocks as its text."""
        ids: dict[str, str] = {}
        codes: dict[str, str] = {}

        def code(match: re.Match[str]) -> str:
            if match[0] not in self._codes:
                return match[0]
            return codes.setdefault(match[0], f"<code {len(codes) + 1}>")

        text = _TOKEN.sub(r"/\1/<token>", json.dumps(self.record, ensure_ascii=False))
        text = _DIGEST.sub("<digest>", _OWNER.sub(r"\1@", text))
        text = _ID.sub(lambda match: ids.setdefault(match[0], f"<id {len(ids) + 1}>"), text)
        steps: list[dict[str, Any]] = json.loads(_CODE.sub(code, text))
        for step in steps:
            for email in step.get("email", ()):
                email[-1] = email[-1] and hashlib.sha256(email[-1].encode()).hexdigest()[:16]
        return steps
