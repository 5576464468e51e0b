"""Whether the email address of a login is its user's. What proves it is a message that went there
and nowhere else: a code, the link of a reset, or that of an invitation which nobody was shown.

A code is computed and not stored: from the secret of the installation, the login as it is, and the
half hour.
"""

from __future__ import annotations

import hmac
from typing import NamedTuple

from honeyguide.accounts import keys, members, second_factors
from honeyguide.kernel import actors
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, emails, login_texts
from honeyguide.mail.emails import EmailToSend
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

CODE_MS = 30 * MINUTE_MS
DIGITS = 6


class _Login(NamedTuple):
    email: str
    password_hash: str | None
    proven_ms: int | None
    must_prove: bool


_sql = beside(__file__)
_LOGIN = _sql.query("login", _Login)
_REQUIRE = _sql.command("require")
_WAIVE = _sql.command("waive")
_PROVE = _sql.command("prove")
_COUNT_MISSING = _sql.value("count_missing", int)


async def _get(tx: Tx, user_id: str) -> _Login:
    found = await tx.one(_LOGIN, user_id=user_id)
    assert found is not None, "a user is never deleted"
    return found


async def is_proven(tx: Tx, user_id: str) -> bool:
    return (await _get(tx, user_id)).proven_ms is not None


async def is_missing(tx: Tx, site: Site, user_id: str) -> bool:
    """Whether the user needs a proof before they get a session. Where no emails are sent, there is
    none."""
    login = await _get(tx, user_id)
    return site.has_mail_server and login.must_prove and login.proven_ms is None


async def count_missing(tx: Tx) -> int:
    """How many logins need a proof that they do not have."""
    return await tx.one(_COUNT_MISSING) or 0


async def require(tx: Tx, user_id: str) -> None:
    await tx.run(_REQUIRE, user_id=user_id)


async def waive(tx: Tx, user_id: str) -> None:
    """They get in without a proof, which they still lack: their first reset ends what is there."""
    await tx.run(_WAIVE, user_id=user_id)


async def prove(tx: Tx, user_id: str) -> bool:
    """Whether the address was not proven before."""
    return bool(await tx.run(_PROVE, user_id=user_id))


async def prove_by_reset(tx: Tx, site: Site, user_id: str) -> None:
    """Whoever reads the mail owns the login. If that was not known, somebody else may have set up
    what is there, so it ends; sessions and the password do with every reset."""
    if not await prove(tx, user_id):
        return
    actor, off = actors.member(user_id), second_factors.TURNED_OFF
    await second_factors.turn_off(tx, site, actor, user_id, off)
    for joined in await members.of_user(tx, user_id):
        tenant = Tenant(joined.account_id, joined.campaign_id)
        await keys.revoke_made_by(Change(tx, site, tenant, actor, tx.now_ms), user_id)


async def send_code(tx: Tx, site: Site, user_id: str) -> None:
    """The same one if it is asked for again soon."""
    login = await _get(tx, user_id)
    code = _code(site, user_id, login, tx.now_ms // CODE_MS)
    message = login_texts.email_code(code=code, valid_for="30 minutes")
    sender, to = await members.sender_for(tx, user_id), EmailAddress(login.email)
    email = EmailToSend(sender, to, email_kinds.EMAIL_CODE, message)
    await emails.send(tx, email)


async def use_code(tx: Tx, site: Site, user_id: str, typed: str) -> bool:
    """Whether it is the code that was sent, which proves the address."""
    login, step = await _get(tx, user_id), tx.now_ms // CODE_MS
    typed = "".join(typed.split())
    codes = [_code(site, user_id, login, each) for each in (step, step - 1)]
    if not any(hmac.compare_digest(code.encode(), typed.encode()) for code in codes):
        return False
    await prove(tx, user_id)
    return True


def _code(site: Site, user_id: str, login: _Login, step: int) -> str:
    """Another one with a new address or password."""
    bound_to = f"{user_id} {login.email} {login.password_hash} {step}"
    number = int(site.keyed_hash("email code", bound_to), 16) % 10**DIGITS
    return f"{number:0{DIGITS}}"
