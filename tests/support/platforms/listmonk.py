"""listmonk 6 as its source has it. Strict: the API user, the permission for SQL, known parameters
only. Somebody who does not exist is a 400, a list that does not exist is ignored, at most 50 are on
a page, and whoever has to confirm is asked after each change without `preconfirm_subscriptions`.
"""

import re
from base64 import b64encode
from typing import Any

from aiohttp import web

from honeyguide.integrations.listmonk import Listmonk
from honeyguide.integrations.problems import Unexpected, WrongCredentials
from tests.support.platforms import case
from tests.support.platforms.stand_in import StandIn, status

USER, TOKEN = "honeyguide", "0123456789abcdef"
LIST, OTHER_LIST = 3, 4
BEFORE, LATELY = "2026-11-01T08:00:00.123456+01:00", "2026-11-16T10:00:00.123456Z"
SINCE = r"'([^']+)'"
CONDITIONS = {
    "below": re.compile(r"subscribers\.id < 0"),
    "by_id": re.compile(r"subscribers\.id=(\d+)"),
    "by_email": re.compile(r"subscribers\.email='([^']*)'"),
    "after": re.compile(r"subscribers\.id > (\d+)"),
    "changed": re.compile(
        r"subscribers\.id > (\d+) AND \(subscribers\.updated_at >= "
        + SINCE
        + r" OR subscriber_lists\.updated_at >= "
        + SINCE
        + r"\)"
    ),
}


class ListmonkServer(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.token = TOKEN
        self.may_query = True
        self.lists = {LIST: "Readers", OTHER_LIST: "Customers"}
        self.optin = "single"
        self.people: dict[int, dict[str, Any]] = {}
        self.asked_to_confirm: list[str] = []

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/health", self._guarded(self.health)),
            web.get("/api/lists", self._guarded(self.all_lists)),
            web.get("/api/lists/{id}", self._guarded(self.one_list)),
            web.get("/api/subscribers", self._guarded(self.query)),
            web.post("/api/subscribers", self._guarded(self.create)),
            web.put("/api/subscribers/lists", self._guarded(self.manage_lists)),
            web.get("/api/subscribers/{id}", self._guarded(self.show)),
            web.patch("/api/subscribers/{id}", self._guarded(self.patch)),
        ]

    def add(self, email: str, on: str = "unconfirmed", **more: Any) -> dict[str, Any]:
        """`on` is the status of the subscription to the list; "" if they are on another list."""
        number = len(self.people) + 1
        person = {
            "id": number,
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "email": email,
            "name": "",
            "status": "enabled",
            "attribs": {},
            "on": {LIST: on} if on else {OTHER_LIST: "confirmed"},
            "updated_at": BEFORE,
            "subscription_updated_at": BEFORE,
            **more,
        }
        self.people[number] = person
        return person

    def by_email(self, email: str) -> dict[str, Any] | None:
        return next((p for p in self.people.values() if p["email"] == email), None)

    def _guarded(self, handler: Any) -> Any:
        async def guarded(request: web.Request) -> web.StreamResponse:
            expected = b64encode(f"{USER}:{self.token}".encode()).decode()
            if request.headers.get("Authorization") != f"Basic {expected}":
                return error(403, "invalid API credentials")
            answer: web.StreamResponse = await handler(request)
            return answer

        return guarded

    async def health(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": True})

    async def all_lists(self, request: web.Request) -> web.StreamResponse:
        shown = [{**self._list(each), "subscriber_count": 7} for each in self.lists]
        return page_of(shown, len(shown))

    async def one_list(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["id"])
        if number not in self.lists:  # with this status
            return web.json_response({"message": "List not found"}, status=400)
        return web.json_response({"data": self._list(number)})

    def _list(self, number: int) -> dict[str, Any]:
        return {
            "id": number,
            "created_at": BEFORE,
            "updated_at": BEFORE,
            "uuid": f"00000000-0000-4000-9000-{number:012}",
            "name": self.lists[number],
            "type": "public",
            "optin": self.optin if number == LIST else "single",
            "tags": [],
        }

    async def query(self, request: web.Request) -> web.StreamResponse:
        asked = request.query
        known = {"query", "search", "list_id", "order", "order_by", "page", "per_page"}
        assert set(asked) <= known and asked["page"] == "1"
        assert ("query" in asked) != ("search" in asked)
        if "query" in asked and not self.may_query:
            return error(403, "Permission denied: subscribers:sql_query")
        found = [
            person
            for person in self.people.values()
            if self._is_on(person, asked.get("list_id")) and matches(person, asked)
        ]
        most = min(int(asked["per_page"]), 50)
        return page_of([self._shown(person) for person in found[:most]], len(found))

    def _is_on(self, person: dict[str, Any], list_id: str | None) -> bool:
        return list_id is None or int(list_id) in set(person["on"]) & set(self.lists)

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        known = {"email", "name", "status", "lists", "attribs", "preconfirm_subscriptions"}
        assert set(body) <= known
        if "@" not in body["email"] or body["email"].startswith("fake"):
            return error(400, "Invalid email.")
        if self.by_email(body["email"].lower()):
            return error(409, "E-mail already exists.")
        person = self.add(body["email"].lower(), name=body["name"], attribs=body["attribs"])
        state = "confirmed" if body.get("preconfirm_subscriptions") else "unconfirmed"
        person["on"] = {each: state for each in body["lists"] if each in self.lists}
        self._ask_to_confirm(person, body)
        return web.json_response({"data": self._shown(person)})

    async def show(self, request: web.Request) -> web.StreamResponse:
        person = self.people.get(int(request.match_info["id"]))
        if person is None:
            return error(400, "Subscriber not found")
        return web.json_response({"data": self._shown(person)})

    async def patch(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) <= {"email", "attribs", "preconfirm_subscriptions"}
        person = self.people.get(int(request.match_info["id"]))
        if person is None:
            return error(400, "Subscriber not found")
        email = body.get("email", person["email"])
        if email.startswith("fake"):
            return error(400, "Invalid email.")
        if self.by_email(email) not in (None, person):
            return error(500, "Error updating subscriber: pq: duplicate key")
        person["email"] = email
        person["attribs"].update(body.get("attribs", {}))
        person["updated_at"] = LATELY
        self._ask_to_confirm(person, body)
        return web.json_response({"data": self._shown(person)})

    def _ask_to_confirm(self, person: dict[str, Any], body: dict[str, Any]) -> None:
        is_open = self.optin == "double" and person["on"].get(LIST) == "unconfirmed"
        if is_open and not body.get("preconfirm_subscriptions"):
            self.asked_to_confirm.append(person["email"])

    async def manage_lists(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert set(body) - {"status"} == {"ids", "action", "target_list_ids"}
        assert body.get("status") in (None, "confirmed")
        for number in body["ids"]:
            person = self.people[number]
            for each in body["target_list_ids"]:
                if body["action"] == "add":
                    person["on"].setdefault(each, "unconfirmed")
                    person["on"][each] = body.get("status", person["on"][each])
                elif each in person["on"]:
                    person["on"][each] = "unsubscribed"
            person["subscription_updated_at"] = LATELY
        return web.json_response({"data": True})

    def _shown(self, person: dict[str, Any]) -> dict[str, Any]:
        hidden = ("on", "subscription_updated_at")
        shown = {name: value for name, value in person.items() if name not in hidden}
        lists = [
            {
                "subscription_status": state,
                "subscription_created_at": BEFORE,
                "subscription_updated_at": person["subscription_updated_at"],
                **self._list(each),
            }
            for each, state in person["on"].items()
            if each in self.lists
        ]
        return {**shown, "created_at": BEFORE, "lists": lists}


def matches(person: dict[str, Any], asked: Any) -> bool:
    if "search" in asked:
        both = (person["email"], person["name"])
        return any(re.search(asked["search"], each, re.IGNORECASE) for each in both)
    for kind, pattern in CONDITIONS.items():
        if match := pattern.fullmatch(asked["query"]):
            return meets(person, kind, match)
    raise AssertionError(asked["query"])


def meets(person: dict[str, Any], kind: str, match: re.Match[str]) -> bool:
    if kind in ("below", "by_id"):
        return kind == "by_id" and person["id"] == int(match[1])
    if kind == "by_email":
        return bool(person["email"] == match[1])
    if person["id"] <= int(match[1]):
        return False
    return (
        kind == "after" or max(person["updated_at"], person["subscription_updated_at"]) > match[2]
    )


def page_of(results: list[dict[str, Any]], total: int) -> web.StreamResponse:
    data = {"results": results, "query": "", "total": total, "per_page": 50, "page": 1}
    return web.json_response({"data": data})


def error(status: int, message: str) -> web.StreamResponse:
    return web.json_response({"message": message}, status=status)


def _also_elsewhere(server: Any, email: str) -> Any:
    person = case.named(server.add(email, "confirmed"))
    person["on"][OTHER_LIST] = "confirmed"
    return person


def _set_token(server: Any) -> None:
    server.token = "another"


CASE = case.PlatformCase(
    also_elsewhere=_also_elsewhere,
    left_at={f".on.{LIST}": "unsubscribed"},
    server=ListmonkServer,
    platform=lambda server: Listmonk(),
    credentials=lambda server: {
        "url": f"{server.url}/",
        "username": USER,
        "token": TOKEN,
    },
    revoke=_set_token,
    audience_id=str(LIST),
    active=case.add,
    left=(
        *case.by_status("unsubscribed"),
        lambda server, email: server.add(email, "", status="blocklisted"),
        lambda server, email: server.add(email, "unsubscribed", status="blocklisted"),
    ),
    state=lambda person: person["on"].get(LIST),
    fields=lambda person: person["attribs"],  # type: ignore[no-any-return]
    code="rh_code",
    lose_audience=lambda server: server.lists.pop(LIST),
    faults=(
        (status(403), WrongCredentials),
        (status(200, '{"data": []}'), Unexpected),
    ),
)
