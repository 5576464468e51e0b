"""Moving time in a demo: the test clock's file holds the seconds to add, and this page adds to them."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.accounts import sessions
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard.visit import Visit, cookie_name
from honeyguide.partners import rules
from honeyguide.store.tx import Tx

SESSION_S = sessions.LONGEST_MS // 1000
STEPS = {"day": DAY_MS, "week": 7 * DAY_MS}


async def move(visit: Visit) -> Response:
    """A day, a week, or to just after the month's close; `now` takes it all back."""
    if not visit.desk.settings.test_clock:
        raise HTTPException(404)
    step, now_ms = visit.text("step"), system_clock()
    close_ms = rules.closes_at(rules.month_of(visit.now_ms)) + HOUR_MS
    target_ms = now_ms if step == "now" else visit.now_ms + STEPS[step] if step in STEPS else close_ms
    Path(visit.desk.settings.test_clock).write_text(str((target_ms - now_ms) // 1000))
    token = await _come_along(visit, target_ms)
    said = "Back to the real date." if step == "now" else "Time moved forward. Everything due by then follows in a moment."
    response = visit.go(_back(visit), said)
    visit.desk_cookie(response, "session", token, SESSION_S)
    return response


async def _come_along(visit: Visit, target_ms: int) -> str:
    """A session of that time: the present one would have run out on the way. Whatever waited for a time is called."""

    async def begin(tx: Tx) -> str:
        tx.wake(CLOCK_SET)
        return await sessions.begin(
            tx, visit.who.account_id, instead_of=visit.request.cookies.get(cookie_name(visit.desk, "session")),
            user_agent=visit.request.headers.get("user-agent", ""), address=visit.peer, now_ms=target_ms,
        )  # fmt: skip

    token: str = await visit.write(begin)
    return token


def _back(visit: Visit) -> str:
    wanted = visit.text("back")
    return wanted if wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted else "/"
