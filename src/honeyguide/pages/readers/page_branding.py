"""A newsletter's branding and texts on one of its reader pages, and a cache of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.languages.language import ENGLISH, Language, get_language, preferred_language
from honeyguide.mail.layout import EmailBranding
from honeyguide.pages.readers import accents, page_texts
from honeyguide.pages.readers.page_texts import PageTexts
from honeyguide.partners import links, verification
from honeyguide.partners.links import PartnerLink
from honeyguide.store import Store
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, campaigns, slugs
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.origins import Origin

UNKNOWN = "Page not found."
# No slug looks different, and a database may refuse to look for other text.
_SLUG = re.compile(r"[a-z0-9-]{1,60}").fullmatch
_ARTICLES = frozenset(
    ("the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "lo")
)


@dataclass(frozen=True)
class PageBranding:
    campaign: Branding
    id: str  # of the campaign or program; a form of one page does not work on another
    name: str
    slug: str
    texts: PageTexts
    is_program: bool = False
    logo_url: str | None = None
    thankyou_page_url: str | None = None
    partner_code: str = ""
    asks_to_confirm: bool = False
    """The program of the partner who sent the visitor does, or a signup came without a form."""
    language: Language = ENGLISH

    @property
    def tenant(self) -> Tenant:
        return self.campaign.tenant

    @property
    def follows_browser(self) -> bool:
        """Whether a reader whose browser asks for another of our languages gets that one."""
        return self.campaign.follow_browser_language

    @property
    def needs_confirmation(self) -> bool:
        return self.campaign.needs_confirmation or self.asks_to_confirm

    @property
    def initial(self) -> str:
        words = self.name.split()
        if len(words) > 1 and words[0].lower() in _ARTICLES:
            words = words[1:]
        return next(
            (character.upper() for word in words for character in word if character.isalnum()), "•"
        )

    @property
    def style_url(self) -> str | None:
        """The style sheet with the operator's color."""
        return accents.address(self.campaign.accent) if self.campaign.accent else None

    @property
    def icon(self) -> str:
        """The icon of the browser's tab: the campaign's, or the logo, or the initial."""
        if self.campaign.icon_id and not self.is_program:
            return branding.picture_path(self.campaign.icon_id)
        if self.logo_url:
            return self.logo_url
        shades = self.campaign.palette.light
        return _letter_icon(self.initial, shades.accent, shades.on_accent)

    @property
    def share_picture(self) -> str | None:
        """The large picture that goes with a shared link. It shows the campaign's name, so a
        program's page has only its logo."""
        if self.campaign.share_id is None or self.is_program:
            return None
        return branding.picture_path(self.campaign.share_id)

    def in_language(self, language: Language) -> PageBranding:
        return replace(self, language=language, texts=self.texts.in_language(language))

    def for_reader(self, accepted_languages: str) -> PageBranding:
        """In the language for a browser with this `Accept-Language` header."""
        if not self.follows_browser:
            return self
        return self.in_language(preferred_language(accepted_languages, otherwise=self.language))

    @property
    def email_texts(self) -> Mapping[str, str]:
        """The operator's texts for emails. Like others, they are about the newsletter itself."""
        return {} if self.is_program else self.texts.given

    def email_branding(self, site: Site) -> EmailBranding:
        return replace(
            self.campaign.email_branding(site),
            name=self.name,
            language=self.language,
            logo_url=f"{site.base_url}{self.logo_url}" if self.logo_url else None,
            from_name=self.campaign.from_name or self.name,
            own_texts=self.email_texts,
        )

    def page_link(self, site: Site) -> str:
        return site.page_link(self.slug)


@lru_cache(maxsize=1024)
def _letter_icon(initial: str, background: str, ink: str) -> str:
    letter = initial.replace("&", "&amp;").replace("<", "&lt;")
    return "data:image/svg+xml," + quote(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
        f"<rect width='32' height='32' rx='8' fill='{background}'/>"
        "<text x='16' y='22.5' text-anchor='middle' font-family='system-ui,sans-serif' "
        f"font-size='18' font-weight='700' fill='{ink}'>{letter}</text></svg>"
    )


def of_campaign(found: Branding) -> PageBranding:
    language = get_language(found.language)
    return PageBranding(
        campaign=found,
        id=found.campaign_id,
        name=found.name,
        slug=found.slug,
        texts=page_texts.read(found.words, found.name, language),
        language=language,
        logo_url=branding.picture_path(found.logo_id) if found.logo_id else None,
    )


def of_publication(
    found: Branding, name: str, description: str | None, logo_url: str | None
) -> PageBranding:
    """A program has its publication's name, texts and logo; signing up works as in its campaign."""
    language = get_language(found.language)
    return PageBranding(
        campaign=found,
        id="",
        name=name,
        slug="",
        texts=page_texts.read(
            found.words, name, language, only=page_texts.OF_PROGRAMS, details=description
        ),
        language=language,
        is_program=True,
        logo_url=logo_url,
    )


async def find(tx: Tx, site: Site, slug: str) -> PageBranding:
    """The branding of the page with this slug."""
    found = await slugs.find(tx, slug) if _SLUG(slug) else None
    if found is None:
        raise Missing(UNKNOWN)
    if found.kind == slugs.CAMPAIGN:
        return of_campaign(
            await branding.of(
                Reading(tx, site, Tenant(found.account_id, found.target_id), tx.now_ms)
            )
        )
    link = await links.of_program(
        AccountReading(tx, site, found.account_id, tx.now_ms), found.target_id
    )
    return await _of_partner_link(tx, site, link, found.slug)


async def of_partner(tx: Tx, site: Site, code: str) -> PageBranding:
    """The branding of the program that a partner's code belongs to."""
    return await _of_partner_link(tx, site, await links.lookup(tx, code), "")


async def _of_partner_link(tx: Tx, site: Site, link: PartnerLink | None, slug: str) -> PageBranding:
    if link is None:
        raise Missing(UNKNOWN)
    brand = of_publication(
        await branding.of(Reading(tx, site, link.tenant, tx.now_ms)),
        link.publication_name,
        link.description,
        branding.picture_path(link.logo_id),
    )
    return replace(
        brand,
        id=link.program_id,
        slug=slug,
        thankyou_page_url=link.thankyou_page_url,
        partner_code=link.ref_code,
        asks_to_confirm=bool(link.ref_code) and verification.asks_to_confirm(link, Origin.MAGIC),
    )


class BrandingCache:
    """The branding of campaigns shown within the last second: a link that many people share has its
    page asked for over and over. A change of a campaign clears the cache at once."""

    KEPT_MS = 1_000
    MOST = 1_000

    def __init__(self, store: Store, site: Site, clock: Clock) -> None:
        self._store = store
        self._site = site
        self._clock = clock
        self._branding_cache: dict[str, tuple[int, PageBranding]] = {}
        store.listen(campaigns.LINKS, self._branding_cache.clear)

    async def find(self, slug: str) -> PageBranding:
        now_ms = self._clock()
        kept = self._branding_cache.get(slug)
        if kept is not None and 0 <= now_ms - kept[0] < self.KEPT_MS:
            return kept[1]
        brand = await self._store.read(find, self._site, slug)
        if not brand.is_program:
            if len(self._branding_cache) >= self.MOST:
                self._branding_cache.clear()
            self._branding_cache[slug] = (now_ms, brand)
        return brand
