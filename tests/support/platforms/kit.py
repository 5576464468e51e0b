"""Kit's API v4 as its documentation and OpenAPI file describe it. Strict: the key, 120 requests a
minute, known parameters only; unknown custom fields are ignored and named in `warnings`.
"""

import hashlib
import hmac
import json
from typing import Any

from aiohttp import web

from honeyguide.integrations.kit import Kit
from honeyguide.integrations.problems import Unexpected, WrongCredentials
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "kit_0123456789abcdef"
STATES = ("active", "bounced", "cancelled", "complained", "inactive")


class KitServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.left_this_minute = 120
        self.fields = {"last_name"}
        self.people: dict[int, dict[str, Any]] = {}
        self.webhooks: dict[int, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        one = "/v4/subscribers/{id}"
        return [
            web.get("/v4/account", self._guarded(self.account)),
            web.get("/v4/custom_fields", self._guarded(self.custom_fields)),
            web.post("/v4/custom_fields", self._guarded(self.add_custom_field)),
            web.get("/v4/subscribers", self._guarded(self.list_subscribers)),
            web.post("/v4/subscribers", self._guarded(self.upsert)),
            web.get(one, self._guarded(self.get_subscriber)),
            web.put(one, self._guarded(self.put_subscriber)),
            web.post(f"{one}/unsubscribe", self._guarded(self.unsubscribe)),
            web.post("/v4/webhook_endpoints", self._guarded(self.add_endpoint)),
            web.delete("/v4/webhook_endpoints/{id}", self._guarded(self.remove_endpoint)),
        ]

    def add(self, email: str, state: str = "active", **fields: str) -> dict[str, Any]:
        assert state in STATES
        person = {
            "id": len(self.people) + 1,
            "first_name": None,
            "email_address": email,
            "state": state,
            "created_at": "2026-11-01T08:00:00Z",
            "fields": dict(fields),
            "updated_at": "2026-11-16T10:00:00Z",
        }
        self.people[len(self.people) + 1] = person
        return person

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((p for p in self.people.values() if p["email_address"] == email), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.headers.get("X-Kit-Api-Key") != self.key:
                return errors(401, "The API key is invalid")
            self.left_this_minute -= 1
            if self.left_this_minute < 0:
                return errors(429, "Rate limit exceeded")
            about = request.match_info.get("id") if "subscribers" in request.path else None
            if about is not None and int(about) not in self.people:
                return errors(404, "Not Found")
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def account(self, request: web.Request) -> web.StreamResponse:
        account = {"id": 7, "name": "The Morning Wax", "plan_type": "creator"}
        return web.json_response({"user": {"email": "me@example.org"}, "account": account})

    async def custom_fields(self, request: web.Request) -> web.StreamResponse:
        shown = [{"id": n, "key": key, "label": key} for n, key in enumerate(sorted(self.fields))]
        return web.json_response({"custom_fields": shown, "pagination": pagination(False, 0)})

    async def add_custom_field(self, request: web.Request) -> web.StreamResponse:
        label = (await request.json())["label"]
        if len(self.fields) >= 140:
            return errors(422, "Too many custom fields")
        self.fields.add(label.lower().replace(" ", "_"))
        return web.json_response({"custom_field": {"id": 9, "label": label}}, status=201)

    async def list_subscribers(self, request: web.Request) -> web.StreamResponse:
        asked = request.query
        assert set(asked) <= {"status", "email_address", "updated_after", "per_page", "after"}
        per_page = int(asked.get("per_page", 500))
        assert per_page <= 1000 and asked.get("status") == "all"
        found = [
            person
            for person in self.people.values()
            if asked.get("email_address", person["email_address"]) == person["email_address"]
            and person["updated_at"] > asked.get("updated_after", "")
        ]
        found.sort(key=lambda person: -person["id"])  # newest first, as Kit does
        below = float(asked.get("after", "inf"))
        rest = [person for person in found if person["id"] < below]
        page = rest[:per_page]
        return web.json_response(
            {
                "subscribers": page,
                "pagination": pagination(len(rest) > per_page, page[-1]["id"] if page else 0),
            }
        )

    async def upsert(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email_address", "first_name", "state", "fields"}
        if "@" not in body["email_address"] or body["email_address"].startswith("fake"):
            return errors(422, "Email address is invalid")
        person = self.by_email(body["email_address"])
        status = 200 if person else 201
        person = person or self.add(body["email_address"], body.get("state", "active"))
        return self._changed(person, body, status)

    async def get_subscriber(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"subscriber": self.people[int(request.match_info["id"])]})

    async def put_subscriber(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email_address", "first_name", "fields"} and body["email_address"]
        person = self.people[int(request.match_info["id"])]
        other = self.by_email(body["email_address"])
        if other is not None and other is not person:
            return errors(422, "Email address has already been taken")
        person["email_address"] = body["email_address"]
        return self._changed(person, body, 200)

    def _changed(
        self, person: dict[str, Any], body: dict[str, Any], status: int
    ) -> web.StreamResponse:
        person["first_name"] = body.get("first_name", person["first_name"])
        given = body.get("fields", {})
        person["fields"].update({key: v for key, v in given.items() if key in self.fields})
        answer: dict[str, Any] = {"subscriber": person}
        if unknown := sorted(set(given) - self.fields):
            answer["warnings"] = [f"Custom field '{key}' does not exist" for key in unknown]
        return web.json_response(answer, status=status)

    async def unsubscribe(self, request: web.Request) -> web.StreamResponse:
        self.people[int(request.match_info["id"])]["state"] = "cancelled"
        return web.Response(status=204)

    async def add_endpoint(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "127.0.0.1" in body["url"]:
            return errors(422, "Url is not allowed")
        number = next(self.numbers)
        made = {"id": number, "secret": "whsec_" + "abcdefgh"[: number + 2], **body}
        self.webhooks[made["id"]] = made
        return web.json_response({"webhook_endpoint": made}, status=201)

    async def remove_endpoint(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(int(request.match_info["id"]), None) is None:
            return errors(404, "Not Found")
        return web.Response(status=204)


def pagination(has_next_page: bool, last: int) -> dict[str, Any]:
    return {
        "has_previous_page": False,
        "has_next_page": has_next_page,
        "start_cursor": "",
        "end_cursor": str(last),
        "per_page": 500,
    }


def errors(status: int, text: str) -> web.StreamResponse:
    return web.json_response({"errors": [text]}, status=status)


def signed(events: list[dict[str, Any]], *, at_s: int, secrets: list[str]) -> dict[str, Any]:
    """A delivery as Kit posts it: headers in lower case, and the body."""
    body = json.dumps({"delivery_id": 1, "events": events}).encode()
    given = [
        hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
        for secret in secrets
    ]
    header = ",".join([f"t={at_s}", *(f"v1={each}" for each in given)])
    return {"headers": {"x-kit-signature": header}, "body": body}


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    mac = case.signature_of(kept.get("hook_secret", ""), f"{now_s}.".encode() + body)
    return IncomingHook(headers={"x-kit-signature": f"t={now_s},v1={mac}"}, body=body)


CASE = case.PlatformCase(
    left_at={".state": "cancelled"},
    server=lambda: case.made(case.no_limit(KitServer()), fields={"rh_code", "rh_totref"}),
    platform=lambda server: Kit(f"{server.url}/v4"),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    active=case.add,
    left=case.by_status("cancelled", "bounced", "complained"),
    state=lambda person: person["state"],
    unsubscribed="cancelled",
    code="rh_code",
    lose_field=lambda server: server.fields.discard("rh_totref"),
    faults=(
        (status(403), WrongCredentials),
        (status(200, '{"subscriber": 7}'), Unexpected),
    ),
    webhook=case.WebhookCase(
        left=lambda person: {
            "events": [{"type": "subscriber.unsubscribed", "data": {"subscriber": person}}]
        },
        leave=lambda server, person: person.update(state="cancelled"),
        sign=_signed,
        secret="hook_secret",
    ),
)
