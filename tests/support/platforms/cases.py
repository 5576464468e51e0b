"""What the tests that all platforms share need to know about each stand-in."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from honeyguide.events import signature
from honeyguide.integrations.beehiiv import Beehiiv
from honeyguide.integrations.brevo import Brevo
from honeyguide.integrations.buttondown import Buttondown
from honeyguide.integrations.generic import Generic
from honeyguide.integrations.ghost import Ghost
from honeyguide.integrations.kit import Kit
from honeyguide.integrations.listmonk import Listmonk
from honeyguide.integrations.mailchimp import Mailchimp
from honeyguide.integrations.mailerlite import MailerLite
from honeyguide.integrations.platform import Platform, PlatformAccess, WriteOutcome, WriteResult
from honeyguide.integrations.problems import TryLater, Unexpected, WrongCredentials
from honeyguide.integrations.reports import PlatformChange
from tests.support.platforms import (
    beehiiv,
    brevo,
    buttondown,
    ghost,
    kit,
    listmonk,
    mailchimp,
    mailerlite,
)
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import Answer, access_to, status

Fault = tuple[Answer, type[Exception]]


@dataclass(frozen=True, kw_only=True)
class PlatformCase:
    server: Callable[[], Any]
    """A stand-in that has our two fields and no limit."""
    platform: Callable[[Any], Platform]
    credentials: Callable[[Any], dict[str, str]]
    revoke: Callable[[Any], None]
    """Makes the key wrong."""
    audience_id: str = ""
    active: Callable[[Any, str], Any] | None = None
    """Adds somebody who is on the list. None: the tool keeps no list."""
    left: tuple[Callable[[Any, str], Any], ...] = ()
    """Each adds somebody who is not, in another way."""
    find: Callable[[Any, str], Any] = lambda server, email: server.by_email(email)
    state: Callable[[Any], Any] = lambda person: person["status"]
    unsubscribed: Any = "unsubscribed"
    fields: Callable[[Any], dict[str, Any]] = lambda person: person["fields"]
    id: Callable[[Any], str] = lambda person: str(person["id"])
    everything: Callable[[Any], dict[str, Any]] = copy.deepcopy
    """All that the platform knows of somebody."""
    also_elsewhere: Callable[[Any, str], Any] = lambda server, email: _named(server.add(email))
    """Adds somebody who is on the list, with a name, a field of their own, and on other lists."""
    left_at: Mapping[str, Any] = field(default_factory=dict)
    """What changes when we unsubscribe them, and nothing else."""
    unknown_id: str = "999"
    code: str = "RH_CODE"
    """The name of the referral code there; "" if there are no fields."""
    lose_field: Callable[[Any], None] | None = None
    lose_audience: Callable[[Any], None] | None = None
    faults: tuple[Fault, ...] = field(default=())
    """What else may go wrong, in the platform's own way."""

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[tuple[Any, Platform, PlatformAccess]]:
        server = self.server()
        async with server.serving():
            platform = self.platform(server)
            options = {"audience_id": self.audience_id, **options}
            async with access_to(platform, self.credentials(server), **options) as access:
                yield server, platform, access


def _made(server: Any, **changes: Any) -> Any:
    for name, value in changes.items():
        setattr(server, name, value)
    return server


def _named(person: Any) -> Any:
    """With a name and a town, wherever the platform keeps them."""
    if isinstance(person, mailchimp.Member):
        person.name = "Their Own"
        person.fields["TOWN"] = "Bonn"
        return person
    for name in ("name", "first_name"):
        if name in person:
            person[name] = "Their Own"
    for fields in ("fields", "values", "attributes", "metadata", "attribs"):
        if fields in person:
            person[fields].update({"Town": "Bonn", "name": "Their Own", "FIRSTNAME": "Their Own"})
    return person


def _also_in_ghost(server: Any, email: str) -> Any:
    member = server.join(email, "Their Own", labels=[{"name": "VIP"}])
    server.change(member, newsletters=[ghost.NEWSLETTER, ghost.OTHER])
    return member


def _also_on_brevo_list(server: Any, email: str) -> Any:
    return _named(server.add(email, lists=(brevo.LIST, brevo.LIST + 1)))


def _also_on_listmonk_list(server: Any, email: str) -> Any:
    person = _named(server.add(email, "confirmed"))
    person["on"][listmonk.OTHER_LIST] = "confirmed"
    return person


def _no_limit(server: Any) -> Any:
    return _made(server, left_this_minute=10**6)


def _set_key(server: Any) -> None:
    server.key = "another"


def _set_token(server: Any) -> None:
    server.token = "another"


def _left_brevo_list(server: Any, email: str) -> Any:
    person = server.add(email, lists=())
    person["listUnsubscribed"] = [brevo.LIST]
    return person


def _left_ghost(server: Any, email: str) -> Any:
    member = server.join(email)
    server.change(member, newsletters=[ghost.OTHER])
    return member


def _by_status(*states: str) -> tuple[Callable[[Any, str], Any], ...]:
    return tuple(lambda server, email, state=state: server.add(email, state) for state in states)  # type: ignore[misc]


def _add(server: Any, email: str) -> Any:
    return server.add(email)


CASES: dict[str, PlatformCase] = {
    "ghost": PlatformCase(
        also_elsewhere=_also_in_ghost,
        left_at={".newsletters": [ghost.OTHER]},
        server=ghost.GhostServer,
        platform=lambda server: Ghost(),
        credentials=lambda server: {"url": server.url, "admin_api_key": server.key},
        revoke=lambda server: _made(server, key=ghost.KEY[:-2] + "00"),
        audience_id=ghost.NEWSLETTER["id"],
        active=lambda server, email: server.join(email),
        left=(_left_ghost,),
        state=lambda member: [each["id"] for each in member["newsletters"]],
        unsubscribed=[],
        unknown_id="f" * 24,
        code="",
        faults=(
            (status(403), WrongCredentials),
            (status(301, location="https://example.org/ghost/"), WrongCredentials),
        ),
    ),
    "mailchimp": PlatformCase(
        everything=dataclasses.asdict,
        left_at={".status": "unsubscribed"},
        server=lambda: _made(mailchimp.MailchimpServer(), tags={"RH_CODE", "RH_TOTREF"}),
        platform=lambda server: Mailchimp(f"{server.url}/3.0"),
        credentials=lambda server: {"api_key": mailchimp.KEY},
        revoke=_set_key,
        audience_id=mailchimp.LIST,
        active=_add,
        left=_by_status("unsubscribed", "cleaned", "archived"),
        find=lambda server, email: server.find(email),
        state=lambda member: member.status,
        fields=lambda member: member.fields,  # type: ignore[no-any-return]
        id=lambda member: str(member.contact_id),
        lose_field=lambda server: server.tags.discard("RH_TOTREF"),
        lose_audience=lambda server: _made(server, is_deleted=True),
        faults=(
            (status(403, "<html>Forbidden</html>"), TryLater),  # overload
            (status(403, '{"title": "User action not permitted"}'), WrongCredentials),
        ),
    ),
    "kit": PlatformCase(
        left_at={".state": "cancelled"},
        server=lambda: _made(_no_limit(kit.KitServer()), fields={"rh_code", "rh_totref"}),
        platform=lambda server: Kit(f"{server.url}/v4"),
        credentials=lambda server: {"api_key": kit.KEY},
        revoke=_set_key,
        active=_add,
        left=_by_status("cancelled", "bounced", "complained"),
        state=lambda person: person["state"],
        unsubscribed="cancelled",
        code="rh_code",
        lose_field=lambda server: server.fields.discard("rh_totref"),
        faults=(
            (status(403), WrongCredentials),
            (status(200, '{"subscriber": 7}'), Unexpected),
        ),
    ),
    "beehiiv": PlatformCase(
        left_at={".status": "inactive"},
        server=lambda: _made(_no_limit(beehiiv.BeehiivServer()), fields=["RH_CODE", "RH_TOTREF"]),
        platform=lambda server: Beehiiv(f"{server.url}/v2"),
        credentials=lambda server: {"api_key": beehiiv.KEY},
        revoke=_set_key,
        audience_id=beehiiv.PUBLICATION,
        active=_add,
        left=_by_status("inactive", "invalid"),
        unsubscribed="inactive",
        fields=lambda person: person["values"],  # type: ignore[no-any-return]
        lose_field=lambda server: server.fields.remove("RH_TOTREF"),
        lose_audience=lambda server: _made(server, is_gone=True),
        faults=(
            (status(429, ratelimit_reset="soon"), TryLater),
            (status(403), WrongCredentials),
            (status(200, '{"data": 7}'), Unexpected),
        ),
    ),
    "listmonk": PlatformCase(
        also_elsewhere=_also_on_listmonk_list,
        left_at={f".on.{listmonk.LIST}": "unsubscribed"},
        server=listmonk.ListmonkServer,
        platform=lambda server: Listmonk(),
        credentials=lambda server: {
            "url": f"{server.url}/",
            "username": listmonk.USER,
            "token": listmonk.TOKEN,
        },
        revoke=_set_token,
        audience_id=str(listmonk.LIST),
        active=_add,
        left=(
            *_by_status("unsubscribed"),
            lambda server, email: server.add(email, "", status="blocklisted"),
            lambda server, email: server.add(email, "unsubscribed", status="blocklisted"),
        ),
        state=lambda person: person["on"].get(listmonk.LIST),
        fields=lambda person: person["attribs"],  # type: ignore[no-any-return]
        code="rh_code",
        lose_audience=lambda server: server.lists.pop(listmonk.LIST),
        faults=(
            (status(403), WrongCredentials),
            (status(200, '{"data": []}'), Unexpected),
        ),
    ),
    "buttondown": PlatformCase(
        left_at={".type": "unsubscribed"},
        server=lambda: _made(_no_limit(buttondown.ButtondownServer()), left_today=10**6),
        platform=lambda server: Buttondown(f"{server.url}/v1"),
        credentials=lambda server: {"api_key": buttondown.KEY},
        revoke=_set_key,
        active=_add,
        left=_by_status(*buttondown.ENDED),
        state=lambda person: person["type"],
        fields=lambda person: person["metadata"],  # type: ignore[no-any-return]
        code="rh_code",
        faults=((status(403), WrongCredentials), (status(200, '{"id": 7}'), Unexpected)),
    ),
    "mailerlite": PlatformCase(
        left_at={".status": "unsubscribed"},
        server=lambda: _made(
            _no_limit(mailerlite.MailerLiteServer()),
            fields={"name": "name", "rh_code": "rh_code", "r_h__t_o_t_r_e_f": "RH_TOTREF"},
        ),
        platform=lambda server: MailerLite(f"{server.url}/api"),
        credentials=lambda server: {"api_key": mailerlite.KEY},
        revoke=_set_key,
        active=_add,
        left=_by_status("unsubscribed", "bounced", "junk"),
        code="rh_code",
        lose_field=lambda server: server.fields.pop("rh_code"),
        faults=((status(403), Unexpected), (status(200, '{"data": 7}'), Unexpected)),
    ),
    "brevo": PlatformCase(
        also_elsewhere=_also_on_brevo_list,
        left_at={".emailBlacklisted": True},
        server=lambda: _made(brevo.BrevoServer(), attributes={"RH_CODE", "RH_TOTREF"}),
        platform=lambda server: Brevo(server.url),
        credentials=lambda server: {"api_key": brevo.KEY},
        revoke=_set_key,
        audience_id=str(brevo.LIST),
        active=_add,
        left=(lambda server, email: server.add(email, has_left=True), _left_brevo_list),
        state=lambda person: (person["emailBlacklisted"], person["listIds"]),
        unsubscribed=(True, [brevo.LIST]),
        fields=lambda person: person["attributes"],  # type: ignore[no-any-return]
        lose_field=lambda server: server.attributes.discard("RH_TOTREF"),
        lose_audience=lambda server: server.delete_list(brevo.LIST),
        faults=((status(425), TryLater), (status(403), WrongCredentials)),
    ),
    "generic": PlatformCase(
        server=lambda: GenericTool(signature.new_secret()),
        platform=lambda server: Generic(),
        credentials=lambda server: {"url": f"{server.url}/hook", "secret": server.secret},
        revoke=lambda server: _made(server, secret=signature.new_secret()),
        faults=(
            (status(410), WrongCredentials),
            (status(302, location="https://example.org"), Unexpected),
            (status(200, '{"results": 7}'), Unexpected),
            (status(200, '{"results": [{"id": "x", "result": "no such"}]}'), Unexpected),
        ),
    ),
}


def run(
    key: str, test: Callable[[Any, Any, PlatformAccess], Awaitable[None]], **options: Any
) -> None:
    """Runs a test with a platform's stand-in."""

    async def running() -> None:
        async with CASES[key].open(**options) as opened:
            await test(*opened)

    asyncio.run(running())


async def read_all(
    platform: Platform, access: PlatformAccess, since_ms: int | None = None
) -> list[PlatformChange]:
    """Every page of what changed."""
    found: list[PlatformChange] = []
    token = None
    while True:
        page = await platform.read_changes(access, since_ms=since_ms, token=token)
        found += page.changes
        token = page.next_token
        if token is None:
            return found


def results(outcomes: Sequence[WriteOutcome]) -> list[WriteResult]:
    return [each.result for each in outcomes]
