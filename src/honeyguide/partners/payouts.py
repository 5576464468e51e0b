"""Months close by the UTC calendar, one hour after their end. What a partner earned in a closed
month becomes one payout.

The amounts are the ledger's. A payout is made once per partner and month, however often the job
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import ledger, rules
from honeyguide.partners.ledger import Transfer
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such payout."
# A page of partners whose payouts are made in one transaction.
BATCH = 1_000
CLOSE = "close"
# The topic that a close wakes.
CLOSED = "closed months"


class Payout(msgspec.Struct, frozen=True):
    id: str
    account_id: str
    month: str
    amount_cents: int
    paid_ms: int | None
    paid_reference: str | None
    marks: int
    created_ms: int


class Owed(Payout, frozen=True):
    """A payout as the administrator sees it, with its recipient."""

    email: str
    name: str | None


class Month(NamedTuple):
    month: str
    closed_ms: int | None
    paid_out_ms: int | None
    payouts: int
    paid: int
    amount_cents: int


class Earned(NamedTuple):
    credit: str
    cents: int


_sql = beside(__file__, payout=Payout.__struct_fields__)
_BEGIN_MONTH = _sql.command("begin_month")
_HAS_MONTH = _sql.value("has_month", int)
_MONTHS_TO_CLOSE = _sql.value("months_to_close", str)
_CLOSE = _sql.command("close")
_MONTHS_TO_PAY_OUT = _sql.value("months_to_pay_out", str)
_EARNED = _sql.query("earned", Earned)
_COUNT_EARNERS = _sql.value("count_earners", int)
_INSERT = _sql.command("insert")
_INSERT_TRANSFERS = _sql.command("insert_transfers")
_PAID_OUT = _sql.command("paid_out")
_LOCK_MONTH = _sql.value("lock_month", str)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", Payout)
_BY_ID = _sql.query("by_id", Payout)
_OF_MONTH = _sql.query("of_month", Payout)
_ALL_OF_MONTH = _sql.query("all_of_month", Owed)
_LOCK = _sql.query("lock", Payout)
_MARK = _sql.command("mark")
_MONTHS = _sql.query("months", Month)
_EARNED_SO_FAR = _sql.value("earned_so_far", int)


async def due_months(tx: Tx, *, most: int) -> list[str]:
    """The months to open or close, which are done together and named `CLOSE`, and those to pay
    out."""
    this_month = rules.month_of(tx.now_ms)
    to_close = await tx.one(_HAS_MONTH, month=rules.previous_month(this_month)) is None or any(
        rules.closes_at(month) <= tx.now_ms
        for month in await tx.all(_MONTHS_TO_CLOSE, this_month=this_month)
    )
    return [*([CLOSE] if to_close else []), *await months_to_pay_out(tx, most=most)][:most]


async def close_months(tx: Tx) -> list[str]:
    """Closes every month whose time has come. On PostgreSQL this waits for charges that are under
    way in it."""
    this_month = rules.month_of(tx.now_ms)
    await tx.run(_BEGIN_MONTH, month=rules.previous_month(this_month))
    closed = []
    for month in await tx.all(_MONTHS_TO_CLOSE, this_month=this_month):
        if rules.closes_at(month) <= tx.now_ms and await tx.run(_CLOSE, month=month):
            closed.append(month)
    if closed:
        tx.wake(CLOSED)
    return closed


async def months_to_pay_out(tx: Tx, *, most: int) -> list[str]:
    """Closed ones, oldest first."""
    return await tx.all(_MONTHS_TO_PAY_OUT, most=most)


async def earners(tx: Tx, month: str) -> int:
    """How many partners were charged for in a month: at most so many payouts it has in the end."""
    return await tx.one(_COUNT_EARNERS, month=month) or 0


async def earned_by(tx: Tx, month: str, after: str) -> list[Earned]:
    """What the next partners earned in a month; it no longer changes when the month is closed.
    Nothing if every charge was reversed."""
    return await tx.all(_EARNED, month=month, after=after, batch=BATCH)


async def make_payouts(tx: Tx, month: str, earned: Sequence[Earned]) -> int:
    """Some of a closed month's payouts; returns how many are new. Their entries go into the month
    that is open now."""
    if not await tx.lock(_LOCK_MONTH, "update", month=month):
        return 0
    made = 0
    assert all(cents >= 0 for _, cents in earned)  # a reversal is in the month of its charge
    if any(cents for _, cents in earned):
        # A partner who has a payout already gets neither another one nor its transfer.
        rows = [
            {
                "id": new_id(),
                "transfer_id": new_id(),
                "debit": credit,
                "account_id": credit.split(":")[1],
                "cents": cents,
            }
            for credit, cents in earned
            if cents
        ]
        made = await tx.run(_INSERT, rows=rows, month=month)
        if made:
            open_month = await ledger.open_month(tx)
            assert open_month > month  # the closed month's entries stay as they were
            posted = await tx.run(
                _INSERT_TRANSFERS,
                rows=rows,
                clearing=ledger.CLEARING,
                month=open_month,
            )
            assert posted == made  # one transfer for each new payout
    return made


async def set_paid_out(tx: Tx, month: str) -> None:
    """All payouts of the month are made."""
    await tx.run(_PAID_OUT, month=month)


async def page_of(at: AccountReading, page: Page) -> tuple[list[Payout], int]:
    total = await at.one(_COUNT) or 0
    return await at.all(_LIST, most=page.per_page, skip=page.skip), total


async def get(at: AccountReading, payout_id: str) -> Payout:
    payout = await at.one(_BY_ID, id=payout_id) if is_id(payout_id) else None
    if payout is None:
        raise Missing(UNKNOWN)
    return payout


async def find_of_month(at: AccountReading, month: str) -> Payout | None:
    """A partner's payout of one month. There is none before the month is closed, and none without
    earnings."""
    return await at.one(_OF_MONTH, month=month)


async def of_month(tx: Tx, month: str = "", *, open_only: bool = False) -> list[Owed]:
    """For the administrator: every account's."""
    return await tx.all(_ALL_OF_MONTH, month=month, open_only=int(open_only))


async def months(tx: Tx) -> list[Month]:
    return await tx.all(_MONTHS)


async def earned_so_far(tx: Tx, month: str) -> int:
    """What partners earned in a month by the ledger, closed or not: cents."""
    return await tx.one(_EARNED_SO_FAR, month=month) or 0


async def mark_paid(tx: Tx, payout_id: str, reference: str) -> Payout:
    """Money left the house: clearing to cash, with the bank's reference."""
    checks.text(reference, param="reference", limit=checks.STRING_LIMIT, blank_ok=False)
    payout = await _locked(tx, payout_id)
    if payout.paid_ms is not None:
        raise Invalid(
            "This payout is already marked as paid, with reference {reference}.",
            code="already_paid",
            reference=payout.paid_reference,
        )
    await _move(tx, payout, "paid", ledger.CLEARING, ledger.CASH, tx.now_ms)
    await tx.run(_MARK, id=payout.id, paid_ms=tx.now_ms, reference=reference)
    return await _locked(tx, payout_id)


async def unmark_paid(tx: Tx, payout_id: str) -> Payout:
    """The undo: a new entry the other way; the first stays in the books."""
    payout = await _locked(tx, payout_id)
    if payout.paid_ms is None:
        raise Invalid("This payout is not marked as paid.", code="not_paid")
    await _move(tx, payout, "unpaid", ledger.CASH, ledger.CLEARING, tx.now_ms)
    await tx.run(_MARK, id=payout.id, paid_ms=None, reference=None)
    return await _locked(tx, payout_id)


async def get_any(tx: Tx, payout_id: str) -> Payout:
    """Any account's payout, for the administrator, locked until the transaction ends."""
    return await _locked(tx, payout_id)


async def _locked(tx: Tx, payout_id: str) -> Payout:
    locked = await tx.lock(_LOCK, "update", id=payout_id) if is_id(payout_id) else []
    if not locked:
        raise Missing(UNKNOWN)
    return locked[0]


async def _move(tx: Tx, payout: Payout, kind: str, debit: str, credit: str, now_ms: int) -> None:
    reference = f"{kind}:{payout.id}:{payout.marks}"
    month = await ledger.open_month(tx.at(now_ms))
    transfer = Transfer(kind, reference, debit, credit, payout.amount_cents, month)
    await ledger.post(tx.at(now_ms), transfer)
