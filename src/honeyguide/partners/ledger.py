"""The books: transfers between ledger accounts, append-only. A transfer debits one account and credits another with the same
amount, so every transaction sums to zero by construction, and the database refuses to change or delete one.
"""

from __future__ import annotations

from honeyguide.kernel.ids import new_id
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

CLEARING = "payout:clearing"
CASH = "cash"

_sql = beside(__file__)
_POST = _sql.command("post")
_BALANCE = _sql.value("balance", int)


def program(program_id: str) -> str:
    """What a program's owner owes for referrals."""
    return f"program:{program_id}:receivable"


def partner(account_id: str) -> str:
    """What is owed to a partner."""
    return f"partner:{account_id}:payable"


async def post(
    tx: Tx, kind: str, reference: str, *, debit: str, credit: str, amount_cents: int, month: str, now_ms: int
) -> None:
    await tx.put(
        _POST, id=new_id(), kind=kind, reference=reference, debit=debit, credit=credit, amount_cents=amount_cents, month=month,
        now_ms=now_ms,
    )  # fmt: skip


async def balance(tx: Tx, account: str) -> int:
    """Debits less credits."""
    return await tx.one(_BALANCE, account=account) or 0
