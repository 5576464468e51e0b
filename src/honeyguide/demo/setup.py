"""What the demo has before its year begins: campaigns, rewards, publications, programs, and who
recommends whom.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from honeyguide.accounts import accounts, members
from honeyguide.app import Services
from honeyguide.demo import brands, newsletters, pictures
from honeyguide.demo.brands import BrandDrawings
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import logos, network, programs, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns

# Programs open this long after the newsletters began, partners join a while later.
OPENING_MS = 70 * DAY_MS
JOINING_MS = 21 * DAY_MS


class DemoSubscriber(NamedTuple):
    id: str
    code: str
    ip_address: str
    at_ms: int


class DemoPartnerCampaign(NamedTuple):
    """One newsletter as a partner in another's program."""

    code: str
    partner_campaign_id: str
    owner_id: str
    first: float
    last: float


@dataclass
class DemoAccount:
    """A newsletter and the subscribers it has so far."""

    newsletter: newsletters.Newsletter
    tenant: Tenant
    owner_id: str = ""
    """The user who runs it."""
    subscribers: list[DemoSubscriber] = field(default_factory=list)
    programs: dict[str, str] = field(default_factory=dict)
    partner_campaigns: list[DemoPartnerCampaign] = field(default_factory=list)


@dataclass
class DemoState:
    site: Site
    rng: random.Random
    start_ms: int
    end_ms: int
    accounts: list[DemoAccount] = field(default_factory=list)
    number: int = 0
    has_reversal: bool = False
    unseen_partner: str = ""
    """Whose card of a first look the first newsletter has not answered."""

    def account(self, account_id: str) -> DemoAccount:
        return next(account for account in self.accounts if account.tenant.account_id == account_id)

    def change(self, tx: Tx, account: DemoAccount, at_ms: int) -> Change:
        """One that the newsletter's operator makes."""
        actor = actors.member(account.owner_id)
        return Change(tx, self.site, account.tenant, actor, at_ms)

    def progress(self, at_ms: int) -> float:
        return (at_ms - self.start_ms) / (self.end_ms - self.start_ms)


async def set_up(
    services: Services, tenants: dict[str, Tenant], *, start_ms: int, end_ms: int
) -> DemoState:
    """Create everything that exists before the first subscriber."""
    drawn: dict[str, StoredLogo] = {}
    drawn_brands: dict[str, BrandDrawings] = {}
    folder = services.site.logo_folder
    for newsletter in newsletters.NEWSLETTERS:
        for plan in newsletter.publications:
            logo = logos.sanitize(pictures.logo(plan.sign, *plan.colours))
            drawn[plan.name] = await logos.store(logo, folder)
            if plan is newsletter.publications[0]:
                drawn_brands[newsletter.email] = await brands.draw(newsletter, logo, folder)
    state = DemoState(services.site, random.Random(7), start_ms, end_ms)
    state.accounts = [
        DemoAccount(newsletter, tenants[newsletter.email]) for newsletter in newsletters.NEWSLETTERS
    ]
    await services.store.write(_build, state, drawn, drawn_brands)
    return state


async def _build(
    tx: Tx,
    state: DemoState,
    drawn: dict[str, StoredLogo],
    drawn_brands: dict[str, BrandDrawings],
) -> None:
    await accounts.note_unsubscribes_recorded_since(tx, state.start_ms)
    for account in state.accounts:
        account.owner_id = await members.first_owner(tx, account.tenant.account_id)
    for account in state.accounts:
        await _campaign(tx, state, account)
        await brands.save(
            state.change(tx, account, state.start_ms),
            account.newsletter,
            drawn_brands[account.newsletter.email],
        )
        for plan in account.newsletter.publications:
            account.programs[plan.program.slug] = await _program(
                tx, state, account, plan, drawn[plan.name]
            )
    for account in state.accounts:
        await _join(tx, state, account)


async def _campaign(tx: Tx, state: DemoState, account: DemoAccount) -> None:
    newsletter = account.newsletter
    chosen = campaigns.CampaignSettings(
        slug=newsletter.slug,
        words=newsletter.texts,
        screening=newsletter.screening,
        # The page hosted here, so that the demo's links lead somewhere.
        destination_url=state.site.page_link(newsletter.slug),
    )
    change = state.change(tx, account, state.start_ms)
    await campaigns.configure(change, chosen)
    for reward_plan in newsletter.rewards:
        reward = await rewards.create(change, reward_plan)
        if reward_plan.pool:
            await earned_rewards.add_codes(change, reward.id, newsletters.COUPONS)


async def _program(
    tx: Tx,
    state: DemoState,
    account: DemoAccount,
    plan: newsletters.PublicationPlan,
    logo: StoredLogo,
) -> str:
    at_ms = state.start_ms + OPENING_MS + state.rng.randrange(10 * DAY_MS)
    change = state.change(tx, account, at_ms)
    about = publications.PublicationFields(
        name=plan.name,
        description=plan.description,
        categories=list(plan.categories),
        audience_gender=plan.gender,
        income_levels=list(plan.incomes),
        age_ranges=list(plan.ages),
    )
    publication = await publications.create(change, about, logo)
    program = plan.program
    fields = programs.ProgramFields(
        cpa=Decimal(program.cpa),
        max_payout=Decimal(program.max_payout),
        total_budget=Decimal(program.total_budget),
        redirect_url=state.site.page_link(program.slug),
        slug=program.slug,
        terms=program.terms or None,
        show_in_directory=True,
        resources_url=f"https://{account.newsletter.slug}.example/press" if program.terms else None,
        referral_pending_duration=program.hold_days,
        referral_pending_duration_enabled=program.hold_days > 0,
    )
    return (await programs.create(change, publication.id, fields)).id


async def _join(tx: Tx, state: DemoState, account: DemoAccount) -> None:
    for slug, (first, last) in account.newsletter.recommends.items():
        owner = next(other for other in state.accounts if slug in other.programs)
        at_ms = state.start_ms + OPENING_MS + JOINING_MS + state.rng.randrange(10 * DAY_MS)
        joined, _ = await network.join(
            state.change(tx, account, at_ms),
            owner.programs[slug],
            account.newsletter.pitch,
        )
        account.partner_campaigns.append(
            DemoPartnerCampaign(joined.ref_code, joined.id, owner.tenant.account_id, first, last)
        )
