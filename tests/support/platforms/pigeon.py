"""The stand-in of the made-up platform. Strict about the key, and about what it knows."""

from typing import Any

from aiohttp import web

from honeyguide.integrations.problems import Unexpected, WrongCredentials
from honeyguide.integrations.reports import IncomingHook
from tests.support.made_up_platform import Pigeon
from tests.support.platforms import case
from tests.support.platforms.stand_in import Answer, StandIn, status

KEY = "coo_0123456789"
PER_PAGE = 2


class PigeonServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.birds: dict[str, dict[str, Any]] = {}
        self.webhooks: dict[str, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        routes = (
            web.get("/loft", self.loft),
            web.get("/birds", self.flock),
            web.post("/birds", self.post),
            web.get("/birds/{key}", self.get),
            web.patch("/birds/{key}", self.patch),
            web.post("/hooks", self.add_hook),
            web.delete("/hooks/{id}", self.remove_hook),
        )
        return [web.route(each.method, each.path, self._guarded(each.handler)) for each in routes]

    def _guarded(self, handler: Any) -> Answer:
        async def answer(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") != f"Bearer {self.key}":
                return web.json_response({}, status=401)
            return await handler(request)  # type: ignore[no-any-return]

        return answer

    def add(self, email: str, state: str = "on") -> dict[str, Any]:
        bird = {
            "id": f"b{next(self.numbers)}",
            "email": email,
            "state": state,
            "since": "2026-11-01T08:00:00Z",
            "notes": {},
        }
        self.birds[bird["id"]] = bird
        return bird

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((each for each in self.birds.values() if each["email"] == email), None)

    async def loft(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"name": "The Morning Wax"})

    async def flock(self, request: web.Request) -> web.StreamResponse:
        start = int(request.query["after"] or 0)
        birds = list(self.birds.values())[start : start + PER_PAGE]
        following = start + PER_PAGE
        after = str(following) if following < len(self.birds) else None
        return web.json_response({"birds": birds, "after": after})

    async def get(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        bird = self.birds.get(key) or self.by_email(key)
        return web.json_response(bird or {}, status=200 if bird else 404)

    async def post(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) == {"email", "notes"}
        if body["email"].startswith("fake@") or self.by_email(body["email"]):
            return web.json_response({}, status=422)
        bird = self.add(body["email"])
        bird["notes"].update(body["notes"])
        return web.json_response(bird, status=201)

    async def patch(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"notes", "email", "state"} and body.get("state", "off") == "off"
        bird = self.birds.get(request.match_info["key"])
        if bird is None:
            return web.json_response({}, status=404)
        if "email" in body and self.by_email(body["email"]):
            return web.json_response({}, status=409)
        bird["notes"].update(body.pop("notes"))
        bird.update(body)
        return web.json_response(bird)

    async def add_hook(self, request: web.Request) -> web.StreamResponse:
        hook = {**await request.json(), "id": f"h{next(self.numbers)}", "secret": "feather"}
        self.webhooks[hook["id"]] = hook
        return web.json_response(hook, status=201)

    async def remove_hook(self, request: web.Request) -> web.StreamResponse:
        known = self.webhooks.pop(request.match_info["id"], None)
        return web.json_response({}, status=200 if known else 404)


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    signature = case.signature_of(kept.get("hook_secret", ""), body)
    return IncomingHook(headers={"x-pigeon-signature": signature}, body=body)


CASE = case.PlatformCase(
    server=PigeonServer,
    platform=lambda server: Pigeon(server.url),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    active=case.add,
    left=case.by_status("off", "lost"),
    state=lambda bird: bird["state"],
    unsubscribed="off",
    left_at={".state": "off"},
    fields=lambda bird: bird["notes"],  # type: ignore[no-any-return]
    faults=((status(403), WrongCredentials), (status(200, '{"id": 7}'), Unexpected)),
    webhook=case.WebhookCase(
        left=lambda bird: {"bird": bird["id"]},
        leave=lambda server, bird: bird.update(state="off"),
        sign=_signed,
        secret="hook_secret",
    ),
)
