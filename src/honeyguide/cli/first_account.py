"""The database's part of `honeyguide init`: what is in it already, and the first account."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from honeyguide.accounts import accounts, invitations, passwords
from honeyguide.app import clock_of
from honeyguide.cli.base import fail
from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.operating.doctor.checks import is_new_database
from honeyguide.settings import Settings
from honeyguide.store import Tx, migrate, open_store, plan_migrations
from honeyguide.store.tx import timed


class NewAccount(NamedTuple):
    email: str
    name: str
    password: str
    is_generated: bool  # the password


class FoundInDatabase(NamedTuple):
    has_accounts: bool
    secret: bytes | None


async def look_into_database(url: str) -> FoundInDatabase:
    """Without changing anything, also if its schema is older."""
    if is_new_database(await plan_migrations(url)):
        return FoundInDatabase(False, None)
    store = await open_store(url, pool_size=1)
    try:
        is_empty = await store.read(invitations.is_untouched)
        return FoundInDatabase(not is_empty, await store.read(accounts.find_stored_secret))
    finally:
        await store.close()


async def fill_database(chosen: Settings, account: NewAccount | None) -> None:
    """Upgrades the schema and creates the account."""
    await migrate(chosen.direct_url)
    if account is None:
        return
    store = await open_store(chosen.direct_url, pool_size=1)
    try:
        password_hash = await passwords.hashed(account.password)
        await store.write(timed(_create_account, clock_of(chosen)()), account, password_hash)
    finally:
        await store.close()


async def _create_account(tx: Tx, account: NewAccount, password_hash: str) -> None:
    email = EmailAddress.parse(account.email)
    await invitations.open_account(tx, email, name=account.name, password_hash=password_hash)


def wrong_email(text: str) -> str | None:
    try:
        EmailAddress.parse(text)
    except Invalid as fault:
        return f"{fault.message}."
    return None


def wrong_name(text: str) -> str | None:
    try:
        checks.name(text, param="name")
    except Invalid as fault:
        return fault.message_for("The name")
    return None


def wrong_password(password: str, email: str) -> str | None:
    try:
        passwords.checked(password, email=email)
    except Invalid as fault:
        return fault.message
    return None


def read_password(path: Path, email: str) -> str:
    try:
        password = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        fail(f"The password file {path} cannot be read: {error.strerror}.")
    except UnicodeDecodeError:
        fail(f"The password file {path} is not text.")
    if wrong := wrong_password(password, email):
        fail(wrong)
    return password
