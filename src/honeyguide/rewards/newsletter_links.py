"""What a subscriber's newsletter shows about them: their link, their page, their progress. Also the
lines of the file that brings it into a newsletter tool, and the block an operator tested last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.mail.newsletter_block import STYLES
from honeyguide.mail.newsletter_tools import COUNT, HUB, LINK, NEXT, TO_GO, TOOLS, NewsletterTool
from honeyguide.rewards.rewards import Reward, next_reward
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import hub

HEADING_LIMIT = 120


class Linked(Protocol):
    """A subscriber, or a row of a list of them."""

    @property
    def id(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def name(self) -> str | None: ...
    @property
    def ref_code(self) -> str: ...
    @property
    def link_version(self) -> int: ...
    @property
    def referrals_verified(self) -> int: ...
    @property
    def toward_rewards(self) -> int: ...


class NewsletterBlock(NamedTuple):
    tool: str
    heading: str
    """Empty: the default one, in the newsletter's language."""
    style: str


_sql = beside(__file__)
_FIND = _sql.query("find", NewsletterBlock)
_SAVE = _sql.command("save")


def everyone_url(site: Site, slug: str) -> str:
    """Where a subscriber without a link enters their address and gets one by email."""
    return f"{site.base_url}/hub?of={slug}"


def values_of(site: Site, subscriber: Linked, rewards: Sequence[Reward]) -> dict[str, str]:
    """The fields of `newsletter_tools`, as text."""
    ahead = next_reward(rewards, subscriber.toward_rewards)
    token = hub.token(site, subscriber.id, subscriber.ref_code, subscriber.link_version)
    return {
        LINK: site.reader_link(subscriber.ref_code),
        HUB: f"{site.base_url}/hub/{token}",
        COUNT: str(subscriber.referrals_verified),
        NEXT: ahead[0].name if ahead else "",
        TO_GO: str(ahead[1]) if ahead else "",
    }


def file_line(
    tool: NewsletterTool, site: Site, subscriber: Linked, rewards: Sequence[Reward]
) -> tuple[str, ...]:
    """A subscriber in the file for this tool, under its `columns`."""
    values = values_of(site, subscriber, rewards)
    if not tool.is_json:
        return (subscriber.email, *values.values())
    named = {tool.field_name(field): value for field, value in values.items()}
    attributes = json.dumps(named, ensure_ascii=False)
    return (subscriber.email, subscriber.name or "", attributes)


async def find_block(at: Reading) -> NewsletterBlock | None:
    """The one that was tested last."""
    return await at.one(_FIND)


async def save_block(change: Change, block: NewsletterBlock) -> None:
    checks.one_of(block.tool, tuple(TOOLS), param="tool")
    checks.one_of(block.style, tuple(STYLES), param="style")
    checks.text(block.heading, param="heading", limit=HEADING_LIMIT)
    if not checks.is_one_line(block.heading):
        raise Invalid("{field} must be one line of text.", param="heading")
    old = await find_block(change)
    await change.run(_SAVE, **block._asdict())
    before = old._asdict() if old is not None else None
    campaign_id = change.tenant.campaign_id
    await change_log.record(
        change, "newsletter_block.changed", campaign_id, before, block._asdict()
    )
