"""Which request, account or job a log line belongs to. The edges say so once; every log call made
on their behalf carries it. And how a line of JSON is spelled, whichever module writes it.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any

# The request's ID, the account's ID and the job's name. A tuple, since every request makes two.
LogContext = tuple[str | None, str | None, str | None]

_context: ContextVar[LogContext] = ContextVar("log_context", default=(None, None, None))
current = _context.get


def start_request(request_id: str, account_id: str | None = None) -> None:
    """Replaces everything: the task may have inherited the previous request of its connection."""
    _context.set((request_id, account_id, None))


def start_job(name: str) -> None:
    _context.set((None, None, name))


def set_account(account_id: str | None) -> None:
    """None where work for several accounts is done together."""
    request_id, _, job = _context.get()
    _context.set((request_id, account_id, job))


def json_line(value: dict[str, Any]) -> str:
    """Compact, and in ASCII, because a log may go to a stream of any encoding."""
    return json.dumps(value, separators=(",", ":"))
