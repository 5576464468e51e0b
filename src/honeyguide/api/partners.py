"""v2 endpoints for partner programs, the partner network, earnings and payouts."""

from __future__ import annotations

from decimal import Decimal

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Known, Listed, resource
from honeyguide.api.money_views import (
    OneEarnings,
    OnePayout,
    OneSpend,
    PayoutMeta,
    Payouts,
    earnings_view,
    payout_view,
    spend_view,
)
from honeyguide.api.partner_views import (
    Offers,
    OneOffer,
    OnePartnerCampaign,
    OnePartnerReferral,
    OneProgram,
    PartnerCampaignMeta,
    PartnerCampaigns,
    ProgramMeta,
    Programs,
    ReferralMeta,
    Referrals,
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
)
from honeyguide.partners.network import SORTS, NetworkQuery
from honeyguide.signups import reversals, signups
from honeyguide.store.tx import Tx


async def create_program(tx: Tx, call: Call) -> OneProgram:
    if not call.body.publication_uuid:
        raise Required("publication_uuid")
    publication_id = lowercase_id(call.body.publication_uuid)
    made = await programs.create(call.change(tx), publication_id, call.body)
    return OneProgram(program_view(made))


async def list_programs(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await programs.page_of(tx, call.tenant.account_id, page)
    meta = ProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Programs([program_view(row) for row in rows], meta), page, total)


async def get_program(tx: Tx, call: Call) -> OneProgram:
    return OneProgram(
        program_view(await programs.get(tx, call.tenant.account_id, call.path["uuid"]))
    )


async def update_program(tx: Tx, call: Call) -> OneProgram:
    changed = await programs.update(call.change(tx), call.path["uuid"], call.body)
    return OneProgram(program_view(changed))


async def delete_program(tx: Tx, call: Call) -> Message:
    await programs.delete(call.change(tx), call.path["uuid"])
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


async def list_offers(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await network.page_of(
        tx, call.tenant.account_id, _network_query(call), page, now_ms=call.now_ms
    )
    meta = ProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    figures = await public_figures.of(tx, [row.id for row in rows])
    shown = [
        network_program_view(call.site, row, call.tenant.account_id, figures.get(row.id))
        for row in rows
    ]
    return Listed(Offers(shown, meta), page, total)


async def get_offer(tx: Tx, call: Call) -> OneOffer:
    account_id = call.tenant.account_id
    program = await network.get(tx, account_id, call.path["uuid"], now_ms=call.now_ms)
    figures = await public_figures.of(tx, [program.id])
    view = network_program_view(call.site, program, account_id, figures.get(program.id))
    return OneOffer(view)


async def join(tx: Tx, call: Call) -> OnePartnerCampaign | Known:
    partner_campaign, is_new = await network.join(
        call.change(tx), call.path["uuid"], call.body.reason_for_recommending
    )
    view = OnePartnerCampaign(partner_campaign_view(call.site, partner_campaign))
    return view if is_new else Known(view)


_programs = resource("Partner programs", "partners", right=Right.PARTNERS)
_network = resource("Partner network", "partners", right=Right.PARTNERS)
_partner_campaigns = resource("Partner campaigns", "partners", right=Right.PARTNERS)
_earnings = resource("Earnings", "partners", right=Right.PARTNERS)
_payouts = resource("Payouts", "partners", right=Right.PARTNERS)


async def list_joined(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await network.page_of_partner_campaigns(
        tx, call.tenant.account_id, page, now_ms=call.now_ms
    )
    meta = PartnerCampaignMeta(page.per_page, page.page, page.total_pages(total), total)
    shown = [partner_campaign_view(call.site, row) for row in rows]
    return Listed(PartnerCampaigns(shown, meta), page, total)


async def get_joined(tx: Tx, call: Call) -> OnePartnerCampaign:
    partner_campaign = await network.get_partner_campaign(
        tx, call.tenant.account_id, call.path["uuid"], now_ms=call.now_ms
    )
    return OnePartnerCampaign(partner_campaign_view(call.site, partner_campaign))


async def list_referrals(tx: Tx, call: Call) -> Listed:
    page = call.page
    program = await programs.get_unsettled(tx, call.tenant.account_id, call.path["uuid"])
    rows, total = await signups.page_of_program(tx, call.tenant.account_id, program.id, page)
    meta = ReferralMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Referrals([referral_view(row) for row in rows], meta), page, total)


async def reverse(tx: Tx, call: Call) -> OnePartnerReferral:
    if not call.body.reason:
        raise Required("reason")
    reversal = reversal_reasons.parse(call.body.reason, call.body.text)
    program_id, referral_id = call.path["uuid"], call.path["referral_uuid"]
    (outcome,) = await reversals.reverse(call.change(tx), program_id, [referral_id], reversal)
    if outcome.refused is not None:
        raise outcome.refused
    (referral,) = await signups.some_of_program(
        tx, call.tenant.account_id, program_id, [referral_id]
    )
    return OnePartnerReferral(referral_view(referral))


def _month(call: Call) -> str:
    asked = call.query.get("month")
    return rules.month_of(call.now_ms) if not asked else rules.parse_month(asked, param="month")


async def spend(tx: Tx, call: Call) -> OneSpend:
    program = await programs.get_unsettled(tx, call.tenant.account_id, call.path["uuid"])
    spent = await forecast.spend(tx, program, _month(call), now_ms=call.now_ms)
    return OneSpend(spend_view(spent))


async def earnings(tx: Tx, call: Call) -> OneEarnings:
    earned = await forecast.earnings(tx, call.tenant.account_id, _month(call), now_ms=call.now_ms)
    return OneEarnings(earnings_view(earned))


async def list_payouts(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await payouts.page_of(tx, call.tenant.account_id, page)
    meta = PayoutMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Payouts([payout_view(row) for row in rows], meta), page, total)


async def get_payout(tx: Tx, call: Call) -> OnePayout:
    return OnePayout(payout_view(await payouts.get(tx, call.tenant.account_id, call.path["uuid"])))


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
        create_program,
        summary="Create a partner program",
        body=bodies.ProgramCreate,
        answer=OneProgram,
        status=201,
    ),
    _programs(
        "GET",
        _P,
        list_programs,
        summary="List partner programs",
        query=_PAGED,
        answer=Programs,
        snapshot=True,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}",
        get_program,
        summary="Get a partner program",
        answer=OneProgram,
    ),
    _programs(
        "PUT",
        f"{_P}/{{uuid}}",
        update_program,
        summary="Update a partner program",
        body=bodies.ProgramUpdate,
        answer=OneProgram,
    ),
    _programs(
        "DELETE",
        f"{_P}/{{uuid}}",
        delete_program,
        summary="Delete a partner program",
        answer=Message,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}/referrals",
        list_referrals,
        summary="List a partner program's referrals",
        query=_PAGED,
        answer=Referrals,
        snapshot=True,
    ),
    _programs(
        "POST",
        f"{_P}/{{uuid}}/referrals/{{referral_uuid}}/reversal",
        reverse,
        summary="Take back the charge for a referral",
        right=Right.MONEY,
        body=bodies.ReversalCreate,
        answer=OnePartnerReferral,
        status=201,
    ),
    _programs(
        "GET",
        f"{_P}/{{uuid}}/spend",
        spend,
        summary="Get a partner program's spending",
        query=("month",),
        answer=OneSpend,
        snapshot=True,
    ),
    _network(
        "GET",
        _N,
        list_offers,
        summary="List programs in the partner network",
        query=_FILTERS,
        answer=Offers,
        snapshot=True,
    ),
    _network(
        "GET",
        f"{_N}/{{uuid}}",
        get_offer,
        summary="Get a program in the partner network",
        answer=OneOffer,
    ),
    _network(
        "POST",
        f"{_N}/{{uuid}}/join",
        join,
        summary="Join a partner program",
        body=bodies.Join,
        answer=OnePartnerCampaign,
        status=201,
        known=True,
    ),
    _partner_campaigns(
        "GET",
        f"{_ME}/partner_campaigns",
        list_joined,
        summary="List the programs you have joined",
        query=_PAGED,
        answer=PartnerCampaigns,
        snapshot=True,
    ),
    _partner_campaigns(
        "GET",
        f"{_ME}/partner_campaigns/{{uuid}}",
        get_joined,
        summary="Get a program you have joined",
        answer=OnePartnerCampaign,
    ),
    _earnings(
        "GET",
        f"{_ME}/earnings",
        earnings,
        summary="Get your earnings",
        query=("month",),
        answer=OneEarnings,
        snapshot=True,
    ),
    _payouts(
        "GET",
        f"{_ME}/payouts",
        list_payouts,
        summary="List payouts",
        query=_PAGED,
        answer=Payouts,
        snapshot=True,
    ),
    _payouts(
        "GET",
        f"{_ME}/payouts/{{uuid}}",
        get_payout,
        summary="Get a payout",
        answer=OnePayout,
    ),
)
