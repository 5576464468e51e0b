"""MailerLite's API as its documentation describes it, with the answers that its Python client
recorded. Strict: the token, both JSON headers, 120 requests a minute, known parameters only. Values
for unknown fields are ignored. Nobody who left can be made active again.
"""

import hashlib
import hmac
import json
import re
from typing import Any

from aiohttp import web

from honeyguide.integrations.mailerlite import MailerLite
from honeyguide.integrations.problems import Unexpected
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9"
STATUSES = ("active", "unsubscribed", "unconfirmed", "bounced", "junk")
EVENTS = {
    "subscriber.created",
    "subscriber.updated",
    "subscriber.active",
    "subscriber.unsubscribed",
    "subscriber.spam_reported",
    "subscriber.bounced",
    "subscriber.deleted",
}


class MailerLiteServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.left_this_minute = 120
        self.fields = {"name": "name", "last_name": "last_name"}  # names by key
        self.people: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        one = "/api/subscribers/{id}"
        return [
            web.get("/api/subscribers", self._guarded(self.list_subscribers)),
            web.post("/api/subscribers", self._guarded(self.upsert)),
            web.get(one, self._guarded(self.get_subscriber)),
            web.put(one, self._guarded(self.put_subscriber)),
            web.get("/api/fields", self._guarded(self.list_fields)),
            web.post("/api/fields", self._guarded(self.add_field)),
            web.post("/api/webhooks", self._guarded(self.add_webhook)),
            web.delete("/api/webhooks/{id}", self._guarded(self.remove_webhook)),
        ]

    def add(self, email: str, status: str = "active", **fields: str) -> dict[str, Any]:
        assert status in STATUSES
        person = {
            "id": str(31986843064993500 + len(self.people)),
            "email": email,
            "status": status,
            "source": "api",
            "subscribed_at": "2026-11-01 08:00:00",
            "unsubscribed_at": None,
            "created_at": "2026-11-01 08:00:00",
            "updated_at": "2026-11-16 10:00:00",
            "fields": {"name": None, **fields},
            "groups": [],
        }
        self.people[str(person["id"])] = person
        return person

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((p for p in self.people.values() if p["email"] == email), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            expected = "application/json"
            assert request.headers["Accept"] == request.headers["Content-Type"] == expected
            if request.headers.get("Authorization") != f"Bearer {self.key}":
                return problem(401, "Unauthenticated.")
            self.left_this_minute -= 1
            if self.left_this_minute < 0:
                return problem(429, "Too Many Attempts.")
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def list_subscribers(self, request: web.Request) -> web.StreamResponse:
        asked = request.query
        assert set(asked) <= {"limit", "cursor", "filter[status]"}
        limit = int(asked.get("limit", 25))
        if limit == 0:
            return web.json_response({"total": len(self.people)})
        above = asked.get("cursor", "")
        rest = [person for person in self.people.values() if person["id"] > above]
        page = rest[:limit]
        cursor = page[-1]["id"] if len(rest) > limit else None
        meta = {"per_page": limit, "next_cursor": cursor, "prev_cursor": None}
        return web.json_response({"data": page, "links": {}, "meta": meta})

    async def get_subscriber(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["id"]
        person = self.people.get(key) or self.by_email(key)
        return web.json_response({"data": person}) if person else problem(404, "Not Found")

    async def upsert(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email", "fields", "groups", "status"}  # never `resubscribe`
        if "@" not in body["email"] or body["email"].startswith("fake"):
            return invalid("The email must be a valid email address.")
        person = self.by_email(body["email"])
        status = 200 if person else 201
        # As it does: without a status, somebody unconfirmed becomes active.
        body.setdefault("status", "active")
        person = person or self.add(body["email"])
        return self._changed(person, body, status)

    async def put_subscriber(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email", "fields", "groups", "status"}
        person = self.people.get(request.match_info["id"])
        if person is None:
            return problem(404, "Not Found")
        other = self.by_email(body.get("email", person["email"]))
        if other is not None and other is not person:
            return invalid("The email has already been taken.")
        return self._changed(person, body, 200)

    def _changed(
        self, person: dict[str, Any], body: dict[str, Any], status: int
    ) -> web.StreamResponse:
        new = body.get("status", person["status"])
        has_left = person["status"] in ("unsubscribed", "bounced", "junk")
        if has_left and new in ("active", "unconfirmed"):
            return invalid("This subscriber is unsubscribed and cannot be imported")
        person["email"] = body.get("email", person["email"])
        person["status"] = new
        given = body.get("fields", {})
        person["fields"].update({key: v for key, v in given.items() if key in self.fields})
        return web.json_response({"data": person}, status=status)

    async def list_fields(self, request: web.Request) -> web.StreamResponse:
        assert int(request.query.get("limit", 25)) <= 100
        shown = [
            {"id": str(n), "name": name, "key": key, "type": "text", "is_default": False}
            for n, (key, name) in enumerate(self.fields.items())
        ]
        return web.json_response({"data": shown, "links": {}, "meta": {"current_page": 1}})

    async def add_field(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) == {"name", "type"} and body["type"] in ("text", "number", "date")
        name = body["name"]
        key = re.sub("(.)(?=[A-Z])", r"\1_", name.replace(" ", "")).lower()  # ZIP becomes z_i_p
        self.fields[key] = name
        made = {"id": "947147", "name": name, "key": key, "type": "text", "is_default": False}
        return web.json_response({"data": made}, status=201)

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"name", "url", "events", "batchable"} and set(body["events"]) <= EVENTS
        if "127.0.0.1" in body["url"]:
            return invalid("The url is invalid.")
        if "subscriber.deleted" in body["events"] and not body.get("batchable"):
            return invalid("The event subscriber.deleted needs batchable.")
        number = next(self.numbers)
        made = {
            "id": str(165968867532736034 + number),
            "enabled": True,
            "secret": f"yaEgW3JvHz{number}",
            **body,
        }
        self.webhooks[str(made["id"])] = made
        return web.json_response({"data": made}, status=201)

    async def remove_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(request.match_info["id"], None) is None:
            return problem(404, "Not Found")
        return web.Response(status=204)


def problem(status: int, text: str) -> web.StreamResponse:
    return web.json_response({"message": text}, status=status)


def invalid(text: str) -> web.StreamResponse:
    errors = {"message": "The given data was invalid.", "errors": {"email": [text]}}
    return web.json_response(errors, status=422)


def signed(body: dict[str, Any], secret: str) -> dict[str, Any]:
    """A delivery as MailerLite posts it: headers in lower case, and the body."""
    text = json.dumps(body).encode()
    signature = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return {"headers": {"signature": signature}, "body": text}


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    return IncomingHook(
        headers={"signature": case.signature_of(kept.get("hook_secret", ""), body)}, body=body
    )


CASE = case.PlatformCase(
    left_at={".status": "unsubscribed"},
    server=lambda: case.made(
        case.no_limit(MailerLiteServer()),
        fields={"name": "name", "rh_code": "rh_code", "r_h__t_o_t_r_e_f": "RH_TOTREF"},
    ),
    platform=lambda server: MailerLite(f"{server.url}/api"),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    active=case.add,
    left=case.by_status("unsubscribed", "bounced", "junk"),
    code="rh_code",
    lose_field=lambda server: server.fields.pop("rh_code"),
    faults=((status(403), Unexpected), (status(200, '{"data": 7}'), Unexpected)),
    webhook=case.WebhookCase(
        left=lambda person: {"events": [{**person, "event": "subscriber.unsubscribed"}]},
        leave=lambda server, person: person.update(status="unsubscribed"),
        sign=_signed,
        secret="hook_secret",
    ),
)
