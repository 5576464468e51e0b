"""Notifies accounts of a closed month once its payouts are made: owners of what they owe, partners
of what they get, administrators of what is to be paid.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import notifications, partner_texts, texts
from honeyguide.mail.notification_kinds import PAYOUT_DUE
from honeyguide.mail.notifications import Notification
from honeyguide.partners import digest_rules, rules
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Accounts notified in one transaction: there may be thousands, and other writes go on in between.
BATCH = 100
# For how long the emails wait for the digests of the month.
PATIENCE_MS = DAY_MS
KIND = PAYOUT_DUE.name


class _Month(NamedTuple):
    month: str
    notified_program: str
    notified_partner: str


class _Fees(NamedTuple):
    program_id: str
    account_id: str
    email: str
    publication_name: str
    spent_cents: int
    digest: str


class _Payout(NamedTuple):
    account_id: str
    email: str
    amount_cents: int
    digest: str
    """Empty if there is none yet."""


class _Administrator(NamedTuple):
    account_id: str
    email: str


class _Total(NamedTuple):
    payouts: int
    amount_cents: int


_sql = beside(__file__)
_DUE_MONTHS = _sql.value("due_months", str)
_MONTH = _sql.query("month", _Month)
_FEES = _sql.query("fees", _Fees)
_PAYOUTS = _sql.query("payouts", _Payout)
_ADMINISTRATORS = _sql.query("administrators", _Administrator)
_TOTAL = _sql.query("total", _Total)
_MOVE = _sql.command("move")
_FINISH = _sql.command("finish")


async def due_months(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_DUE_MONTHS, patient_ms=tx.now_ms - PATIENCE_MS, most=most)


async def notify_batch(
    tx: Tx, site: Site, month: str, *, batch: int = BATCH, is_whole: bool = True
) -> bool:
    """Notifies the next accounts of a month; returns whether there may be more. The month is
    locked, so each account is notified once. It is over if nobody was passed over (`is_whole`)."""
    locked = await tx.lock(_MONTH, "update skip locked", month=month)
    if not locked:
        return False
    (at,) = locked
    fees = await tx.all(_FEES, month=at.month, after=at.notified_program, batch=batch)
    if fees:
        for owed in fees:
            await _notify_owner(tx, site, at.month, owed)
        at = at._replace(notified_program=fees[-1].program_id)
    else:
        payouts = await tx.all(_PAYOUTS, month=at.month, after=at.notified_partner, batch=batch)
        for payout in payouts:
            await _notify_partner(tx, site, at.month, payout)
        if not payouts:
            await _notify_administrators(tx, site, at.month)
            if is_whole:
                await tx.run(_FINISH, month=at.month)
            return False
        at = at._replace(notified_partner=payouts[-1].account_id)
    await tx.run(_MOVE, **at._asdict())
    return True


async def pass_over(tx: Tx, month: str) -> str:
    """Goes on after the next account, which cannot be notified, and returns its ID."""
    (at,) = await tx.lock(_MONTH, "update", month=month)
    for owed in await tx.all(_FEES, month=month, after=at.notified_program, batch=1):
        await tx.run(_MOVE, **at._replace(notified_program=owed.program_id)._asdict())
        return owed.account_id
    for payout in await tx.all(_PAYOUTS, month=month, after=at.notified_partner, batch=1):
        await tx.run(_MOVE, **at._replace(notified_partner=payout.account_id)._asdict())
        return payout.account_id
    raise LookupError(month)


async def begin_again(tx: Tx, month: str) -> None:
    """For those who were passed over. Nobody is notified twice of the same month."""
    await tx.run(_MOVE, month=month, notified_program="", notified_partner="")


async def _notify_owner(tx: Tx, site: Site, month: str, owed: _Fees) -> None:
    link = f"/statements/owner/{month}"
    message = partner_texts.fees_due(
        program=owed.publication_name,
        month=rules.month_name(month),
        amount=money.show(owed.spent_cents),
        digest=digest_rules.grouped(owed.digest),
        page=f"{site.base_url}{link}",
    )
    once = f"fees_due:{owed.program_id}:{month}"
    notification = Notification(owed.account_id, owed.email, KIND, once, message, link)
    await notifications.notify(tx, site.base_url, notification)


async def _notify_partner(tx: Tx, site: Site, month: str, payout: _Payout) -> None:
    link = f"/statements/partner/{month}"
    message = partner_texts.payout_due(
        month=rules.month_name(month),
        amount=money.show(payout.amount_cents),
        digest=digest_rules.grouped(payout.digest),
        page=f"{site.base_url}{link}",
    )
    once = f"payout_due:{month}"
    notification = Notification(payout.account_id, payout.email, KIND, once, message, link)
    await notifications.notify(tx, site.base_url, notification)


async def _notify_administrators(tx: Tx, site: Site, month: str) -> None:
    total = await tx.one(_TOTAL, month=month)
    if total is None or not total.payouts:
        return
    link = f"/administration?month={month}"
    message = texts.payouts_due(
        month=rules.month_name(month),
        payouts="1 payout" if total.payouts == 1 else f"{total.payouts:,} payouts",
        amount=money.show(total.amount_cents),
        page=f"{site.base_url}{link}",
    )
    for to in await tx.all(_ADMINISTRATORS):
        once = f"payouts_due:{month}"
        notification = Notification(to.account_id, to.email, KIND, once, message, link)
        await notifications.notify(tx, site.base_url, notification)
