"""Publications, partner programs and the partner network: exactly the specification's keys where
it lists them, ours where it is silent."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.kernel import public
from honeyguide.kernel.money import dollars
from honeyguide.kernel.public import CPA, MAX_PAYOUT, TOTAL_BUDGET, doc
from honeyguide.kernel.site import Site
from honeyguide.partners import audience, rules, verification
from honeyguide.partners.network import (
    BUDGETS_LEFT,
    PARTNER_CAMPAIGN_STATUSES,
    NetworkProgram,
    PartnerCampaign,
)
from honeyguide.partners.programs import HOLDING_PERIOD, LONGEST_HOLD_DAYS, Program
from honeyguide.partners.public_figures import LEAST_DECIDED, PublicFigures
from honeyguide.partners.publications import Publication
from honeyguide.partners.verification import (
    FIRST_LOOK_FIELD,
    ORIGINS_FIELD,
    RULE,
    SCREENING,
    Verification,
)
from honeyguide.signups.awaited_looks import LookFigures

ProgramName = Annotated[
    str, doc("Name of the program, from its publication.", "The Morning Wax's partner program")
]
PartnerName = Annotated[str, doc("Name of the partner.", "The Daily Comb")]
PublicationUuid = Annotated[public.Uuid, doc("UUID of the publication.")]
ProgramUuid = Annotated[public.Uuid, doc("UUID of the partner program.")]
LogoUrl = Annotated[public.Url, doc("URL of the logo.", public.LOGO_EXAMPLE)]
PARTNERS_HOLDING_PERIOD = doc(
    "Days a referral must stay subscribed before it is verified; 0 without a holding period.",
    14,
    minimum=0,
    maximum=LONGEST_HOLD_DAYS,
)
RemainingPayout = Annotated[
    Decimal, doc("What you can still earn this month, in US dollars.", 87.5)
]


class PublicationView(View, frozen=True):
    uuid: public.Uuid
    name: public.PublicationName
    description: public.PublicationDescription | None
    categories: audience.Categories
    list_id: public.ListId | None
    status: audience.PublicationStatus
    logo: Annotated[LogoUrl, doc("URL of the logo, the same as `logo_url`.")]
    logo_url: LogoUrl
    enabled_partner_program: public.EnabledPartnerProgram
    audience_gender: audience.Gender
    income_levels: audience.IncomeLevels
    age_ranges: audience.AgeRanges
    created_at: public.CreatedAt


class OnePublication(View, frozen=True):
    publication: PublicationView


class PublicationMeta(PageMeta, frozen=True):
    total_publications: Total


class PublicationList(View, frozen=True):
    publications: list[PublicationView]
    meta: Annotated[PublicationMeta, META]


class ProgramTermsView(View, frozen=True):
    """What owners and partners see of a program, in the order of both answers."""

    uuid: public.Uuid
    name: ProgramName
    description: public.PublicationDescription
    terms: public.Terms | None
    resources_url: public.ResourcesUrl | None
    redirect_url: public.RedirectUrl
    show_in_directory: public.ShowInDirectory
    thankyou_page_url: public.ThankYouPageUrl | None
    referral_pending_duration: Annotated[int, HOLDING_PERIOD]
    referral_pending_duration_enabled: public.HoldingPeriodEnabled
    max_payout: Annotated[Decimal, MAX_PAYOUT]


class PartnerProgramView(ProgramTermsView, frozen=True):
    total_budget: Annotated[Decimal, TOTAL_BUDGET]
    cpa: Annotated[Decimal, CPA]
    created_at: public.CreatedAt
    publication_uuid: PublicationUuid
    categories: audience.Categories


class OnePartnerProgram(View, frozen=True):
    partner_program: PartnerProgramView


class PartnerProgramMeta(PageMeta, frozen=True):
    total_partner_programs: Total


class PartnerProgramList(View, frozen=True):
    partner_programs: list[PartnerProgramView]
    meta: Annotated[PartnerProgramMeta, META]


class NetworkPublication(View, frozen=True):
    uuid: public.Uuid
    name: public.PublicationName
    description: public.PublicationDescription | None
    logo_url: LogoUrl
    categories: audience.Categories
    audience_gender: audience.Gender
    income_levels: audience.IncomeLevels
    age_ranges: audience.AgeRanges


class ProgramFiguresView(View, frozen=True):
    """What became of a program's referrals in the last 90 days, counted once a day."""

    decided: Annotated[int, doc("Number of referrals that were decided.", 120)]
    confirmed: Annotated[float, doc("Share of them that was verified.", 0.83)]
    rejected: Annotated[float, doc("Share that was rejected.", 0.12)]
    reversed: Annotated[float, doc("Share whose fee was taken back.", 0.03)]
    unreviewed: Annotated[
        float, doc("Share that was rejected because the owner never looked at it.", 0.02)
    ]
    ended_by_team: Annotated[
        float,
        doc(
            "Share of them that was not paid after the owner's team had unsubscribed, blocked or "
            "erased the subscriber.",
            0.01,
        ),
    ]
    ended_by_readers: Annotated[
        float,
        doc("Share that was rejected because the subscriber left, bounced or complained.", 0.05),
    ]
    median_days_to_decide: Annotated[
        float, doc("Days from the signup to the decision, in the middle of all of them.", 14.0)
    ]


class FirstLooksView(View, frozen=True):
    """How often the owner was asked to look at a partner's readers, and answered."""

    answered: Annotated[int, doc("Partners whose readers the owner looked at.", 7)]
    unanswered: Annotated[int, doc("Partners whose readers nobody looked at in 30 days.", 1)]
    unanswered_share: Annotated[float | None, doc("Their share; null if none.", 0.125)]


class ProgramVerificationView(View, frozen=True):
    """What a program asks of its referrals."""

    rule: Annotated[str, RULE]
    screening: Annotated[str, SCREENING]
    origins: Annotated[str, ORIGINS_FIELD]
    first_look: Annotated[int | None, FIRST_LOOK_FIELD]


class OneProgramVerification(View, frozen=True):
    verification: ProgramVerificationView


class NetworkProgramView(ProgramTermsView, frozen=True):
    cpa: Annotated[Decimal, CPA]
    created_at: public.CreatedAt
    publication_uuid: PublicationUuid
    categories: audience.Categories
    publication: NetworkPublication
    confirmation_rate_30d: Annotated[
        float | None,
        doc(
            "Share of referrals decided in the last 30 days that were verified; null if none.", 0.86
        ),
    ]
    figures_90d: Annotated[
        ProgramFiguresView | None,
        doc(f"Null if fewer than {LEAST_DECIDED} referrals were decided.", None),
    ]
    first_looks: FirstLooksView
    verification: ProgramVerificationView
    budget_left: Annotated[
        str, doc("How much of the month's budget is left.", "plenty", enum=list(BUDGETS_LEFT))
    ]
    own: Annotated[bool, doc("Whether the program is yours.")]
    joined: Annotated[
        bool, doc("Whether you have joined it, and neither left nor been removed since.")
    ]


class OneNetworkProgram(View, frozen=True):
    partner_program: NetworkProgramView


class NetworkProgramList(View, frozen=True):
    partner_programs: list[NetworkProgramView]
    meta: Annotated[PartnerProgramMeta, META]


class PartnerCampaignView(View, frozen=True):
    uuid: public.Uuid
    name: ProgramName
    status: Annotated[
        str,
        doc(
            "`removed` by the owner; `left` if you left.",
            "active",
            enum=list(PARTNER_CAMPAIGN_STATUSES),
        ),
    ]
    partner_program_uuid: ProgramUuid
    publication_uuid: PublicationUuid
    ref_code: Annotated[str, doc("Your referral code in this program.", "k7m2x9pa")]
    referral_link: public.ReferralLink
    magic_link: Annotated[
        public.Url,
        doc(
            "Link for your emails. It opens a page where readers subscribe with one click. Add "
            "`?email=` and the reader's address, and the page has it filled in."
        ),
    ]
    cpa: Annotated[Decimal, CPA]
    max_payout: Annotated[Decimal, MAX_PAYOUT]
    remaining_payout: RemainingPayout
    referral_pending_duration: Annotated[int, PARTNERS_HOLDING_PERIOD]
    terms: public.Terms | None
    thankyou_page_url: public.ThankYouPageUrl | None
    created_at: Annotated[public.Time, doc("When you joined.")]
    # Clients written for other partner networks read these two names.
    remaining_budget_dollars: Annotated[
        Decimal,
        doc("`remaining_payout`, or 0 if the program's budget for the month is spent.", 90),
    ]
    referral_pending_period: Annotated[int, doc("Same as `referral_pending_duration`.", 14)]


class OnePartnerCampaign(View, frozen=True):
    partner_campaign: PartnerCampaignView


class PartnerCampaignMeta(PageMeta, frozen=True):
    total_partner_campaigns: Total


class PartnerCampaignList(View, frozen=True):
    partner_campaigns: list[PartnerCampaignView]
    meta: Annotated[PartnerCampaignMeta, META]


def logo_url(site: Site, logo_id: str) -> str:
    return f"{site.base_url}/logos/{logo_id}"


_fill_publication = filler(PublicationView, Publication)


def publication_view(site: Site, publication: Publication) -> PublicationView:
    url = logo_url(site, publication.logo_id)
    return _fill_publication(publication, logo=url, logo_url=url)


def _or_empty(text: str | None) -> str:
    return text or ""


_PROGRAM_DESCRIPTION = ("publication_description", _or_empty)
program_view = filler(PartnerProgramView, Program, description=_PROGRAM_DESCRIPTION)
_fill_offer = filler(
    NetworkProgramView,
    NetworkProgram,
    description=_PROGRAM_DESCRIPTION,
    confirmation_rate_30d="confirmation_rate",
    joined="has_joined",
)
_fill_offer_publication = filler(
    NetworkPublication,
    NetworkProgram,
    uuid="publication_id",
    name="publication_name",
    description="publication_description",
)
_fill_partner_campaign = filler(
    PartnerCampaignView,
    PartnerCampaign,
    given=["referral_pending_duration"],
    partner_program_uuid="program_id",
)


verification_view = filler(ProgramVerificationView, Verification)
_looks_view = filler(FirstLooksView, LookFigures)


def _figures_view(f: PublicFigures) -> ProgramFiguresView:
    return ProgramFiguresView(
        decided=f.decided,
        confirmed=f.share(f.verified),
        rejected=f.share(f.rejected),
        reversed=f.share(f.reversed),
        unreviewed=f.share(f.unreviewed),
        ended_by_team=f.share(f.ended_by_team),
        ended_by_readers=f.share(f.ended_by_readers),
        median_days_to_decide=f.median_days,
    )


def network_program_view(
    site: Site, o: NetworkProgram, caller: str, decided: PublicFigures | None, looks: LookFigures
) -> NetworkProgramView:
    """A program in the partner network, as this account sees it."""
    return _fill_offer(
        o,
        publication=_fill_offer_publication(o, logo_url=logo_url(site, o.logo_id)),
        figures_90d=None if decided is None else _figures_view(decided),
        first_looks=_looks_view(looks),
        verification=verification_view(verification.of(o)),
        own=o.account_id == caller,
    )


def partner_campaign_view(site: Site, j: PartnerCampaign) -> PartnerCampaignView:
    left = remaining_payout(j.spent_cents, j.max_payout_cents)
    days = j.referral_pending_duration if j.referral_pending_duration_enabled else 0
    return _fill_partner_campaign(
        j,
        referral_link=site.partner_link(j.ref_code),
        magic_link=site.magic_link(j.ref_code),
        remaining_payout=left,
        remaining_budget_dollars=dollars(0) if j.is_budget_spent else left,
        referral_pending_duration=days,
        referral_pending_period=days,
    )


def remaining_payout(spent_cents: int, cap_cents: int) -> Decimal:
    return dollars(rules.left_cents(spent_cents=spent_cents, cap_cents=cap_cents))
