"""v2 endpoints for partner programs, the partner network, earnings and payouts."""

from __future__ import annotations

from decimal import Decimal

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Known, Listed, resource
from honeyguide.api.money_views import (
    OneEarnings,
    OnePayout,
    OneProgramSpend,
    PayoutList,
    PayoutMeta,
    earnings_view,
    payout_view,
    spend_view,
)
from honeyguide.api.partner_views import (
    NetworkProgramList,
    OneNetworkProgram,
    OnePartnerCampaign,
    OnePartnerProgram,
    OnePartnerReferral,
    PartnerCampaignList,
    PartnerCampaignMeta,
    PartnerProgramList,
    PartnerProgramMeta,
    PartnerReferralList,
    PartnerReferralMeta,
    network_program_view,
    partner_campaign_view,
    program_view,
    referral_view,
)
from honeyguide.api.views import Message
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import lowercase_id
from honeyguide.partners import (
    audience,
    forecast,
    network,
    payouts,
    programs,
    public_figures,
    reversal_reasons,
    rules,
    term_changes,
)
from honeyguide.partners.network import SORTS, NetworkQuery
from honeyguide.signups import reversals, signups
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


async def create_partner_program(change: Change, call: Call) -> OnePartnerProgram:
    if not call.body.publication_uuid:
        raise Required("publication_uuid")
    publication_id = lowercase_id(call.body.publication_uuid)
    made = await programs.create(change, publication_id, call.body)
    return OnePartnerProgram(program_view(made))


async def list_partner_programs(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await programs.page_of(at, page)
    meta = PartnerProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(PartnerProgramList([program_view(row) for row in rows], meta), page, total)


async def get_partner_program(at: Reading, call: Call) -> OnePartnerProgram:
    return OnePartnerProgram(program_view(await programs.get(at, call.path["uuid"])))


async def update_partner_program(change: Change, call: Call) -> OnePartnerProgram:
    program_id = call.path["uuid"]
    await term_changes.change_now(change, program_id, call.body)
    changed = await programs.get(change, program_id)
    return OnePartnerProgram(program_view(changed))


async def delete_partner_program(change: Change, call: Call) -> Message:
    await programs.delete(change, call.path["uuid"])
    return Message("The partner program was deleted.")


def _network_query(call: Call) -> NetworkQuery:
    return NetworkQuery(
        search=call.query.get("search", "")[:200],
        category=_filter(call, "category", audience.CATEGORIES),
        min_cpa_cents=_amount(call.query.get("min_cpa"), "min_cpa"),
        audience_gender=_filter(call, "audience_gender", audience.GENDERS),
        income_level=_filter(call, "income_level", audience.INCOME_LEVELS),
        age_range=_filter(call, "age_range", audience.AGE_RANGES),
        sort=call.choice("sort", SORTS, "created_at"),
    )


def _filter(call: Call, name: str, allowed: tuple[str, ...]) -> str:
    return call.choice(name, allowed, "") if call.query.get(name) else ""


def _amount(text: str | None, param: str) -> int:
    if not text:
        return 0
    digits = text.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()) or len(text) > 20:
        raise Invalid("{field} must be an amount in dollars, such as 2.50.", param=param)
    return money.cents(Decimal(text), param=param)


async def list_network_programs(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await network.page_of(at, _network_query(call), page)
    meta = PartnerProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    figures = await public_figures.of(at.tx, [row.id for row in rows])
    shown = [
        network_program_view(call.site, row, call.tenant.account_id, figures.get(row.id))
        for row in rows
    ]
    return Listed(NetworkProgramList(shown, meta), page, total)


async def get_network_program(at: Reading, call: Call) -> OneNetworkProgram:
    account_id = call.tenant.account_id
    program = await network.get(at.tx, account_id, call.path["uuid"], now_ms=call.now_ms)
    figures = await public_figures.of(at.tx, [program.id])
    view = network_program_view(call.site, program, account_id, figures.get(program.id))
    return OneNetworkProgram(view)


async def join_program(change: Change, call: Call) -> OnePartnerCampaign | Known:
    partner_campaign, is_new = await network.join(
        change, call.path["uuid"], call.body.reason_for_recommending
    )
    view = OnePartnerCampaign(partner_campaign_view(call.site, partner_campaign))
    return view if is_new else Known(view)


_programs = resource("Partner programs", right=Right.PARTNERS)
_network = resource("Partner network", right=Right.PARTNERS)
_partner_campaigns = resource("Partner campaigns", right=Right.PARTNERS)
_earnings = resource("Earnings", right=Right.PARTNERS)
_payouts = resource("Payouts", right=Right.PARTNERS)


async def list_partner_campaigns(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await network.page_of_partner_campaigns(at, page)
    meta = PartnerCampaignMeta(page.per_page, page.page, page.total_pages(total), total)
    shown = [partner_campaign_view(call.site, row) for row in rows]
    return Listed(PartnerCampaignList(shown, meta), page, total)


async def get_partner_campaign(at: Reading, call: Call) -> OnePartnerCampaign:
    partner_campaign = await network.get_partner_campaign(at, call.path["uuid"])
    return OnePartnerCampaign(partner_campaign_view(call.site, partner_campaign))


async def list_program_referrals(at: Reading, call: Call) -> Listed:
    page = call.page
    program = await programs.get_unsettled(at, call.path["uuid"])
    rows, total = await signups.page_of_program(at, program.id, page)
    meta = PartnerReferralMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(PartnerReferralList([referral_view(row) for row in rows], meta), page, total)


async def reverse_referral_charge(change: Change, call: Call) -> OnePartnerReferral:
    if not call.body.reason:
        raise Required("reason")
    reversal = reversal_reasons.parse(call.body.reason, call.body.text)
    program_id, referral_id = call.path["uuid"], call.path["referral_uuid"]
    (outcome,) = await reversals.reverse(change, program_id, [referral_id], reversal)
    if outcome.refused is not None:
        raise outcome.refused
    (referral,) = await signups.some_of_program(change, program_id, [referral_id])
    return OnePartnerReferral(referral_view(referral))


def _month(call: Call) -> str:
    asked = call.query.get("month")
    return rules.month_of(call.now_ms) if not asked else rules.parse_month(asked, param="month")


async def get_program_spend(at: Reading, call: Call) -> OneProgramSpend:
    program = await programs.get_unsettled(at, call.path["uuid"])
    spent = await forecast.spend(at.tx, program, _month(call), now_ms=call.now_ms)
    return OneProgramSpend(spend_view(spent))


async def get_earnings(at: Reading, call: Call) -> OneEarnings:
    earned = await forecast.earnings(at, _month(call))
    return OneEarnings(earnings_view(earned))


async def list_payouts(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await payouts.page_of(at, page)
    meta = PayoutMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(PayoutList([payout_view(row) for row in rows], meta), page, total)


async def get_payout(at: Reading, call: Call) -> OnePayout:
    return OnePayout(payout_view(await payouts.get(at, call.path["uuid"])))


_P, _N, _ME = "/v2/partner_programs", "/v2/partner_network/partner_programs", "/v2/partner_profile"
_PAGED = ("page", "per_page")
_FILTERS = (
    "search",
    "category",
    "min_cpa",
    "audience_gender",
    "income_level",
    "age_range",
    "sort",
    *_PAGED,
)

ROUTES = (
    _programs(
        "POST",
        _P,
        create_partner_program,
        summary="Create a partner program",
        detail="A publication can have one program. Partners earn `cpa` for each new subscriber, "
        "up to `max_payout` each and `total_budget` together in a month.",
        body=bodies.PartnerProgramCreate,
        answer=OnePartnerProgram,
        status=201,
    ),
    _programs(
        "GET",
        _P,
        list_partner_programs,
        summary="List partner programs",
        detail="Your own, newest first.",
        query=_PAGED,
        answer=PartnerProgramList,
        snapshot=True,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}",
        get_partner_program,
        summary="Get a partner program",
        detail="One of your own.",
        answer=OnePartnerProgram,
    ),
    _programs(
        "PUT",
        f"{_P}/{{uuid}}",
        update_partner_program,
        summary="Update a partner program",
        detail="Only the fields you send change. A new fee applies to new referrals; a referral "
        "keeps the fee that it arrived with.",
        body=bodies.PartnerProgramUpdate,
        answer=OnePartnerProgram,
    ),
    _programs(
        "DELETE",
        f"{_P}/{{uuid}}",
        delete_partner_program,
        summary="Delete a partner program",
        detail="It leaves the partner network and accepts no more signups. Pending referrals run "
        "to their end, and charges stay.",
        answer=Message,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}/referrals",
        list_program_referrals,
        summary="List a partner program's referrals",
        detail="Newest first: who came from which partner, what was decided and why, and what it "
        "cost.",
        query=_PAGED,
        answer=PartnerReferralList,
        snapshot=True,
    ),
    _programs(
        "POST",
        f"{_P}/{{uuid}}/referrals/{{referral_uuid}}/reversal",
        reverse_referral_charge,
        summary="Take back the charge for a referral",
        detail="The partner is notified and reads the reason. The referral then counts as "
        "rejected.",
        right=Right.MONEY,
        body=bodies.ReversalCreate,
        answer=OnePartnerReferral,
        status=201,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}/spend",
        get_program_spend,
        summary="Get a partner program's spending",
        detail="What was charged in a month, what may still be, and what is left of the budget.",
        query=("month",),
        answer=OneProgramSpend,
        snapshot=True,
    ),
    _network(
        "GET",
        _N,
        list_network_programs,
        summary="List programs in the partner network",
        detail="Programs that show themselves in the directory, your own included. Filters can "
        "be combined.",
        query=_FILTERS,
        answer=NetworkProgramList,
        snapshot=True,
    ),
    _network(
        "GET",
        f"{_N}/{{uuid}}",
        get_network_program,
        summary="Get a program in the partner network",
        detail="Also finds a program that is not in the directory, if you know its UUID.",
        answer=OneNetworkProgram,
    ),
    _network(
        "POST",
        f"{_N}/{{uuid}}/join",
        join_program,
        summary="Join a partner program",
        detail="You get a referral code and links of your own. If you have joined already, the "
        "answer is the same partner campaign with 200.",
        body=bodies.JoinInput,
        answer=OnePartnerCampaign,
        status=201,
        known=True,
    ),
    _partner_campaigns(
        "GET",
        f"{_ME}/partner_campaigns",
        list_partner_campaigns,
        summary="List the programs you have joined",
        detail="Newest first, with your links and what you can still earn this month.",
        query=_PAGED,
        answer=PartnerCampaignList,
        snapshot=True,
    ),
    _partner_campaigns(
        "GET",
        f"{_ME}/partner_campaigns/{{uuid}}",
        get_partner_campaign,
        summary="Get a program you have joined",
        detail="With your links and what you can still earn this month.",
        answer=OnePartnerCampaign,
    ),
    _earnings(
        "GET",
        f"{_ME}/earnings",
        get_earnings,
        summary="Get your earnings",
        detail="What you earned in a month and what is pending, for each program you have joined.",
        query=("month",),
        answer=OneEarnings,
        snapshot=True,
    ),
    _payouts(
        "GET",
        f"{_ME}/payouts",
        list_payouts,
        summary="List payouts",
        detail="Newest first. A payout is made when a month with earnings is closed.",
        query=_PAGED,
        answer=PayoutList,
        snapshot=True,
    ),
    _payouts(
        "GET",
        f"{_ME}/payouts/{{uuid}}",
        get_payout,
        summary="Get a payout",
        detail="One month's amount, and whether it has been paid.",
        answer=OnePayout,
    ),
)
