"""A tool that speaks our own JSON, and checks signatures with the library of the standard."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.platforms.stand_in import StandIn


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
