"""Signing up: the hosted page and a partner's magic link. Nothing subscribes on a GET; `thanks` is
what comes after it.

These pages never tell who is subscribed. Whoever enters an address sees the same page with a link
that was never seen before, new or not (`form_codes`), and a button to `start`. What is private
(the link to the referral page, and that one is already subscribed) is sent to the mailbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors, checks, clock
from honeyguide.kernel.email_addresses import LONGEST, EmailAddress
from honeyguide.kernel.errors import Fault, Invalid
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.site import Site
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import Field, FormErrors, missing
from honeyguide.pages.readers import (
    confirmations,
    errors,
    flooded_forms,
    forms,
    inbox,
    page_branding,
    requested_emails,
    start,
    stopped,
)
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.pages.readers.showing import see_other, see_website
from honeyguide.screening import signals
from honeyguide.screening.visits import Visit
from honeyguide.signups import signups, unconfirmed, used_forms
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx
from honeyguide.subscribers import (
    clicks,
    consents,
    form_codes,
    hub_choices,
    link_parameters,
    links,
    subscribers,
)
from honeyguide.subscribers.origins import Origin

CARRIED = ("utm_source", "utm_campaign")
# By the form's origin. Many honest people share a network: an office, a school, a talk that ends
# with a QR code.
BY_NETWORK = {
    origin: Limit(f"{origin} by network", 60, 10 * clock.MINUTE_MS, forms.TOO_MANY)
    for origin in (Origin.SIGNUP, Origin.MAGIC)
}
# How often one mailbox may be typed into the forms of one campaign.
SIGNUPS_BY_ADDRESS = Limit("signup by address", 5, clock.HOUR_MS)
LONGEST_NAME = 60
SIGNUP_FIELDS = {
    **forms.EMAIL_FIELDS,
    "name": Field(translatable("First name")),
    "consent": Field("", translatable("Please check this box to subscribe.")),
}
BAD_NAME = translatable("Please use letters only.")
USED_FORM = translatable("This form was already used. Please submit it again.")


def carried(given: Mapping[str, str], brand: PageBranding) -> dict[str, str]:
    """How the visitor came. Values that no column could hold are dropped; the signup succeeds."""
    return link_parameters.codes_in(given, brand.campaign.link_parameters) | {
        name: text for name in CARRIED if link_parameters.is_kept(text := given.get(name, ""))
    }


async def form(services: ReaderServices, request: ReaderRequest) -> ReaderView:
    brand = await brand_of(services, request)
    stopped.check(brand)
    if request.refusal:
        kept, email = carried(request.fields, brand), request.fields.get("email", "")
    else:
        kept = carried(request.http.query_params, brand)
        email = request.query("email")[:LONGEST]
    brand = await _for_code(services, request, brand, kept)
    page_link = brand.page_link(services.site)
    inviter = ""
    if brand.campaign.show_inviter and "ref" in kept:
        inviter = await services.store.read(
            reads(hub_choices.inviter_name, request.services.site, brand.tenant, request.now_ms),
            kept["ref"],
        )
    purpose = f"signup {brand.id}"
    token = request.single_use_token(purpose)
    challenge = await flooded_forms.find_challenge(
        services,
        request.http,
        brand,
        code_of(kept, brand),
        purpose=purpose,
        token=token,
        now_ms=request.now_ms,
    )
    return request.view(
        f"{origin_of(request)}.html",
        brand,
        challenge=challenge,
        carried=kept,
        email=email,
        name=request.fields.get("name", ""),
        has_agreed=_has_agreed(request, brand),
        longest_name=LONGEST_NAME,
        token=token,
        trap=forms.TRAP,
        action=request.http.url.path,
        page_link=page_link,
        shared_link=_shared_link(page_link, kept),
        inviter=inviter,
        base_url=services.site.base_url,
    )


def _shared_link(page_link: str, kept: Mapping[str, str]) -> str:
    """What a social network takes as the address of the page: with the referrer's code, or the
    referral would be lost when the page is shared on."""
    return f"{page_link}?{urlencode({'ref': kept['ref']})}" if "ref" in kept else page_link


def _has_agreed(request: ReaderRequest, brand: PageBranding) -> bool:
    """Whether the box was checked beside the text that is shown now."""
    return request.fields.get("consent", "") == brand.campaign.consent_text_id


async def subscribe(services: ReaderServices, request: ReaderRequest) -> Response:
    brand = await brand_of(services, request)
    stopped.check(brand)
    shown = request.check_form(f"signup {brand.id}")
    origin = origin_of(request)
    await request.count(BY_NETWORK[origin])
    brand = await _for_code(services, request, brand, carried(request.fields, brand))
    visit = visit_of(
        services.site,
        request.http,
        shown,
        is_on_link=origin == Origin.MAGIC,
        now_ms=request.now_ms,
    )
    new = new_subscriber(request.http, request.fields, brand, origin, visit)
    email = checked(request.fields, brand, new, has_agreed=_has_agreed(request, brand))
    has_worked = flooded_forms.has_worked(
        services, request.fields, shown, new.referrer_code, request.now_ms
    )
    code = await enter(
        services, brand, new, email, shown=shown, has_worked=has_worked, now_ms=request.now_ms
    )
    if brand.thankyou_page_url:
        return see_website(brand.thankyou_page_url)
    token = start.token(services.site, code)
    if brand.needs_confirmation:
        token = inbox.token(services.site, code, request.now_ms)
    # It was asked for work, which says nothing about the address.
    is_slow = flooded_forms.FIELD in request.fields and not has_worked
    return see_other(f"{request.http.url.path}/thanks?for={token}{'&slow=1' if is_slow else ''}")


def origin_of(request: ReaderRequest) -> Origin:
    """A partner's magic link has the partner's code in its path; a signup page has its name."""
    return Origin.MAGIC if "code" in request.http.path_params else Origin.SIGNUP


async def brand_of(services: ReaderServices, request: ReaderRequest) -> PageBranding:
    if origin_of(request) == Origin.MAGIC:
        brand = await services.store.read(
            page_branding.of_partner,
            services.site,
            request.at("code"),
        )
    else:
        brand = await services.branding.find(request.at("slug"))
    return brand.for_reader(request.accepted_languages)


async def _for_code(
    services: ReaderServices, request: ReaderRequest, brand: PageBranding, kept: Mapping[str, str]
) -> PageBranding:
    code = code_of(kept, brand)
    return await confirmations.for_code(services.store, brand, code, origin_of(request))


def checked(
    fields: Mapping[str, str], brand: PageBranding, new: NewSubscriber, *, has_agreed: bool
) -> EmailAddress:
    """The email address, or everything that is wrong with the form at once."""
    wrong: dict[str, str] = {}
    if brand.campaign.consent_text_id is not None and not has_agreed:
        wrong["consent"] = SIGNUP_FIELDS["consent"].ask
    if new.name is not None and not checks.is_one_line(new.name):
        wrong["name"] = BAD_NAME
    try:
        email = EmailAddress.parse(new.email)
    except Invalid:
        wrong |= missing(forms.EMAIL_FIELDS, fields) or {"email": forms.BAD_EMAIL}
    if wrong:
        raise FormErrors(wrong)
    return email


def signup_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    return errors.by_field(language, fault, SIGNUP_FIELDS)


def code_of(kept: Mapping[str, str], brand: PageBranding) -> str | None:
    """Visitors of a program's page were most likely sent by a partner; of a campaign's, by a
    reader."""
    first, second = ("partner", "ref") if brand.is_program else ("ref", "partner")
    return brand.partner_code or kept.get(first) or kept.get(second)


def visit_of(
    site: Site, http: Request, shown: ShownForm | None, *, is_on_link: bool = False, now_ms: int
) -> Visit:
    agent = http.headers.get("user-agent", "")
    return Visit(
        request=signals.of_request(http.headers, is_https=http.url.scheme == "https"),
        visitors=clicks.visitor_hashes(site, forms.peer(http), agent, now_ms),
        was_shown_form=None if shown is None else shown.is_same_visitor,
        is_on_link=is_on_link,
    )


def new_subscriber(
    http: Request, fields: Mapping[str, str], brand: PageBranding, origin: str, visit: Visit
) -> NewSubscriber:
    kept = carried(fields, brand)
    agent = http.headers.get("user-agent", "")[: checks.USER_AGENT_LIMIT]
    name = " ".join(fields.get("name", "").split())[:LONGEST_NAME]
    return NewSubscriber(
        email=fields.get("email", ""),
        name=name if name and brand.campaign.asks_name else None,
        referrer_code=code_of(kept, brand),
        ip_address=forms.peer(http) or None,
        user_agent=agent.replace("\x00", "") or None,
        utm_source=kept.get("utm_source"),
        utm_campaign=kept.get("utm_campaign"),
        origin=origin,
        visit=visit,
        language=brand.language.code,
    )


async def enter(
    services: ReaderServices,
    brand: PageBranding,
    new: NewSubscriber,
    email: EmailAddress,
    *,
    shown: ShownForm | None,
    has_worked: bool = False,
    now_ms: int,
) -> str:
    """A code of the subscriber that was never shown before, new or not. `shown` is the form that
    this uses up, if it has one."""

    async def write(tx: Tx) -> str:
        code = new_code()
        change = Change(tx, services.site, brand.tenant, actors.NEW_SUBSCRIBER, now_ms)
        # First of all, so that nobody who waits for the same form has locked anything.
        if shown is None or await used_forms.use(change, shown.token_hash, email, code=code):
            named = msgspec.structs.replace(new, ref_code=code)
            await _enter(change, brand, named, email, has_worked=has_worked)
            return code
        return await _find_first_answer(change, shown, email)

    try:
        return await services.store.write(write)
    except Invalid as refusal:
        if refusal.code != "email_taken":
            raise
        # The same address came twice at once; by now the other one is in.
        return await services.store.write(write)


async def _find_first_answer(at: Reading, shown: ShownForm, email: EmailAddress) -> str:
    """The code that this form was answered with, or a refusal if it was used with another
    address."""
    code = await used_forms.find_answer(at, shown.token_hash, email)
    # A subscriber who was erased meanwhile is a new one, and needs a new form.
    if code is None or await links.lookup(at.tx, code) is None:
        raise FormErrors({"token": USED_FORM})
    return code


async def _enter(
    change: Change,
    brand: PageBranding,
    new: NewSubscriber,
    email: EmailAddress,
    *,
    has_worked: bool,
) -> None:
    """Both cases write the same few rows and take as long."""
    tx, site, tenant, now_ms = change.tx, change.site, change.tenant, change.now_ms
    mailbox = f"{tenant.campaign_id} {email.person}"
    await attempts.count(tx, site, SIGNUPS_BY_ADDRESS, mailbox)
    subscriber = await subscribers.find_by_email(change, email)
    every_ms, delay_ms = requested_emails.EVERY_MS, 0
    if subscriber is None:
        subscriber = await signups.sign_up(change, new, email=email)
    elif (again := await unconfirmed.sign_up_again(change, subscriber, new, email)) is not None:
        # The email before confirms another signup. Whoever just got it may be about to.
        every_ms = 0
        delay_ms = max(0, subscriber.received_ms + requested_emails.OTHER_CODE_MS - now_ms)
        subscriber = again
    if new.ref_code is not None and subscriber.ref_code != new.ref_code:
        await form_codes.add(change, subscriber.id, new.ref_code)
    text_id = brand.campaign.consent_text_id
    # Nothing is kept about somebody who was erased meanwhile.
    if text_id is not None and await subscribers.lock(change, subscriber.id):
        await consents.record(change, subscriber.id, text_id)
    change = Change(tx, site, tenant, actors.subscriber(subscriber.id), now_ms)
    await requested_emails.send_next_step(
        change, brand, subscriber, every_ms=every_ms, has_worked=has_worked, delay_ms=delay_ms
    )
