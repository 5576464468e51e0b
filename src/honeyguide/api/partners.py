"""v2 endpoints for partner programs, the partner network, earnings and payouts."""

from __future__ import annotations

from decimal import Decimal

from msgspec import UnsetType

from honeyguide.api import bodies
from honeyguide.api.call import Call, Known, Listed, listed
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
from honeyguide.api.partner_referral_views import (
    OnePartnerReferral,
    PartnerReferralList,
    PartnerReferralMeta,
    referral_view,
)
from honeyguide.api.partner_views import (
    NetworkProgramList,
    OneNetworkProgram,
    OnePartnerCampaign,
    OnePartnerProgram,
    OneProgramVerification,
    PartnerCampaignList,
    PartnerCampaignMeta,
    PartnerProgramList,
    PartnerProgramMeta,
    network_program_view,
    partner_campaign_view,
    program_view,
    verification_view,
)
from honeyguide.api.views import Message
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import lowercase_id
from honeyguide.partners import (
    audience,
    forecast,
    ledger,
    network,
    outlook,
    payouts,
    programs,
    public_figures,
    reversal_reasons,
    rules,
    term_changes,
    verification,
)
from honeyguide.partners.network import SORTS, NetworkQuery
from honeyguide.signups import awaited_looks, departures, paid_referrals, reversals
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


async def create_partner_program(
    change: Change, call: Call[bodies.PartnerProgramCreate]
) -> OnePartnerProgram:
    """Create a partner program.

    A publication can have one program. Partners earn `cpa` for each new subscriber, up to
    `max_payout` each and `total_budget` together in a month.
    """
    if not call.body.publication_uuid:
        raise Required("publication_uuid")
    publication_id = lowercase_id(call.body.publication_uuid)
    made = await programs.create(change, publication_id, call.body)
    return OnePartnerProgram(program_view(made))


async def list_partner_programs(at: Reading, call: Call[None]) -> Listed[PartnerProgramList]:
    """List partner programs.

    Your own, newest first.
    """
    page = call.page
    rows, total = await programs.page_of(at, page)
    return listed(
        PartnerProgramList, PartnerProgramMeta, [program_view(row) for row in rows], page, total
    )


async def get_partner_program(at: Reading, call: Call[None]) -> OnePartnerProgram:
    """Get a partner program.

    One of your own.
    """
    return OnePartnerProgram(program_view(await programs.get(at, call.path["uuid"])))


async def update_partner_program(
    change: Change, call: Call[bodies.PartnerProgramUpdate]
) -> OnePartnerProgram:
    """Update a partner program.

    Only the fields you send change. A new fee applies to new referrals; a referral keeps the fee
    that it arrived with.
    """
    program_id = call.path["uuid"]
    await term_changes.change_now(change, program_id, call.body)
    changed = await programs.get(change, program_id)
    return OnePartnerProgram(program_view(changed))


async def delete_partner_program(change: Change, call: Call[None]) -> Message:
    """Delete a partner program.

    It leaves the partner network and accepts no more signups. Pending referrals run to their end,
    and charges stay.
    """
    await programs.delete(change, call.path["uuid"])
    return Message("The partner program was deleted.")


async def get_program_verification(at: Reading, call: Call[None]) -> OneProgramVerification:
    """Get what a partner program asks of its referrals.

    A program that was made before programs had a screening level of their own shows the campaign's.
    """
    found = await verification.get(at, call.path["uuid"])
    return OneProgramVerification(verification_view(found))


async def update_program_verification(
    change: Change, call: Call[bodies.ProgramVerificationUpdate]
) -> OneProgramVerification:
    """Change what a partner program asks of its referrals.

    What you leave out stays as it is, with one exception: a rule or a level without `origins` sets
    `all`. A change holds for referrals that come later. Partners see all of it. A rule that needs
    email is a 400 `no_mail_server` while no mail server is set.
    """
    nested = call.body.verification
    fields = call.body if isinstance(nested, UnsetType) else nested
    program_id = call.path["uuid"]
    await term_changes.change_now(change, program_id, chosen=fields)
    changed = await verification.get(change, program_id)
    return OneProgramVerification(verification_view(changed))


def _network_query(call: Call[None]) -> NetworkQuery:
    return NetworkQuery(
        search=call.query.get("search", "")[:200],
        category=_filter(call, "category", audience.CATEGORIES),
        min_cpa_cents=_amount(call.query.get("min_cpa"), "min_cpa"),
        audience_gender=_filter(call, "audience_gender", audience.GENDERS),
        income_level=_filter(call, "income_level", audience.INCOME_LEVELS),
        age_range=_filter(call, "age_range", audience.AGE_RANGES),
        sort=call.choice("sort", SORTS, "created_at"),
    )


def _filter(call: Call[None], name: str, allowed: tuple[str, ...]) -> str:
    return call.choice(name, allowed, "") if call.query.get(name) else ""


def _amount(text: str | None, param: str) -> int:
    if not text:
        return 0
    digits = text.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()) or len(text) > 20:
        raise Invalid("{field} must be an amount in dollars, such as 2.50.", param=param)
    return money.cents(Decimal(text), param=param)


async def list_network_programs(at: Reading, call: Call[None]) -> Listed[NetworkProgramList]:
    """List programs in the partner network.

    Programs that show themselves in the directory, your own included. Filters can be combined.
    """
    page = call.page
    rows, total = await network.page_of(at, _network_query(call), page)
    ids = [row.id for row in rows]
    figures = await public_figures.of(at.tx, ids)
    looks = await awaited_looks.figures(at.tx, ids)
    account_id = at.tenant.account_id
    shown = [
        network_program_view(at.site, row, account_id, figures.get(row.id), looks[row.id])
        for row in rows
    ]
    return listed(NetworkProgramList, PartnerProgramMeta, shown, page, total)


async def get_network_program(at: Reading, call: Call[None]) -> OneNetworkProgram:
    """Get a program in the partner network.

    Also finds a program that is not in the directory, if you know its UUID.
    """
    account_id = at.tenant.account_id
    program = await network.get(at.tx, account_id, call.path["uuid"])
    figures = await public_figures.of(at.tx, [program.id])
    looks = await awaited_looks.figures(at.tx, [program.id])
    view = network_program_view(
        at.site, program, account_id, figures.get(program.id), looks[program.id]
    )
    return OneNetworkProgram(view)


async def join_program(change: Change, call: Call[bodies.JoinInput]) -> OnePartnerCampaign | Known:
    """Join a partner program.

    You get a referral code and links of your own. If you have joined already, the answer is the
    same partner campaign with 200.
    """
    partner_campaign, is_new = await network.join(
        change, call.path["uuid"], call.body.reason_for_recommending
    )
    view = OnePartnerCampaign(partner_campaign_view(change.site, partner_campaign))
    return view if is_new else Known(view)


async def list_partner_campaigns(at: Reading, call: Call[None]) -> Listed[PartnerCampaignList]:
    """List the programs you have joined.

    Newest first, with your links and what you can still earn this month.
    """
    page = call.page
    rows, total = await network.page_of_partner_campaigns(at, page)
    shown = [partner_campaign_view(at.site, row) for row in rows]
    return listed(PartnerCampaignList, PartnerCampaignMeta, shown, page, total)


async def get_partner_campaign(at: Reading, call: Call[None]) -> OnePartnerCampaign:
    """Get a program you have joined.

    With your links and what you can still earn this month.
    """
    partner_campaign = await network.get_partner_campaign(at, call.path["uuid"])
    return OnePartnerCampaign(partner_campaign_view(at.site, partner_campaign))


async def list_program_referrals(at: Reading, call: Call[None]) -> Listed[PartnerReferralList]:
    """List a partner program's referrals.

    Newest first: who came from which partner, what was decided and why, and what it cost.
    """
    page = call.page
    program = await programs.get_unsettled(at, call.path["uuid"])
    rows, total = await paid_referrals.page_of_program(at, program.id, page)
    returned = await departures.returned(at, program.id, await ledger.last_closed(at.tx))
    shown = [referral_view(row, returned) for row in rows]
    return listed(PartnerReferralList, PartnerReferralMeta, shown, page, total)


async def reverse_referral_charge(
    change: Change, call: Call[bodies.ReversalCreate]
) -> OnePartnerReferral:
    """Take back the charge for a referral.

    The partner is notified and reads the reason. The referral then counts as rejected.
    """
    if not call.body.reason:
        raise Required("reason")
    reversal = reversal_reasons.parse(call.body.reason, call.body.text)
    program_id, referral_id = call.path["uuid"], call.path["referral_uuid"]
    (outcome,) = await reversals.reverse(change, program_id, [referral_id], reversal)
    if outcome.refused is not None:
        raise outcome.refused
    (referral,) = await paid_referrals.some_of_program(change, program_id, [referral_id])
    return OnePartnerReferral(referral_view(referral))


def _month(at: Reading, call: Call[None]) -> str:
    asked = call.query.get("month")
    return rules.month_of(at.now_ms) if not asked else rules.parse_month(asked, param="month")


async def get_program_spend(at: Reading, call: Call[None]) -> OneProgramSpend:
    """Get a partner program's spending.

    What was charged in a month, what may still be, and what is left of the budget.
    """
    program = await programs.get_unsettled(at, call.path["uuid"])
    spent = await forecast.spend(at.tx, program, _month(at, call))
    return OneProgramSpend(spend_view(spent))


async def get_earnings(at: Reading, call: Call[None]) -> OneEarnings:
    """Get your earnings.

    What you earned in a month and what is pending, for each program you have joined.
    """
    month = _month(at, call)
    earned = await forecast.earnings(at, month)
    return OneEarnings(earnings_view(earned, await outlook.limits_of_partner(at, month)))


async def list_payouts(at: Reading, call: Call[None]) -> Listed[PayoutList]:
    """List payouts.

    Newest first. A payout is made when a month with earnings is closed.
    """
    page = call.page
    rows, total = await payouts.page_of(at, page)
    return listed(PayoutList, PayoutMeta, [payout_view(row) for row in rows], page, total)


async def get_payout(at: Reading, call: Call[None]) -> OnePayout:
    """Get a payout.

    One month's amount, and whether it has been paid.
    """
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
