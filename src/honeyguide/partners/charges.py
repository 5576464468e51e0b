"""Charging a verified partner referral, and taking a charge back: read under locks, decided by the
rules, written with the change it belongs to.

Everyone locks in one order: the subscriber, the month (shared), the program's budget, the partner's
share of it. The limits are those of the program, read after its budget is locked, or those that
held when the referral came, if they are higher; whoever changes the budget locks its row too. A fee
that does not fit leaves the referral verified and uncharged, with the reason, in the same
transaction.

Charges and their reversals are the steps of a budget, of a partner's share and of what is paid for
one person. Each step has its number there and records the total after it (docs/decisions/0025).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.partners import ledger, rules
from honeyguide.partners.ledger import Transfer
from honeyguide.partners.rules import Uncharged
from honeyguide.store import Again
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The topic that wakes the job which notifies owners and partners about budgets.
BUDGET_NOTIFICATIONS = "notices"


class PartnerReferral(NamedTuple):
    """A subscriber sent by a partner. The fee, the limits and the person are those of the signup:
    programs change their terms, and owners can change an address to anybody's."""

    id: str
    account_id: str
    partner_account_id: str
    program_id: str
    partner_campaign_id: str
    subscriber_id: str
    person_key: str
    fee_cents: int
    is_own: bool
    """Whether the partner and the program had a member in common when it came."""
    budget_cents: int
    cap_cents: int
    arrived_ms: int


class Budget(NamedTuple):
    month: str
    spent_cents: int
    reached_ms: int | None
    """When the budget of today was."""
    reached_cents: int
    overrun_cents: int
    overrun_ms: int

    def reached(self, today_cents: int) -> rules.Reached:
        reached = rules.Reached(self.reached_cents, self.overrun_cents, self.overrun_ms)
        return reached.known(is_reached=self.reached_ms is not None, today_cents=today_cents)


class ReferralLimits(NamedTuple):
    """That hold for one referral."""

    budget_cents: int
    cap_cents: int


class Standing(NamedTuple):
    """The partner's share of the budget, today's limits, and the numbers of the next step, read
    after the budget was locked."""

    spent_cents: int
    total_budget_cents: int
    max_payout_cents: int
    paid_otherwise: bool
    """How many charges stand that were made under other keys of this person, of today or of earlier
    versions."""
    budget_step: int
    partner_step: int
    person_step: int

    @property
    def is_paid_for(self) -> bool:
        """A person's odd steps are charges, the even ones take them back."""
        return self.person_step % 2 == 0 or self.paid_otherwise > 0

    def limits_of(self, referral: PartnerReferral) -> ReferralLimits:
        """Lowering one is for those who come later."""
        return ReferralLimits(
            max(self.total_budget_cents, referral.budget_cents),
            max(self.max_payout_cents, referral.cap_cents),
        )


class LastCharge(NamedTuple):
    id: str
    month: str
    fee_cents: int
    """Negative if it is a reversal."""


class _Step(NamedTuple):
    """By how much what is spent changes, and why."""

    by_cents: int
    nearly_ms: int | None = None
    reverses: str | None = None
    reason: str | None = None


_sql = beside(__file__)
_LOCK_BUDGET = _sql.query("lock_budget", Budget)
_LOCK_PARTNER_SPEND = _sql.query("lock_partner_spend", Standing)
_OPEN_BUDGETS = _sql.query("open_budgets", Budget)
_MARK_NEARLY = _sql.command("mark_nearly")
_REOPEN_BUDGET = _sql.command("reopen_budget")
_SPEND_BUDGET = _sql.command("spend_budget")
_SPEND_PARTNER = _sql.command("spend_partner")
_REACH_BUDGET = _sql.command("reach_budget")
_INSERT_CHARGE = _sql.command("insert_charge")
_LAST_CHARGE = _sql.query("last_charge", LastCharge)
_MARK_CHARGED = _sql.command("mark_charged")
_MARK_REVERSED = _sql.command("mark_reversed")
_MARK_UNCHARGED = _sql.command("mark_uncharged")


async def charge(tx: Tx, referral: PartnerReferral) -> rules.Charge | Uncharged:
    """Charges the fee of a verified referral, or records why not."""
    assert referral.fee_cents >= 0
    month = await ledger.open_month(tx)
    if referral.is_own:
        return await _leave(tx, referral, month, Uncharged.OWN_PROGRAM)
    if referral.fee_cents == 0:
        return await _leave(tx, referral, month, Uncharged.FREE)
    budget, standing = await _lock_totals(tx, referral, month)
    if standing.is_paid_for:
        return await _leave(tx, referral, month, Uncharged.ALREADY_CHARGED)
    today_cents, limit_cents = (
        standing.total_budget_cents,
        standing.limits_of(referral).budget_cents,
    )
    reached = budget.reached(today_cents)
    is_reached = reached.stops(limit_cents, referral.arrived_ms)
    decision = rules.decide_charge(
        fee_cents=referral.fee_cents,
        budget_cap_cents=limit_cents,
        budget_spent_cents=budget.spent_cents,
        budget_reached=is_reached,
        partner_cap_cents=standing.limits_of(referral).cap_cents,
        partner_spent_cents=standing.spent_cents,
    )
    if isinstance(decision, Uncharged):
        if decision is Uncharged.BUDGET_SPENT and not is_reached:
            reached = reached.overran(limit_cents, referral.arrived_ms)
            await _reach(tx, referral, month, reached)
        return await _leave(tx, referral, month, decision)
    full_cents = limit_cents if decision.reaches_budget else today_cents
    if budget.spent_cents + decision.fee_cents >= full_cents:
        await _reach(tx, referral, month, reached.filled(full_cents))
    await _book(tx, referral, budget, standing)
    return decision


async def reverse(tx: Tx, referral: PartnerReferral, reason: str, note: str | None) -> None:
    """Takes the charge of a referral back, in the month in which it was made. That month must be
    open, and the caller has locked it and the subscriber.

    A budget that was reached stays reached until its owner raises it.
    """
    charged = await tx.one(
        _LAST_CHARGE,
        account_id=referral.account_id,
        program_id=referral.program_id,
        person_key=referral.person_key,
        id=referral.id,
    )
    assert charged is not None and charged.fee_cents > 0
    budget, standing = await _lock_totals(tx, referral, charged.month)
    step = _Step(-charged.fee_cents, reverses=charged.id, reason=reason)
    reversal_id = await _write_step(tx, referral, budget, standing, step)
    transfer = Transfer(
        kind="reversal",
        reference=f"reversal:{reversal_id}",
        debit=ledger.partner(referral.partner_account_id),
        credit=ledger.program(referral.program_id),
        amount_cents=charged.fee_cents,
        month=charged.month,
    )
    await ledger.post(tx, transfer)
    await tx.put(
        _MARK_REVERSED,
        account_id=referral.account_id,
        id=referral.id,
        reversal_id=reversal_id,
        reason=reason,
        note=note,
    )


async def _lock_totals(tx: Tx, referral: PartnerReferral, month: str) -> tuple[Budget, Standing]:
    of_month = _of_month(referral, month)
    budget = await tx.one(_LOCK_BUDGET, **of_month)
    standing = await tx.one(
        _LOCK_PARTNER_SPEND,
        **of_month,
        partner_campaign_id=referral.partner_campaign_id,
        partner_account_id=referral.partner_account_id,
        person_key=referral.person_key,
    )
    assert budget is not None and standing is not None  # locking makes the row if there is none
    assert standing.spent_cents <= budget.spent_cents  # a partner's share is part of the budget
    return budget, standing


def _of_month(referral: PartnerReferral, month: str) -> dict[str, Any]:
    return {
        "program_id": referral.program_id,
        "month": month,
        "account_id": referral.account_id,
    }


async def _reach(tx: Tx, referral: PartnerReferral, month: str, reached: rules.Reached) -> None:
    await tx.put(_REACH_BUDGET, **_of_month(referral, month), **reached._asdict())
    tx.wake(BUDGET_NOTIFICATIONS)


async def _book(tx: Tx, referral: PartnerReferral, budget: Budget, standing: Standing) -> None:
    """Writes a charge that the rules allow, and everything that must agree with it."""
    fee_cents = referral.fee_cents
    budget_spent_cents = budget.spent_cents + fee_cents
    # The limits were read under the locks that we still have, so nobody can have changed them.
    limits = standing.limits_of(referral)
    assert fee_cents > 0
    reached = budget.reached(standing.total_budget_cents)
    assert not reached.stops(limits.budget_cents, referral.arrived_ms)
    assert budget_spent_cents <= limits.budget_cents
    assert standing.spent_cents + fee_cents <= limits.cap_cents
    is_nearly_spent = rules.nearly_spent(
        spent_cents=budget_spent_cents, cap_cents=standing.total_budget_cents
    )
    if is_nearly_spent:
        tx.wake(BUDGET_NOTIFICATIONS)
    step = _Step(fee_cents, nearly_ms=tx.now_ms if is_nearly_spent else None)
    charge_id = await _write_step(tx, referral, budget, standing, step)
    transfer = Transfer(
        kind="charge",
        reference=f"charge:{charge_id}",
        debit=ledger.program(referral.program_id),
        credit=ledger.partner(referral.partner_account_id),
        amount_cents=fee_cents,
        month=budget.month,
    )
    await ledger.post(tx, transfer)
    await tx.put(
        _MARK_CHARGED,
        account_id=referral.account_id,
        id=referral.id,
        fee_cents=fee_cents,
        month=budget.month,
    )


async def _write_step(
    tx: Tx,
    referral: PartnerReferral,
    budget: Budget,
    standing: Standing,
    step: _Step,
) -> str:
    """Changes what is spent, and records the step."""
    step_id, limits = new_id(), standing.limits_of(referral)
    spent: dict[str, Any] = {
        **_of_month(referral, budget.month),
        "partner_campaign_id": referral.partner_campaign_id,
        "fee_cents": step.by_cents,
    }
    await tx.put(_SPEND_BUDGET, **spent, nearly_ms=step.nearly_ms)
    await tx.put(_SPEND_PARTNER, **spent)
    await tx.put(
        _INSERT_CHARGE,
        **spent,
        id=step_id,
        partner_account_id=referral.partner_account_id,
        partner_referral_id=referral.id,
        person_key=referral.person_key,
        person_step=standing.person_step,
        budget_step=standing.budget_step,
        budget_spent_cents=budget.spent_cents + step.by_cents,
        budget_cap_cents=limits.budget_cents,
        partner_step=standing.partner_step,
        partner_spent_cents=standing.spent_cents + step.by_cents,
        partner_cap_cents=limits.cap_cents,
        reverses_id=step.reverses,
        reversal_reason=step.reason,
        # The same person is being charged in a neighboring month: a second run will find it.
        taken={"charge_once": Again},
    )
    return step_id


async def _leave(tx: Tx, referral: PartnerReferral, month: str, reason: Uncharged) -> Uncharged:
    await tx.put(
        _MARK_UNCHARGED,
        account_id=referral.account_id,
        id=referral.id,
        month=month,
        reason=reason.value,
    )
    return reason


async def budget_changed(
    tx: Tx, account_id: str, program_id: str, *, old_cents: int, new_cents: int
) -> None:
    """Applies the owner's new budget to every open month: reach it, reopen it, or mark that 80 % is
    spent.

    The row of this month is created if needed, so that we wait for a first charge that is under
    way.
    """
    assert old_cents >= 0 and new_cents >= 0
    program_key: dict[str, Any] = {"account_id": account_id, "program_id": program_id}
    month = await ledger.open_month(tx)
    await tx.one(_LOCK_BUDGET, **program_key, month=month)
    budgets = await tx.lock(_OPEN_BUDGETS, "update", **program_key)
    assert any(budget.month == month for budget in budgets)  # the row that was just locked
    for budget in budgets:
        of_month = {**program_key, "month": budget.month}
        was_reached = budget.reached_ms is not None
        reached = budget.reached(old_cents)
        is_reached = rules.reached_after_change(
            reached=reached != rules.Reached(),
            old_cap_cents=reached.highest_cents,
            new_cap_cents=new_cents,
            spent_cents=budget.spent_cents,
        )
        is_nearly_spent = rules.nearly_spent(spent_cents=budget.spent_cents, cap_cents=new_cents)
        if is_reached:
            if new_cents <= budget.spent_cents:
                reached = reached.filled(new_cents)
            await tx.run(_REACH_BUDGET, **of_month, **reached._asdict())
        elif was_reached:
            await tx.run(_REOPEN_BUDGET, **of_month, **reached._asdict())
        if is_nearly_spent:
            await tx.run(_MARK_NEARLY, **of_month)
        if is_nearly_spent or is_reached != was_reached:
            tx.wake(BUDGET_NOTIFICATIONS)
