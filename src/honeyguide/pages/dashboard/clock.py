"""Moving time in a demo: the test clock's file holds the seconds to add, and this page adds to them."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.accounts import sessions
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard.page_request import PageRequest, cookie_name
from honeyguide.partners import rules
from honeyguide.store.tx import Tx

SESSION_S = sessions.LONGEST_MS // 1000
STEPS = {"day": DAY_MS, "week": 7 * DAY_MS}


async def move(request: PageRequest) -> Response:
    """A day, a week, or to just after the month's close; `now` takes it all back."""
    if not request.services.settings.test_clock:
        raise HTTPException(404)
    step, now_ms = request.text("step"), system_clock()
    close_ms = rules.closes_at(rules.month_of(request.now_ms)) + HOUR_MS
    target_ms = (
        now_ms if step == "now" else request.now_ms + STEPS[step] if step in STEPS else close_ms
    )
    Path(request.services.settings.test_clock).write_text(str((target_ms - now_ms) // 1000))
    token = await _come_along(request, target_ms)
    flash = (
        "Back to the real date."
        if step == "now"
        else "Time moved forward. Everything due by then follows in a moment."
    )
    response = request.go(_back(request), flash)
    request.set_cookie(response, "session", token, SESSION_S)
    return response


async def _come_along(request: PageRequest, target_ms: int) -> str:
    """A session of that time: the present one would have run out on the way. Whatever waited for a time is called."""

    async def begin(tx: Tx) -> str:
        tx.wake(CLOCK_SET)
        return await sessions.begin(
            tx,
            request.who.account_id,
            instead_of=request.http.cookies.get(cookie_name(request.services, "session")),
            user_agent=request.http.headers.get("user-agent", ""),
            address=request.peer,
            now_ms=target_ms,
        )

    token: str = await request.write(begin)
    return token


def _back(request: PageRequest) -> str:
    wanted = request.text("back")
    return (
        wanted
        if wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted
        else "/"
    )
