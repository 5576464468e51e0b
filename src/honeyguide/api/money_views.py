"""Spending of a partner program, earnings and payouts of a partner."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from honeyguide.api.partner_views import (
    PartnerName,
    ProgramName,
    ProgramUuid,
    RemainingPayout,
    remaining_payout,
)
from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.money import dollars
from honeyguide.kernel.public import TOTAL_BUDGET, doc
from honeyguide.partners import payouts, rules
from honeyguide.partners.forecast import Earnings, Spend
from honeyguide.partners.month_limits import MonthLimit

Month = Annotated[str, doc("Calendar month in UTC.", "2026-11")]
Spent = Annotated[Decimal, doc("Charged in this month, in US dollars.", 412.5)]
Confirmed = Annotated[Decimal, doc("Earned in this month, in US dollars.", 412.5)]
Pending = Annotated[Decimal, doc("Fees of pending referrals, in US dollars.", 37.5)]
AtMost = Annotated[
    Decimal,
    doc(
        "The most that the month can come to, in US dollars. Only a higher budget or cap, new "
        "referrals, a reversal or a decision by hand can exceed it.",
        437.5,
    ),
]
Uncharged = Annotated[int, doc("Referrals verified in this month but not charged.")]


class SpendPartner(View, frozen=True):
    partner_campaign_uuid: public.PartnerCampaignUuid
    name: PartnerName
    spent: Spent
    pending: Pending


class ProgramSpendView(View, frozen=True):
    month: Month
    total_budget: Annotated[Decimal, TOTAL_BUDGET]
    spent: Spent
    pending: Pending
    left: Annotated[Decimal, doc("Left of the monthly budget, in US dollars.", 587.5)]
    reached: Annotated[
        bool,
        doc(
            "Whether the monthly budget is reached. Nothing more is charged until it is raised "
            "above what is spent and above the highest budget that was reached in the month. "
            "Referrals that came under a higher budget than that can still be charged."
        ),
    ]
    uncharged_referrals: Uncharged
    partners: list[SpendPartner]


class OneProgramSpend(View, frozen=True):
    spend: ProgramSpendView


class EarningsProgram(View, frozen=True):
    partner_program_uuid: ProgramUuid
    name: ProgramName
    confirmed: Confirmed
    pending: Pending
    at_most: AtMost
    remaining_payout: RemainingPayout


class EarningsView(View, frozen=True):
    month: Month
    confirmed: Confirmed
    pending: Pending
    at_most: AtMost
    rejected_referrals: Annotated[int, doc("Referrals rejected in this month.")]
    uncharged_referrals: Uncharged
    programs: list[EarningsProgram]


class OneEarnings(View, frozen=True):
    earnings: EarningsView


class PayoutView(View, frozen=True):
    uuid: public.Uuid
    amount_in_dollars: Annotated[Decimal, doc("Amount owed, in US dollars.", 412.5)]
    start_period: Annotated[
        public.Time, doc("Beginning of the month it is for.", "2026-11-01T00:00:00.000Z")
    ]
    end_period: Annotated[
        public.Time, doc("End of the month it is for.", "2026-11-30T23:59:59.999Z")
    ]
    paid: Annotated[bool, doc("Whether it has been paid.")]


class OnePayout(View, frozen=True):
    payout: PayoutView


class PayoutMeta(PageMeta, frozen=True):
    """`total_payours` is spelled this way in the specification."""

    total_payours: Total


class PayoutList(View, frozen=True):
    payouts: list[PayoutView]
    meta: Annotated[PayoutMeta, META]


_fill_spend = filler(ProgramSpendView, Spend, given=["partners"])
_fill_earnings = filler(EarningsView, Earnings, given=["at_most", "programs"])


def spend_view(s: Spend) -> ProgramSpendView:
    return _fill_spend(
        s,
        partners=[
            SpendPartner(
                row.partner_campaign_id,
                row.name,
                dollars(row.spent_cents),
                dollars(row.pending_cents),
            )
            for row in s.partners
        ],
    )


def earnings_view(e: Earnings, limits: Mapping[str, MonthLimit]) -> EarningsView:
    """`limits` has those of the month, by partner campaign."""
    more = {place: limit.cents for place, limit in limits.items()}
    return _fill_earnings(
        e,
        at_most=dollars(e.confirmed_cents + sum(more.values())),
        programs=[
            EarningsProgram(
                partner_program_uuid=row.program_id,
                name=f"{row.publication_name}'s partner program",
                confirmed=dollars(row.spent_cents),
                pending=dollars(row.pending_cents),
                at_most=dollars(row.spent_cents + more.get(row.partner_campaign_id, 0)),
                remaining_payout=remaining_payout(row.spent_cents, row.max_payout_cents),
            )
            for row in e.programs
        ],
    )


def payout_view(p: payouts.Payout) -> PayoutView:
    start_ms, end_ms = rules.month_bounds(p.month)
    return PayoutView(
        uuid=p.id,
        amount_in_dollars=dollars(p.amount_cents),
        start_period=iso(start_ms),
        end_period=iso(end_ms - 1),
        paid=p.paid_ms is not None,
    )
