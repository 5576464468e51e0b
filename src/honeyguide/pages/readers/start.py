"""The referral page as it is for every new reader, where the thank-you page leads.

Anybody can type anybody's address into the signup form. So this page has only what is public: the
subscriber's link and the rewards. It is the same for a new address and for one that has been
subscribed for years, and tells nobody which it was. Progress, names and rewards to claim need the
link that is sent to the mailbox.
"""

from __future__ import annotations

from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import page_branding, progress, sharing
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.rewards import rewards
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, links
from honeyguide.subscribers.hub_choices import HubChoices

_PURPOSE = "thanks"


def token(site: Site, ref_code: str) -> str:
    return site.seal(_PURPOSE, ref_code.encode())


def code_of(site: Site, given: str) -> str | None:
    """The referral code in a token that we made."""
    content = site.unseal(_PURPOSE, given)
    return None if content is None else content.decode()


async def show(tx: Tx, request: ReaderRequest) -> ReaderView:
    site = request.services.site
    code = code_of(site, request.at("token"))
    link = await links.lookup(tx, code) if code else None
    if link is None:
        raise Missing(page_branding.UNKNOWN)
    tenant = Tenant(link.account_id, link.campaign_id)
    brand = page_branding.of_campaign(await branding.of(Reading(tx, site, tenant, request.now_ms)))
    brand = brand.for_reader(request.accepted_languages)
    ahead = await rewards.of_campaign(Reading(tx, site, tenant, request.now_ms))
    return request.view(
        "hub.html",
        brand,
        private=True,
        hub="",
        first_name="",
        welcome=False,
        progress=progress.measure(brand.language, ahead, [], progress.ReferralCount(0, 0)),
        share=sharing.of(brand.texts, site.reader_link(link.form_code or link.code)),
        own_code=None,
        choices=HubChoices(),
        public_first_name="",
        leaderboard=[],
        is_start=True,
        asks_for_sign=False,
    )
