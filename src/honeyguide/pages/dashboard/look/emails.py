"""The emails that subscribers and partners get: subjects and texts, previews and test emails."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.paging import Page
from honeyguide.languages.language import ENGLISH, Language, get_language
from honeyguide.languages.language import NAMES as LANGUAGES
from honeyguide.mail import (
    email_kinds,
    emails,
    own_texts,
    partner_texts,
    shipment_texts,
    stops,
    texts,
)
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.layout import NO_LINKS, EmailBranding, EmailLinks
from honeyguide.mail.own_texts import EDITABLE, FIELDS
from honeyguide.mail.shipment_texts import Sending
from honeyguide.mail.texts import AdvocateFacts, RewardAhead, UnlockedReward
from honeyguide.pages import forms
from honeyguide.pages.dashboard.look.pages import keep_text
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.readers.page_texts import key_in
from honeyguide.partners import partner_emails, publications, rules
from honeyguide.rewards import advocate_emails, rewards, shipment_emails
from honeyguide.rewards.rewards import Reward
from honeyguide.rewards.shipment_emails import SentReward
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import branding, campaigns, subscribers
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.campaigns import CampaignSettings

FORM = {"subject": Field("Subject"), "text": Field("Text")}
PLACEHOLDERS = {
    "newsletter": "your newsletter’s name",
    "reward": "the reward",
    "first_name": "the subscriber’s first name, if we know it",
    "count": "how many friends joined",
    "link": "the address behind the button",
    "month": "the month of the budget",
    "date": "the first day of the next month",
}
TO_PARTNERS = {"newsletter": "your publication’s name"}
SAMPLE_REWARD, SAMPLE_NAME, SAMPLE_REFERRALS = "Sticker pack", "Ana", 3
SAMPLE_TRACKING = "USPS 9400 1000 0000 0000 0000 17"
SAMPLE_ADDRESS = (
    '{"name": "", "line1": "", "city": "Brooklyn", "region": "NY", "postcode": "", "country": ""}'
)
# The HTML of an email has inline styles and no scripts; only our own page may show it in a frame.
FRAME_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    ),
    "x-frame-options": "SAMEORIGIN",
    "cache-control": "no-store",
}


class EditedEmail(NamedTuple):
    """Which email is edited, in which language."""

    email: EmailKind
    campaign: Branding
    language: Language

    def shown(self, saved: dict[str, str], field: str) -> str:
        own = self.language.own_text(saved, own_texts.key_of(self.email.name, field))
        return own or own_texts.default(self.email, field, self.language)


STOPPED_PER_PAGE = 50
STOP_FORM = {"email": Field("Email address", "Enter an email address.")}


async def _edited(at: Reading, request: PageRequest) -> EditedEmail:
    campaign = await at.fact(branding.of)
    asked = request.query.get("language", "") if campaign.follow_browser_language else ""
    email = EDITABLE.get(request.query.get("email", ""), email_kinds.CONFIRM)
    if email.is_for_partners:
        return EditedEmail(email, campaign, ENGLISH)
    return EditedEmail(email, campaign, get_language(asked or campaign.language))


def _typed(request: PageRequest, edited: EditedEmail) -> dict[str, str]:
    """What is saved already, replaced by what this form says."""
    saved = dict(edited.campaign.words)
    for field in FIELDS:
        if field in request.fields:
            keep_text(
                saved,
                own_texts.key_of(edited.email.name, field),
                request.text(field),
                edited.campaign.language,
                edited.language,
                default=own_texts.default(edited.email, field, edited.language),
            )
    return saved


def _check(request: PageRequest, edited: EditedEmail) -> None:
    errors = {}
    for field in FIELDS:
        try:
            if request.text(field):
                own_texts.check(edited.email, field, request.text(field))
        except Invalid as problem:
            errors[field] = problem.message_for(FORM[field].label)
    if errors:
        raise FormErrors(errors)


async def show(at: Reading, request: PageRequest) -> PageView:
    edited = await _edited(at, request)
    saved = dict(edited.campaign.words)
    given = {field: edited.shown(saved, field) for field in FIELDS}
    if request.errors:
        given = {field: request.text(field) for field in FIELDS}
    has_languages = edited.campaign.follow_browser_language and not edited.email.is_for_partners
    switches = (await advocate_emails.switches_of(at))._asdict()
    return request.view(
        "emails.html",
        switches=switches,
        is_on=bool(request.text("is_on")) if request.errors else switches.get(edited.email.name),
        edited=edited,
        emails=EDITABLE.values(),
        given=given,
        is_own=any(edited.shown(saved, field) != edited.shown({}, field) for field in FIELDS),
        languages=LANGUAGES if has_languages else {},
        suffix=f"email={edited.email.name}&language={edited.language.code}",
        placeholders=PLACEHOLDERS | (TO_PARTNERS if edited.email.is_for_partners else {}),
        to=request.who.email,
    )


async def save(change: Change, request: PageRequest) -> Response:
    edited = await _edited(change, request)
    if request.text("reset"):
        saved = dict(edited.campaign.words)
        for field in FIELDS:
            key = own_texts.key_of(edited.email.name, field)
            saved.pop(key_in(key, edited.language), None)
            if edited.language.code == edited.campaign.language:
                saved.pop(key, None)
        done = "This email has its default text again."
    else:
        _check(request, edited)
        saved = _typed(request, edited)
        done = "Changes saved. New emails have them."
        if edited.email.can_be_stopped:
            is_on = bool(request.text("is_on"))
            await advocate_emails.switch(change, edited.email.name, is_on=is_on)
    await campaigns.configure(change, CampaignSettings(words=saved))
    return request.go(_address(edited), done)


async def preview(at: Reading, request: PageRequest) -> Response:
    """The HTML part, with what is typed if it comes from the form. For a frame."""
    edited = await _edited(at, request)
    sample = await _sample(at, request, edited, _typed(request, edited))
    return HTMLResponse(sample.rendered().html, headers=FRAME_HEADERS)


async def send_test(change: Change, request: PageRequest) -> Response:
    """What is typed, saved or not, to the operator's own address."""
    edited = await _edited(change, request)
    _check(request, edited)
    sample = await _sample(change, request, edited, _typed(request, edited))
    # Its links are samples: none stops anything.
    test = sample._replace(parts=sample.rendered(), links=NO_LINKS, kind=email_kinds.TEST_EMAIL)
    await emails.send(change.tx, test)
    return request.go(_address(edited), f"A test email is on its way to {request.who.email}.")


def _address(edited: EditedEmail) -> str:
    return f"/look/emails?email={edited.email.name}&language={edited.language.code}"


async def _sample(
    at: Reading, request: PageRequest, edited: EditedEmail, own: dict[str, str]
) -> EmailToSend:
    """The email as a sample subscriber or partner gets it."""
    site, links = request.services.site, NO_LINKS
    if edited.email.is_for_partners:
        brand = replace(await _publication_branding(at, request, edited), own_texts=own)
        message = _sample_to_partner(request, edited, brand)
    else:
        campaign = edited.campaign._replace(language=edited.language.code)
        brand = replace(campaign.email_branding(site), own_texts=own)
        message = await _sample_text(at, request, edited, brand)
    if edited.email.can_be_stopped:
        links = EmailLinks(f"{site.base_url}/stop/sample", f"{site.base_url}/hub/sample/leave")
    to = EmailAddress(request.who.email)
    account_id = request.tenant.account_id
    return EmailToSend(account_id, to, edited.email, message, brand)._replace(links=links)


async def _publication_branding(
    at: Reading, request: PageRequest, edited: EditedEmail
) -> EmailBranding:
    """Of the account's newest publication, or of the newsletter while there is none."""
    found, _ = await publications.page_of(at, Page(1, 1))
    name, logo_id = (found[0].name, found[0].logo_id) if found else (edited.campaign.name, None)
    return await partner_emails.branding_of(at, name, logo_id)


def _sample_to_partner(
    request: PageRequest, edited: EditedEmail, brand: EmailBranding
) -> EmailText:
    month = rules.month_of(request.now_ms)
    name, page = rules.month_name(month), f"{request.services.site.base_url}/earnings"
    if edited.email is email_kinds.BUDGET_REOPENED:
        return partner_texts.budget_reopened(brand, month=name, page=page)
    resumes = f"1 {rules.month_name(rules.next_month(month))}"
    return partner_texts.budget_reached(brand, month=name, resumes=resumes, page=page)


async def _sample_text(
    at: Reading, request: PageRequest, edited: EditedEmail, brand: EmailBranding
) -> EmailText:
    site, email = request.services.site, edited.email
    hub = f"{site.base_url}/hub/sample"
    if email is email_kinds.CONFIRM:
        return texts.confirm(brand, link=f"{site.base_url}/confirm/sample")
    if email is email_kinds.HUB_LINK:
        return texts.hub_link(brand, link=hub)
    offered = await at.fact(rewards.of_campaign)
    reward = offered[0].name if offered else SAMPLE_REWARD
    referrals = offered[0].referrals if offered else SAMPLE_REFERRALS
    advocate = AdvocateFacts(hub, referrals, first_name=SAMPLE_NAME)
    if email is email_kinds.FRIEND_JOINED:
        return texts.friend_joined(brand, advocate)
    if email is email_kinds.ONE_MORE:
        return texts.one_more(brand, advocate, reward=reward)
    if email is email_kinds.SHIPMENT_SENT:
        sending = _sample_sending(brand.language, offered, request.now_ms)
        return shipment_texts.shipment_sent(brand, advocate, sending)
    ahead = rewards.next_reward(offered, referrals)
    return texts.reward_unlocked(
        brand,
        advocate,
        UnlockedReward(reward),
        RewardAhead(ahead[0].name, ahead[1], site.reader_link("h0neyb1d")) if ahead else None,
    )


def _sample_sending(language: Language, offered: list[Reward], now_ms: int) -> Sending:
    """The first physical reward, as if it had just been sent."""
    physical = [each.name for each in offered if each.kind == rewards.PHYSICAL]
    sent = SentReward(
        name=physical[0] if physical else SAMPLE_REWARD,
        earned_ms=now_ms - 15 * DAY_MS,
        sent_ms=now_ms,
        shipping=SAMPLE_ADDRESS,
        tracking_note=SAMPLE_TRACKING,
    )
    return shipment_emails.sending_of(language, [sent])


async def show_stopped(at: Reading, request: PageRequest) -> PageView:
    """The subscribers who get no emails about their referrals and rewards, because they stopped
    them or the operator did."""
    page, rows, total = await forms.nearest_page(
        request.query, STOPPED_PER_PAGE, lambda page: stops.page_of(at, page)
    )
    return request.view(
        "stopped_emails.html",
        rows=rows,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        link=lambda number: f"/look/emails/stopped?page={number}",
        email=request.text("email"),
    )


async def stop(change: Change, request: PageRequest) -> Response:
    forms.require(STOP_FORM, request.fields)
    try:
        subscriber = await subscribers.get(change, request.text("email"))
    except Missing:
        raise Invalid("No subscriber has this email address.", param="email") from None
    await stops.stop(change, subscriber.id)
    return request.go(
        "/look/emails/stopped", f"{subscriber.email} gets none of these emails anymore."
    )
