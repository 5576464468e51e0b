"""Signing up: the hosted page, the thank-you page, and confirming by a letter. Nothing subscribes or confirms on a GET.

Nobody learns here who is subscribed. Whoever sends an address gets the same page with the person's public link, whether the
person is new or has been here for years: a link is made to be shown, and nothing in it tells its age. What is private (the
hub, and the news that one is subscribed already) goes to the mailbox.
"""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import checks, clock
from honeyguide.kernel.email_addresses import LONGEST, EmailAddress
from honeyguide.kernel.errors import Fault, Invalid, Missing, TooMany
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import branding, forms, post, sharing
from honeyguide.pages.readers.branding import Branding, BrandingCache
from honeyguide.pages.readers.showing import kind, see_other, shown, sorry, status_of
from honeyguide.pages.services import PageServices
from honeyguide.referrals import campaigns, hub, links, rewards, subscribers
from honeyguide.referrals.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import signups
from honeyguide.store.tx import Tx

CARRIED = ("ref", "partner", "utm_source", "utm_campaign")
# One mailbox typed into the forms of one campaign, within an hour.
SIGNUPS_BY_ADDRESS = Limit("signup by address", 5, clock.HOUR_MS)
# Many honest people share a network: offices, schools, a talk whose last slide is a QR code.
MOST_OF_ONE_NETWORK, NETWORK_WINDOW_MS = 60, 10 * clock.MINUTE_MS
TEASED = 3


def carried(given: QueryParams | dict[str, str]) -> dict[str, str]:
    """How the visitor came, as far as we keep it; what no column could hold is left behind, not the signup."""
    found = {name: given.get(name, "") for name in CARRIED}
    return {
        name: text
        for name, text in found.items()
        if 0 < len(text) <= checks.STRING_LIMIT and "\x00" not in text
    }


class SignupPages:
    template = "signup.html"
    origin = "signup"

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._branding_cache = BrandingCache(services.store, services.clock)
        self._networks = forms.NetworkLimit(MOST_OF_ONE_NETWORK, NETWORK_WINDOW_MS)

    @kind
    async def form(self, request: Request) -> Response:
        brand = await self._brand(request)
        email = request.query_params.get("email", "")[:LONGEST]
        return self._form(request, brand, carried(request.query_params), email)

    @kind
    async def subscribe(self, request: Request) -> Response:
        now_ms = self._services.clock()
        brand = await self._brand(request)
        fields: dict[str, str] = {}
        try:
            fields = await forms.read(request)
            forms.check(self._services.site, f"signup {brand.id}", fields, now_ms)
            self._networks.another(forms.peer(request), now_ms)
            code = await self._enter(brand, self._arrival(request, brand, fields), now_ms)
        except (Invalid, forms.FormRefused, TooMany) as refusal:
            return self._form(request, brand, carried(fields), fields.get("email", ""), refusal)
        return self._welcome(request, brand, code)

    @kind
    async def thanks(self, request: Request) -> Response:
        """What comes after signing up. Its address holds nothing but a link that is public anyway."""
        brand = await self._brand(request)
        if brand.needs_confirmation:
            return shown("inbox.html", brand, private=True)
        sealed = self._services.site.unseal("thanks", request.query_params.get("for", ""))
        if sealed is None:
            return see_other(request.url.path.removesuffix("/thanks"))
        offered = await self._services.store.read(rewards.of_campaign, brand.tenant)
        share = sharing.of(brand.words, self._services.site.reader_link(sealed.decode()))
        return shown("thanks.html", brand, private=True, share=share, rewards=offered[:TEASED])

    @kind
    async def confirm_form(self, request: Request) -> Response:
        found = await self._confirming(request)
        if found is None:
            return self._stale()
        brand, _ = found
        return shown("confirm.html", brand, private=True)

    @kind
    async def confirm(self, request: Request) -> Response:
        now_ms = self._services.clock()
        found = await self._confirming(request)
        if found is None:
            return self._stale()
        brand, reader = found

        async def work(tx: Tx) -> Subscriber:
            changes = SubscriberChanges(status="confirmed")
            return await signups.change(
                tx, self._services.site, brand.tenant, reader.id, changes, now_ms=now_ms
            )

        reader = await self._services.store.write(work)
        return see_other(
            f"/hub/{hub.token(self._services.site, reader.id, reader.ref_code)}?welcome=1"
        )

    async def _brand(self, request: Request) -> Branding:
        return await self._branding_cache.find(request.path_params["slug"])

    def _form(
        self,
        request: Request,
        brand: Branding,
        kept: dict[str, str],
        email: str,
        refusal: Fault | None = None,
    ) -> Response:
        site = self._services.site
        return shown(
            self.template,
            brand,
            status=200 if refusal is None else status_of(refusal),
            retry_after_s=refusal.retry_after_s if isinstance(refusal, TooMany) else 0,
            wrong={} if refusal is None else forms.email_errors(refusal, {"email": email}),
            carried=kept,
            email=email,
            token=forms.token(site, f"signup {brand.id}", self._services.clock()),
            trap=forms.TRAP,
            action=request.url.path,
            page_link=brand.page_link(site),
            base_url=site.base_url,
        )

    def _arrival(self, request: Request, brand: Branding, fields: dict[str, str]) -> NewSubscriber:
        kept = carried(fields)
        # Whoever comes to a program's page was most likely sent by a partner; to a campaign's, by a reader.
        codes = (
            (kept.get("partner"), kept.get("ref"))
            if brand.is_program
            else (kept.get("ref"), kept.get("partner"))
        )
        agent = request.headers.get("user-agent", "")[: checks.USER_AGENT_LIMIT].replace("\x00", "")
        return NewSubscriber(
            email=fields.get("email", ""),
            referrer_code=brand.partner_code or codes[0] or codes[1],
            ip_address=forms.peer(request) or None,
            user_agent=agent or None,
            utm_source=kept.get("utm_source"),
            utm_campaign=kept.get("utm_campaign"),
            origin=self.origin,
        )

    async def _enter(self, brand: Branding, new: NewSubscriber, now_ms: int) -> str:
        """The person's code: a new one, or the one they have. Both ways write the same few rows, and take as long."""
        email = EmailAddress.parse(new.email)
        site, tenant = self._services.site, brand.tenant

        async def work(tx: Tx) -> str:
            mailbox = f"{tenant.campaign_id} {email.person}"
            await attempts.count(tx, site, SIGNUPS_BY_ADDRESS, mailbox, now_ms=now_ms)
            reader = await subscribers.find_by_email(tx, tenant, email)
            if reader is None:
                reader = await signups.sign_up(tx, site, tenant, new, email=email, now_ms=now_ms)
            # Who left and comes back must say so from their mailbox: anybody could have typed the address.
            left = reader.status == "unsubscribed" or (
                brand.needs_confirmation and reader.status == "active"
            )
            send = post.send_confirm if left else post.send_hub_link
            await send(tx, site, tenant, brand.name, reader, now_ms=now_ms)
            return reader.ref_code

        try:
            return await self._services.store.write(work)
        except Invalid as refusal:
            if refusal.code != "email_taken":
                raise
            # The same address came twice at once; by now the other one is in.
            return await self._services.store.write(work)

    def _welcome(self, request: Request, brand: Branding, code: str) -> Response:
        if brand.thankyou_page_url:
            return see_other(brand.thankyou_page_url)
        query = (
            ""
            if brand.needs_confirmation
            else f"?for={self._services.site.seal('thanks', code.encode())}"
        )
        return see_other(f"{request.url.path}/thanks{query}")

    async def _confirming(self, request: Request) -> tuple[Branding, Subscriber] | None:
        code = post.confirm_code(
            self._services.site, request.path_params["token"], self._services.clock()
        )
        if code is None:
            return None

        async def look(tx: Tx) -> tuple[Branding, Subscriber]:
            link = await links.lookup(tx, code)
            if link is None:
                raise Missing(branding.UNKNOWN)
            tenant = Tenant(link.account_id, link.campaign_id)
            return branding.of_campaign(await campaigns.get(tx, tenant)), await subscribers.get(
                tx, tenant, link.subscriber_id
            )

        return await self._services.store.read(look)

    def _stale(self) -> Response:
        return sorry(410, "This link has expired", "Sign up again and we’ll email you a new one.")


class MagicPages(SignupPages):
    """A partner's letter leads here with the reader's address filled in: one button. Scanners open links, people press."""

    template = "magic.html"
    origin = "magic"

    async def _brand(self, request: Request) -> Branding:
        code: str = request.path_params["code"]
        return await self._services.store.read(lambda tx: branding.of_partner(tx, code))
