"""Pigeon, an email platform that nobody has. It shows how small a module can be, and is tested like
the real ones: `tests/integrations/test_made_up_platform.py`.
"""

from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import answer_of, time_ms
from honeyguide.integrations.connector import Connector, ContactWrite
from honeyguide.integrations.platform import Audience, PlatformAccess
from honeyguide.integrations.platform_api import PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, SignedBody
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

_STATES = {
    "on": ChangeKind.JOINED,
    "off": ChangeKind.LEFT,
    "lost": ChangeKind.BOUNCED,
}


class _Bird(msgspec.Struct):
    id: str
    email: str
    state: str
    since: str = ""
    notes: dict[str, Any] = {}


class _Flock(msgspec.Struct):
    birds: list[_Bird]
    after: str | None = None


class _Loft(msgspec.Struct):
    name: str


class _Seen(msgspec.Struct):
    bird: str = ""


class Pigeon(Connector):
    about = About(
        key="pigeon",
        name="Pigeon",
        initials="P",
        summary="Writes to notes. Reports changes at once.",
        audience="loft",
        inputs=(key_input("In Pigeon: Loft, Keys.", "coo_0123456789"),),
        limits=Limits(per_batch=50, requests_per_second=10, requests_per_batch=100),
    )
    api = PlatformApi(
        base="https://api.pigeon.example", forbidden="The Pigeon key may not do this."
    )
    contact_type = _Bird
    webhook = PlatformWebhook(
        path="/hooks",
        content={"events": "all"},
        proof=SignedBody("x-pigeon-signature"),
    )

    async def check(self, access: PlatformAccess) -> str:
        return answer_of(await self.call(access, "GET", "/loft"), _Loft).name

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="loft", name=await self.check(access))]

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        return self.found(access, await self.call(access, "GET", f"/birds/{quoted(key)}"))

    async def add(self, write: ContactWrite) -> Remote | None:
        body = {"email": write.contact.email, "notes": write.fields}
        return self.written(write, await self.call(write.access, "POST", "/birds", body))

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        body = {"notes": write.fields, **change.body(email="email", unsubscribed={"state": "off"})}
        path = f"/birds/{quoted(remote.id)}"
        return self.written(write, await self.call(write.access, "PATCH", path, body))

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        reply = await self.call(access, "GET", f"/birds?{urlencode({'after': token or ''})}")
        page = answer_of(reply, _Flock)
        return self.page(access, page.birds, page.after)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        key = hook.decode(access.about.name, _Seen).bird
        return await self.ask(access, key) if key else []

    def remote(self, access: PlatformAccess, found: _Bird) -> Remote:
        return Remote(
            id=found.id,
            email=found.email,
            kind=_STATES.get(found.state),
            code=self.code_in(access, found.notes),
            created_ms=time_ms(found.since),
        )
