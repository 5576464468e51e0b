"""Ghost's Admin API as far as we use it, written from its documentation and compared with a real
Ghost: strict about the token, the version, the filter, names, IDs, the size of pages and what a PUT
replaces. It also tells what webhooks Ghost would send, our own writes included.
"""

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Any

from aiohttp import web

from honeyguide.integrations.ghost import Ghost
from honeyguide.integrations.problems import WrongCredentials
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "64f000000000000000000001:" + "9c" * 32
NEWSLETTER = {"id": "n1", "name": "The Morning Wax", "status": "active"}
ARCHIVED = {"id": "n2", "name": "Old", "status": "archived"}
OTHER = {"id": "n3", "name": "Weekend", "status": "active"}


class GhostServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.members: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, dict[str, Any]] = {}
        self.outbox: list[dict[str, Any]] = []
        """What the webhooks would say, in the order of the changes."""
        self._numbers = iter(range(1, 1_000_000))

    def routes(self) -> list[web.RouteDef]:
        api = "/ghost/api/admin"
        return [
            web.get(f"{api}/site/", self.site),
            web.get(f"{api}/newsletters/", self._checked(self.newsletters)),
            web.get(f"{api}/members/", self._checked(self.browse)),
            web.post(f"{api}/members/", self._checked(self.add)),
            web.get(f"{api}/members/{{id}}/", self._checked(self.read)),
            web.put(f"{api}/members/{{id}}/", self._checked(self.edit)),
            web.post(f"{api}/webhooks/", self._checked(self.add_webhook)),
            web.delete(f"{api}/webhooks/{{id}}/", self._checked(self.delete_webhook)),
        ]

    def _checked(self, handler: Any) -> Any:
        async def answer(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Accept-Version") != "v5.0":
                return _error(406, "NotAcceptableError")
            if not _is_valid(request.headers.get("Authorization", ""), self.key):
                return _error(401, "UnauthorizedError")
            response: web.StreamResponse = await handler(request)
            return response

        return answer

    async def site(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"site": {"title": "Wax", "url": self.url, "version": "5.130"}})

    async def newsletters(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"newsletters": [NEWSLETTER, ARCHIVED, OTHER]})

    async def browse(self, request: web.Request) -> web.StreamResponse:
        limit, page = int(request.query.get("limit", 15)), int(request.query.get("page", 1))
        if limit > 100:
            return _error(422, "ValidationError")
        found = list(self.members.values())
        asked = request.query.get("filter", "")
        if asked:
            by_email = re.fullmatch(r"email:'((?:[^'\\]|\\.)+)'", asked)
            since = re.fullmatch(r"updated_at:>='(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)'", asked)
            if by_email:
                email = re.sub(r"\\(.)", r"\1", by_email[1])
                found = [each for each in found if each["email"] == email]
            elif not since:
                return _error(400, "BadRequestError")
        shown = found[(page - 1) * limit : page * limit]
        following = page + 1 if page * limit < len(found) else None
        return web.json_response(
            {"members": shown, "meta": {"pagination": {"page": page, "next": following}}}
        )

    async def read(self, request: web.Request) -> web.StreamResponse:
        if not re.fullmatch("[0-9a-f]{24}", request.match_info["id"]):
            return _error(422, "ValidationError")
        member = self.members.get(request.match_info["id"])
        if member is None:
            return _error(404, "NotFoundError")
        return web.json_response({"members": [member]})

    async def add(self, request: web.Request) -> web.StreamResponse:
        [given] = (await request.json())["members"]
        if not isinstance(given.get("name", ""), str):
            return _error(422, "ValidationError")
        if given["email"] in {each["email"] for each in self.members.values()}:
            return _error(422, "ValidationError")
        if "@" not in given["email"] or given["email"].startswith("fake"):
            return _error(422, "ValidationError")
        member = self.join(given["email"], given.get("name"), labels=given.get("labels", []))
        member["newsletters"] = _newsletters(given["newsletters"])
        return web.json_response({"members": [member]}, status=201)

    async def edit(self, request: web.Request) -> web.StreamResponse:
        member = self.members.get(request.match_info["id"])
        if member is None:
            return _error(404, "NotFoundError")
        [given] = (await request.json())["members"]
        assert set(given) <= {"labels", "newsletters", "email"}, given
        if given.get("email") in {m["email"] for m in self.members.values() if m is not member}:
            return _error(422, "ValidationError")
        before = dict(member)
        for name, value in given.items():
            if name == "newsletters":
                value = _newsletters(value)
            elif name == "labels":
                value = [{"id": f"l-{each['name']}", **each} for each in value]
            member[name] = value
        changed = {name: before[name] for name in given if before[name] != member[name]}
        self._tell(member, changed)
        return web.json_response({"members": [member]})

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        [given] = (await request.json())["webhooks"]
        assert given["event"] in ("member.added", "member.edited", "member.deleted")
        same = [(each["event"], each["target_url"]) for each in self.webhooks.values()]
        if (given["event"], given["target_url"]) in same:
            return _error(422, "ValidationError")
        hook = {"id": f"w{next(self._numbers)}", **given}
        self.webhooks[hook["id"]] = hook
        return web.json_response({"webhooks": [{"id": hook["id"]}]}, status=201)

    async def delete_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(request.match_info["id"], None) is None:
            return _error(404, "NotFoundError")
        return web.Response(status=204)

    # -- what happens in Ghost itself

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((each for each in self.members.values() if each["email"] == email), None)

    def join(self, email: str, name: str | None = None, **more: Any) -> dict[str, Any]:
        number = next(self._numbers)
        member = {
            "id": f"{number:024x}",
            "email": email,
            "name": name,
            "labels": [{"id": f"l-{each['name']}", **each} for each in more.get("labels", [])],
            "newsletters": [NEWSLETTER],
            "email_suppression": {"suppressed": False, "info": None},
            "created_at": "2026-01-01T00:00:00.000Z",
        }
        self.members[member["id"]] = member
        self._tell(member, {})
        return member

    def change(self, member: dict[str, Any], **fields: Any) -> None:
        before = {name: member[name] for name in fields}
        member.update(fields)
        self._tell(member, before)

    def delete(self, member: dict[str, Any]) -> None:
        del self.members[member["id"]]
        self.outbox.append({"member": {"current": {}, "previous": member}})

    def _tell(self, member: dict[str, Any], previous: dict[str, Any]) -> None:
        self.outbox.append(
            json.loads(json.dumps({"member": {"current": member, "previous": previous}}))
        )


def signed(content: Any, secret: str, *, at_ms: int | None = None) -> IncomingHook:
    """A webhook as Ghost signs it: the body and the time in milliseconds."""
    body = json.dumps(content).encode()
    at = str(at_ms or int(time.time() * 1000))
    mac = hmac.new(secret.encode(), body + at.encode(), hashlib.sha256).hexdigest()
    return IncomingHook(headers={"x-ghost-signature": f"sha256={mac}, t={at}"}, body=body)


def _is_valid(authorization: str, key: str) -> bool:
    kind, _, token = authorization.partition(" ")
    key_id, secret = key.split(":")
    try:
        head, claims, mac = token.split(".")
        expected = hmac.digest(bytes.fromhex(secret), f"{head}.{claims}".encode(), "sha256")
        header, payload = json.loads(_plain(head)), json.loads(_plain(claims))
    except ValueError:
        return False
    now_s = time.time()
    return (
        kind == "Ghost"
        and hmac.compare_digest(_plain(mac), expected)
        and header == {"alg": "HS256", "typ": "JWT", "kid": key_id}
        and payload["aud"] == "/admin/"
        and now_s - 60 <= payload["iat"] <= now_s + 60
        and now_s < payload["exp"] <= payload["iat"] + 300
    )


def _plain(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _newsletters(given: list[dict[str, str]]) -> list[dict[str, str]]:
    known = {each["id"]: each for each in (NEWSLETTER, ARCHIVED, OTHER)}
    return [known[each["id"]] for each in given]


def _error(status: int, kind: str) -> web.Response:
    return web.json_response({"errors": [{"message": "No.", "type": kind}]}, status=status)


def _also_elsewhere(server: Any, email: str) -> Any:
    member = server.join(email, "Their Own", labels=[{"name": "VIP"}])
    server.change(member, newsletters=[NEWSLETTER, OTHER])
    return member


def _left(server: Any, email: str) -> Any:
    member = server.join(email)
    server.change(member, newsletters=[OTHER])
    return member


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    at = f"{now_s}000"
    mac = case.signature_of(kept.get("hook_secret", ""), body + at.encode())
    return IncomingHook(headers={"x-ghost-signature": f"sha256={mac}, t={at}"}, body=body)


CASE = case.PlatformCase(
    also_elsewhere=_also_elsewhere,
    left_at={".newsletters": [OTHER]},
    server=GhostServer,
    platform=lambda server: Ghost(),
    credentials=lambda server: {"url": server.url, "admin_api_key": server.key},
    revoke=lambda server: case.made(server, key=KEY[:-2] + "00"),
    audience_id=NEWSLETTER["id"],
    active=lambda server, email: server.join(email),
    left=(_left,),
    state=lambda member: [each["id"] for each in member["newsletters"]],
    unsubscribed=[],
    unknown_id="f" * 24,
    code="",
    faults=(
        (status(403), WrongCredentials),
        (status(301, location="https://example.org/ghost/"), WrongCredentials),
    ),
    webhook=case.WebhookCase(
        left=lambda member: {"member": {"current": member, "previous": {}}},
        leave=lambda server, member: server.change(member, newsletters=[OTHER]),
        sign=_signed,
        secret="hook_secret",
    ),
)
