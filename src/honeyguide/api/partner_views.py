"""What callers of the partner endpoints get: exactly the specification's keys where it lists them, ours where it is silent."""

from __future__ import annotations

from decimal import Decimal

from honeyguide.api.views import View


class ProgramView(View, frozen=True):
    uuid: str
    name: str
    description: str
    terms: str | None
    resources_url: str | None
    redirect_url: str
    show_in_directory: bool
    thankyou_page_url: str | None
    referral_pending_duration: int
    referral_pending_duration_enabled: bool
    max_payout: Decimal
    total_budget: Decimal
    cpa: Decimal
    created_at: str
    publication_uuid: str
    categories: list[str]


class OneProgram(View, frozen=True):
    partner_program: ProgramView


class ProgramMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_partner_programs: int


class Programs(View, frozen=True):
    partner_programs: list[ProgramView]
    meta: ProgramMeta


class OfferPublication(View, frozen=True):
    uuid: str
    name: str
    description: str | None
    logo_url: str
    categories: list[str]
    audience_gender: str
    income_levels: list[str]
    age_ranges: list[str]


class OfferView(View, frozen=True):
    uuid: str
    name: str
    description: str
    terms: str | None
    resources_url: str | None
    redirect_url: str
    show_in_directory: bool
    thankyou_page_url: str | None
    referral_pending_duration: int
    referral_pending_duration_enabled: bool
    max_payout: Decimal
    cpa: Decimal
    created_at: str
    publication_uuid: str
    categories: list[str]
    publication: OfferPublication
    confirmation_rate_30d: float | None
    budget_left: str
    own: bool
    joined: bool


class OneOffer(View, frozen=True):
    partner_program: OfferView


class Offers(View, frozen=True):
    partner_programs: list[OfferView]
    meta: ProgramMeta


class PartnerCampaignView(View, frozen=True):
    uuid: str
    name: str
    status: str
    partner_program_uuid: str
    publication_uuid: str
    ref_code: str
    referral_link: str
    magic_link: str
    cpa: Decimal
    max_payout: Decimal
    remaining_payout: Decimal
    referral_pending_duration: int
    terms: str | None
    thankyou_page_url: str | None
    created_at: str


class OnePartnerCampaign(View, frozen=True):
    partner_campaign: PartnerCampaignView


class PartnerCampaignMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_partner_campaigns: int


class PartnerCampaigns(View, frozen=True):
    partner_campaigns: list[PartnerCampaignView]
    meta: PartnerCampaignMeta


class ReferralView(View, frozen=True):
    uuid: str
    subscriber_uuid: str
    email: str | None
    partner_campaign_uuid: str
    partner_name: str
    status: str
    reason: str | None
    explanation: str | None
    due_at: str | None
    fee: Decimal
    charged: Decimal | None
    uncharged_reason: str | None
    arrived_at: str


class ReferralMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_referrals: int


class Referrals(View, frozen=True):
    referrals: list[ReferralView]
    meta: ReferralMeta


class SpendPartner(View, frozen=True):
    partner_campaign_uuid: str
    name: str
    spent: Decimal
    pending: Decimal


class SpendView(View, frozen=True):
    month: str
    total_budget: Decimal
    spent: Decimal
    pending: Decimal
    left: Decimal
    reached: bool
    uncharged_referrals: int
    partners: list[SpendPartner]


class OneSpend(View, frozen=True):
    spend: SpendView


class EarningsProgram(View, frozen=True):
    partner_program_uuid: str
    name: str
    confirmed: Decimal
    pending: Decimal
    remaining_payout: Decimal


class EarningsView(View, frozen=True):
    month: str
    confirmed: Decimal
    pending: Decimal
    rejected_referrals: int
    uncharged_referrals: int
    programs: list[EarningsProgram]


class OneEarnings(View, frozen=True):
    earnings: EarningsView


class PayoutView(View, frozen=True):
    uuid: str
    amount_in_dollars: Decimal
    start_period: str
    end_period: str
    paid: bool


class OnePayout(View, frozen=True):
    payout: PayoutView


class PayoutMeta(View, frozen=True):
    """`total_payours` is spelled this way in the specification."""

    per_page: int
    page: int
    total_pages: int
    total_payours: int


class Payouts(View, frozen=True):
    payouts: list[PayoutView]
    meta: PayoutMeta
