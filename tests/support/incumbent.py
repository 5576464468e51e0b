"""The incumbent's v2 API, as far as somebody who moves away reads it. Strict: the key, known paths
and parameters only, at most 200 on a page, newest first, 120 requests a minute if asked for.

The people have the oddities of a program that ran for years: see `ODDITIES`.
"""

import time
from collections import deque
from typing import Any

from aiohttp import web

from tests.support.platforms.stand_in import StandIn

KEY = "sl_0123456789abcdef"
CAMPAIGN = "campaign-1"
# Of every hundred people: who has which oddity.
ODDITIES = {
    7: "left",
    13: "pending referral",
    17: "rejected referral",
    23: "more counted than found",
    29: "the code of somebody else",
    31: "an address with spaces and capitals",
    37: "a field that nobody knows",
}
PAYOUT = {
    "uuid": "payout-1",
    "amount_in_dollars": 412.5,
    "start_period": "2026-09-01T00:00:00.000Z",
    "end_period": "2026-09-30T23:59:59.999Z",
    "paid": True,
}


def person(number: int) -> dict[str, Any]:
    """Numbered from 1, the oldest first. Everybody but each tenth was referred by that one."""
    odd = ODDITIES.get(number % 100)
    advocate = number - number % 10
    is_referred = number % 10 != 0 and advocate > 0
    status = {13: "pending", 17: "rejected"}.get(number % 100, "verified")
    made: dict[str, Any] = {
        "uuid": f"sub-{number:06}",
        "email": f"reader{number}@old.example",
        "name": f"Reader {number}" if number % 3 else None,
        "ref_code": f"c{number:07}",
        "referrer_code": f"c{advocate:07}" if is_referred else None,
        "referred": is_referred,
        "referral_status": status if is_referred else "verified",
        "origin": "sparkloop",
        "utm_source": "twitter" if number % 5 == 0 else None,
        "utm_campaign": None,
        "ip_address": None,
        "user_agent": None,
        "country_code": "US",
        "created_at": f"2024-{1 + number % 12:02}-{1 + number % 28:02}T10:00:00.000Z",
        "status": "unsubscribed" if odd == "left" else "confirmed",
    }
    if odd == "more counted than found":
        made["referrals_count"] = 7
    if odd == "the code of somebody else":
        made["ref_code"] = f"c{number - 1:07}"
    if odd == "an address with spaces and capitals":
        made["email"] = f" Reader{number}@OLD.example "
    if odd == "a field that nobody knows":
        made["fingerprint"] = "0f0f"
    return made


class IncumbentServer(StandIn):
    def __init__(self, people: int = 0) -> None:
        super().__init__()
        self.key = KEY
        self.people = [person(number) for number in range(1, people + 1)]
        self.has_totals_beside = True
        """As the incumbent documents it for people. Ours are in `meta`."""
        self.payouts: list[dict[str, Any]] = [PAYOUT]
        self.publications: list[dict[str, Any]] = []
        self.programs: list[dict[str, Any]] = []
        self.pictures: dict[str, bytes] = {}
        self.per_minute = 0
        self._times: deque[float] = deque()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/v2/campaigns", self._guarded(self.campaigns)),
            web.get("/v2/subscribers", self._guarded(self.subscribers)),
            web.get("/v2/partner_profile/payouts", self._guarded(self.all_payouts)),
            web.get("/v2/publications", self._guarded(self.all_publications)),
            web.get("/v2/partner_programs", self._guarded(self.all_programs)),
            web.get("/pictures/{name}", self.picture),
        ]

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.headers.get("X-Api-Key") != self.key:
                return web.json_response({"error": "User not found!"}, status=401)
            if self.per_minute and not self._is_within_limit():
                return web.json_response(
                    {"error": "Too many requests"}, status=429, headers={"Retry-After": "1"}
                )
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    def _is_within_limit(self) -> bool:
        now = time.monotonic()
        while self._times and self._times[0] < now - 60:
            self._times.popleft()
        if len(self._times) >= self.per_minute:
            return False
        self._times.append(now)
        return True

    async def campaigns(self, request: web.Request) -> web.StreamResponse:
        assert not request.query
        found = {"uuid": CAMPAIGN, "name": "The Old Program"}
        return web.json_response({"campaigns": [found]})

    async def subscribers(self, request: web.Request) -> web.StreamResponse:
        assert set(request.query) <= {"type", "expand", "page", "per_page"}
        assert request.query["expand"] == "campaigns"
        found, totals = self._page(request, self.people, "total_subscribers")
        answer: dict[str, Any] = {"subscribers": found}
        answer |= totals if self.has_totals_beside else {"meta": totals}
        return web.json_response(answer)

    async def all_payouts(self, request: web.Request) -> web.StreamResponse:
        found, totals = self._page(request, self.payouts, "total_payours")
        return web.json_response({"payouts": found, "meta": totals})

    async def all_publications(self, request: web.Request) -> web.StreamResponse:
        found, totals = self._page(request, self.publications, "total_publications")
        return web.json_response({"publications": found, "meta": totals})

    async def all_programs(self, request: web.Request) -> web.StreamResponse:
        found, totals = self._page(request, self.programs, "total_partner_programs")
        return web.json_response({"partner_programs": found, "meta": totals})

    async def picture(self, request: web.Request) -> web.StreamResponse:
        assert "X-Api-Key" not in request.headers, "the key goes to the API only"
        return web.Response(body=self.pictures[request.match_info["name"]])

    def _page(
        self, request: web.Request, rows: list[dict[str, Any]], total: str
    ) -> tuple[list[dict[str, Any]], dict[str, int]]:
        number, most = int(request.query["page"]), int(request.query["per_page"])
        assert number >= 1 and 1 <= most <= 200
        newest_first = rows[::-1]
        totals = {
            "per_page": most,
            "page": number,
            "total_pages": -(-len(rows) // most),
            total: len(rows),
        }
        return newest_first[(number - 1) * most : number * most], totals
