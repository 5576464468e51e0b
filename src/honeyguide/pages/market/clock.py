"""Moving time in a demo: the test clock's file holds the seconds to add, and this page adds to them."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.partners import rules

STEPS = {"day": DAY_MS, "week": 7 * DAY_MS}


async def move(visit: Visit) -> Response:
    """A day, a week, or to just after the month's close; `now` takes it all back."""
    if not visit.desk.settings.test_clock:
        raise HTTPException(404)
    step = visit.text("step")
    if step == "now":
        ahead_ms = 0
    else:
        close_ms = rules.closes_at(rules.month_of(visit.now_ms)) + HOUR_MS
        target_ms = visit.now_ms + STEPS[step] if step in STEPS else close_ms
        ahead_ms = target_ms - system_clock()
    Path(visit.desk.settings.test_clock).write_text(str(ahead_ms // 1000))
    return visit.go(
        _back(visit), "The clock is right again." if step == "now" else "Time moved. Holds and months follow within a minute."
    )


def _back(visit: Visit) -> str:
    wanted = visit.text("back")
    return wanted if wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted else "/"
