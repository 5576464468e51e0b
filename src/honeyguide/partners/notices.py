"""Telling people about budgets: the owner at 80 % and at 100 %, every partner of the program once when it is reached. A notice
is a row of the dashboard's bell and a letter, written together and once per month, however many run this at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.site import Site
from honeyguide.mail import bell, words
from honeyguide.partners import rules
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

BATCH = 20
# Partners told in one transaction: there may be thousands, and everybody else's writes go on in between.
PARTNERS = 200


class Spent(NamedTuple):
    program_id: str
    month: str
    account_id: str
    publication_name: str
    spent_cents: int
    total_budget_cents: int
    email: str


class PartnerOf(NamedTuple):
    id: str
    account_id: str
    email: str


_sql = beside(__file__)
_NEARLY_SPENT = _sql.query("nearly_spent", Spent)
_REACHED = _sql.query("reached", Spent)
_TOLD_NEARLY = _sql.command("told_nearly")
_TOLD_REACHED = _sql.command("told_reached")
_PARTNERS_OF = _sql.query("partners_of", PartnerOf)


async def tell_due(tx: Tx, site: Site, *, now_ms: int) -> bool:
    """What was not told yet about budgets, a batch of it; whether more waits."""
    nearly = await tx.all(_NEARLY_SPENT, batch=BATCH)
    for budget in nearly:
        await _tell_owner(tx, site, budget, "budget_80", words.budget_warning, now_ms=now_ms)
        await tx.run(_TOLD_NEARLY, **_place(budget), now_ms=now_ms)
    reached = await tx.all(_REACHED, batch=1)
    for budget in reached:
        await _tell_owner(tx, site, budget, "budget_100", words.budget_spent, now_ms=now_ms)
        if await _tell_partners(tx, site, budget, now_ms=now_ms) < PARTNERS:
            await tx.run(_TOLD_REACHED, **_place(budget), now_ms=now_ms)
    return len(nearly) == BATCH or bool(reached)


def _place(budget: Spent) -> dict[str, Any]:
    return {"program_id": budget.program_id, "month": budget.month, "account_id": budget.account_id}


async def _tell_owner(tx: Tx, site: Site, budget: Spent, kind: str, letter: Callable[..., words.Words], *, now_ms: int) -> None:
    said = letter(
        program=budget.publication_name, month=rules.spoken(budget.month), spent=money.show(budget.spent_cents),
        budget=money.show(budget.total_budget_cents), page=f"{site.base_url}/program/{budget.program_id}",
    )  # fmt: skip
    await bell.tell(
        tx, budget.account_id, budget.email, kind, f"{kind}:{budget.program_id}:{budget.month}", said,
        link=f"/program/{budget.program_id}", now_ms=now_ms,
    )  # fmt: skip


async def _tell_partners(tx: Tx, site: Site, budget: Spent, *, now_ms: int) -> int:
    """The next of those who were not told, in one order everywhere; how many."""
    said = words.budget_reached(
        program=budget.publication_name, month=rules.spoken(budget.month),
        resumes=f"1 {rules.spoken(rules.next_month(budget.month))}", page=f"{site.base_url}/earnings",
    )  # fmt: skip
    once = f"budget_reached:{budget.program_id}:{budget.month}"
    partners = await tx.all(
        _PARTNERS_OF, program_id=budget.program_id, account_id=budget.account_id, once_key=once, batch=PARTNERS
    )
    for partner in partners:
        link = f"/earnings/{partner.id}"
        await bell.tell(tx, partner.account_id, partner.email, "budget_reached", once, said, link=link, now_ms=now_ms)
    return len(partners)
