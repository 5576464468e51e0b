"""Who is calling, and are they within their rate limit? Every API request is checked here before
anything else.

On SQLite this is a point read and a ring in memory; on PostgreSQL one round trip does both for
every request that waits.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple, Protocol

from honeyguide.accounts import keys
from honeyguide.accounts.limits import WINDOW_MS, Allowance, Window, WrongKeys
from honeyguide.accounts.permissions import SCOPES, Right
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Forbidden, TooMany, Unauthorized, Unavailable
from honeyguide.store import Store
from honeyguide.store.coalescer import Coalescer
from honeyguide.store.journal import Journal
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.admission")

# Last use is for people to look at: to the minute is enough, and a write per request would not be.
TOUCH_MS = 60_000
# Written in one transaction: few enough not to delay other writes.
MOST_TOUCHED = 200
# Requests checked in one round trip: enough for a burst, few enough that nobody waits long for
# their locks.
MOST_TOGETHER = 64


class Caller(NamedTuple):
    key_id: str
    account_id: str
    campaign_id: str
    scopes: str | None = None
    """Names with a blank between them; None for all."""
    expires_ms: int | None = None
    last_used_ms: int | None = None  # where this process has to keep it
    is_paused: bool = False

    def may(self, right: Right) -> bool:
        return self.scopes is None or right in self.scopes.split()


class Admitted(NamedTuple):
    place: int
    key_id: str
    account_id: str
    campaign_id: str
    scopes: str | None
    expires_ms: int | None
    refused: bool
    left_over: int
    frees_ms: int
    is_paused: bool


_sql = beside(__file__)
_FIND_CALLER = _sql.query("find_caller", Caller)
_ADMIT = _sql.query("admit", Admitted)
_TOUCH = _sql.command("touch")

NO_KEY = (
    "Send a valid API key in the X-Api-Key header; "
    "you get one on your account page: {base_url}/account"
)

LACKS_SCOPE = (
    "This API key does not have the scope {scope}. "
    "Create a key that has it: {base_url}/account/keys"
)
NEEDS_ALL = "This needs an API key with all scopes. Create one: {base_url}/account/keys"
EXPIRED = "This API key expired at {expired_at}. Create another one: {base_url}/account/keys"


class Admission(Protocol):
    async def admit(self, key: str | None, peer: str, now_ms: int) -> tuple[Caller, Allowance]:
        """The caller behind a key and what is left of its minute. Raises Unauthorized, or TooMany
        for a peer that guesses."""
        ...


def lacks_scope(right: Right, base_url: str) -> Forbidden:
    """For a caller who may not do what they ask for."""
    template = LACKS_SCOPE if right in SCOPES else NEEDS_ALL
    return Forbidden(template, code="insufficient_scope", scope=right, base_url=base_url)


class Refusals:
    """Refuses requests without a valid key. A peer that sends many wrong keys gets TooMany instead
    of Unauthorized."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._wrong_keys = WrongKeys()

    def digest(self, key: str | None, peer: str, now_ms: int) -> str:
        """The digest of a well-formed key. Raises for anything else, without asking the
        database."""
        found = keys.digest(key) if key else None
        if found is None:
            raise self.refusal(peer, now_ms)
        return found

    def refusal(self, peer: str, now_ms: int) -> Exception:
        if self._wrong_keys.another(peer, now_ms):
            return TooMany(
                "Too many wrong API keys from this address; try again in a minute.",
                retry_after_s=60,
            )
        return Unauthorized(NO_KEY, base_url=self._base_url)

    def check_expiry(self, expires_ms: int | None, now_ms: int) -> None:
        """Whoever has the whole key is not guessing, so they are told why, and it is not
        counted."""
        if expires_ms is not None and expires_ms <= now_ms:
            raise Unauthorized(EXPIRED, base_url=self._base_url, expired_at=iso(expires_ms))


class LocalAdmission:
    """For one serving process: the ring is in memory, with a journal whose loss would be
    harmless."""

    def __init__(self, store: Store, path: Path, limit: int, base_url: str) -> None:
        self._store = store
        self._limit = limit
        self._journal = Journal(path.with_name(f"{path.stem}-accepted"), keep_ms=WINDOW_MS)
        self._journaled = self._journal.recall()
        self._windows: dict[str, Window] = {}
        self._refusals = Refusals(base_url)
        self._touched: dict[str, int] = {}
        self._touches = Coalescer(self._write_touches, largest=MOST_TOUCHED)
        self._is_journal_failing = False

    async def admit(self, key: str | None, peer: str, now_ms: int) -> tuple[Caller, Allowance]:
        digest = self._refusals.digest(key, peer, now_ms)
        caller = await self._store.read(lambda tx: tx.one(_FIND_CALLER, digest=digest))
        if caller is None:
            raise self._refusals.refusal(peer, now_ms)
        self._refusals.check_expiry(caller.expires_ms, now_ms)
        if now_ms - self._touched.get(caller.key_id, caller.last_used_ms or 0) >= TOUCH_MS:
            self._touch(caller, now_ms)
        if not self._limit:
            return caller, Allowance(0, 0, now_ms, False)
        window = self._windows.get(caller.key_id) or self._load_window(caller.key_id)
        allowance = window.ask(now_ms)
        if not allowance.refused:
            self._journal_accepted(caller.key_id, window)
        return caller, allowance

    def _load_window(self, key_id: str) -> Window:
        window = self._windows[key_id] = Window(self._limit, self._journaled.pop(key_id, []))
        return window

    def _journal_accepted(self, key_id: str, window: Window) -> None:
        try:
            self._journal.note(key_id, window.last_ms)
        except Unavailable as error:
            # The ring in memory is exact anyway, and a full disk must not stop requests that only
            # read.
            if not self._is_journal_failing:
                log.warning(
                    "Rate-limit history is not being saved and will be lost on restart: %s", error
                )
            self._is_journal_failing = True
        else:
            self._is_journal_failing = False

    def _touch(self, caller: Caller, now_ms: int) -> None:
        self._touched[caller.key_id] = now_ms
        self._touches.put((caller, now_ms))

    async def _write_touches(self, together: list[tuple[Caller, int]]) -> list[None]:
        try:
            await self._store.write(_touch_all, together)
        except Unavailable:
            for caller, _ in together:
                self._touched.pop(caller.key_id, None)
        return [None for _ in together]


async def _touch_all(tx: Tx, together: list[tuple[Caller, int]]) -> None:
    for caller, now_ms in together:
        await tx.put(_TOUCH, account_id=caller.account_id, key_id=caller.key_id, now_ms=now_ms)


class SharedAdmission:
    """For many processes: keys, rings and last use are in the database they share. Requests that
    come while a round trip is under way share the next one, so a busy process makes few round
    trips."""

    def __init__(self, store: Store, limit: int, base_url: str) -> None:
        self._store = store
        self._limit = limit
        self._refusals = Refusals(base_url)
        self._requests = Coalescer(self._admit_together, largest=MOST_TOGETHER)

    async def admit(self, key: str | None, peer: str, now_ms: int) -> tuple[Caller, Allowance]:
        digest = self._refusals.digest(key, peer, now_ms)
        row = await self._requests.add((digest, now_ms))
        if row is None:
            raise self._refusals.refusal(peer, now_ms)
        self._refusals.check_expiry(row.expires_ms, now_ms)
        caller = Caller(
            row.key_id, row.account_id, row.campaign_id, row.scopes, is_paused=row.is_paused
        )
        return caller, Allowance(self._limit, row.left_over, row.frees_ms, row.refused)

    async def _admit_together(self, together: list[tuple[str, int]]) -> list[Admitted | None]:
        # One order for all processes, so that no two wait for each other.
        order = sorted(range(len(together)), key=lambda number: together[number])
        rows = await self._store.read(
            _admit_all, [together[number] for number in order], self._limit
        )
        admitted: list[Admitted | None] = [None for _ in together]
        for row in rows:
            admitted[order[row.place - 1]] = row
        return admitted


async def _admit_all(tx: Tx, together: list[tuple[str, int]], limit: int) -> list[Admitted]:
    return await tx.all(
        _ADMIT,
        digests=[digest for digest, _ in together],
        asked_ms=[now_ms for _, now_ms in together],
        most=limit,
        window_ms=WINDOW_MS,
    )


def admission(store: Store, limit: int, base_url: str) -> Admission:
    """`base_url` is for the sentence that tells where to get a key."""
    if store.path is None:
        return SharedAdmission(store, limit, base_url)
    return LocalAdmission(store, store.path, limit, base_url)
