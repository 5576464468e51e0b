"""Notifications about budgets: to the owner at 80% and at 100%, once a month each; to the program's
active partners each time the budget is reached, at most once a day, and when a raise reopens it in
the same month. A notification is a row on the dashboard and an email, written together and once per
cause, however many processes run this at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypedDict

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import notifications, partner_texts, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.layout import EmailBranding
from honeyguide.mail.notifications import Notification
from honeyguide.partners import partner_emails, rules
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

BATCH = 20
# Partners notified in one transaction: there may be thousands, and other writes go on in between.
PARTNERS = 200


class Spent(NamedTuple):
    program_id: str
    month: str
    account_id: str
    publication_name: str
    logo_id: str | None
    spent_cents: int
    total_budget_cents: int
    email: str
    reached_cents: int
    reach: int
    """Which time of the month it was reached: the first is 1."""


class PartnerOf(NamedTuple):
    id: str
    account_id: str
    email: str

    def notification(
        self, kind: str, once: str, message: EmailText, *, brand: EmailBranding, sentence: str = ""
    ) -> Notification:
        return Notification(
            account_id=self.account_id,
            to=self.email,
            kind=kind,
            once=once,
            message=message,
            link=f"/earnings/{self.id}",
            sentence=sentence,
            brand=brand,
        )


class PartnerMessage(TypedDict):
    """What partners get: the owner's text by email, ours on the dashboard."""

    message: EmailText
    sentence: str
    brand: EmailBranding


_sql = beside(__file__)
_NEARLY_SPENT = _sql.query("nearly_spent", Spent)
_REACHED = _sql.query("reached", Spent)
_REOPENED = _sql.query("reopened", Spent)
_LOCK_REACHED = _sql.command("lock_reached")
_LOCK_REOPENED = _sql.command("lock_reopened")
_MARK_NEARLY_NOTIFIED = _sql.command("mark_nearly_notified")
_MARK_REACHED_NOTIFIED = _sql.command("mark_reached_notified")
_PARTNERS_HEARD_REACHED = _sql.command("partners_heard_reached")
_MARK_REOPENED_NOTIFIED = _sql.command("mark_reopened_notified")
_PARTNERS_OF = _sql.query("partners_of", PartnerOf)
_PARTNERS_TO_REOPEN = _sql.query("partners_to_reopen", PartnerOf)


async def due_programs(tx: Tx, *, most: int) -> list[str]:
    month = rules.month_of(tx.now_ms)
    due = [
        *await tx.all(_NEARLY_SPENT, only="", most=most),
        *await _reached(tx, most=most),
        *await tx.all(_REOPENED, month=month, only="", most=most),
    ]
    return list(dict.fromkeys(budget.program_id for budget in due))[:most]


async def notify_due(tx: Tx, site: Site, *, only: str = "") -> bool:
    """Send a batch of the notifications that are due, of one program or of all; return whether
    there may be more."""
    nearly = await tx.all(_NEARLY_SPENT, only=only, most=BATCH)
    for budget in nearly:
        await _notify_owner(tx, site, budget, "budget_80", texts.budget_warning)
        await tx.run(_MARK_NEARLY_NOTIFIED, **_place(budget))
    # One budget per transaction: two jobs that lock two budgets in different orders would deadlock.
    more = await _notify_reached(tx, site, only=only) or await _notify_reopened(tx, site, only=only)
    return len(nearly) == BATCH or more


async def _reached(tx: Tx, *, most: int, only: str = "") -> list[Spent]:
    day_start_ms = tx.now_ms - tx.now_ms % DAY_MS
    return await tx.all(
        _REACHED,
        only=only,
        most=most,
        month=rules.month_of(tx.now_ms),
        day_start_ms=day_start_ms,
        day_end_ms=day_start_ms + DAY_MS,
    )


async def _notify_reached(tx: Tx, site: Site, *, only: str) -> bool:
    """Notifies the owner and the next batch of partners of one reached budget; returns whether
    there was one."""
    this_month = rules.month_of(tx.now_ms)
    reached = await _reached(tx, most=1, only=only)
    if not reached:
        return False
    (budget,) = reached
    if not await tx.run(_LOCK_REACHED, **_place(budget), reach=budget.reach):
        return True  # it changed meanwhile; look again
    highest_cents = max(budget.spent_cents, budget.total_budget_cents, budget.reached_cents)
    write_text = partial(texts.budget_spent, highest=money.show(highest_cents))
    await _notify_owner(tx, site, budget, "budget_100", write_text)
    # A partner can do nothing about a month that is over.
    if budget.month < this_month or await _notify_partners_of_reach(tx, site, budget) < PARTNERS:
        await tx.run(_MARK_REACHED_NOTIFIED, **_place(budget))
    return True


async def _notify_partners_of_reach(tx: Tx, site: Site, budget: Spent) -> int:
    resumes = f"1 {rules.month_name(rules.next_month(budget.month))}"
    message = await _message(tx, site, budget, partner_texts.budget_reached, resumes=resumes)
    once = _reach_key(budget)
    partners = await tx.all(
        _PARTNERS_OF,
        program_id=budget.program_id,
        account_id=budget.account_id,
        once_key=once,
        batch=PARTNERS,
    )
    for partner in partners:
        notification = partner.notification("budget_reached", once, **message)
        await notifications.notify(tx, site.base_url, notification)
    if partners:
        await tx.run(_PARTNERS_HEARD_REACHED, **_place(budget), reach=budget.reach)
    return len(partners)


async def _notify_reopened(tx: Tx, site: Site, *, only: str) -> bool:
    """Notifies the next batch of partners who heard that a budget was reached that it is open
    again."""
    budget = await tx.one(_REOPENED, month=rules.month_of(tx.now_ms), only=only, most=1)
    if budget is None:
        return False
    if not await tx.run(_LOCK_REOPENED, **_place(budget), reach=budget.reach):
        return True  # it changed meanwhile; look again
    message = await _message(tx, site, budget, partner_texts.budget_reopened)
    once = f"budget_reopened:{budget.program_id}:{budget.month}:{budget.reach}"
    partners = await tx.all(
        _PARTNERS_TO_REOPEN,
        program_id=budget.program_id,
        account_id=budget.account_id,
        reached_key=_reach_key(budget),
        once_key=once,
        batch=PARTNERS,
    )
    for partner in partners:
        notification = partner.notification("budget_reopened", once, **message)
        await notifications.notify(tx, site.base_url, notification)
    if len(partners) < PARTNERS:
        await tx.run(_MARK_REOPENED_NOTIFIED, **_place(budget), reach=budget.reach)
    return True


async def _message(
    tx: Tx,
    site: Site,
    budget: Spent,
    write_text: Callable[..., EmailText],
    **more: str,
) -> PartnerMessage:
    brand = await partner_emails.branding_of(
        AccountReading(tx, site, budget.account_id, tx.now_ms),
        budget.publication_name,
        budget.logo_id,
    )
    write = partial(
        write_text,
        month=rules.month_name(budget.month),
        page=f"{site.base_url}/earnings",
        **more,
    )
    ours = write(replace(brand, own_texts={}))
    return PartnerMessage(message=write(brand), sentence=ours.subject, brand=brand)


def _reach_key(budget: Spent) -> str:
    """The first time in a month has no number: older databases, which did not number them, know it
    by this key."""
    key = f"budget_reached:{budget.program_id}:{budget.month}"
    return key if budget.reach <= 1 else f"{key}:{budget.reach}"


def _place(budget: Spent) -> dict[str, Any]:
    return {"program_id": budget.program_id, "month": budget.month, "account_id": budget.account_id}


async def _notify_owner(
    tx: Tx,
    site: Site,
    budget: Spent,
    kind: str,
    write_text: Callable[..., EmailText],
) -> None:
    link = f"/program/{budget.program_id}"
    message = write_text(
        program=budget.publication_name,
        month=rules.month_name(budget.month),
        spent=money.show(budget.spent_cents),
        budget=money.show(budget.total_budget_cents),
        page=f"{site.base_url}{link}",
    )
    once = f"{kind}:{budget.program_id}:{budget.month}"
    notification = Notification(budget.account_id, budget.email, kind, once, message, link)
    await notifications.notify(tx, site.base_url, notification)
