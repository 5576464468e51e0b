"""A partner's side: what is confirmed, what waits and until when, what was not paid and why; links ready to copy."""

from __future__ import annotations

from typing import Any

import segno
from markupsafe import Markup
from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.pages.market import cards
from honeyguide.partners import forecast, network, rules
from honeyguide.partners.network import Joined
from honeyguide.referrals import clicks
from honeyguide.store.tx import Tx


def month_of(visit: Visit) -> str:
    try:
        return rules.read_month(visit.query["month"], param="month")
    except (KeyError, Invalid):
        return rules.month_of(visit.now_ms)


async def show(visit: Visit) -> Response:
    month = month_of(visit)

    async def look(tx: Tx) -> dict[str, Any]:
        joined, _ = await network.page_of_joined(tx, visit.who.account_id, Page(1, 200), now_ms=visit.now_ms)
        return {
            "earnings": await forecast.earnings(tx, visit.who.account_id, month, now_ms=visit.now_ms),
            "outlook": await forecast.outlook_of_partner(tx, visit.who.account_id, now_ms=visit.now_ms),
            "ripening": await forecast.ripening_of_partner(tx, visit.who.account_id),
            "joined": {place.id: place for place in joined},
        }

    shown = await visit.read(look)
    return await visit.page(
        "market/earnings.html", month=month, earlier=rules.previous_month(month), later=rules.next_month(month),
        is_now=month == rules.month_of(visit.now_ms), money=money.show, day_ms=DAY_MS, **shown,
    )  # fmt: skip


async def one(visit: Visit) -> Response:
    async def look(tx: Tx) -> tuple[Joined, int]:
        joined = await network.get_joined(tx, visit.who.account_id, visit.at("id"), now_ms=visit.now_ms)
        since_ms, _ = rules.month_bounds(rules.month_of(visit.now_ms))
        days = await clicks.by_day(tx, joined.owner_account_id, joined.id, since_ms=since_ms)
        return joined, sum(day.n for day in days)

    joined, clicked = await visit.read(look)
    site = visit.desk.site
    link = site.partner_link(joined.ref_code)
    code = segno.make(link, error="m")
    drawn = Markup(code.svg_inline(omitsize=True, border=3, dark="#211b12", light="#ffffff", svgclass="qr", lineclass=None))
    left_cents = rules.left_cents(spent_cents=joined.spent_cents, cap_cents=joined.max_payout_cents)
    return await visit.page(
        "market/place.html", joined=joined, clicked=clicked, link=link, magic=f"{site.magic_link(joined.ref_code)}?email=",
        qr=drawn, money=money.show, hold=cards.hold, left=left_cents,
    )  # fmt: skip
