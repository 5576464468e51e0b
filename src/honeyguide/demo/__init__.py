"""A believable market to try everything on: three newsletters that recommend each other, with a year behind them."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.accounts import accounts, admission, keys, passwords
from honeyguide.app import Services
from honeyguide.demo import stage, year
from honeyguide.demo.cast import CAST, EMPTY, OWNER
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import campaigns
from honeyguide.store import Tx

__all__ = ["EMAILS", "EMPTY", "OWNER", "Demo", "Seat", "prepare"]

EMAILS = tuple(newsletter.email for newsletter in CAST)
# A little less than the dashboard's year, which would otherwise compare it with the few days before.
YEAR_MS = 360 * DAY_MS


class Seat(NamedTuple):
    campaign_id: str
    key: str


class Demo(NamedTuple):
    demo: Seat
    empty: Seat
    password: str


async def prepare(services: Services) -> Demo:
    """The demo's accounts and the empty one, made and filled once; each time fresh keys and a fresh password."""
    now_ms = services.clock()
    names = {**{newsletter.email: newsletter.name for newsletter in CAST}, EMPTY: "Empty"}

    async def make(tx: Tx) -> tuple[dict[str, Tenant], bool]:
        tenants: dict[str, Tenant] = {}
        is_new = await accounts.find_by_email(tx, EmailAddress(OWNER)) is None
        for email, name in names.items():
            known = await accounts.find_by_email(tx, EmailAddress(email))
            since_ms = now_ms if email == EMPTY else now_ms - YEAR_MS
            made = (
                await stage.make_account(tx, email, name, now_ms=since_ms)
                if known is None
                else None
            )
            tenants[email] = made or await campaigns.tenant_of(tx, known.id if known else "")
        return tenants, is_new

    tenants, is_new = await services.store.write(make)
    if is_new:
        await year.live(
            services,
            await stage.set_up(services, tenants, start_ms=now_ms - YEAR_MS, end_ms=now_ms),
        )
        for newsletter in CAST:
            await _use_a_key(services, tenants[newsletter.email])
    return Demo(
        await _seat(services, tenants[OWNER]),
        await _seat(services, tenants[EMPTY]),
        await _new_password(services, tenants),
    )


async def _seat(services: Services, tenant: Tenant) -> Seat:
    async def make(tx: Tx) -> str:
        return await keys.create(tx, tenant.account_id, name="make run", now_ms=services.clock())

    return Seat(tenant.campaign_id, await services.store.write(make))


async def _use_a_key(services: Services, tenant: Tenant) -> None:
    """As if a mailing tool had called: the dashboard's first steps look for it."""

    async def make(tx: Tx) -> str:
        return await keys.create(
            tx, tenant.account_id, name="Mailing tool", now_ms=services.clock() - YEAR_MS
        )

    key = await services.store.write(make)
    await admission.admission(services.store, 0, services.site.base_url).admit(
        key, "127.0.0.1", services.clock()
    )


async def _new_password(services: Services, tenants: dict[str, Tenant]) -> str:
    """A fresh one at every start, so that no installation has a password that stands in a manual."""
    password = "-".join(new_code(4) for _ in range(3))
    password_hash = await passwords.hashed(password)

    async def change(tx: Tx) -> None:
        for tenant in tenants.values():
            await passwords.set_hash(tx, tenant.account_id, password_hash)

    await services.store.write(change)
    return password
