"""A tool that speaks our own JSON, and checks signatures with the library of the standard."""

import datetime as dt
import json
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from honeyguide.events import signature
from honeyguide.integrations.generic import Generic
from honeyguide.integrations.problems import Unexpected, WrongCredentials
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status


class GenericTool(StandIn):
    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret
        self.contacts: dict[str, dict[str, Any]] = {}
        self.refuses: dict[str, dict[str, str]] = {}  # by email: what the result says
        self.writes = 0

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/hook", self.take)]

    async def take(self, request: web.Request) -> web.StreamResponse:
        try:
            body = Webhook(self.secret).verify(await request.text(), dict(request.headers))
        except WebhookVerificationError:
            return web.json_response({"error": "signature"}, status=401)
        assert body["type"] in ("test", "subscribers.sync"), body
        subscribers = body.get("subscribers", [])
        assert len(subscribers) <= 100
        results = []
        for each in subscribers:
            assert set(each) == {
                "id",
                "email",
                "name",
                "status",
                "may_add",
                "old_email",
                "fields",
            }
            if each["email"] in self.refuses:
                results.append({"id": each["id"], **self.refuses[each["email"]]})
            else:
                self.writes += 1
                self.contacts[each["id"]] = each
        return web.json_response({"results": results})

    def signed(self, content: Any, *, at_s: int, secret: str | None = None) -> dict[str, Any]:
        """The arguments of a post to our URL."""
        body = json.dumps(content)
        at = dt.datetime.fromtimestamp(at_s, dt.UTC)
        signature = Webhook(secret or self.secret).sign("msg_1", at, body)
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": str(at_s),
            "webhook-signature": signature,
        }
        return {"content": body.encode(), "headers": headers}

    def hook(self, content: Any, *, at_s: int) -> IncomingHook:
        """As our endpoint gets it."""
        sent = self.signed(content, at_s=at_s)
        return IncomingHook(headers=sent["headers"], body=sent["content"])


def _signed(kept: case.Credentials, body: bytes, now_s: int) -> IncomingHook:
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(now_s)}
    if kept.get("secret", "") in ("", signature.PREFIX):  # the library refuses these
        signed = signature.sign([""], "msg_1", now_s, body)
    else:
        at = dt.datetime.fromtimestamp(now_s, dt.UTC)
        signed = Webhook(kept["secret"]).sign("msg_1", at, body.decode())
    return IncomingHook(headers={**headers, "webhook-signature": signed}, body=body)


CASE = case.PlatformCase(
    server=lambda: GenericTool(signature.new_secret()),
    platform=lambda server: Generic(),
    credentials=lambda server: {"url": f"{server.url}/hook", "secret": server.secret},
    revoke=lambda server: case.made(server, secret=signature.new_secret()),
    faults=(
        (status(410), WrongCredentials),
        (status(302, location="https://example.org"), Unexpected),
        (status(200, '{"results": 7}'), Unexpected),
        (status(200, '{"results": [{"id": "x", "result": "no such"}]}'), Unexpected),
    ),
    webhook=case.WebhookCase(
        left=lambda person: {"type": "left", "email": person["email"]},
        leave=lambda server, person: None,
        sign=_signed,
        secret="secret",
    ),
)
