"""Mailchimp's Marketing API 3.0 as its documentation describes it, for one audience. Strict: Basic
authentication, merge fields that exist, known parameters only, ten requests at a time.
"""

import asyncio
import dataclasses
import hashlib
from base64 import b64decode
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from honeyguide.integrations.mailchimp import Mailchimp
from honeyguide.integrations.problems import TryLater, WrongCredentials
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

LIST = "a1b2c3d4e5"
KEY = "0123456789abcdef0123456789abcdef-us19"
_BODY = {
    "PUT": {"email_address", "status_if_new", "status", "merge_fields"},
    "PATCH": {"email_address", "status", "merge_fields"},
}


def hash_of(email: str) -> str:
    return hashlib.md5(email.lower().encode()).hexdigest()


@dataclass
class Member:
    email: str
    status: str
    contact_id: str
    fields: dict[str, str] = field(default_factory=dict)
    changed: str = "2026-11-16T10:00:00+00:00"
    name: str = ""

    def shown(self) -> dict[str, Any]:
        return {
            "id": hash_of(self.email),
            "email_address": self.email,
            "contact_id": self.contact_id,
            "full_name": self.name,
            "status": self.status,
            "merge_fields": self.fields,
            "timestamp_opt": "2026-11-01T08:00:00+00:00",
            "last_changed": self.changed,
            "list_id": LIST,
        }


class MailchimpServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.tags = {"FNAME", "LNAME"}
        self.members: dict[str, Member] = {}  # by contact ID
        self.webhooks: dict[str, dict[str, Any]] = {}
        self.is_deleted = False
        self.most_at_once = 0
        self._under_way = 0
        self.pause_s = 0.0

    def routes(self) -> list[web.RouteDef]:
        at = f"/3.0/lists/{LIST}"
        return [
            web.get("/3.0/", self._guarded(self.root)),
            web.get("/3.0/lists", self._guarded(self.lists)),
            web.get(at, self._guarded(self.one_list)),
            web.get(f"{at}/merge-fields", self._guarded(self.merge_fields)),
            web.post(f"{at}/merge-fields", self._guarded(self.add_merge_field)),
            web.get(f"{at}/members", self._guarded(self.list_members)),
            web.get(f"{at}/members/{{key}}", self._guarded(self.get_member)),
            web.put(f"{at}/members/{{key}}", self._guarded(self.put_member)),
            web.patch(f"{at}/members/{{key}}", self._guarded(self.patch_member)),
            web.post(f"{at}/webhooks", self._guarded(self.add_webhook)),
            web.delete(f"{at}/webhooks/{{id}}", self._guarded(self.remove_webhook)),
        ]

    def add(self, email: str, status: str = "subscribed", **fields: str) -> Member:
        member = Member(email, status, f"{len(self.members) + 1:032x}", fields)
        self.members[member.contact_id] = member
        return member

    def find(self, key: str) -> Member | None:
        if key in self.members:
            return self.members[key]
        return next((m for m in self.members.values() if key in (hash_of(m.email), m.email)), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            scheme, _, coded = request.headers.get("Authorization", "").partition(" ")
            if scheme != "Basic" or b64decode(coded).decode().partition(":")[2] != self.key:
                return problem(401, "API Key Invalid", "Your API key may be invalid.")
            if self.is_deleted and request.path.startswith(f"/3.0/lists/{LIST}"):
                return problem(404, "Resource Not Found", "The requested resource was not found.")
            if self._under_way >= 10:
                return problem(429, "Too Many Requests", "You have exceeded the limit of 10.")
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            try:
                await asyncio.sleep(self.pause_s)
                answer: web.StreamResponse = await handler(request)
                return answer
            finally:
                self._under_way -= 1

        return guarded

    async def root(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"account_name": "The Morning Wax"})

    async def lists(self, request: web.Request) -> web.StreamResponse:
        one = {"id": LIST, "name": "Readers", "stats": {"member_count": len(self.members)}}
        return web.json_response({"lists": [] if self.is_deleted else [one]})

    async def one_list(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"id": LIST})

    async def merge_fields(self, request: web.Request) -> web.StreamResponse:
        assert request.query["count"] == "1000"
        return web.json_response({"merge_fields": [{"tag": tag} for tag in sorted(self.tags)]})

    async def add_merge_field(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if not (1 <= len(body["tag"]) <= 10) or len(self.tags) >= 30:
            return problem(
                400, "Invalid Resource", "The resource submitted could not be validated."
            )
        assert body["type"] == "text" and body["name"]
        self.tags.add(body["tag"])
        return web.json_response({"merge_id": len(self.tags), "tag": body["tag"]})

    async def list_members(self, request: web.Request) -> web.StreamResponse:
        asked = request.query
        assert set(asked) <= {"count", "offset", "since_last_changed", "sort_field", "sort_dir"}
        count, offset = int(asked["count"]), int(asked["offset"])
        assert 1 <= count <= 1000
        since = datetime.fromisoformat(asked.get("since_last_changed", "1970-01-01T00:00:00+00:00"))
        found = [m for m in self.members.values() if datetime.fromisoformat(m.changed) > since]
        assert asked.get("sort_field") == "last_changed"
        found.sort(key=lambda member: member.changed)
        page = [member.shown() for member in found[offset : offset + count]]
        return web.json_response({"members": page, "total_items": len(found)})

    async def get_member(self, request: web.Request) -> web.StreamResponse:
        member = self.find(request.match_info["key"])
        if member is None:
            return problem(404, "Resource Not Found", "The requested resource was not found.")
        return web.json_response(member.shown())

    async def put_member(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        member = self.find(request.match_info["key"])
        if refusal := self._refusal("PUT", body):
            return refusal
        if member is None:
            if "status_if_new" not in body and "status" not in body:
                return problem(400, "Invalid Resource", "status_if_new is missing.")
            email = body["email_address"]
            assert request.match_info["key"] in (hash_of(email), email)
            member = self.add(email, body.get("status") or body["status_if_new"])
        return self._changed(member, body)

    async def patch_member(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        member = self.find(request.match_info["key"])
        if member is None:
            return problem(404, "Resource Not Found", "The requested resource was not found.")
        return self._refusal("PATCH", body) or self._changed(member, body)

    def _refusal(self, method: str, body: dict[str, Any]) -> web.StreamResponse | None:
        assert set(body) <= _BODY[method], body
        if set(body.get("merge_fields", {})) - self.tags:
            return problem(400, "Invalid Resource", "Your merge fields were invalid.")
        if body.get("email_address", "@").startswith("fake"):
            detail = f"{body['email_address']} looks fake or invalid, please enter a real address."
            return problem(400, "Invalid Resource", detail)
        return None

    def _changed(self, member: Member, body: dict[str, Any]) -> web.StreamResponse:
        new = body.get("email_address", member.email)
        other = self.find(hash_of(new))
        if other is not None and other is not member:
            return problem(400, "Member Exists", f"{new} is already a list member.")
        if member.status in ("unsubscribed", "cleaned") and body.get("status") == "subscribed":
            return problem(400, "Member In Compliance State", "The member cannot be subscribed.")
        member.email = new
        member.status = body.get("status", member.status)
        member.fields.update(body.get("merge_fields", {}))
        member.changed = datetime.now(UTC).isoformat(timespec="seconds")
        return web.json_response(member.shown())

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) == {"url", "events", "sources"}
        hook_id = f"hook{next(self.numbers)}"
        self.webhooks[hook_id] = body
        return web.json_response({"id": hook_id, **body})

    async def remove_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(request.match_info["id"], None) is None:
            return problem(404, "Resource Not Found", "The requested resource was not found.")
        return web.Response(status=204)


def problem(status: int, title: str, detail: str) -> web.StreamResponse:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return web.json_response(body, status=status, content_type="application/problem+json")


CASE = case.PlatformCase(
    everything=dataclasses.asdict,
    left_at={".status": "unsubscribed"},
    server=lambda: case.made(MailchimpServer(), tags={"RH_CODE", "RH_TOTREF"}),
    platform=lambda server: Mailchimp(f"{server.url}/3.0"),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    audience_id=LIST,
    active=case.add,
    left=case.by_status("unsubscribed", "cleaned", "archived"),
    find=lambda server, email: server.find(email),
    state=lambda member: member.status,
    fields=lambda member: member.fields,  # type: ignore[no-any-return]
    id=lambda member: str(member.contact_id),
    lose_field=lambda server: server.tags.discard("RH_TOTREF"),
    lose_audience=lambda server: case.made(server, is_deleted=True),
    faults=(
        (status(403, "<html>Forbidden</html>"), TryLater),  # overload
        (status(403, '{"title": "User action not permitted"}'), WrongCredentials),
    ),
    webhook=case.WebhookCase(
        left=lambda member: {"type": "unsubscribe", "data[email]": member.email},
        leave=lambda server, member: setattr(member, "status", "unsubscribed"),
        sign=case.by_key,
        secret="hook_key",
        encode=lambda body: urlencode(body).encode(),
    ),
)
