"""Moves time in a demo: the test clock's file holds the seconds to add, and this page adds more."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.accounts import sessions
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, system_clock
from honeyguide.pages import redirects
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.services import PageServices
from honeyguide.partners import rules
from honeyguide.store.tx import Tx

STEPS = {"day": DAY_MS, "week": 7 * DAY_MS}


async def move(services: PageServices, request: PageRequest) -> Response:
    """A day, a week, or to just after the month's close; `now` takes it all back."""
    if not services.settings.test_clock:
        raise HTTPException(404)
    step, now_ms = request.text("step"), system_clock()
    if step == "now":
        target_ms = now_ms
    elif step in STEPS:
        target_ms = request.now_ms + STEPS[step]
    else:
        target_ms = rules.closes_at(rules.month_of(request.now_ms)) + HOUR_MS
    by_ms = target_ms - request.now_ms
    # First forward, last back: a session that is behind the clock is over.
    if by_ms > 0:
        await services.store.write(sessions.shift, by_ms=by_ms)
    Path(services.settings.test_clock).write_text(str((target_ms - now_ms) // 1000))
    if by_ms < 0:
        await services.store.write(sessions.shift, by_ms=by_ms)
    await services.store.write(_wake)
    flash = (
        "Back to the real date."
        if step == "now"
        else "Time moved forward. Everything due by then follows in a moment."
    )
    return request.go(redirects.local_path(request.text("back")), flash)


async def _wake(tx: Tx) -> None:
    """Wakes the jobs that wait for a time."""
    tx.wake(CLOCK_SET)
