"""The second factor: the codes of an authenticator app (TOTP), and recovery codes for whoever has
lost it. Both work once.

The app's secret is stored encrypted, with a key from outside the database, because a code can only
be checked with the secret itself. Of recovery codes a keyed hash is stored.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from typing import Protocol
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from honeyguide.accounts import members, users
from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.mail import email_kinds, login_texts
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

STEP_S = 30
DIGITS = 6
# Clocks differ, and typing takes a while: the codes just before and after count too.
LENIENT_STEPS = 1
SECRET_BYTES = 20
RECOVERY_CODES = 10
RECOVERY_LENGTH = 10
# Without letters and digits that look alike.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"

TURNED_ON = "second_factor.turned_on"
TURNED_OFF = "second_factor.turned_off"
RESET = "second_factor.reset"
RENEWED = "second_factor.codes_renewed"
RECOVERED = "second_factor.code_used"
WRONG_CODE = "That code is not right. Enter the one that your authenticator app shows now."


class Cipher(Protocol):
    """Encrypts what is stored; bound to one row."""

    def encrypt(self, text: str, *, row_id: str) -> str: ...

    def decrypt(self, encrypted: str, *, row_id: str) -> str: ...

    def is_lost(self, encrypted: str) -> bool: ...


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_SECRET = _sql.value("secret", str)
_ENCRYPTED = _sql.value("encrypted", str)
_USE_STEP = _sql.command("use_step")
_DELETE = _sql.command("delete")
_ADD_CODES = _sql.command("add_codes")
_COUNT_CODES = _sql.value("count_codes", int)
_USE_CODE = _sql.command("use_code")
_DELETE_CODES = _sql.command("delete_codes")


def new_secret() -> str:
    """As apps take it, in base32."""
    return base64.b32encode(os.urandom(SECRET_BYTES)).decode()


_SECRET_OF_NOBODY = new_secret()


def app_link(secret: str, *, email: str, service: str) -> str:
    """What the QR code contains; `service` is what the app shows the code under."""
    query = urlencode({"secret": secret, "issuer": service}, quote_via=quote)
    return f"otpauth://totp/{quote(service)}:{quote(email)}?{query}"


def matching_step(secret: str, code: str, *, now_ms: int) -> int | None:
    """The 30 seconds that this code is for, if they are now or nearly."""
    typed = "".join(code.split())
    totp = TOTP(base64.b32decode(secret), DIGITS, SHA1(), STEP_S)
    now = now_ms // 1000 // STEP_S
    found = None
    for step in range(now - LENIENT_STEPS, now + LENIENT_STEPS + 1):
        if hmac.compare_digest(totp.generate(step * STEP_S), typed.encode()):
            found = step
    return found


def _new_recovery_code() -> str:
    code = "".join(secrets.choice(_ALPHABET) for _ in range(RECOVERY_LENGTH))
    return f"{code[:5]}-{code[5:]}"


def _digest(site: Site, user_id: str, code: str) -> str:
    typed = "".join(code.lower().replace("-", " ").split())
    return site.keyed_hash("recovery code", f"{user_id} {typed}")


async def is_on(tx: Tx, user_id: str) -> bool:
    return await tx.one(_SECRET, user_id=user_id) is not None


async def is_lost(tx: Tx, cipher: Cipher, user_id: str) -> bool:
    """Whether the key that it was encrypted with is not here."""
    encrypted = await tx.one(_SECRET, user_id=user_id)
    return encrypted is not None and cipher.is_lost(encrypted)


async def turn_on(
    tx: Tx, site: Site, cipher: Cipher, actor: Actor, code: str, *, secret: str
) -> list[str]:
    """The recovery codes, which nobody sees again. `code` proves that the app has the secret."""
    user_id = actor.id
    step = matching_step(secret, code, now_ms=tx.now_ms)
    if step is None:
        raise Invalid(WRONG_CODE, param="code")
    added = await tx.run(
        _INSERT,
        user_id=user_id,
        secret=cipher.encrypt(secret, row_id=user_id),
        last_step=step,
    )
    if not added:
        raise Invalid("You have a second factor already.")
    await members.record_of_user(tx, site, actor, user_id, TURNED_ON)
    message = login_texts.second_factor_on(page=_page(site))
    await members.email_user(tx, user_id, email_kinds.LOGIN_CHANGED, message)
    return await _replace_recovery_codes(tx, site, user_id)


async def use_code(tx: Tx, cipher: Cipher, user_id: str, code: str) -> bool:
    """Whether it is a right code of the app that was not used yet."""
    encrypted = await tx.one(_SECRET, user_id=user_id)
    # Somebody without one costs as much, so that nobody learns who has one.
    secret = cipher.decrypt(encrypted, row_id=user_id) if encrypted else _SECRET_OF_NOBODY
    step = matching_step(secret, code, now_ms=tx.now_ms)
    return step is not None and bool(await tx.run(_USE_STEP, user_id=user_id, step=step))


async def use_recovery_code(tx: Tx, site: Site, user_id: str, code: str) -> bool:
    if not await tx.run(_USE_CODE, user_id=user_id, digest=_digest(site, user_id, code)):
        return False
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, RECOVERED)
    return True


def is_recovery_code(typed: str) -> bool:
    """Whether it looks like one rather than like a code of the app."""
    return len("".join(typed.replace("-", " ").split())) == RECOVERY_LENGTH


async def count_recovery_codes(tx: Tx, user_id: str) -> int:
    return await tx.one(_COUNT_CODES, user_id=user_id) or 0


async def renew_recovery_codes(tx: Tx, site: Site, actor: Actor) -> list[str]:
    """Ten new ones; those before work no more."""
    if not await is_on(tx, actor.id):
        raise Invalid("Set up a second factor first.")
    await members.record_of_user(tx, site, actor, actor.id, RENEWED)
    message = login_texts.recovery_codes_renewed(page=_page(site))
    await members.email_user(tx, actor.id, email_kinds.LOGIN_CHANGED, message)
    return await _replace_recovery_codes(tx, site, actor.id)


async def _replace_recovery_codes(tx: Tx, site: Site, user_id: str) -> list[str]:
    codes = [_new_recovery_code() for _ in range(RECOVERY_CODES)]
    await tx.run(_DELETE_CODES, user_id=user_id)
    digests = [_digest(site, user_id, code) for code in codes]
    await tx.run(_ADD_CODES, user_id=user_id, digests=digests)
    return codes


async def turn_off(tx: Tx, site: Site, actor: Actor, user_id: str, action: str) -> bool:
    """Whether there was one. `action` is what the change log says: turned off by the user, or reset
    by somebody who runs the installation."""
    await tx.run(_DELETE_CODES, user_id=user_id)
    if not await tx.run(_DELETE, user_id=user_id):
        return False
    await members.record_of_user(tx, site, actor, user_id, action)
    message = login_texts.second_factor_off(by_administrator=action == RESET, page=_page(site))
    await members.email_user(tx, user_id, email_kinds.SECOND_FACTOR_OFF, message)
    return True


def _page(site: Site) -> str:
    return f"{site.base_url}/account/security"


async def reset(tx: Tx, site: Site, actor: Actor, email: EmailAddress) -> str:
    """For somebody who has lost their phone and their recovery codes. Returns the user."""
    user = await users.find_by_email(tx, email)
    if user is None:
        raise Invalid("Nobody logs in with {email}.", param="email", email=email.text)
    if not await turn_off(tx, site, actor, user.id, RESET):
        raise Invalid("{email} has no second factor.", param="email", email=email.text)
    return user.id


async def encrypted_secrets(tx: Tx) -> list[str]:
    """For the check whether the key that they need is there."""
    return await tx.all(_ENCRYPTED)
