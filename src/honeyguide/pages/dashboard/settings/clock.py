"""Moves time in a demo: the test clock's file holds the seconds to add, and this page adds more."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, system_clock
from honeyguide.pages import redirects
from honeyguide.pages.dashboard.login import session_start
from honeyguide.pages.dashboard.page_request import SESSION_S, PageRequest
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
    Path(services.settings.test_clock).write_text(str((target_ms - now_ms) // 1000))
    token = await services.store.write(_renew_session, request, target_ms)
    flash = (
        "Back to the real date."
        if step == "now"
        else "Time moved forward. Everything due by then follows in a moment."
    )
    response = request.go(redirects.local_path(request.text("back")), flash)
    request.set_cookie(response, "session", token, SESSION_S)
    return response


async def _renew_session(tx: Tx, request: PageRequest, target_ms: int) -> str:
    """A session that begins at the new time, when the present one may have expired.

    Also wakes the jobs that wait for a time.
    """
    tx.wake(CLOCK_SET)
    who = request.who
    return await session_start.create_session(
        tx.at(target_ms),
        request,
        who.user_id,
        who.account_id,
        is_kept=who.is_kept,
        renewed=who,
    )
