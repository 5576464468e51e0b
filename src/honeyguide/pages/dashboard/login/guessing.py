"""Slows down guessing of passwords, per IP network, user and installation, without locking anybody
out: over the limit of a user or of the installation, a browser that the user logged in with before
has a count of its own, and elsewhere a right code of the second factor opens the way to the
password.

An address that nobody has gets the same answers.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.accounts import attempts, logins, second_factors
from honeyguide.accounts.attempts import Limit
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.pages.dashboard.login.session_start import KNOWN
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import FormErrors
from honeyguide.store.tx import Tx

ASKS_CODE = "If you have a second factor, enter its code here, and you can log in now."
WRONG_CODE = "That code is not right, or it was used already."


class Guess(NamedTuple):
    """One attempt to log in."""

    email_key: str
    user_id: str
    """Empty if nobody has this address."""
    password_hash: str | None
    code: str


class AdmittedGuess(NamedTuple):
    has_code: bool
    """The code that was needed to get this far counts as their second factor."""
    counted: Limit | None
    subject: str
    """What to forget after a success."""


async def admit(tx: Tx, request: PageRequest, guess: Guess) -> AdmittedGuess | FormErrors:
    """Counts the attempt. The errors are returned, not raised: what was counted must be kept."""
    site, now_ms = request.services.site, request.now_ms
    browser = logins.find_browser(
        site, request.cookie(KNOWN), guess.user_id, guess.password_hash, now_ms=now_ms
    )
    if browser is not None:
        await attempts.count(tx, site, attempts.LOGIN_BY_BROWSER, browser)
        return AdmittedGuess(False, attempts.LOGIN_BY_BROWSER, browser)
    ip_network = ip_network_of(request.peer) or request.peer
    await attempts.count(tx, site, attempts.LOGIN_BY_ADDRESS, ip_network)
    try:
        await attempts.count(tx, site, attempts.LOGIN_BY_ACCOUNT, guess.email_key)
        # Those that were refused above checked no password, so they do not use it up for others.
        await attempts.count(tx, site, attempts.LOGIN_BY_INSTALLATION, "")
    except TooMany as refusal:
        return await _admit_by_code(tx, request, guess, refusal)
    return AdmittedGuess(False, attempts.LOGIN_BY_ACCOUNT, guess.email_key)


async def _admit_by_code(
    tx: Tx, request: PageRequest, guess: Guess, refusal: TooMany
) -> AdmittedGuess | FormErrors:
    if guess.code and await _is_right(tx, request, guess):
        return AdmittedGuess(await _counts_as_second_factor(tx, request, guess), None, "")
    if guess.code:
        await _counts_as_second_factor(tx, request, guess)
    code = WRONG_CODE if guess.code else ASKS_CODE
    errors = FormErrors({"": refusal.message, "code": code}, status=429)
    errors.retry_after_s = refusal.retry_after_s
    return errors


async def _is_right(tx: Tx, request: PageRequest, guess: Guess) -> bool:
    keys = EncryptionKeys(request.services.settings.secret_keys)
    try:
        return await second_factors.use_code(tx, keys, guess.user_id, guess.code)
    except Undecryptable:
        return False


async def _counts_as_second_factor(tx: Tx, request: PageRequest, guess: Guess) -> bool:
    """Only the first few codes: somebody who knows the password must not guess more codes here
    than elsewhere, and strangers must not use up all that the user may enter. After more of them
    the right code still leads to the password, and then the next page asks for another one."""
    site, who = request.services.site, guess.email_key
    user_id = guess.user_id or who
    try:
        await attempts.count(tx, site, attempts.CODE_WITH_PASSWORD, who)
        await attempts.count(tx, site, attempts.CODE_BY_USER, user_id)
    except TooMany:
        return False
    return True
