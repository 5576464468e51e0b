"""The digest of each closed month of an account: over its ledger and its change log, chained to the
month before. Whoever kept one can prove a later change of that month or of an earlier one.

A closed month no longer changes, so a digest can be computed batch by batch, in several snapshots.
Erasing somebody changes no digest: it covers a salted hash of each logged value
(`change_log.hash_values`).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel.errors import Missing
from honeyguide.partners import digest_rules, rules
from honeyguide.partners.digest_rules import DigestPart, KeptDigest
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.subscriber_check import Checked, CheckGroup

BATCH = 1_000
ACCOUNTS_BATCH = 50
# Digests that are computed again in one snapshot.
CHECK_BATCH = 20
# What `due` finds once every account has its digest.
FINISH = "finish"


class MonthDigest(NamedTuple):
    account_id: str
    month: str
    previous: str
    ledger: str
    log: str
    digest: str
    until_ms: int
    made_ms: int


class DigestDifference(NamedTuple):
    account_id: str
    month: str
    part: DigestPart


class CheckedDigest(NamedTuple):
    """A digest computed again from what is there now."""

    stored: MonthDigest
    differs: tuple[DigestPart, ...]
    is_log_kept: bool
    """Old entries of the change log are deleted. Then only the rest can be checked."""


PROMISES = {
    DigestPart.LEDGER: "The ledger of every closed month is the one its digest was made from.",
    DigestPart.LOG: "The change log of every closed month is the one its digest was made from.",
    DigestPart.CHAIN: "Every month's digest follows from its parts and from the month before.",
}

_sql = beside(__file__)
_CHARGES = tuple(
    _sql.query(name, lambda *columns: columns)
    for name in ("charges_of_owner", "charges_of_partner")
)
_OTHER_TRANSFERS = _sql.query("other_transfers", lambda *columns: columns)
_UNDIGESTED_MONTH = _sql.value("undigested_month", str)
_ACCOUNTS_WITHOUT = _sql.value("accounts_without", str)
_MONTHS_WITHOUT = _sql.value("months_without", str)
_OPENED_MS = _sql.value("opened_ms", int)
_FINISH = _sql.command("finish")
_INSERT = _sql.command("insert")
_LAST = _sql.query("last", MonthDigest)
_OF_MONTH = _sql.query("of_month", MonthDigest)
_BEFORE = _sql.query("before", MonthDigest)
_OF_ACCOUNT = _sql.query("of_account", MonthDigest)
_SLICE = _sql.query("slice", MonthDigest)


# -- computing


async def ledger_of(tx: Tx, account_id: str, month: str) -> str:
    """What the account's programs cost and what it earned, charge by charge with its transfer; then
    all other transfers."""
    hashed = digest_rules.ledger_hash()
    for charges in _CHARGES:
        after = (-(2**62), "")
        while True:
            rows = await tx.all(
                charges,
                account_id=account_id,
                month=month,
                after_ms=after[0],
                after_id=after[1],
                batch=BATCH,
            )
            hashed.add(rows)
            if len(rows) < BATCH:
                break
            after = rows[-1][:2]
    hashed.add(await tx.all(_OTHER_TRANSFERS, account_id=account_id, month=month))
    return hashed.hex()


async def log_of(tx: Tx, account_id: str, month: str) -> str:
    hashed = digest_rules.log_hash()
    since_ms, until_ms = rules.month_bounds(month)
    after = (since_ms, "")
    while True:
        entries = await change_log.of_month(
            tx, account_id, after=after, until_ms=until_ms, most=BATCH
        )
        hashed.add(map(digest_rules.log_line, entries))
        if len(entries) < BATCH:
            return hashed.hex()
        after = (entries[-1].changed_ms, entries[-1].id)


# -- making


async def due(tx: Tx, *, most: int) -> list[str]:
    """Accounts that lack the digest of a closed month, or `FINISH` when none is left."""
    month = await tx.one(_UNDIGESTED_MONTH)
    if month is None:
        return []
    return await _accounts_without(tx, month, most) or [FINISH]


async def _accounts_without(tx: Tx, month: str, most: int) -> list[str]:
    _, until_ms = rules.month_bounds(month)
    return await tx.all(_ACCOUNTS_WITHOUT, month=month, until_ms=until_ms, most=most)


async def finish(tx: Tx) -> None:
    """Every account has its digest, so nobody looks for those without again."""
    month = await tx.one(_UNDIGESTED_MONTH)
    if month is not None and not await _accounts_without(tx, month, 1):
        await tx.run(_FINISH, month=month)


async def months_without(tx: Tx, account_id: str) -> list[str]:
    """The closed months that an account lacks a digest of, oldest first."""
    last = await tx.one(_LAST, account_id=account_id)
    if last is not None:
        return await tx.all(_MONTHS_WITHOUT, after=last.month)
    opened_ms = await tx.one(_OPENED_MS, account_id=account_id)
    if opened_ms is None:
        return []
    first = rules.month_of(opened_ms)
    return await tx.all(_MONTHS_WITHOUT, after=rules.previous_month(first))


async def save(tx: Tx, account_id: str, month: str, ledger: str, log: str) -> None:
    before = await tx.one(_BEFORE, account_id=account_id, month=month)
    previous = before.digest if before else ""
    await tx.run(
        _INSERT,
        account_id=account_id,
        month=month,
        previous=previous,
        ledger=ledger,
        log=log,
        digest=digest_rules.chain(account_id, previous, month, ledger=ledger, log=log),
        until_ms=rules.month_bounds(month)[1],
    )


# -- reading and checking


async def find(tx: Tx, account_id: str, month: str) -> MonthDigest | None:
    """There is none before the month is closed."""
    return await tx.one(_OF_MONTH, account_id=account_id, month=month)


async def check_account(tx: Tx, account_id: str) -> list[CheckedDigest]:
    """All digests of an account, oldest first."""
    return [await _check(tx, each) for each in await tx.all(_OF_ACCOUNT, account_id=account_id)]


async def _check(tx: Tx, stored: MonthDigest) -> CheckedDigest:
    account_id, month = stored.account_id, stored.month
    before = await tx.one(_BEFORE, account_id=account_id, month=month)
    digest = digest_rules.chain(
        account_id, stored.previous, month, ledger=stored.ledger, log=stored.log
    )
    is_log_kept = await change_log.purged_ms(tx) <= rules.month_bounds(month)[0]
    differs = []
    if await ledger_of(tx, account_id, month) != stored.ledger:
        differs.append(DigestPart.LEDGER)
    if is_log_kept and await log_of(tx, account_id, month) != stored.log:
        differs.append(DigestPart.LOG)
    if stored.previous != (before.digest if before else "") or digest != stored.digest:
        differs.append(DigestPart.CHAIN)
    return CheckedDigest(stored, tuple(differs), is_log_kept)


async def is_stored(tx: Tx, account_id: str, kept: KeptDigest) -> bool:
    """Whether the stored digest of a month is the one that somebody kept."""
    stored = await find(tx, account_id, kept.month)
    if stored is None:
        raise Missing("There is no digest of {month} for this account.", month=kept.month)
    return stored.digest == kept.digest


async def _check_slice(tx: Tx, after: str) -> Checked:
    """For `ledger_check`; `after` is an account and a month."""
    account_id, _, month = after.partition(" ")
    found = await tx.all(_SLICE, after_account=account_id, after_month=month, batch=CHECK_BATCH)
    broken: Counter[str] = Counter()
    for each in found:
        broken.update((await _check(tx, each)).differs)
    is_last = len(found) < CHECK_BATCH
    return Checked(broken, None if is_last else f"{found[-1].account_id} {found[-1].month}")


async def all_differences(tx: Tx) -> list[DigestDifference]:
    """Over all accounts, for whoever looks for what a failed check found."""
    differences, after = [], ("", "")
    while found := await tx.all(
        _SLICE, after_account=after[0], after_month=after[1], batch=CHECK_BATCH
    ):
        for each in found:
            checked = await _check(tx, each)
            differences += [
                DigestDifference(each.account_id, each.month, part) for part in checked.differs
            ]
        after = found[-1][:2]
    return differences


GROUP = CheckGroup(None, (), _check_slice)
