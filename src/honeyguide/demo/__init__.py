"""Data to try everything on: three newsletters that recommend each other, and a year of history."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from honeyguide.accounts import accounts, admission, keys, passwords
from honeyguide.app import Services
from honeyguide.demo import history, moved_in, robots, setup, team
from honeyguide.demo.newsletters import EMPTY, NEWSLETTERS, OWNER
from honeyguide.demo.robots import RobotPartner
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.store.tx import timed
from honeyguide.subscribers import campaigns

__all__ = ["EMAILS", "EMPTY", "OWNER", "Demo", "DemoLogin", "is_half_made", "prepare"]

EMAILS = (*(newsletter.email for newsletter in NEWSLETTERS), robots.EMAIL)
# A little less than the dashboard's year, so that it does not compare with the few days before.
YEAR_MS = 360 * DAY_MS


class DemoLogin(NamedTuple):
    campaign_id: str
    key: str


class Demo(NamedTuple):
    demo: DemoLogin
    empty: DemoLogin
    password: str


class KeptSecrets(msgspec.Struct, kw_only=True):
    """What the demo remembers between starts, in a private file beside its database: the login,
    the keys, and the port of its stand-in for other people's tools."""

    secret_key: str
    """For HONEYGUIDE_SECRET_KEY, without which no email tool can be connected."""
    port: int = 0
    password: str = ""
    demo_key: str = ""
    empty_key: str = ""


async def prepare(
    services: Services,
    kept: KeptSecrets | None = None,
    on_week: Callable[[int, int], None] = lambda done, total: None,
) -> Demo:
    """Create the demo's accounts and data, once. `kept` has the password and keys of the start
    before, and gets those that are new. `on_week` is told how many weeks of how many are made."""
    kept = kept or KeptSecrets(secret_key="")
    now_ms = services.clock()
    tenants, is_new = await services.store.write(timed(_find_or_create_accounts, now_ms))
    if is_new:
        state = await setup.set_up(services, tenants, start_ms=now_ms - YEAR_MS, end_ms=now_ms)
        partner = RobotPartner(state, tenants[robots.EMAIL])
        await partner.draw_logo(services)
        kept.port = await history.create_history(services, state, partner, on_week)
        await moved_in.move_in(services, tenants[OWNER], now_ms=now_ms)
        for newsletter in NEWSLETTERS:
            await _use_a_key(services, tenants[newsletter.email])
    kept.demo_key = await _login_key(services, tenants[OWNER], kept.demo_key)
    kept.empty_key = await _login_key(services, tenants[EMPTY], kept.empty_key)
    # Made here, so that none is published in a manual.
    kept.password = kept.password or "-".join(new_code(4) for _ in range(3))
    password_hash = await services.store.read(_hash_of_owner)
    if password_hash is None or not await passwords.matches(password_hash, kept.password):
        password_hash = await passwords.hashed(kept.password)
    await services.store.write(timed(team.gather, now_ms), tenants[OWNER].account_id)
    await services.store.write(_set_hashes, [*tenants, *team.COLLEAGUES], password_hash)
    return Demo(
        DemoLogin(tenants[OWNER].campaign_id, kept.demo_key),
        DemoLogin(tenants[EMPTY].campaign_id, kept.empty_key),
        kept.password,
    )


async def _find_or_create_accounts(tx: Tx) -> tuple[dict[str, Tenant], bool]:
    """The tenants by email address, and whether the demo is new."""
    tenants: dict[str, Tenant] = {}
    is_new = await accounts.find_by_email(tx, EmailAddress(OWNER)) is None
    year_ms = tx.now_ms - YEAR_MS
    planned = {each.email: (each.name, year_ms) for each in NEWSLETTERS}
    planned |= {
        robots.EMAIL: (robots.NAME, tx.now_ms - robots.MEMBER_MS),
        EMPTY: ("Empty", tx.now_ms),
    }
    for email, (name, since_ms) in planned.items():
        known = await accounts.find_by_email(tx, EmailAddress(email))
        if known is not None:
            tenants[email] = await campaigns.tenant_of(tx, known.id)
        else:
            made = await accounts.create(tx.at(since_ms), EmailAddress.parse(email), name=name)
            tenants[email] = Tenant(made.account_id, made.campaign_id)
    return tenants, is_new


async def _login_key(services: Services, tenant: Tenant, kept_key: str) -> str:
    """The one of the start before, unless it was revoked."""
    known = await services.store.read(keys.of_account, tenant.account_id)
    if any(kept_key.startswith(each.prefix) and each.revoked_ms is None for each in known):
        return kept_key
    return await services.store.write(
        _create_key, services, tenant, name="make run", at_ms=services.clock()
    )


async def _create_key(tx: Tx, services: Services, tenant: Tenant, *, name: str, at_ms: int) -> str:
    change = Change(tx, services.site, tenant, actors.command("demo"), at_ms)
    return await keys.create(change, name=name)


async def _use_a_key(services: Services, tenant: Tenant) -> None:
    """Use a key as an email tool would, because the dashboard's first steps look for that."""
    at_ms = services.clock() - YEAR_MS
    key = await services.store.write(
        _create_key, services, tenant, name="Mailing tool", at_ms=at_ms
    )
    await admission.admission(services.store, 0, services.site.base_url).admit(
        key, "127.0.0.1", services.clock()
    )


async def is_half_made(tx: Tx) -> bool:
    """Whether somebody stopped the start that was to create the demo: it sets passwords last."""
    found = await passwords.find(tx, OWNER)
    return found is not None and found[1] is None


async def _hash_of_owner(tx: Tx) -> str | None:
    found = await passwords.find(tx, OWNER)
    return found and found[1]


async def _set_hashes(tx: Tx, emails: Iterable[str], password_hash: str) -> None:
    """One for all. Who has it already stays logged in."""
    for email in emails:
        found = await passwords.find(tx, email)
        if found is not None and found[1] != password_hash:
            await passwords.set_hash(tx, found[0], password_hash)


def secrets_file(database: Path) -> Path:
    return database.with_name(f"{database.name}.demo")


def load_secrets(file: Path | None) -> KeptSecrets:
    """New secrets if there is no such file, or none that can be read."""
    try:
        return msgspec.json.decode((file or Path()).read_bytes(), type=KeptSecrets)
    except (OSError, msgspec.DecodeError):
        return KeptSecrets(secret_key=secrets.token_hex(32))


def save_secrets(file: Path, kept: KeptSecrets) -> None:
    """Readable by nobody else from its first byte."""
    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(msgspec.json.encode(kept))
    draft.replace(file)
