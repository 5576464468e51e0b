"""The ledger: append-only transfers between ledger accounts. A transfer debits one account and
credits another with the same amount, so the ledger always sums to zero. The database refuses to
change or delete one.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.partners import rules
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

CLEARING = "payout:clearing"
CASH = "cash"


class Transfer(NamedTuple):
    kind: str
    reference: str
    debit: str
    credit: str
    amount_cents: int
    month: str
    """That the caller has locked with `open_month`."""


class EnteredMonth(NamedTuple):
    closed_ms: int | None


_sql = beside(__file__)
_LOCK_MONTH = _sql.value("lock_month", int)
_LOCK_ENTERED_MONTH = _sql.query("lock_entered_month", EnteredMonth)
_LAST_CLOSED = _sql.value("last_closed", str)
_BEGIN_MONTH = _sql.command("begin_month")
_POST = _sql.command("post")


def program(program_id: str) -> str:
    """What a program's owner owes for referrals."""
    return f"program:{program_id}:receivable"


def partner(account_id: str) -> str:
    """What is owed to a partner."""
    return f"partner:{account_id}:payable"


async def open_month(tx: Tx) -> str:
    """The month that entries of now belong to, locked so that it stays open until the commit.

    It is the UTC month of now. If that is closed already (the clock stepped back, or the close came
    first), it is the first open one.
    """
    month = rules.month_of(tx.now_ms)
    while await tx.lock(_LOCK_MONTH, "share", month=month) != [0]:
        month = max(month, rules.month_to_charge(tx.now_ms, last_closed=await tx.one(_LAST_CLOSED)))
        await tx.run(_BEGIN_MONTH, month=month)
    return month


async def last_closed(tx: Tx) -> str:
    """The newest month that is closed; empty if none is."""
    return await tx.one(_LAST_CLOSED) or ""


async def closed_ms(tx: Tx, month: str) -> int | None:
    """When a month with entries was closed. None if it is open; then it stays so until the
    commit."""
    (closed,) = await tx.lock(_LOCK_ENTERED_MONTH, "share", month=month)
    return closed.closed_ms


async def post(tx: Tx, transfer: Transfer) -> None:
    assert transfer.amount_cents > 0 and transfer.debit != transfer.credit
    await tx.put(_POST, id=new_id(), **transfer._asdict())
