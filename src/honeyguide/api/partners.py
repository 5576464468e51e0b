"""v2 endpoints for partner programs, the partner network, earnings and payouts."""

from __future__ import annotations

from decimal import Decimal

from msgspec import UNSET

from honeyguide.api import bodies
from honeyguide.api.call import Call, Known, Listed, Route
from honeyguide.api.partner_views import (
    EarningsProgram,
    EarningsView,
    OfferPublication,
    Offers,
    OfferView,
    OneEarnings,
    OneOffer,
    OnePartnerCampaign,
    OnePayout,
    OneProgram,
    OneSpend,
    PartnerCampaignMeta,
    PartnerCampaigns,
    PartnerCampaignView,
    PayoutMeta,
    Payouts,
    PayoutView,
    ProgramMeta,
    Programs,
    ProgramView,
    ReferralMeta,
    Referrals,
    ReferralView,
    SpendPartner,
    SpendView,
)
from honeyguide.api.publications import logo_url
from honeyguide.api.views import Message
from honeyguide.kernel import money
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import lowercase_id
from honeyguide.partners import audience, forecast, network, payouts, programs, rules
from honeyguide.partners.directory import SORTS, NetworkQuery
from honeyguide.partners.network import NetworkProgram, PartnerCampaign
from honeyguide.partners.programs import Program
from honeyguide.referrals.rules import explain
from honeyguide.signups import signups
from honeyguide.store.tx import Tx


def _program(p: Program) -> ProgramView:
    return ProgramView(
        p.id,
        p.name,
        p.publication_description or "",
        p.terms,
        p.resources_url,
        p.redirect_url,
        bool(p.show_in_directory),
        p.thankyou_page_url,
        p.referral_pending_duration,
        bool(p.referral_pending_duration_enabled),
        money.dollars(p.max_payout_cents),
        money.dollars(p.total_budget_cents),
        money.dollars(p.cpa_cents),
        iso(p.created_ms),
        p.publication_id,
        p.category_words,
    )


def _offer(call: Call, o: NetworkProgram) -> OfferView:
    categories = o.words("categories")
    publication = OfferPublication(
        o.publication_id,
        o.publication_name,
        o.publication_description,
        logo_url(call, o.logo_id),
        categories,
        o.audience_gender,
        o.words("income_levels"),
        o.words("age_ranges"),
    )
    return OfferView(
        o.id,
        o.name,
        o.publication_description or "",
        o.terms,
        o.resources_url,
        o.redirect_url,
        bool(o.show_in_directory),
        o.thankyou_page_url,
        o.referral_pending_duration,
        bool(o.referral_pending_duration_enabled),
        money.dollars(o.max_payout_cents),
        money.dollars(o.cpa_cents),
        iso(o.created_ms),
        o.publication_id,
        categories,
        publication,
        o.confirmation_rate,
        o.budget_left,
        o.account_id == call.tenant.account_id,
        o.joined_id is not None,
    )


def _joined(call: Call, j: PartnerCampaign) -> PartnerCampaignView:
    return PartnerCampaignView(
        j.id,
        j.name,
        j.status,
        j.program_id,
        j.publication_id,
        j.ref_code,
        call.site.partner_link(j.ref_code),
        call.site.magic_link(j.ref_code),
        money.dollars(j.cpa_cents),
        money.dollars(j.max_payout_cents),
        money.dollars(rules.left_cents(spent_cents=j.spent_cents, cap_cents=j.max_payout_cents)),
        j.referral_pending_duration,
        j.terms,
        j.thankyou_page_url,
        iso(j.created_ms),
    )


def _program_fields(
    body: bodies.ProgramCreate | bodies.ProgramUpdate, *, null_is_absent: bool
) -> programs.ProgramFields:
    given = {name: getattr(body, name) for name in programs.ProgramFields.__struct_fields__}
    if null_is_absent:
        given = {name: UNSET if value is None else value for name, value in given.items()}
    return programs.ProgramFields(**given)


async def create_program(tx: Tx, call: Call) -> OneProgram:
    if not call.body.publication_uuid:
        raise Required("publication_uuid")
    fields = _program_fields(call.body, null_is_absent=True)
    publication_id = lowercase_id(call.body.publication_uuid)
    made = await programs.create(
        tx, call.tenant.account_id, publication_id, fields, now_ms=call.now_ms
    )
    return OneProgram(_program(made))


async def list_programs(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await programs.page_of(tx, call.tenant.account_id, page)
    meta = ProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Programs([_program(row) for row in rows], meta), page, total)


async def get_program(tx: Tx, call: Call) -> OneProgram:
    return OneProgram(_program(await programs.get(tx, call.tenant.account_id, call.path["uuid"])))


async def update_program(tx: Tx, call: Call) -> OneProgram:
    fields = _program_fields(call.body, null_is_absent=False)
    return OneProgram(
        _program(
            await programs.update(
                tx, call.tenant.account_id, call.path["uuid"], fields, now_ms=call.now_ms
            )
        )
    )


async def delete_program(tx: Tx, call: Call) -> Message:
    await programs.delete(tx, call.tenant.account_id, call.path["uuid"], now_ms=call.now_ms)
    return Message("The partner program was deleted.")


def _wanted(call: Call) -> NetworkQuery:
    def word(name: str, allowed: tuple[str, ...]) -> str:
        return call.choice(name, allowed, "") if call.query.get(name) else ""

    return NetworkQuery(
        search=call.query.get("search", "")[:200],
        category=word("category", audience.CATEGORIES),
        min_cpa_cents=_amount(call.query.get("min_cpa"), "min_cpa"),
        audience_gender=word("audience_gender", audience.GENDERS),
        income_level=word("income_level", audience.INCOME_LEVELS),
        age_range=word("age_range", audience.AGE_RANGES),
        sort=call.choice("sort", SORTS, "created_at"),
    )


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
        tx, call.tenant.account_id, _wanted(call), page, now_ms=call.now_ms
    )
    meta = ProgramMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Offers([_offer(call, row) for row in rows], meta), page, total)


async def get_offer(tx: Tx, call: Call) -> OneOffer:
    return OneOffer(
        _offer(
            call,
            await network.get(tx, call.tenant.account_id, call.path["uuid"], now_ms=call.now_ms),
        )
    )


async def join(tx: Tx, call: Call) -> OnePartnerCampaign | Known:
    joined, is_new = await network.join(
        tx,
        call.tenant.account_id,
        call.path["uuid"],
        call.body.reason_for_recommending,
        now_ms=call.now_ms,
    )
    view = OnePartnerCampaign(_joined(call, joined))
    return view if is_new else Known(view)


async def list_joined(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await network.page_of_joined(tx, call.tenant.account_id, page, now_ms=call.now_ms)
    meta = PartnerCampaignMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(PartnerCampaigns([_joined(call, row) for row in rows], meta), page, total)


async def get_joined(tx: Tx, call: Call) -> OnePartnerCampaign:
    joined = await network.get_joined(
        tx, call.tenant.account_id, call.path["uuid"], now_ms=call.now_ms
    )
    return OnePartnerCampaign(_joined(call, joined))


async def list_referrals(tx: Tx, call: Call) -> Listed:
    page = call.page
    program = await programs.get(tx, call.tenant.account_id, call.path["uuid"])
    rows, total = await signups.page_of_program(tx, call.tenant.account_id, program.id, page)
    shown = [
        ReferralView(
            r.id,
            r.subscriber_id,
            r.email,
            r.partner_campaign_id,
            r.partner_name,
            r.status,
            r.reason,
            explain(r.reason, r.due_ms) if r.reason else None,
            iso(r.due_ms) if r.due_ms and r.status == "pending" else None,
            money.dollars(r.fee_cents),
            None if r.charged_cents is None else money.dollars(r.charged_cents),
            r.uncharged_reason,
            iso(r.arrived_ms),
        )
        for r in rows
    ]
    return Listed(
        Referrals(shown, ReferralMeta(page.per_page, page.page, page.total_pages(total), total)),
        page,
        total,
    )


def _month(call: Call) -> str:
    asked = call.query.get("month")
    return rules.month_of(call.now_ms) if not asked else rules.read_month(asked, param="month")


async def spend(tx: Tx, call: Call) -> OneSpend:
    program = await programs.get(tx, call.tenant.account_id, call.path["uuid"])
    s = await forecast.spend(tx, program, _month(call), now_ms=call.now_ms)
    partners = [
        SpendPartner(
            row.partner_campaign_id,
            row.name,
            money.dollars(row.spent_cents),
            money.dollars(pending),
        )
        for row, pending in s.partners
    ]
    return OneSpend(
        SpendView(
            s.month,
            money.dollars(s.total_budget_cents),
            money.dollars(s.spent_cents),
            money.dollars(s.pending_cents),
            money.dollars(s.left_cents),
            s.reached,
            s.uncharged_referrals,
            partners,
        )
    )


async def earnings(tx: Tx, call: Call) -> OneEarnings:
    e = await forecast.earnings(tx, call.tenant.account_id, _month(call), now_ms=call.now_ms)
    rows = [
        EarningsProgram(
            row.program_id,
            f"{row.publication_name}'s partner program",
            money.dollars(row.spent_cents),
            money.dollars(pending),
            money.dollars(
                rules.left_cents(spent_cents=row.spent_cents, cap_cents=row.max_payout_cents)
            ),
        )
        for row, pending in e.programs
    ]
    return OneEarnings(
        EarningsView(
            e.month,
            money.dollars(e.confirmed_cents),
            money.dollars(e.pending_cents),
            e.rejected_referrals,
            e.uncharged_referrals,
            rows,
        )
    )


def _payout(p: payouts.Payout) -> PayoutView:
    start_ms, end_ms = rules.month_bounds(p.month)
    return PayoutView(
        p.id, money.dollars(p.amount_cents), iso(start_ms), iso(end_ms - 1), p.paid_ms is not None
    )


async def list_payouts(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await payouts.page_of(tx, call.tenant.account_id, page)
    meta = PayoutMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Payouts([_payout(row) for row in rows], meta), page, total)


async def get_payout(tx: Tx, call: Call) -> OnePayout:
    return OnePayout(_payout(await payouts.get(tx, call.tenant.account_id, call.path["uuid"])))


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
    Route(
        "POST",
        _P,
        create_program,
        "Create a partner program",
        OneProgram,
        bodies.ProgramCreate,
        201,
    ),
    Route("GET", _P, list_programs, "List partner programs", Programs, query=_PAGED, snapshot=True),
    Route("GET", f"{_P}/{{uuid}}", get_program, "Get a partner program", OneProgram),
    Route(
        "PUT",
        f"{_P}/{{uuid}}",
        update_program,
        "Update a partner program",
        OneProgram,
        bodies.ProgramUpdate,
    ),
    Route("DELETE", f"{_P}/{{uuid}}", delete_program, "Delete a partner program", Message),
    Route(
        "GET",
        f"{_P}/{{uuid}}/referrals",
        list_referrals,
        "List a partner program's referrals",
        Referrals,
        query=_PAGED,
        snapshot=True,
    ),
    Route(
        "GET",
        f"{_P}/{{uuid}}/spend",
        spend,
        "Get a partner program's spending",
        OneSpend,
        query=("month",),
        snapshot=True,
    ),
    Route(
        "GET",
        _N,
        list_offers,
        "List programs in the partner network",
        Offers,
        query=_FILTERS,
        snapshot=True,
    ),
    Route("GET", f"{_N}/{{uuid}}", get_offer, "Get a program in the partner network", OneOffer),
    Route(
        "POST",
        f"{_N}/{{uuid}}/join",
        join,
        "Join a partner program",
        OnePartnerCampaign,
        bodies.Join,
        201,
        known=True,
    ),
    Route(
        "GET",
        f"{_ME}/partner_campaigns",
        list_joined,
        "List the programs you have joined",
        PartnerCampaigns,
        query=_PAGED,
        snapshot=True,
    ),
    Route(
        "GET",
        f"{_ME}/partner_campaigns/{{uuid}}",
        get_joined,
        "Get a program you have joined",
        OnePartnerCampaign,
    ),
    Route(
        "GET",
        f"{_ME}/earnings",
        earnings,
        "Get your earnings",
        OneEarnings,
        query=("month",),
        snapshot=True,
    ),
    Route(
        "GET", f"{_ME}/payouts", list_payouts, "List payouts", Payouts, query=_PAGED, snapshot=True
    ),
    Route("GET", f"{_ME}/payouts/{{uuid}}", get_payout, "Get a payout", OnePayout),
)
