"""Charging a verified partner referral: read under locks, decided by the rules, written with the move it belongs to.

The locks are taken in one order everywhere: month and program (shared), budget, partner. A fee that does not fit leaves the
referral verified and uncharged, with the reason, in the same transaction.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.partners import ledger, rules
from honeyguide.partners.rules import Uncharged
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The topic that wakes whoever tells owners and partners about budgets.
NOTICES = "notices"


class Due(NamedTuple):
    """What a verified partner referral asks for: the fee as it was when the reader arrived."""

    referral_id: str
    account_id: str
    partner_account_id: str
    program_id: str
    partner_campaign_id: str
    person_key: str
    fee_cents: int


class Terms(NamedTuple):
    month: str
    closed_ms: int | None
    total_budget_cents: int
    max_payout_cents: int


class Budget(NamedTuple):
    spent_cents: int
    cap_cents: int
    reached_ms: int | None


class PartnerSpend(NamedTuple):
    spent_cents: int
    cap_cents: int
    before: int  # charges of this person in this program: at most one, ever


_sql = beside(__file__)
_LAST_CLOSED = _sql.value("last_closed", str)
_BEGIN_MONTH = _sql.command("begin_month")
_TERMS = _sql.query("terms", Terms)
_LOCK_BUDGET = _sql.query("lock_budget", Budget)
_LOCK_PARTNER_SPEND = _sql.query("lock_partner_spend", PartnerSpend)
_SPEND_BUDGET = _sql.command("spend_budget")
_SPEND_PARTNER = _sql.command("spend_partner")
_REACH_BUDGET = _sql.command("reach_budget")
_INSERT_CHARGE = _sql.command("insert_charge")
_MARK_CHARGED = _sql.command("mark_charged")
_MARK_UNCHARGED = _sql.command("mark_uncharged")


async def charge(tx: Tx, due: Due, *, now_ms: int) -> rules.Charge | Uncharged:
    """Charges the fee or says why not; either is on record when this transaction is."""
    terms = await _open_month(tx, due, now_ms)
    if due.partner_account_id == due.account_id:
        return await _leave(tx, due, terms.month, Uncharged.OWN_PROGRAM)
    if due.fee_cents == 0:
        return await _leave(tx, due, terms.month, Uncharged.FREE)
    place = {"program_id": due.program_id, "month": terms.month, "account_id": due.account_id}
    budget = await tx.one(_LOCK_BUDGET, **place, cap_cents=terms.total_budget_cents)
    partner = await tx.one(
        _LOCK_PARTNER_SPEND, **place, partner_campaign_id=due.partner_campaign_id, partner_account_id=due.partner_account_id,
        cap_cents=terms.max_payout_cents, person_key=due.person_key,
    )  # fmt: skip
    assert budget is not None and partner is not None
    if partner.before:
        return await _leave(tx, due, terms.month, Uncharged.ALREADY_CHARGED)
    decision = rules.decide_charge(
        fee_cents=due.fee_cents, budget_cap_cents=budget.cap_cents, budget_spent_cents=budget.spent_cents,
        budget_reached=budget.reached_ms is not None, partner_cap_cents=partner.cap_cents,
        partner_spent_cents=partner.spent_cents,
    )  # fmt: skip
    if isinstance(decision, Uncharged):
        if decision is Uncharged.BUDGET_SPENT and budget.reached_ms is None:
            await tx.put(_REACH_BUDGET, **place, now_ms=now_ms)
            tx.wake(NOTICES)
        return await _leave(tx, due, terms.month, decision)
    await _book(tx, due, terms.month, now_ms)
    spent_cents = budget.spent_cents + due.fee_cents
    if decision.reaches_budget or rules.nearly_spent(spent_cents=spent_cents, cap_cents=budget.cap_cents):
        tx.wake(NOTICES)
    return decision


async def _open_month(tx: Tx, due: Due, now_ms: int) -> Terms:
    """The month this charge falls into, held open until we are done: a closed month sends it on to the next."""
    month = rules.month_to_charge(now_ms, last_closed=await tx.one(_LAST_CLOSED))
    while True:
        terms = await tx.one(_TERMS, month=month, program_id=due.program_id, account_id=due.account_id)
        if terms is None:
            await tx.run(_BEGIN_MONTH, month=month)
        elif terms.closed_ms is not None:
            month = rules.next_month(month)
        else:
            return terms


async def _book(tx: Tx, due: Due, month: str, now_ms: int) -> None:
    place = {"account_id": due.account_id, "month": month}
    await tx.put(_SPEND_BUDGET, **place, program_id=due.program_id, fee_cents=due.fee_cents, now_ms=now_ms)
    await tx.put(_SPEND_PARTNER, **place, partner_campaign_id=due.partner_campaign_id, fee_cents=due.fee_cents)
    charge_id = new_id()
    await tx.put(
        _INSERT_CHARGE, **place, id=charge_id, partner_account_id=due.partner_account_id, program_id=due.program_id,
        partner_campaign_id=due.partner_campaign_id, partner_referral_id=due.referral_id, person_key=due.person_key,
        fee_cents=due.fee_cents, now_ms=now_ms,
    )  # fmt: skip
    await ledger.post(
        tx, "charge", f"charge:{charge_id}", debit=ledger.program(due.program_id),
        credit=ledger.partner(due.partner_account_id), amount_cents=due.fee_cents, month=month, now_ms=now_ms,
    )  # fmt: skip
    await tx.put(_MARK_CHARGED, account_id=due.account_id, id=due.referral_id, fee_cents=due.fee_cents, month=month)


async def _leave(tx: Tx, due: Due, month: str, reason: Uncharged) -> Uncharged:
    await tx.put(_MARK_UNCHARGED, account_id=due.account_id, id=due.referral_id, month=month, reason=reason.value)
    return reason
