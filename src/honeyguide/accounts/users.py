"""Users: who logs in. What they may do is said by their memberships."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class User(NamedTuple):
    id: str
    email: str
    name: str | None
    created_ms: int
    logged_in_ms: int | None
    """When they last logged in."""


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_BY_EMAIL = _sql.query("by_email", User)
_BY_ID = _sql.query("by_id", User)
_RENAME = _sql.command("rename")
_NOTE_LOGIN = _sql.command("note_login")


async def create(tx: Tx, email: EmailAddress, *, name: str | None = None) -> str:
    user_id = new_id()
    await tx.put(
        _INSERT,
        id=user_id,
        email=email.text,
        email_key=email.key,
        name=name,
        created_ms=tx.now_ms,
        taken={
            "login_user_email": Invalid("An account with this email already exists.", param="email")
        },
    )
    return user_id


async def find_by_email(tx: Tx, email: EmailAddress) -> User | None:
    return await tx.one(_BY_EMAIL, email_key=email.key)


async def get(tx: Tx, user_id: str) -> User:
    user = await tx.one(_BY_ID, id=user_id)
    if user is None:
        raise Missing("There is no such user.")
    return user


async def note_login(tx: Tx, user_id: str) -> None:
    await tx.run(_NOTE_LOGIN, id=user_id)


async def rename(tx: Tx, user_id: str, name: str) -> None:
    """What colleagues see instead of the email address."""
    checks.name(name, param="your_name")
    await tx.run(_RENAME, id=user_id, name=name)
