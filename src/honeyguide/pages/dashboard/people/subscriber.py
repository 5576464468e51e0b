"""One subscriber: their referral, the decision and why, whom they referred, what they earned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from starlette.responses import Response

from honeyguide.accounts.permissions import Right
from honeyguide.integrations import integrations
from honeyguide.kernel import actors, money
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.kernel.paging import Page
from honeyguide.kernel.site import Site
from honeyguide.mail import emails
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people import subscriber_activity, subscriber_emails
from honeyguide.pages.dashboard.people import subscribers as listed
from honeyguide.pages.dashboard.people.subscriber_activity import History
from honeyguide.pages.dashboard.rewards import rewards
from honeyguide.pages.downloads import attachment
from honeyguide.pages.readers import hub as reader_hub
from honeyguide.pages.readers import preview
from honeyguide.pages.services import PageServices
from honeyguide.partners import partner_names, reversal_reasons
from honeyguide.partners.rules import Uncharged
from honeyguide.rewards import adjustments, earned_rewards, shipments
from honeyguide.rewards import rewards as campaign_rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import next_reward
from honeyguide.screening import explanations, screening, screening_lists
from honeyguide.screening.screening import Person
from honeyguide.signups import claims, delayed_actions, paid_referrals, privacy, reversals
from honeyguide.signups.paid_referrals import SentBy
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import (
    branding,
    codes,
    hub,
    hub_choices,
    notes,
    origins,
    reader_links,
    search,
    subscribers,
    tags,
)
from honeyguide.subscribers.notes import SubscriberNote
from honeyguide.subscribers.reasons import MOST_FROM_ONE_NETWORK, MOST_ON_ONE_CODE
from honeyguide.subscribers.subscribers import Subscriber

# So many of those they referred are listed.
REFERRED_SHOWN = 20


class Sign(NamedTuple):
    """A signal of screening: what was checked, what was found, and whether it is suspicious."""

    name: str
    found: str
    is_bad: bool


async def show(at: Reading, request: PageRequest) -> PageView:
    site = request.services.site
    if not is_id(request.at("id")):
        raise Missing(subscribers.UNKNOWN)
    person = await at.fact(subscribers.get, request.at("id"))
    origin = await _origin_of(at, request, person)
    referred, total = await subscribers.page_of_referred(at, person, Page(1, REFERRED_SHOWN))
    earned, earned_total = await earned_rewards.some_earned_by(at, person.id)
    written = await notes.of_subscriber(at, person.id)
    choices = await at.fact(hub_choices.of_subscriber, person.id)
    adjusted = await adjustments.of_subscriber(at, person.id)
    history = History(
        person=person,
        referrer=origin.referrer,
        sent_by=origin.sent_by,
        claims=await claims.of_subscriber(at, person.id),
        decisions=origin.explained.decisions if origin.explained else [],
        earned=earned,
        adjusted=adjusted,
        referred=referred,
        emails=await at.fact(emails.of_subscriber, person.id),
        choices=choices,
    )
    return request.view(
        "subscriber.html",
        zone=request.zone,
        origins=origins.LABELS,
        person=person,
        origin=origin,
        referred=referred,
        referred_total=total,
        referred_by_them=sum(each.referrals_verified for each in referred)
        if total == len(referred)
        else await subscribers.count_second_referrals(at, person),
        earned=earned,
        earned_total=earned_total,
        adjusted=adjusted,
        has_left_program=choices.left_program_ms is not None,
        ahead=next_reward(await at.fact(campaign_rewards.of_campaign), person.toward_rewards),
        address_of=shipments.read_address,
        tags=await tags.of_subscriber(at, person.id),
        known_tags=await tags.in_use(at),
        notes=written,
        waiting=await delayed_actions.of_subjects(
            at, [person.id, *_ids(referred), *_ids(earned), *_ids(written)]
        ),
        listed=await screening.look_up(at, _screened(site, person)),
        own_entry=await screening_lists.of_subscriber(at, person.id),
        entered={"name": person.name, "email": person.email, **_typed(request)},
        timeline=subscriber_activity.timeline(history),
        signs=_signs(origin.explained),
        codes=await _codes(at, request, person),
        hub=hub.link(site, person) if _may_act_as_them(request) else "",
        money=money.show,
        uncharged=Uncharged,
        why_reversed=reversal_reasons.describe,
        sync=await _sync_of(at, request, person.id),
        claimed=await _claimed(at, person),
        sendable=await subscriber_emails.load(at, person, earned),
    )


class ShownCode(NamedTuple):
    link: str
    source: str
    created_ms: int


async def _codes(at: Reading, request: PageRequest, person: Subscriber) -> list[ShownCode]:
    site, slug = request.services.site, (await at.fact(branding.of)).slug
    return [
        ShownCode(codes.link(site, slug, each), each.source.label, each.created_ms)
        for each in await codes.all_of(at, person)
    ]


class ReferralOrigin(NamedTuple):
    """The referrer, and what was decided about the referral."""

    referrer: Subscriber | None = None
    first: Subscriber | None = None
    """The subscriber who had referred the referrer."""
    explained: explanations.Explained | None = None
    sent_by: SentBy | None = None
    logo: str = ""
    """Of the partner who sent them."""
    can_reverse: bool = False

    @property
    def decided_by(self) -> str:
        """Whose decision the status is."""
        decided_by = self.explained.subscriber.decided_by if self.explained else ""
        return {actors.OPERATOR: "by you", actors.API: "through the API"}.get(
            decided_by or "", "by your rules"
        )


async def _origin_of(at: Reading, request: PageRequest, person: Subscriber) -> ReferralOrigin:
    referrer = first = sent_by = None
    logo = ""
    if person.referrer_code is None:
        return ReferralOrigin()
    if person.referrer_id:
        referrer = await at.fact(subscribers.find, person.referrer_id)
    if referrer is not None and referrer.referrer_id:
        first = await at.fact(subscribers.find, referrer.referrer_id)
    if campaign_id := person.partner_campaign_id:
        sent_by = await paid_referrals.find_sender(at, person.id)
        named = await partner_names.of(at, [campaign_id])
        logo = named[campaign_id].logo
    return ReferralOrigin(
        referrer=referrer,
        first=first,
        explained=await explanations.explain(at, person.id),
        sent_by=sent_by,
        logo=logo,
        can_reverse=sent_by is not None
        and reversals.may_reverse(sent_by, sent_by.last_closed or ""),
    )


def _ids(rows: Iterable[Subscriber | EarnedReward | SubscriberNote]) -> list[str]:
    return [row.id for row in rows]


class Claimed(NamedTuple):
    """The code they came with, which credits nobody."""

    code: str
    is_unknown: bool
    """Whether nobody here ever had it."""
    others: int
    """How many more came with it, as far as they are counted."""


async def _claimed(at: Reading, person: Subscriber) -> Claimed | None:
    if not (person.claimed_code or "").strip():
        return None
    code = person.claimed_code or ""
    same = await search.of_unknown_code(at, code, most=listed.MOST_AT_ONCE + 1)
    return Claimed(code, person.id in same or len(same) > listed.MOST_AT_ONCE, len(same) - 1)


class ShownSync(NamedTuple):
    """What the email platform was told about them."""

    platform: str
    synced_ms: int | None
    is_due: bool
    waits_for_answer: bool
    reason: str | None
    fields: dict[str, str]


async def _sync_of(at: Reading, request: PageRequest, subscriber_id: str) -> ShownSync | None:
    state = await integrations.state_of(at, subscriber_id)
    if state is None:
        return None
    return ShownSync(
        platform=integrations.platform_of(state.platform).about.name,
        synced_ms=state.synced_ms,
        is_due=state.due_ms is not None,
        waits_for_answer=state.adoption == integrations.ASKED,
        reason=state.reason,
        fields=_shown_fields(request, state.written["fields"]) if state.written else {},
    )


def _may_act_as_them(request: PageRequest) -> bool:
    """Whoever opens a private link of theirs does."""
    return request.who.may(Right.SUBSCRIBERS)


def _shown_fields(request: PageRequest, fields: dict[str, str]) -> dict[str, str]:
    if _may_act_as_them(request):
        return fields
    return {name: reader_links.without_keys(text) for name, text in fields.items()}


async def referral_page(at: Reading, request: PageRequest) -> PageView:
    """A picture of the page that they see."""
    person = await subscribers.get(at, request.at("id"))
    visitor = await reader_hub.load_visitor(at, person)
    return request.view(
        "subscriber_page.html",
        person=person,
        picture=preview.picture(request.services.site, visitor),
    )


def _screened(site: Site, person: Subscriber) -> Person:
    email = EmailAddress(person.email)
    return Person(email, site.person_keys(email), ip_network_of(person.ip_address))


def _typed(request: PageRequest) -> dict[str, str]:
    """What was sent and refused, to be corrected."""
    return dict(request.fields) if request.errors else {}


def _yes_or_no(name: str, is_so: bool) -> Sign:
    return Sign(name, "yes" if is_so else "no", is_so)


def _signs(explained: explanations.Explained | None) -> list[Sign]:
    if explained is None:
        return []
    signals = explained.signals
    return [
        _yes_or_no("Referrer's own email address", signals.own_address),
        _yes_or_no("Alias of the referrer's email address", signals.alias_of_referrer),
        _yes_or_no("Circular referral", signals.referral_loop),
        _yes_or_no("Disposable email address", signals.disposable_domain),
        _yes_or_no(
            "Same IP address as the referrer within a day", signals.same_network_as_referrer
        ),
        Sign(
            "Signups from that IP address that day",
            str(signals.signups_from_network_that_day),
            signals.signups_from_network_that_day > MOST_FROM_ONE_NETWORK,
        ),
        Sign(
            "Signups on that link that hour",
            str(signals.signups_on_code_that_hour),
            signals.signups_on_code_that_hour > MOST_ON_ONE_CODE,
        ),
    ]


async def decide(services: PageServices, request: PageRequest) -> Response:
    verdict, subscriber_id = request.text("do"), request.at("id")
    if verdict not in listed.VERDICTS:
        raise Missing("Page not found.")
    await services.store.read(
        reads(subscribers.get, request.services.site, request.tenant, request.now_ms), subscriber_id
    )
    if verdict == "erase":
        erased = await listed.erase_each(services, request, [subscriber_id])
        return request.go("/subscribers", next(iter(erased.refused), "Subscriber erased."))
    kind, where = listed.DECISIONS[verdict], f"/subscribers/{subscriber_id}"
    return await services.store.write(listed.delay_decision, request, kind, [subscriber_id], where)


async def export(at: Reading, request: PageRequest) -> Response:
    person = await subscribers.get(at, request.at("id"))
    exported = await privacy.export_person(at, person)
    return Response(
        msgspec.json.format(msgspec.json.encode(exported)),
        media_type="application/json; charset=utf-8",
        headers=attachment(f"{request.at('id')}.json"),
    )


async def redeem(change: Change, request: PageRequest) -> Response:
    """The operator approves a reward, or marks it as handed over."""
    subscriber_id = request.at("id")
    return await rewards.approve_or_redeem(
        change, request, f"/subscribers/{subscriber_id}", of=subscriber_id
    )
