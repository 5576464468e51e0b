"""beehiiv's API v2 as its OpenAPI files describe it. Strict: the key, 180 requests a minute, known
parameters only. Values of unknown custom fields are dropped without a word, and values are shown
only with `expand[]=custom_fields`.
"""

import time
from typing import Any

from aiohttp import web

from honeyguide.integrations.beehiiv import Beehiiv
from honeyguide.integrations.problems import TryLater, Unexpected, WrongCredentials
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "bh_0123456789abcdef"
PUBLICATION = "pub_11111111-2222-3333-4444-555555555555"
STATUSES = (
    "validating",
    "invalid",
    "pending",
    "active",
    "inactive",
    "needs_attention",
    "paused",
)
CREATABLE = {
    "email",
    "reactivate_existing",
    "send_welcome_email",
    "utm_source",
    "referring_site",
    "custom_fields",
    "double_opt_override",
}


class BeehiivServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.is_gone = False
        self.left_this_minute = 180
        self.fields = ["First Name"]
        self.people: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        inside = "/v2/publications/{publication}"
        by_id, by_email = f"{inside}/subscriptions/{{id}}", f"{inside}/subscriptions/by_email/"
        return [
            web.get("/v2/publications", self._guarded(self.publications)),
            web.get(f"{inside}/custom_fields", self._guarded(self.list_fields)),
            web.post(f"{inside}/custom_fields", self._guarded(self.add_field)),
            web.get(f"{inside}/subscriptions", self._guarded(self.list_subscriptions)),
            web.post(f"{inside}/subscriptions", self._guarded(self.create)),
            web.get(by_email + "{email}", self._guarded(self.show)),
            web.put(by_email + "{email}", self._guarded(self.update)),
            web.get(by_id, self._guarded(self.show)),
            web.put(by_id, self._guarded(self.update)),
            web.post(f"{inside}/webhooks", self._guarded(self.add_webhook)),
            web.delete(f"{inside}/webhooks/{{hook}}", self._guarded(self.remove_webhook)),
        ]

    def add(self, email: str, status: str = "active", **values: str) -> dict[str, Any]:
        assert status in STATUSES
        number = len(self.people) + 1
        person = {
            "id": f"sub_{number:08}",
            "email": email,
            "status": status,
            "created": 1_790_000_000 + number,
            "values": dict(values),
        }
        self.people[str(person["id"])] = person
        return person

    def by_email(self, email: str) -> dict[str, Any] | None:
        key = email.lower()
        return next((p for p in self.people.values() if p["email"].lower() == key), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") != f"Bearer {self.key}":
                return error(401, "UNAUTHORIZED")
            self.left_this_minute -= 1
            if self.left_this_minute < 0:
                refused = error(429, "RATE_LIMITED")
                refused.headers["RateLimit-Reset"] = str(int(time.time()) + 40)
                return refused
            if self.is_gone or request.match_info.get("publication", PUBLICATION) != PUBLICATION:
                return error(404, "NOT_FOUND")
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def publications(self, request: web.Request) -> web.StreamResponse:
        assert set(request.query) <= {"limit", "page", "expand[]"}
        one = {
            "id": PUBLICATION,
            "name": "The Morning Wax",
            "organization_name": "Wax & Co",
            "referral_program_enabled": False,
            "created": 1_700_000_000,
        }
        return web.json_response({"data": [one], **pages(1, 10)})

    async def list_fields(self, request: web.Request) -> web.StreamResponse:
        """Ten on a page, whatever the limit asked for: the limit is not documented here."""
        page = int(request.query.get("page", 1))
        shown = [
            {"id": name, "kind": "string", "display": name, "created": 1_790_000_000}
            for name in self.fields[(page - 1) * 10 : page * 10]
        ]
        return web.json_response({"data": shown, **pages(page, len(self.fields))})

    async def add_field(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) == {"kind", "display"} and body["kind"] == "string"
        if body["display"] in self.fields:
            return error(400, "TAKEN")
        self.fields.append(body["display"])
        return web.json_response({"data": {"id": body["display"], **body}})

    async def list_subscriptions(self, request: web.Request) -> web.StreamResponse:
        asked = request.query
        assert set(asked) <= {"limit", "cursor", "status", "expand[]", "email"}
        limit = int(asked.get("limit", 10))
        assert 1 <= limit <= 100 and asked["status"] in (*STATUSES, "all")
        everybody = list(self.people.values())
        found = [p for p in everybody if asked["status"] in ("all", p["status"])]
        start = int(asked["cursor"].removeprefix("after-")) if "cursor" in asked else 0
        end = start + limit
        has_more = end < len(found)
        answer = {
            "data": [self._shown(request, p) for p in found[start:end]],
            "limit": limit,
            "has_more": has_more,
            "next_cursor": f"after-{end}" if has_more else None,
        }
        return web.json_response(answer)

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= CREATABLE
        if "@" not in body["email"] or body["email"].startswith("fake"):
            return error(400, "INVALID_EMAIL")
        person = self.by_email(body["email"])
        if person is not None and body.get("reactivate_existing"):
            person["status"] = "active"
        person = person or self.add(body["email"], "validating")
        self._set(person, body.get("custom_fields", []))
        return web.json_response({"data": self._shown(request, person)})

    async def show(self, request: web.Request) -> web.StreamResponse:
        person = self._named(request)
        if person is None:
            return error(404, "NOT_FOUND")
        return web.json_response({"data": self._shown(request, person)})

    async def update(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email", "tier", "unsubscribe", "custom_fields"}
        person = self._named(request)
        if person is None:
            return error(404, "NOT_FOUND")
        if "email" in body:
            if self.by_email(body["email"]) not in (None, person):
                return error(400, "EMAIL_TAKEN")
            person["email"] = body["email"]
        if "unsubscribe" in body:
            person["status"] = "inactive" if body["unsubscribe"] else "active"
        self._set(person, body.get("custom_fields", []))
        return web.json_response({"data": self._shown(request, person)})

    def _named(self, request: web.Request) -> dict[str, Any] | None:
        if "email" in request.match_info:
            return self.by_email(request.match_info["email"])
        return self.people.get(request.match_info["id"])

    def _set(self, person: dict[str, Any], given: list[dict[str, Any]]) -> None:
        for each in given:
            assert set(each) in ({"name", "value"}, {"name", "delete"})
            if each.get("delete"):
                person["values"].pop(each["name"], None)
            elif each["name"] in self.fields:
                person["values"][each["name"]] = each["value"]

    def _shown(self, request: web.Request, person: dict[str, Any]) -> dict[str, Any]:
        shown = {name: value for name, value in person.items() if name != "values"}
        shown |= {"subscription_tier": "free", "utm_source": "", "referral_code": "abc"}
        if request.query.get("expand[]") == "custom_fields":
            values = person["values"].items()
            shown["custom_fields"] = [{"name": n, "kind": "string", "value": v} for n, v in values]
        return shown

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"url", "event_types", "description"}
        if not body["url"].startswith("https://"):
            return error(400, "INVALID_URL")
        made = {"id": f"ep_{next(self.numbers)}", **body}
        self.webhooks[made["id"]] = made
        return web.json_response({"data": made})

    async def remove_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(request.match_info["hook"], None) is None:
            return error(404, "NOT_FOUND")
        return web.Response(status=204)


def pages(page: int, total: int) -> dict[str, int]:
    count = max(1, -(-total // 10))
    return {"limit": 10, "page": page, "total_results": total, "total_pages": count}


def error(status: int, code: str) -> web.Response:
    found = {"status": status, "statusText": code, "errors": [{"message": code, "code": code}]}
    return web.json_response(found, status=status)


CASE = case.PlatformCase(
    left_at={".status": "inactive"},
    server=lambda: case.made(case.no_limit(BeehiivServer()), fields=["RH_CODE", "RH_TOTREF"]),
    platform=lambda server: Beehiiv(f"{server.url}/v2"),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    audience_id=PUBLICATION,
    active=case.add,
    left=case.by_status("inactive", "invalid"),
    unsubscribed="inactive",
    fields=lambda person: person["values"],  # type: ignore[no-any-return]
    lose_field=lambda server: server.fields.remove("RH_TOTREF"),
    lose_audience=lambda server: case.made(server, is_gone=True),
    faults=(
        (status(429, ratelimit_reset="soon"), TryLater),
        (status(403), WrongCredentials),
        (status(200, '{"data": 7}'), Unexpected),
    ),
    webhook=case.WebhookCase(
        left=lambda person: {
            "event_type": "subscription.deleted",
            "data": {"email": person["email"]},
        },
        leave=lambda server, person: person.update(status="inactive"),
        sign=case.by_key,
        secret="hook_key",
    ),
)
