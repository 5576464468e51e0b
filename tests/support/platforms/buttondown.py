"""Buttondown's API as its own OpenAPI file and documentation describe it. Strict: the key, 600
requests a minute, 100 new subscribers a day, known parameters only, the types that may be set.
A change replaces all metadata.
"""

from typing import Any

from aiohttp import web

from honeyguide.integrations.buttondown import Buttondown
from honeyguide.integrations.problems import Unexpected, WrongCredentials
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "01234567-89ab-cdef-0123-456789abcdef"
ENDED = ("unsubscribed", "blocked", "complained", "undeliverable", "removed")
FILTERS = {
    "date__start": "creation_date",
    "unsubscription_date__start": "unsubscription_date",
    "undeliverability_date__start": "undeliverability_date",
}


class ButtondownServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.left_this_minute = 600
        self.left_today = 100
        self.is_suppressed: set[str] = set()
        self.people: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        one = "/v1/subscribers/{key}"
        return [
            web.get("/v1/accounts/me", self._guarded(self.account)),
            web.get("/v1/subscribers", self._guarded(self.list_subscribers)),
            web.post("/v1/subscribers", self._guarded(self.create)),
            web.get(one, self._guarded(self.show)),
            web.patch(one, self._guarded(self.update)),
            web.post("/v1/webhooks", self._guarded(self.add_webhook)),
            web.delete("/v1/webhooks/{id}", self._guarded(self.remove_webhook)),
        ]

    def add(self, email: str, type: str = "regular", **more: Any) -> dict[str, Any]:
        number = len(self.people) + 1
        person = {
            "id": f"sub_{number:026}",
            "creation_date": "2026-11-01T08:00:00Z",
            "email_address": email,
            "type": type,
            "metadata": {},
            "unsubscription_date": None,
            "undeliverability_date": None,
            "referral_code": f"ref{number}",
            "secondary_id": number,
            "source": "api",
            "tags": [],
            **{f"utm_{kind}": "" for kind in ("campaign", "medium", "source")},
            **more,
        }
        self.people[person["id"]] = person
        return person

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((p for p in self.people.values() if p["email_address"] == email), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") != f"Token {self.key}":
                return error(401, "")
            assert "X-Buttondown-Collision-Behavior" not in request.headers
            self.left_this_minute -= 1
            if self.left_this_minute < 0:
                refused = error(429, "")
                refused.headers["Retry-After"] = "17"
                return refused
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def account(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"username": "morningwax", "email_address": "me@example.org"})

    async def list_subscribers(self, request: web.Request) -> web.StreamResponse:
        asked = dict(request.query)
        page = int(asked.pop("page", 1))
        assert asked.pop("ordering") == "creation_date"
        assert set(asked) <= set(FILTERS)
        found = [
            person
            for person in self.people.values()
            if all((person[FILTERS[name]] or "") >= since for name, since in asked.items())
        ]
        shown = found[(page - 1) * 100 : page * 100]
        more = f"https://api.buttondown.com/v1/subscribers?page={page + 1}"
        has_more = page * 100 < len(found)
        return web.json_response(
            {"results": shown, "count": len(found), "next": more if has_more else None}
        )

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email_address", "metadata", "tags", "notes", "ip_address"}
        email = body["email_address"]
        if self.left_today == 0:
            return error(400, "rate_limited")
        if email in self.is_suppressed:
            return error(400, "subscriber_suppressed")
        if "@" not in email or email.startswith("fake"):
            return error(400, "email_invalid")
        if self.by_email(email):
            return error(400, "email_already_exists")
        self.left_today -= 1
        person = self.add(email, "unactivated", metadata=body.get("metadata", {}))
        return web.json_response(person, status=201)

    def _named(self, request: web.Request) -> dict[str, Any] | None:
        key = request.match_info["key"]
        return self.people.get(key) or self.by_email(key)

    async def show(self, request: web.Request) -> web.StreamResponse:
        person = self._named(request)
        return error(404, "") if person is None else web.json_response(person)

    async def update(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email_address", "metadata", "type"}
        person = self._named(request)
        if person is None:
            return error(404, "")
        email = body.get("email_address", person["email_address"])
        if self.by_email(email) not in (None, person):
            return error(400, "email_already_exists")
        if "type" in body:
            assert body["type"] in ("regular", "unsubscribed", "gifted", "unpaid")
            assert person["type"] not in ENDED, "a type that is final was changed"
        person |= body
        return web.json_response(person)

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"url", "event_types", "description", "signing_key", "status"}
        if not body["url"].startswith("https://"):
            return error(422, "")
        made = {
            "id": f"wh_{next(self.numbers)}",
            "creation_date": "2026-11-16T10:00:00Z",
            "status": "enabled",
            **body,
        }
        self.webhooks[made["id"]] = made
        return web.json_response(made, status=201)

    async def remove_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(request.match_info["id"], None) is None:
            return error(404, "")
        return web.Response(status=204)


def error(status: int, code: str) -> web.Response:
    return web.json_response({"code": code, "detail": "Not this one."}, status=status)


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    mac = case.signature_of(kept.get("hook_secret", ""), body)
    return IncomingHook(headers={"x-buttondown-signature": f"sha256={mac}"}, body=body)


CASE = case.PlatformCase(
    left_at={".type": "unsubscribed"},
    server=lambda: case.made(case.no_limit(ButtondownServer()), left_today=10**6),
    platform=lambda server: Buttondown(f"{server.url}/v1"),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    active=case.add,
    left=case.by_status(*ENDED),
    state=lambda person: person["type"],
    fields=lambda person: person["metadata"],  # type: ignore[no-any-return]
    code="rh_code",
    faults=((status(403), WrongCredentials), (status(200, '{"id": 7}'), Unexpected)),
    webhook=case.WebhookCase(
        left=lambda person: {
            "event_type": "subscriber.unsubscribed",
            "data": {"subscriber": person["id"]},
        },
        leave=lambda server, person: person.update(type="unsubscribed"),
        sign=_signed,
        secret="hook_secret",
    ),
)
