"""A newsletter beside the stand-in of any platform, and one that is connected with it, webhooks
included.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
import pytest

from honeyguide.integrations.about import Limits
from honeyguide.integrations.platform import Audience, Platform
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.store import Store
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.integrations import NAMES, Synced, newsletter
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.cases import case_of
from tests.support.platforms.stand_in import access_to
from tests.support.trade import NOON_MS


@dataclass(kw_only=True)
class BesidePlatform:
    """A newsletter and a platform without a pace."""

    key: str
    case: PlatformCase
    server: Any
    platform: Platform
    synced: Synced

    @classmethod
    @asynccontextmanager
    async def open(
        cls, store: Store, monkeypatch: pytest.MonkeyPatch, key: str, server: Any = None
    ) -> AsyncIterator[Self]:
        """They are not connected yet. A failure names the platform."""
        case = case_of(key)
        server = server or case.server()
        async with server.serving(), newsletter(store, f"{key}@example.org") as synced:
            platform = case.platform(server)
            monkeypatch.setattr(platform, "about", platform.about, raising=False)
            monkeypatch.setitem(PLATFORMS, key, platform)
            on = cls(key=key, case=case, server=server, platform=platform, synced=synced)
            on.set_limits(per_batch=platform.about.limits.per_batch)
            try:
                yield on
            except BaseException as error:
                error.add_note(f"on {key}")
                raise

    def set_limits(self, *, per_batch: int) -> None:
        self.set_about(limits=Limits(per_batch=per_batch, requests_per_batch=1))

    def set_about(self, **changes: Any) -> None:
        """Until the end of the test."""
        self.platform.about = msgspec.structs.replace(self.platform.about, **changes)  # type: ignore[misc]

    async def connect_quietly(self, **options: Any) -> None:
        """Without a webhook."""
        await self.synced.connect(
            self.key,
            self.case.credentials(self.server),
            field_names=NAMES if self.case.code else {},
            audience=Audience(id=self.case.audience_id, name="The list"),
            **options,
        )


OpenPlatform = Callable[..., AbstractAsyncContextManager[BesidePlatform]]


@dataclass(kw_only=True)
class OnPlatform(BesidePlatform):
    """Once it is connected."""

    credentials: dict[str, str] = field(default_factory=dict)

    async def connect(self) -> None:
        credentials, audience_id = self.case.credentials(self.server), self.case.audience_id
        async with access_to(self.platform, credentials, audience_id=audience_id) as access:
            kept = await self.platform.add_hook(access, "https://refer.example.org/hooks/1")
        self.credentials = {**credentials, **kept}
        await self.synced.connect(
            self.key,
            self.credentials,
            audience=Audience(id=audience_id or "list", name="The list"),
            field_names=NAMES if self.platform.about.field_pattern else {},
        )
        self.server.seen.clear()

    def person(self, email: str) -> Any:
        return self.case.find(self.server, email)

    def written(self, email: str) -> dict[str, str]:
        """Our fields, as the platform has them."""
        person = self.person(email)
        assert person is not None, email
        fields = self.case.fields(person) if self.case.code else {}
        plain = {re.sub("[^a-z]", "", name.lower()): value for name, value in fields.items()}
        return {name: plain[name] for name in ("rhcode", "rhtotref") if plain.get(name)}

    async def expected(self, email: str) -> dict[str, str]:
        """Our fields, as they should be there."""
        here = await self.synced.find(email)
        assert here is not None, email
        return _values(here) if self.case.code else {}

    async def says_left(self, person: Any, *, second: int = 0) -> bool:
        """The platform posts that somebody left; what was signed and when is checked by us."""
        hooks = self.case.webhook
        assert hooks is not None
        now_s = NOON_MS // 1000 + second
        hook = hooks.sign(self.credentials, hooks.body(person), now_s)
        async with access_to(self.platform, self.credentials) as access:
            signed_at = self.platform.verify_hook(access, hook, now_s=now_s)
        return await self.synced.receive(hook, signed_at)


def _values(here: Subscriber) -> dict[str, str]:
    return {"rhcode": here.ref_code, "rhtotref": str(here.referrals_verified)}
