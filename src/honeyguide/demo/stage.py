"""What the demo has before its year begins: campaigns, rewards, publications, programs, and who
recommends whom.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from honeyguide.app import Services
from honeyguide.demo import cast, pictures
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import logos, network, programs, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.referrals import campaigns, earned_rewards, rewards
from honeyguide.store import Tx

# Programs open this long after the newsletters began, partners join a while later.
OPENING_MS = 70 * DAY_MS
JOINING_MS = 21 * DAY_MS


class DemoReader(NamedTuple):
    id: str
    code: str
    ip_address: str
    at_ms: int


class PartnerSpot(NamedTuple):
    """One newsletter's place in another's program."""

    code: str
    partner_campaign_id: str
    owner_id: str
    first: float
    last: float


@dataclass
class Player:
    """A newsletter on stage, and the readers it has gathered so far."""

    newsletter: cast.Newsletter
    tenant: Tenant
    readers: list[DemoReader] = field(default_factory=list)
    programs: dict[str, str] = field(default_factory=dict)
    places: list[PartnerSpot] = field(default_factory=list)


@dataclass
class Stage:
    site: Site
    dice: random.Random
    start_ms: int
    end_ms: int
    players: list[Player] = field(default_factory=list)
    number: int = 0

    def player(self, account_id: str) -> Player:
        return next(player for player in self.players if player.tenant.account_id == account_id)

    def progress(self, at_ms: int) -> float:
        return (at_ms - self.start_ms) / (self.end_ms - self.start_ms)


async def set_up(
    services: Services, tenants: dict[str, Tenant], *, start_ms: int, end_ms: int
) -> Stage:
    """Create everything that exists before the first reader."""
    drawn: dict[str, StoredLogo] = {}
    for newsletter in cast.CAST:
        for issue in newsletter.issues:
            logo = logos.sanitize(pictures.logo(issue.sign, *issue.colours))
            drawn[issue.name] = await logos.store(logo, services.site.logo_folder)
    stage = Stage(services.site, random.Random(7), start_ms, end_ms)
    stage.players = [Player(newsletter, tenants[newsletter.email]) for newsletter in cast.CAST]
    await services.store.write(_build, stage, drawn)
    return stage


async def _build(tx: Tx, stage: Stage, drawn: dict[str, StoredLogo]) -> None:
    for player in stage.players:
        await _campaign(tx, stage, player)
        for issue in player.newsletter.issues:
            player.programs[issue.offer.slug] = await _program(
                tx, stage, player, issue, drawn[issue.name]
            )
    for player in stage.players:
        await _join(tx, stage, player)


async def _campaign(tx: Tx, stage: Stage, player: Player) -> None:
    newsletter = player.newsletter
    chosen = campaigns.CampaignSettings(
        slug=newsletter.slug,
        words=newsletter.words,
        screening=newsletter.screening,
        # The page hosted here, so that the demo's links lead somewhere.
        destination_url=stage.site.page_link(newsletter.slug),
    )
    await campaigns.configure(tx, player.tenant, chosen)
    for wanted in newsletter.rewards:
        reward = await rewards.create(tx, player.tenant, wanted, now_ms=stage.start_ms)
        if wanted.pool:
            await earned_rewards.add_codes(
                tx, stage.site, player.tenant, reward.id, cast.COUPONS, now_ms=stage.start_ms
            )


async def _program(
    tx: Tx, stage: Stage, player: Player, issue: cast.Issue, logo: StoredLogo
) -> str:
    at_ms = stage.start_ms + OPENING_MS + stage.dice.randrange(10 * DAY_MS)
    account_id = player.tenant.account_id
    about = publications.PublicationFields(
        name=issue.name,
        description=issue.description,
        categories=list(issue.categories),
        audience_gender=issue.gender,
        income_levels=list(issue.incomes),
        age_ranges=list(issue.ages),
    )
    publication = await publications.create(tx, account_id, about, logo, now_ms=at_ms)
    offer = issue.offer
    fields = programs.ProgramFields(
        cpa=Decimal(offer.cpa),
        max_payout=Decimal(offer.max_payout),
        total_budget=Decimal(offer.total_budget),
        redirect_url=stage.site.page_link(offer.slug),
        slug=offer.slug,
        terms=offer.terms or None,
        show_in_directory=True,
        resources_url=f"https://{player.newsletter.slug}.example/press" if offer.terms else None,
        referral_pending_duration=offer.hold_days,
        referral_pending_duration_enabled=offer.hold_days > 0,
    )
    return (await programs.create(tx, account_id, publication.id, fields, now_ms=at_ms)).id


async def _join(tx: Tx, stage: Stage, player: Player) -> None:
    for slug, (first, last) in player.newsletter.recommends.items():
        owner = next(other for other in stage.players if slug in other.programs)
        at_ms = stage.start_ms + OPENING_MS + JOINING_MS + stage.dice.randrange(10 * DAY_MS)
        joined, _ = await network.join(
            tx,
            player.tenant.account_id,
            owner.programs[slug],
            "Our readers ask for something like it.",
            now_ms=at_ms,
        )
        player.places.append(
            PartnerSpot(joined.ref_code, joined.id, owner.tenant.account_id, first, last)
        )
