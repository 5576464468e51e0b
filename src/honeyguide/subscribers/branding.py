"""How a campaign's pages and emails look: its name, logo, accent color, legal links and language.

`of` loads all of it in one statement, for pages and emails alike. Colors are for both themes and
always readable, whatever the operator chose (`kernel.colors`).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel import checks, colors, fields
from honeyguide.kernel.colors import Palette
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.languages import language
from honeyguide.mail.layout import EmailBranding
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import campaigns, consents

CONSENT_LIMIT = 600
FROM_NAME_LIMIT = 80


class Branding(NamedTuple):
    account_id: str
    campaign_id: str
    name: str
    slug: str
    words: dict[str, str]
    needs_confirmation: bool
    accent: str | None
    """The color as the operator chose it. Show `palette` instead: that can be read."""
    logo_id: str | None
    icon_id: str | None
    share_id: str | None
    privacy_url: str | None
    imprint_url: str | None
    consent_text_id: str | None
    consent_text: str | None
    asks_name: bool
    language: str
    follow_browser_language: bool
    from_name: str | None
    reply_to: str | None
    show_leaderboard: bool
    show_inviter: bool
    sends_reward_unlocked: bool
    sends_friend_joined: bool
    sends_one_more: bool
    sends_shipment_sent: bool
    link_parameters: list[str]
    is_paused: bool
    is_closing: bool
    """Its account is, or was: nobody can sign up then."""

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def palette(self) -> Palette:
        return colors.palette(self.accent) if self.accent else colors.NEUTRAL

    @property
    def sender_name(self) -> str:
        """The name that emails are from."""
        return self.from_name or self.name

    def email_branding(self, site: Site, readers_language: str | None = None) -> EmailBranding:
        """For an email to a subscriber whose pages are in `readers_language`, if pages follow the
        browser."""
        own_language = readers_language if self.follow_browser_language else None
        return EmailBranding(
            name=self.name,
            language=language.get_language(own_language or self.language),
            palette=self.palette,
            logo_url=self.logo_url(site),
            from_name=self.sender_name,
            reply_to=self.reply_to,
            privacy_url=self.privacy_url,
            imprint_url=self.imprint_url,
            own_texts=self.words,
        )

    def logo_url(self, site: Site) -> str | None:
        """Absolute, as emails need it."""
        return f"{site.base_url}{picture_path(self.logo_id)}" if self.logo_id else None


def picture_path(picture_id: str) -> str:
    """Where a logo, an icon or a share picture is served. A new picture has a new path."""
    return f"/logos/{picture_id}"


def _sender_name(text: str, *, param: str) -> str:
    return checks.name(text, param=param, limit=FROM_NAME_LIMIT)


def _one_address(text: str, *, param: str) -> str:
    try:
        return EmailAddress.parse(text).text
    except Invalid:
        raise Invalid(
            "{field} must be one email address, such as hello@example.com.", param=param
        ) from None


_CONSENT = partial(checks.text, limit=CONSENT_LIMIT, blank_ok=False)
_LANGUAGE = partial(checks.one_of, allowed=language.CODES)


class BrandFields(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator may set on the dashboard; pictures come apart from it."""

    accent: Annotated[str, doc(label="Accent color", rule=colors.parse)] | None = None
    privacy_url: Annotated[str, doc(label="Privacy policy", rule=checks.http_url)] | None = None
    imprint_url: Annotated[str, doc(label="Imprint", rule=checks.http_url)] | None = None
    consent_text: Annotated[str, doc(label="Consent text", rule=_CONSENT)] | None = None
    asks_name: Annotated[bool, doc(label="Ask for a first name")] = False
    language: Annotated[str, doc(label="Language", rule=_LANGUAGE, default="en")] = "en"
    follow_browser_language: Annotated[bool, doc(label="Follow the reader’s browser")] = False
    from_name: Annotated[str, doc(label="From name", rule=_sender_name)] | None = None
    reply_to: Annotated[str, doc(label="Reply-To", rule=_one_address)] | None = None
    show_leaderboard: Annotated[bool, doc(label="Leaderboard")] = False
    show_inviter: Annotated[bool, doc(label="Show who invited them")] = False


class BrandPictures(NamedTuple):
    """The ids of a campaign's own pictures. An icon or a share picture that is not `own` was made
    by us: from the logo, or from what `share_source` is a hash of."""

    logo_id: str | None = None
    icon_id: str | None = None
    icon_is_own: bool = False
    share_id: str | None = None
    share_is_own: bool = False
    share_source: str = ""


_sql = beside(
    __file__,
    # The text is a row of its own, of which the brand has the id.
    fields=[name for name in fields.columns(BrandFields) if name != "consent_text"],
    pictures=BrandPictures._fields,
)
_OF_CAMPAIGN = _sql.query("of_campaign", Branding)
_LOCK = _sql.value("lock", str)
_PICTURES = _sql.query("pictures", BrandPictures)
_CREATE = _sql.command("create")
_SAVE = _sql.command("save")
_SAVE_PICTURES = _sql.command("save_pictures")


async def of(at: Reading) -> Branding:
    found = await at.one(_OF_CAMPAIGN)
    if found is None:
        raise Missing("There is no such campaign.")
    return found


async def pictures_of(at: Reading) -> BrandPictures:
    return await at.one(_PICTURES) or BrandPictures()


async def save(change: Change, given: BrandFields) -> Branding:
    """Replaces everything but the pictures."""
    values = fields.checked(BrandFields, given)
    consent_text = values.pop("consent_text")
    await _lock(change)
    old = await of(change)
    text_id = old.consent_text_id
    if consent_text is None:
        text_id = None
    elif (consent_text, given.privacy_url) != (old.consent_text, old.privacy_url):
        text_id = await consents.add_text(change, consent_text, given.privacy_url)
    await change.run(_SAVE, **values, consent_text_id=text_id)
    change.tx.wake(campaigns.LINKS)
    after = {**values, "consent_text": consent_text}
    before = fields.as_stored(old, after)
    await change_log.record(change, campaigns.CHANGED, old.campaign_id, before, after)
    return await of(change)


async def change_pictures(change: Change, **changes: Any) -> None:
    """`changes` are fields of `BrandPictures`. The account has stored the pictures before."""
    await _lock(change)
    old = await pictures_of(change)
    pictures = old._replace(**changes)
    await change.run(_SAVE_PICTURES, **pictures._asdict())
    change.tx.wake(campaigns.LINKS)
    campaign_id = change.tenant.campaign_id
    before, after = (fields.as_stored(each, changes) for each in (old, pictures))
    await change_log.record(change, campaigns.CHANGED, campaign_id, before, after)


async def _lock(change: Change) -> None:
    if not await change.lock(_LOCK):
        raise Missing("There is no such campaign.")
    await change.run(_CREATE)
