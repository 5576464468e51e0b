"""A newsletter that is connected with the stand-in of any platform, webhooks included."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from honeyguide.integrations.about import Limits, SyncField
from honeyguide.integrations.platform import Audience
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store import Store
from tests.support.integrations import Synced, newsletter
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.cases import case_of
from tests.support.platforms.stand_in import access_to
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS

NAMES = {SyncField.CODE: "RH_CODE", SyncField.REFERRALS: "RH_TOTREF"}


@dataclass(frozen=True, kw_only=True)
class OnPlatform:
    key: str
    case: PlatformCase
    server: Any
    synced: Synced
    credentials: dict[str, str]

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
        platform = PLATFORMS[self.key]
        async with access_to(platform, self.credentials) as access:
            signed_at = platform.verify_hook(access, hook, now_s=now_s)
        return await self.synced.receive(hook, signed_at)


def _values(here: Subscriber) -> dict[str, str]:
    return {"rhcode": here.ref_code, "rhtotref": str(here.referrals_verified)}


def with_platform(
    engine: str,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    test: Callable[[OnPlatform], Awaitable[None]],
    **options: Any,
) -> None:
    """Runs a test with a newsletter that is connected with this platform, without a pace."""

    async def run(store: Store) -> None:
        case = case_of(key)
        server = case.server()
        async with server.serving(), newsletter(store) as synced:
            platform = case.platform(server)
            per_batch = options.pop("per_batch", platform.about.limits.per_batch)
            limits = Limits(per_batch=per_batch, requests_per_batch=1)
            poll_every_s = options.pop("poll_every_s", platform.about.poll_every_s)
            about = msgspec.structs.replace(
                platform.about, limits=limits, poll_every_s=poll_every_s
            )
            monkeypatch.setattr(platform, "about", about, raising=False)
            monkeypatch.setitem(PLATFORMS, key, platform)
            credentials = case.credentials(server)
            async with access_to(platform, credentials, audience_id=case.audience_id) as access:
                kept = await platform.add_hook(access, "https://refer.example.org/hooks/1")
            credentials = {**credentials, **kept}
            await synced.connect(
                key,
                credentials,
                **{
                    "audience": Audience(id=case.audience_id or "list", name="The list"),
                    "field_names": NAMES if about.field_pattern else {},
                    **options,
                },
            )
            server.seen.clear()
            async with asyncio.timeout(300):
                await test(
                    OnPlatform(
                        key=key, case=case, server=server, synced=synced, credentials=credentials
                    )
                )

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))
