"""Brevo's API v3 as its documentation and Python client describe it. Strict: the key, known
parameters and attributes only, existing lists, a request budget. As it does, a write answers
nothing, a new address subscribes somebody again who left, and an address that is taken is refused
even if it is the contact's own.
"""

from typing import Any

from aiohttp import web

from honeyguide.integrations.brevo import Brevo
from honeyguide.integrations.problems import TryLater, WrongCredentials
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

KEY = "xkeysib-0123456789abcdef-Ab1Cd2Ef3"
LIST = 7
OTHER_LIST = 8
EVENTS = {
    "spam",
    "opened",
    "click",
    "hardBounce",
    "softBounce",
    "unsubscribed",
    "listAddition",
    "delivered",
    "contactUpdated",
    "contactDeleted",
}


class BrevoServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.key = KEY
        self.left_this_hour = 36_000
        self.lists = {LIST: "Readers", OTHER_LIST: "Customers"}
        self.attributes = {"FIRSTNAME"}
        self.people: dict[int, dict[str, Any]] = {}
        self.webhooks: dict[int, dict[str, Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        one = "/contacts/{key}"
        return [
            web.get("/account", self._guarded(self.account)),
            web.get("/contacts/lists", self._guarded(self.list_lists)),
            web.get("/contacts/lists/{id}", self._guarded(self.one_list)),
            web.get("/contacts/lists/{id}/contacts", self._guarded(self.list_contacts)),
            web.get("/contacts/attributes", self._guarded(self.list_attributes)),
            web.post("/contacts/attributes/normal/{name}", self._guarded(self.add_attribute)),
            web.post("/contacts", self._guarded(self.add_contact)),
            web.get(one, self._guarded(self.get_contact)),
            web.put(one, self._guarded(self.put_contact)),
            web.post("/webhooks", self._guarded(self.add_webhook)),
            web.delete("/webhooks/{id}", self._guarded(self.remove_webhook)),
        ]

    def add(
        self, email: str, *, has_left: bool = False, lists: tuple[int, ...] = (LIST,), **values: str
    ) -> dict[str, Any]:
        person = {
            "id": len(self.people) + 101,
            "email": email,
            "emailBlacklisted": has_left,
            "smsBlacklisted": False,
            "whatsappBlacklisted": False,
            "createdAt": "2026-11-01T08:00:00.000+00:00",
            "modifiedAt": "2026-11-16T10:00:00.000+00:00",
            "listIds": list(lists),
            "listUnsubscribed": None,
            "attributes": dict(values),
        }
        self.people[len(self.people) + 101] = person
        return person

    def delete_list(self, number: int) -> None:
        del self.lists[number]
        for person in self.people.values():
            person["listIds"] = [each for each in person["listIds"] if each != number]

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((p for p in self.people.values() if p["email"] == email), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if request.headers.get("api-key") != self.key:
                return problem(401, "unauthorized", "Key not found")
            self.left_this_hour -= 1
            if self.left_this_hour < 0:
                return problem(429, "too_many_requests", "Rate limit exceeded")
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def account(self, request: web.Request) -> web.StreamResponse:
        plan = [{"type": "free", "credits": 300, "creditsType": "sendLimit"}]
        shown = {"email": "me@example.org", "companyName": "The Morning Wax", "plan": plan}
        return web.json_response(shown)

    async def list_lists(self, request: web.Request) -> web.StreamResponse:
        assert set(request.query) <= {"limit", "offset", "sort"}
        limit, offset = int(request.query.get("limit", 10)), int(request.query.get("offset", 0))
        assert limit <= 50
        shown = [
            {
                "id": number,
                "name": name,
                "folderId": 1,
                "uniqueSubscribers": sum(number in p["listIds"] for p in self.people.values()),
                "totalSubscribers": 0,
                "totalBlacklisted": 0,
            }
            for number, name in self.lists.items()
        ]
        page = shown[offset : offset + limit]
        return web.json_response({"lists": page, "count": len(shown)})

    async def one_list(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["id"])
        if number not in self.lists:
            return problem(404, "document_not_found", "List ID does not exist")
        return web.json_response({"id": number, "name": self.lists[number]})

    async def list_contacts(self, request: web.Request) -> web.StreamResponse:
        asked, number = request.query, int(request.match_info["id"])
        assert set(asked) <= {"limit", "offset", "sort", "modifiedSince"}
        limit, offset = int(asked.get("limit", 50)), int(asked.get("offset", 0))
        assert limit <= 500 and asked["sort"] == "asc"
        if number not in self.lists:
            return problem(404, "document_not_found", "List ID does not exist")
        since = asked.get("modifiedSince", "")
        found = [p for p in self.people.values() if number in p["listIds"]]
        found = [p for p in found if p["modifiedAt"] > since]
        return web.json_response({"contacts": found[offset : offset + limit], "count": len(found)})

    async def list_attributes(self, request: web.Request) -> web.StreamResponse:
        shown = [
            {"name": name, "category": "normal", "type": "text"} for name in sorted(self.attributes)
        ]
        return web.json_response({"attributes": shown})

    async def add_attribute(self, request: web.Request) -> web.StreamResponse:
        assert await request.json() == {"type": "text"}
        name = request.match_info["name"]
        if name in self.attributes or not name.isupper():
            return problem(400, "invalid_parameter", "Attribute name is invalid")
        self.attributes.add(name)
        return web.json_response({}, status=201)

    def _known(self, request: web.Request) -> dict[str, Any] | None:
        key, kind = request.match_info["key"], request.query.get("identifierType")
        assert kind in ("contact_id", "email_id")
        return self.people.get(int(key)) if kind == "contact_id" else self.by_email(key)

    async def get_contact(self, request: web.Request) -> web.StreamResponse:
        person = self._known(request)
        if person is None:
            return problem(404, "document_not_found", "Contact does not exist")
        return web.json_response({**person, "statistics": {}})

    async def add_contact(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email", "attributes", "listIds", "updateEnabled"}
        if "@" not in body["email"] or body["email"].startswith("fake"):
            return problem(400, "invalid_parameter", "Invalid email address")
        if not set(body["listIds"]) <= set(self.lists):
            return problem(400, "invalid_parameter", "List ID does not exist")
        assert set(body["attributes"]) <= self.attributes
        if self.by_email(body["email"]):
            assert not body["updateEnabled"]
            return taken("create")
        person = self.add(body["email"], lists=tuple(body["listIds"]), **body["attributes"])
        return web.json_response({"id": person["id"]}, status=201)

    async def put_contact(self, request: web.Request) -> web.StreamResponse:
        body, person = await request.json(), self._known(request)
        assert set(body) <= {"attributes", "emailBlacklisted", "listIds", "unlinkListIds"}
        if person is None:
            return problem(404, "document_not_found", "Contact does not exist")
        if not set(body.get("listIds", ())) <= set(self.lists):
            return problem(400, "invalid_parameter", "List ID does not exist")
        given = dict(body.get("attributes", {}))
        if (email := given.pop("EMAIL", None)) is not None:
            if self.by_email(email):
                return taken("update")
            person.update(email=email, emailBlacklisted=False)
        assert set(given) <= self.attributes
        person["attributes"].update(given)
        person["listIds"] += body.get("listIds", [])
        person["emailBlacklisted"] = body.get("emailBlacklisted", person["emailBlacklisted"])
        return web.Response(status=204)

    async def add_webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) == {"url", "description", "type", "events"}
        assert body["type"] == "marketing" and set(body["events"]) <= EVENTS
        if "127.0.0.1" in body["url"]:
            return problem(400, "invalid_parameter", "Url is invalid")
        number = next(self.numbers)
        self.webhooks[number] = body
        return web.json_response({"id": number}, status=201)

    async def remove_webhook(self, request: web.Request) -> web.StreamResponse:
        if self.webhooks.pop(int(request.match_info["id"]), None) is None:
            return problem(404, "document_not_found", "Webhook does not exist")
        return web.Response(status=204)


def problem(status: int, code: str, text: str) -> web.StreamResponse:
    return web.json_response({"code": code, "message": text}, status=status)


def taken(what: str) -> web.StreamResponse:
    text = f"Unable to {what} contact, email is already associated with another Contact"
    return problem(400, "duplicate_parameter", text)


def _also_elsewhere(server: Any, email: str) -> Any:
    return case.named(server.add(email, lists=(LIST, LIST + 1)))


def _left(server: Any, email: str) -> Any:
    person = server.add(email, lists=())
    person["listUnsubscribed"] = [LIST]
    return person


CASE = case.PlatformCase(
    also_elsewhere=_also_elsewhere,
    left_at={".emailBlacklisted": True},
    server=lambda: case.made(BrevoServer(), attributes={"RH_CODE", "RH_TOTREF"}),
    platform=lambda server: Brevo(server.url),
    credentials=lambda server: {"api_key": KEY},
    revoke=case.set_key,
    audience_id=str(LIST),
    active=case.add,
    left=(lambda server, email: server.add(email, has_left=True), _left),
    state=lambda person: (person["emailBlacklisted"], person["listIds"]),
    unsubscribed=(True, [LIST]),
    fields=lambda person: person["attributes"],  # type: ignore[no-any-return]
    lose_field=lambda server: server.attributes.discard("RH_TOTREF"),
    lose_audience=lambda server: server.delete_list(LIST),
    faults=((status(425), TryLater), (status(403), WrongCredentials)),
    webhook=case.WebhookCase(
        left=lambda person: {"event": "unsubscribed", "email": person["email"]},
        leave=lambda server, person: person.update(emailBlacklisted=True),
        sign=case.by_key,
        secret="hook_key",
    ),
)
