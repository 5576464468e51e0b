"""What a month could cost its owner: so many readers through so many partners, against both caps. Pure; whole fees only, as
`rules.decide_charge` charges them.
"""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    readers: int
    partners: int
    asked_cents: int
    """Fee times volume, as if there were no caps."""
    cost_cents: int
    paid_readers: int
    over_partner_cap: int
    """Readers for whom their partner can earn nothing more that month."""
    over_budget: int
    """Readers who come once the budget is reached."""


def of_month(
    *, fee_cents: int, partner_cap_cents: int, budget_cents: int, readers: int, partners: int
) -> Estimate:
    """Every partner brings as many, give or take one."""
    partners = max(partners, 1)
    if fee_cents == 0:
        return Estimate(readers, partners, 0, 0, readers, 0, 0)
    each, one_more = divmod(readers, partners)
    most = partner_cap_cents // fee_cents
    under_cap = min(each + 1, most) * one_more + min(each, most) * (partners - one_more)
    paid = min(under_cap, budget_cents // fee_cents)
    return Estimate(
        readers,
        partners,
        readers * fee_cents,
        paid * fee_cents,
        paid,
        readers - under_cap,
        under_cap - paid,
    )
