"""Put it in your newsletter: the block with each subscriber's own link, for the tool the operator
uses; a preview, a test email, and the file that brings the links into the tool.

The URL holds the choice. Sending a test saves it, and ends this step of the checklist.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, Response, StreamingResponse

from honeyguide.integrations import integrations
from honeyguide.integrations.about import About, SyncField
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.mail import email_kinds, emails, newsletter_block
from honeyguide.mail.content import email
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.layout import EmailBranding, EmailParts
from honeyguide.mail.newsletter_block import STYLES
from honeyguide.mail.newsletter_tools import (
    COUNT,
    FIELDS,
    HUB,
    LINK,
    NEXT,
    TO_GO,
    TOOLS,
    NewsletterTool,
)
from honeyguide.moving import exporting
from honeyguide.pages.dashboard.look.emails import FRAME_HEADERS, SAMPLE_REFERRALS, SAMPLE_REWARD
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.rewards import newsletter_links, rewards
from honeyguide.rewards.newsletter_links import HEADING_LIMIT, NewsletterBlock
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import branding, statistics, subscribers
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.subscriber_filters import SubscriberFilter

FORM = {"heading": Field("Heading")}
DEFAULT = NewsletterBlock(tool="mailchimp", heading="", style=newsletter_block.CARD)
# Which of an integration's fields is which of ours; and the tool of a platform with another name.
_SYNCED = {
    LINK: SyncField.LINK,
    HUB: SyncField.HUB_LINK,
    COUNT: SyncField.REFERRALS,
    NEXT: SyncField.NEXT_REWARD,
    TO_GO: SyncField.REFERRALS_MISSING,
}
_TOOL_OF = {"generic": "other"}
# Whose email the preview shows.
TOP, NEW, FINISHED = "top", "new", "finished"


class ChosenBlock(NamedTuple):
    choice: NewsletterBlock
    tool: NewsletterTool
    brand: EmailBranding
    everyone_url: str

    @property
    def heading(self) -> str:
        return self.choice.heading or newsletter_block.default_heading(self.brand.language)

    def query(self, **more: str) -> str:
        return urlencode({**self.choice._asdict(), **more})

    def to_paste(self) -> EmailParts:
        texts = newsletter_block.with_tags(
            self.brand.language, self.heading, self.tool, self.everyone_url
        )
        return newsletter_block.parts(texts, self.choice.style, self.brand)

    def as_seen_by(self, values: dict[str, str]) -> EmailParts:
        """In an issue."""
        texts = newsletter_block.filled_in(
            self.brand.language, self.heading, self.tool, self.everyone_url, values
        )
        return newsletter_block.sample_issue(texts, self.choice.style, self.brand)


class Reader(NamedTuple):
    """Somebody to preview the block with."""

    label: str
    values: dict[str, str]
    picture_url: str = ""
    """Of the referral page, if they are real."""

    @property
    def previewed(self) -> dict[str, str]:
        """Without the key to their page: whoever previews the block may not act as them."""
        return {**self.values, HUB: self.picture_url} if self.picture_url else self.values


async def show(at: Reading, request: PageRequest) -> PageView:
    chosen = await _chosen(at, request)
    readers = await _readers(at, request)
    seen_by = request.query.get("as", "")
    return request.view(
        "newsletter.html",
        chosen=chosen,
        tools=TOOLS.values(),
        styles=newsletter_block.styles_of(chosen.tool).items(),
        block=chosen.to_paste(),
        fields=FIELDS,
        readers=[(key, reader.label) for key, reader in readers.items()],
        seen_by=seen_by if seen_by in readers else next(iter(readers)),
        platform=await _platform_to_connect(at, request, chosen.tool),
        is_tested=await newsletter_links.find_block(at) is not None,
        longest=HEADING_LIMIT,
        to=request.who.email,
    )


async def preview(at: Reading, request: PageRequest) -> Response:
    """The block at the end of an issue. For a frame."""
    chosen = await _chosen(at, request)
    readers = await _readers(at, request)
    reader = readers.get(request.query.get("as", "")) or next(iter(readers.values()))
    return HTMLResponse(chosen.as_seen_by(reader.previewed).html, headers=FRAME_HEADERS)


async def send_test(change: Change, request: PageRequest) -> Response:
    """The block as the tool would fill it in, to the operator's own address."""
    chosen = await _chosen(change, request)
    await newsletter_links.save_block(change, chosen.choice)
    reader = next(iter((await _readers(change, request)).values()))
    test = EmailToSend(
        account_id=request.tenant.account_id,
        to=EmailAddress(request.who.email),
        kind=email_kinds.TEST_EMAIL,
        message=email(f"Test: your newsletter block for {chosen.tool.name}"),
        brand=chosen.brand,
        parts=chosen.as_seen_by(reader.values),
    )
    await emails.send(change.tx, test)
    return request.go(
        f"/look/newsletter?{chosen.query()}", f"A test email is on its way to {request.who.email}."
    )


async def links_csv(services: PageServices, request: PageRequest) -> Response:
    tool = TOOLS.get(request.query.get("tool", ""))
    if tool is None or not tool.has_tags:
        raise Missing("There is no such file.")
    return StreamingResponse(
        _csv_parts(services, request, tool),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"links-for-{tool.key}.csv"),
    )


async def _csv_parts(
    services: PageServices, request: PageRequest, tool: NewsletterTool
) -> AsyncIterator[str]:
    """Sent as it is read: the file may be larger than our memory. Unsubscribed people are left out,
    so that no import makes them active again."""
    offered = await services.store.read(
        reads(rewards.of_campaign, request.services.site, request.tenant, request.now_ms)
    )
    yield csv_text([tool.columns])
    after, is_last = None, False
    while not is_last:
        rows, after = await services.store.replica_snapshot(
            reads(exporting.batch, request.services.site, request.tenant, request.now_ms),
            SubscriberFilter(),
            after=after,
        )
        yield csv_text(
            newsletter_links.file_line(tool, services.site, row.subscriber, offered)
            for row in rows
            if row.subscriber.status != "unsubscribed"
        )
        is_last = after is None


async def _chosen(at: Reading, request: PageRequest) -> ChosenBlock:
    """What the form or the URL says, else what was tested last, else what is connected."""
    connected = await _connected_tool(at, request)
    default = DEFAULT._replace(tool=connected.key) if connected else DEFAULT
    saved = await newsletter_links.find_block(at) or default
    given = {**saved._asdict(), **request.query, **request.fields}
    campaign: Branding = await at.fact(branding.of)
    key = given["tool"] if given["tool"] in TOOLS else saved.tool
    return ChosenBlock(
        NewsletterBlock(
            tool=key,
            # One character too many is still refused, and shown many times on the page.
            heading=" ".join(given["heading"].split())[: HEADING_LIMIT + 1],
            style=given["style"] if given["style"] in STYLES else saved.style,
        ),
        connected if connected and connected.key == key else TOOLS[key],
        campaign.email_branding(request.services.site),
        newsletter_links.everyone_url(request.services.site, campaign.slug),
    )


async def _connected_tool(at: Reading, request: PageRequest) -> NewsletterTool | None:
    """The tool that an integration writes both links to, with the names that these have there."""
    integration = await integrations.find(at)
    tool = (
        TOOLS.get(_TOOL_OF.get(integration.platform, integration.platform)) if integration else None
    )
    if integration is None or tool is None or not tool.has_tags:
        return None
    names = {
        field: integration.field_names[synced]
        for field, synced in _SYNCED.items()
        if synced in integration.field_names
    }
    return replace(tool, names=names) if LINK in names and HUB in names else None


async def _platform_to_connect(
    at: Reading, request: PageRequest, tool: NewsletterTool
) -> About | None:
    """The tool's platform, if it could be connected and none is yet."""
    key = next((platform for platform, name in _TOOL_OF.items() if name == tool.key), tool.key)
    if key not in PLATFORMS or await integrations.find(at) is not None:
        return None
    return PLATFORMS[key].about


async def _readers(at: Reading, request: PageRequest) -> dict[str, Reader]:
    """The newsletter's top advocate, if there is one, and two made-up subscribers."""
    site = request.services.site
    offered = await at.fact(rewards.of_campaign)
    found: dict[str, Reader] = {}
    for advocate in await statistics.top_advocates_ever(at, most=1):
        subscriber = await subscribers.find(at, advocate.id)
        if subscriber is not None:
            values = newsletter_links.values_of(site, subscriber, offered)
            label = f"{subscriber.name or subscriber.email}, your top advocate"
            found[TOP] = Reader(label, values, f"{site.base_url}/subscribers/{subscriber.id}/page")
    ahead = rewards.next_reward(offered, 0)
    first = (ahead[0].name, ahead[1]) if ahead else (SAMPLE_REWARD, SAMPLE_REFERRALS)
    found[NEW] = Reader("Someone without referrals", _sample(site, 0, *first))
    most = max((reward.referrals for reward in offered), default=SAMPLE_REFERRALS)
    found[FINISHED] = Reader("Someone who earned every reward", _sample(site, most, "", ""))
    return found


def _sample(site: Site, verified: int, next_reward: str, to_go: int | str) -> dict[str, str]:
    return {
        LINK: f"{site.base_url}/r/sample",
        HUB: f"{site.base_url}/hub/sample",
        COUNT: str(verified),
        NEXT: next_reward,
        TO_GO: str(to_go),
    }
