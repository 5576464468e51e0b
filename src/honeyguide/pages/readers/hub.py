"""A reader's referral page (the hub): their link, their progress, what they earned. Its URL is the
key to it, so it is not indexed and is sent only to the reader's own mailbox.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors, checks, clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault, Missing, Unavailable
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.languages import countries
from honeyguide.languages.language import Language
from honeyguide.pages.readers import (
    errors,
    forms,
    page_branding,
    postal_address,
    progress,
    requested_emails,
    sharing,
)
from honeyguide.pages.readers.links import is_person
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.progress import ReferralCount
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.pages.readers.showing import see_other
from honeyguide.rewards import earned_rewards, rewards, seen_rewards
from honeyguide.rewards.earned_states import REFUSALS, EarnedReward
from honeyguide.rewards.rewards import Reward
from honeyguide.screening.signals import Signal
from honeyguide.signups import signups
from honeyguide.store.change import Change, changes
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import (
    branding,
    codes,
    hub,
    hub_choices,
    names,
    reader_links,
    subscribers,
)
from honeyguide.subscribers.codes import SubscriberCode
from honeyguide.subscribers.hub_choices import HubChoices, Leader
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.subscribers import Subscriber

log = logging.getLogger("honeyguide.pages")

ASKED_BY_NETWORK = Limit("hub by network", 20, 10 * clock.MINUTE_MS, forms.TOO_MANY)
# One every ten minutes.
ASKED_BY_ADDRESS = Limit("hub by address", 6, clock.HOUR_MS)
# An address in more campaigns than this is sent the links of the first ones.
MOST_CAMPAIGNS = 5

_sql = beside(__file__)
_CAMPAIGNS_OF = _sql.query("campaigns_of", Tenant)


class HubVisitor(NamedTuple):
    """Everything a hub shows."""

    brand: PageBranding
    person: Subscriber
    rewards: list[Reward]
    earned: list[EarnedReward]
    choices: HubChoices
    leaders: list[Leader]
    """Empty unless the operator shows a leaderboard."""
    has_stopped_emails: bool
    code: SubscriberCode
    """The one that their link has."""
    unseen: frozenset[str] = frozenset()
    """Earned rewards that they see for the first time."""


class OwnCodeForm(NamedTuple):
    start: str
    """What comes before the code in their link."""
    token: str
    typed: str
    is_saved: bool
    shortest: int = codes.SHORTEST_CHOSEN
    longest: int = codes.LONGEST


def first_name(person: Subscriber) -> str:
    return next(iter(names.name_words(person.name)), "")


class LeaderboardPlace(NamedTuple):
    name: str
    verified: int
    is_reader: bool


async def show(services: ReaderServices, request: ReaderRequest) -> ReaderView:
    visitor = await services.store.snapshot(find_visitor, request)
    if visitor.unseen and is_person(request.http):
        with suppress(Unavailable):  # the page can still be read while nothing can be written
            actor, tenant = actors.subscriber(visitor.person.id), visitor.brand.tenant
            see = changes(seen_rewards.mark_seen, services.site, tenant, actor, request.now_ms)
            await services.store.write(see, visitor.unseen)
    return hub_view(request, visitor)


async def claim_form(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
    """Where to send a physical reward. Any other reward needs no form: it is claimed on the hub."""
    visitor = await find_visitor(tx, request)
    earned = pick(visitor, request.at("earned_id"))
    if _needs_address(earned):
        given = {"name": visitor.person.name or ""}
        return address_form("claim.html", request, visitor, earned, given)
    return hub_view(request, visitor) if request.refusal else see_other(hub_url(request))


def change_of(tx: Tx, request: ReaderRequest, visitor: HubVisitor) -> Change:
    """One that the subscriber makes."""
    actor = actors.subscriber(visitor.person.id)
    return Change(tx, request.services.site, visitor.brand.tenant, actor, request.now_ms)


async def record_use(tx: Tx, request: ReaderRequest, visitor: HubVisitor) -> None:
    """They used a button on their referral page. No mail scanner does."""
    change = change_of(tx, request, visitor)
    await signups.record_sign_of_life(change, visitor.person.id, Signal.USED_REFERRAL_PAGE)


async def claim(tx: Tx, request: ReaderRequest) -> Response:
    visitor = await find_visitor(tx, request)
    earned = pick(visitor, request.at("earned_id"))
    request.check_form(f"claim {visitor.person.id}")
    address = variant = None
    if _needs_address(earned):
        address, variant = postal_address.parse(
            visitor.brand.language, request.fields, variants_of(earned)
        )
    change = change_of(tx, request, visitor)
    await earned_rewards.claim(change, visitor.person, earned.id, shipping=address, variant=variant)
    await signups.record_sign_of_life(change, visitor.person.id, Signal.CLAIMED_REWARD)
    return see_other(f"{hub_url(request)}#won-{earned.id}")


async def ask_form(services: ReaderServices, request: ReaderRequest) -> ReaderView:
    brand = await _asked_for(services, request)
    return request.view(
        "ask.html",
        brand,
        email=request.fields.get("email", ""),
        token=request.token("hub"),
        trap=forms.TRAP,
        action="/hub" + (f"?of={brand.slug}" if brand else ""),
    )


async def ask(services: ReaderServices, request: ReaderRequest) -> ReaderView:
    """Answers the same, and as fast, if the address is unknown: the lookup comes afterwards."""
    brand = await _asked_for(services, request)
    request.check_form("hub")
    email = EmailAddress.parse(request.fields.get("email", ""))
    await request.count(ASKED_BY_NETWORK)
    await send_links_later(services, brand, email, request.now_ms)
    return request.view("asked.html", brand, private=True)


async def send_links_later(
    services: ReaderServices, brand: PageBranding | None, email: EmailAddress, now_ms: int
) -> None:
    await services.store.write(attempts.count, services.site, ASKED_BY_ADDRESS, email.person)
    services.run_in_background(_send_links(services, brand, email, now_ms))


async def _send_links(
    services: ReaderServices, brand: PageBranding | None, email: EmailAddress, now_ms: int
) -> None:
    try:
        await services.store.write(_post_links, services.site, brand, email, now_ms)
    except Exception:
        log.exception("Could not send a subscriber the link to their referral page")


async def _post_links(
    tx: Tx, site: Site, brand: PageBranding | None, email: EmailAddress, now_ms: int
) -> None:
    tenants = (
        [brand.tenant]
        if brand
        else await tx.all(_CAMPAIGNS_OF, email_key=email.key, most=MOST_CAMPAIGNS)
    )
    for tenant in tenants:
        person = await subscribers.find_by_email(Reading(tx, site, tenant, now_ms), email)
        if person is not None:
            own = page_branding.of_campaign(await branding.of(Reading(tx, site, tenant, now_ms)))
            own = own.in_language(brand.language) if brand else own
            change = Change(tx, site, own.tenant, actors.subscriber(person.id), now_ms)
            # The link in the email to confirm with leads to the page, too.
            if person.must_confirm and person.status == "active":
                await requested_emails.send_confirm(change, own, person)
            else:
                await requested_emails.send_hub_link(change, own, person)


async def _asked_for(services: ReaderServices, request: ReaderRequest) -> PageBranding | None:
    """`?of=slug` asks for one newsletter's page; without it, for all that know the address."""
    slug = request.query("of")
    if not slug:
        return None
    brand = await services.store.read(page_branding.find, services.site, slug)
    return brand.for_reader(request.accepted_languages)


async def find_visitor(tx: Tx, request: ReaderRequest) -> HubVisitor:
    found = await hub.find(tx, request.services.site, request.at("token"))
    if found is None:
        raise Missing(page_branding.UNKNOWN)
    tenant, person = found
    at = Reading(tx, request.services.site, tenant, request.now_ms)
    return await load_visitor(at, person, request.accepted_languages)


async def load_visitor(at: Reading, person: Subscriber, accepted_languages: str = "") -> HubVisitor:
    brand = page_branding.of_campaign(await branding.of(at))
    has_board = brand.campaign.show_leaderboard
    earned, _ = await earned_rewards.some_earned_by(at, person.id)
    is_ready = any(each.status == earned_rewards.UNLOCKED for each in earned)
    choices = await hub_choices.of_subscriber(at, person.id)
    return HubVisitor(
        brand=brand.for_reader(accepted_languages),
        person=person,
        rewards=await rewards.of_campaign(at),
        earned=earned,
        choices=choices,
        leaders=await hub_choices.leaders(at) if has_board else [],
        has_stopped_emails=choices.stopped_ms is not None,
        code=await codes.shared(at, person),
        unseen=await seen_rewards.unseen(at, person.id) if is_ready else frozenset(),
    )


def hub_url(request: ReaderRequest) -> str:
    return f"/hub/{request.at('token')}"


def hub_view(request: ReaderRequest, visitor: HubVisitor) -> ReaderView:
    person, site = visitor.person, request.services.site
    return request.view(
        "hub.html",
        visitor.brand,
        private=True,
        **shown_values(site, visitor),
        hub=hub_url(request),
        welcome=request.query("welcome") == "1",
        own_code=OwnCodeForm(
            start=site.campaign_link(visitor.brand.campaign.slug, "").partition("://")[2],
            token=request.token(f"code {person.id}"),
            typed=request.fields.get("code", "") if request.refusal else "",
            is_saved=request.query("chosen") == "1",
        ),
        token=request.token(f"claim {person.id}"),
        choices_token=request.token(f"choices {person.id}"),
        has_saved=request.query("saved") == "1",
        corrected=request.query("corrected"),
        stop_url=f"/stop/{reader_links.stop_token(site, person.ref_code, person.link_version)}",
        active_token=request.token(f"active {person.id}"),
    )


def shown_values(site: Site, visitor: HubVisitor) -> dict[str, Any]:
    """What can be seen on the page, without what acts as the reader."""
    person, brand = visitor.person, visitor.brand
    return {
        "first_name": first_name(person),
        "is_subscribed": person.status != "unsubscribed",
        "progress": progress.measure(
            brand.language,
            visitor.rewards,
            visitor.earned,
            ReferralCount.of(person),
            unseen=visitor.unseen,
        ),
        "share": sharing.of(brand.texts, codes.link(site, brand.campaign.slug, visitor.code)),
        "choices": visitor.choices,
        "public_first_name": names.first_name(person.name),
        "public_short_name": names.short_name(person.name),
        "leaderboard": [
            LeaderboardPlace(leader.short_name, leader.verified, leader.subscriber_id == person.id)
            for leader in visitor.leaders
        ],
        "has_stopped_emails": visitor.has_stopped_emails,
        "is_start": False,
        "asks_for_sign": person.referral_reason == Reason.AWAITING_ACTIVITY,
    }


def address_form(
    template: str,
    request: ReaderRequest,
    visitor: HubVisitor,
    earned: EarnedReward,
    given: Mapping[str, str],
) -> ReaderView:
    """A page with the form for a postal address; `given` is what it shows at first."""
    return request.view(
        template,
        visitor.brand,
        private=True,
        earned=earned,
        hub=hub_url(request),
        values=request.fields if request.refusal else given,
        fields=postal_address.FIELDS,
        variant=postal_address.VARIANT,
        variants=variants_of(earned),
        countries=countries.names(visitor.brand.language),
        autocomplete=postal_address.AUTOCOMPLETE,
        longest=checks.STRING_LIMIT,
        token=request.token(f"claim {visitor.person.id}"),
    )


def variants_of(earned: EarnedReward) -> list[str]:
    """What the reader may choose, also what they chose before it was taken off the list."""
    offered = earned.variants or []
    if earned.variant is None or earned.variant in offered:
        return offered
    return [*offered, earned.variant]


def pick(visitor: HubVisitor, earned_id: str) -> EarnedReward:
    for earned in visitor.earned:
        if earned.id == earned_id:
            return earned
    raise Missing(page_branding.UNKNOWN)


def _needs_address(earned: EarnedReward) -> bool:
    return earned.kind == rewards.PHYSICAL and earned.status == earned_rewards.UNLOCKED


def claim_errors(language: Language, fault: Fault, fields: Mapping[str, str]) -> dict[str, str]:
    if fault.code in REFUSALS:
        return {"": language.gettext(REFUSALS[fault.code])}
    return errors.by_field(language, fault, postal_address.FIELDS)
