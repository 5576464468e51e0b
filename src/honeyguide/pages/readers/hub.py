"""A reader's own page: their link, how far they have come, what they earned. Its address is the key to it, so it is shown to
nobody else, indexed by no one, and sent only to the mailbox it belongs to.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import checks, clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault, Invalid, Missing, TooMany
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.forms import Field, errors_of, missing
from honeyguide.pages.readers import branding, forms, post, progress, sharing
from honeyguide.pages.readers.branding import Branding
from honeyguide.pages.readers.showing import kind, see_other, shown, status_of
from honeyguide.pages.services import PageServices
from honeyguide.referrals import campaigns, earned_rewards, hub, rewards, subscribers
from honeyguide.referrals.earned_rewards import EarnedReward, Shipping
from honeyguide.referrals.rewards import Reward
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.pages")

ASKED_BY_ADDRESS = Limit("hub by address", 5, clock.HOUR_MS)
MOST_OF_ONE_NETWORK, NETWORK_WINDOW_MS = 20, 10 * clock.MINUTE_MS
# An address in more campaigns than it may get letters a day hears of the first ones.
MOST_CAMPAIGNS = post.MOST_A_DAY

ADDRESS_FIELDS = {
    "name": Field("Full name", "Enter your full name."),
    "line1": Field("Street address", "Enter your street address."),
    "line2": Field("Apartment, floor or company"),
    "city": Field("City", "Enter your city."),
    "region": Field("State or region"),
    "postcode": Field("ZIP or postal code", "Enter your ZIP or postal code."),
    "country": Field("Country", "Enter your country."),
}
# What browsers call these fields.
AUTOCOMPLETE = {
    "name": "name",
    "line1": "address-line1",
    "line2": "address-line2",
    "city": "address-level2",
    "region": "address-level1",
    "postcode": "postal-code",
    "country": "country-name",
}
# What the domain says to operators, said to readers.
CLAIM_ERRORS = {
    "awaiting_approval": "This reward is still being reviewed.",
    "out_of_stock": "This reward is out of stock right now.",
}

_sql = beside(__file__)
_CAMPAIGNS_OF = _sql.query("campaigns_of", Tenant)


class HubVisitor(NamedTuple):
    """Everything a hub shows."""

    brand: Branding
    person: Subscriber
    rewards: list[Reward]
    earned: list[EarnedReward]


def first_name(person: Subscriber) -> str:
    words = (person.name or "").split()
    return words[0] if words else ""


class HubPages:
    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._networks = forms.NetworkLimit(MOST_OF_ONE_NETWORK, NETWORK_WINDOW_MS)
        self._posting: set[asyncio.Task[None]] = set()

    @kind
    async def show(self, request: Request) -> Response:
        return self._hub(request, await self._reader(request))

    @kind
    async def claim_form(self, request: Request) -> Response:
        """Where a physical reward is to go. Anything else needs no form and is claimed on the hub."""
        reader = await self._reader(request)
        earned = _pick(reader, request.path_params["earned_id"])
        if earned.kind != rewards.PHYSICAL or earned.status != earned_rewards.UNLOCKED:
            return see_other(self._address(request))
        return self._address_form(request, reader, earned, {"name": reader.person.name or ""})

    @kind
    async def claim(self, request: Request) -> Response:
        now_ms = self._services.clock()
        reader = await self._reader(request)
        earned = _pick(reader, request.path_params["earned_id"])
        needs_address = earned.kind == rewards.PHYSICAL and earned.status == earned_rewards.UNLOCKED
        fields: dict[str, str] = {}
        try:
            fields = await forms.read(request)
            forms.check(self._services.site, f"claim {reader.person.id}", fields, now_ms)
            wrong, status = _address_errors(fields) if needs_address else {}, 400
            if not wrong:
                await self._claim(
                    reader, earned, _shipping(fields) if needs_address else None, now_ms
                )
                return see_other(f"{self._address(request)}#won-{earned.id}")
        except (Invalid, forms.FormRefused) as refusal:
            wrong, status = _claim_errors(refusal), status_of(refusal)
        if needs_address:
            return self._address_form(request, reader, earned, fields, wrong, status)
        return self._hub(request, reader, wrong, status)

    async def _claim(
        self, reader: HubVisitor, earned: EarnedReward, shipping: Shipping | None, now_ms: int
    ) -> None:
        async def work(tx: Tx) -> EarnedReward:
            return await earned_rewards.claim(
                tx,
                self._services.site,
                reader.brand.tenant,
                reader.person,
                earned.id,
                shipping=shipping,
                now_ms=now_ms,
            )

        await self._services.store.write(work)

    @kind
    async def ask_form(self, request: Request) -> Response:
        return self._ask(await self._asked_for(request))

    @kind
    async def ask(self, request: Request) -> Response:
        """The same answer, as quickly, to an address we know and to one we do not: looking and writing come after it."""
        now_ms = self._services.clock()
        brand = await self._asked_for(request)
        fields: dict[str, str] = {}
        try:
            fields = await forms.read(request)
            forms.check(self._services.site, "hub", fields, now_ms)
            email = EmailAddress.parse(fields.get("email", ""))
            self._networks.another(forms.peer(request), now_ms)
            await self._services.store.write(lambda tx: self._count(tx, email, now_ms))
        except (Invalid, forms.FormRefused, TooMany) as refusal:
            return self._ask(brand, fields, refusal)
        task = asyncio.get_running_loop().create_task(self._post(brand, email, now_ms))
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)
        return shown("asked.html", brand, private=True)

    async def _count(self, tx: Tx, email: EmailAddress, now_ms: int) -> None:
        await attempts.count(
            tx,
            self._services.site,
            ASKED_BY_ADDRESS,
            email.person,
            now_ms=now_ms,
        )

    async def _post(self, brand: Branding | None, email: EmailAddress, now_ms: int) -> None:
        async def work(tx: Tx) -> None:
            tenants = (
                [brand.tenant]
                if brand
                else await tx.all(_CAMPAIGNS_OF, email_key=email.key, most=MOST_CAMPAIGNS)
            )
            for tenant in tenants:
                person = await subscribers.find_by_email(tx, tenant, email)
                if person is not None:
                    name = (await campaigns.get(tx, tenant)).name
                    await post.send_hub_link(
                        tx, self._services.site, tenant, name, person, now_ms=now_ms
                    )

        try:
            await self._services.store.write(work)
        except Exception:
            log.exception("Could not send a subscriber the link to their referral page")

    async def _asked_for(self, request: Request) -> Branding | None:
        """`?of=slug` asks for one newsletter's page; without it, for every one the address is known to."""
        slug = request.query_params.get("of")
        return await self._services.store.read(lambda tx: branding.find(tx, slug)) if slug else None

    async def _reader(self, request: Request) -> HubVisitor:
        token: str = request.path_params["token"]

        async def look(tx: Tx) -> HubVisitor:
            found = await hub.find(tx, self._services.site, token)
            if found is None:
                raise Missing(branding.UNKNOWN)
            tenant, person = found
            brand = branding.of_campaign(await campaigns.get(tx, tenant))
            return HubVisitor(
                brand,
                person,
                await rewards.of_campaign(tx, tenant),
                await earned_rewards.earned_by(tx, tenant, person.id),
            )

        return await self._services.store.snapshot(look)

    def _address(self, request: Request) -> str:
        return f"/hub/{request.path_params['token']}"

    def _hub(
        self,
        request: Request,
        reader: HubVisitor,
        wrong: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        site, person = self._services.site, reader.person
        return shown(
            "hub.html",
            reader.brand,
            status=status,
            private=True,
            wrong=wrong or {},
            hub=self._address(request),
            first_name=first_name(person),
            welcome=request.query_params.get("welcome") == "1",
            progress=progress.measure(
                reader.rewards, reader.earned, person.referrals_verified, person.referrals_pending
            ),
            share=sharing.of(reader.brand.words, site.reader_link(person.ref_code)),
            token=forms.token(site, f"claim {person.id}", self._services.clock()),
        )

    def _address_form(
        self,
        request: Request,
        reader: HubVisitor,
        earned: EarnedReward,
        values: dict[str, str],
        wrong: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        return shown(
            "claim.html",
            reader.brand,
            status=status,
            private=True,
            earned=earned,
            wrong=wrong or {},
            hub=self._address(request),
            values=values,
            fields=ADDRESS_FIELDS,
            autocomplete=AUTOCOMPLETE,
            longest=checks.STRING_LIMIT,
            token=forms.token(
                self._services.site, f"claim {reader.person.id}", self._services.clock()
            ),
        )

    def _ask(
        self,
        brand: Branding | None,
        fields: dict[str, str] | None = None,
        refusal: Fault | None = None,
    ) -> Response:
        given = fields or {}
        return shown(
            "ask.html",
            brand,
            status=200 if refusal is None else status_of(refusal),
            wrong={} if refusal is None else forms.email_errors(refusal, given),
            retry_after_s=refusal.retry_after_s if isinstance(refusal, TooMany) else 0,
            email=given.get("email", ""),
            token=forms.token(self._services.site, "hub", self._services.clock()),
            trap=forms.TRAP,
            action="/hub" + (f"?of={brand.slug}" if brand else ""),
        )


def _pick(reader: HubVisitor, earned_id: str) -> EarnedReward:
    for earned in reader.earned:
        if earned.id == earned_id:
            return earned
    raise Missing(branding.UNKNOWN)


def _claim_errors(refusal: Fault) -> dict[str, str]:
    if refusal.code in CLAIM_ERRORS:
        return {"": CLAIM_ERRORS[refusal.code]}
    return errors_of(refusal, ADDRESS_FIELDS)


def _entered(fields: dict[str, str]) -> dict[str, str]:
    return {name: fields.get(name, "").strip() for name in ADDRESS_FIELDS}


def _address_errors(fields: dict[str, str]) -> dict[str, str]:
    """What is wrong with a postal address, all of it at once."""
    entered = _entered(fields)
    wrong = missing(ADDRESS_FIELDS, entered)
    for name, text in entered.items():
        try:
            checks.text(text, param=name, limit=checks.STRING_LIMIT)
        except Invalid as fault:
            wrong |= errors_of(fault, ADDRESS_FIELDS)
    return wrong


def _shipping(fields: dict[str, str]) -> Shipping:
    entered = _entered(fields)
    return Shipping(
        name=entered["name"],
        line1=entered["line1"],
        line2=entered["line2"] or None,
        city=entered["city"],
        region=entered["region"] or None,
        postcode=entered["postcode"],
        country=entered["country"],
    )
