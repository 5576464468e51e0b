"""How many referrals of a partner count before the owner has looked at them: each takes one of what
is allowed, as it takes a part of a budget.

Everyone locks in one order: the subscriber, the program's month of first looks, the look at the
partner, and then what `partners.charges` locks. Only the job that verifies referrals takes one, a
referral in each transaction. So no signup and no confirmation waits for these rows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from honeyguide.screening.rules import ReferralTerms
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

MOST_FEES = 30
"""A month in one program, over all partners whom its owner never looked at."""

_sql = beside(__file__)
_LOCK_MONTH = _sql.value("lock_month", int)
_MAKE = _sql.command("make")
_TAKE = _sql.command("take")
_COUNT_FEE = _sql.command("count_fee")


async def take(change: Change, terms: ReferralTerms) -> bool:
    """Whether one more referral of the partner may count now."""
    assert terms.look_id is not None and terms.first_look is not None
    month = datetime.fromtimestamp(change.now_ms / 1000, UTC).strftime("%Y-%m")
    of_month: dict[str, Any] = {"program_id": terms.program_id, "month": month}
    fees = await change.one(_LOCK_MONTH, **of_month)
    assert fees is not None  # locking makes the row if there is none
    look: dict[str, Any] = {"id": terms.look_id, "first_look": terms.first_look}
    await change.run(_MAKE, program_id=terms.program_id, **look)
    if not await change.run(_TAKE, **look, has_fees=int(fees < MOST_FEES)):
        return False
    await change.run(_COUNT_FEE, **of_month, look_id=terms.look_id)
    return True
