"""The block that operators paste into their newsletter: HTML and text with a tool's merge tags, or
filled in as one subscriber sees it.

Merge tags cannot make plurals, so the texts fit any number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from honeyguide.languages.language import Language
from honeyguide.mail import layout
from honeyguide.mail.layout import EmailBranding, EmailParts
from honeyguide.mail.newsletter_tools import COUNT, FIELDS, HUB, LINK, NEXT, TO_GO, NewsletterTool

CARD, BUTTON, LINE = "card", "button", "line"
STYLES = {CARD: "Card with progress", BUTTON: "Button only", LINE: "One line of text"}


class BlockTexts(NamedTuple):
    """What the block says. `progress` and the two after it are only in a card."""

    heading: str
    hub: str
    button: str
    link: str = ""
    invitation: str = ""
    progress: str = ""
    next_reward: str = ""
    condition: tuple[str, str] = ("", "")
    """What the tool wants before and after `next_reward`."""


def styles_of(tool: NewsletterTool) -> dict[str, str]:
    """By what a card shows in this tool."""
    if tool.has_tags and _has_progress(tool):
        return STYLES
    return {**STYLES, CARD: "Card with referrals" if tool.has_tags and tool.has(COUNT) else "Card"}


def _has_progress(tool: NewsletterTool) -> bool:
    return tool.has(TO_GO) and tool.condition_of(NEXT) is not None


def default_heading(language: Language) -> str:
    return language.gettext("Know someone who’d like this?")


def with_tags(
    language: Language, heading: str, tool: NewsletterTool, everyone_url: str
) -> BlockTexts:
    """To paste into this tool. `everyone_url` is for tools without merge tags."""
    if not tool.has_tags:
        return _for_everyone(language, heading, everyone_url)
    tags = {field: tool.tag_of(field) for field in FIELDS}
    condition = tool.condition_of(NEXT) if _has_progress(tool) else None
    return _personal(language, heading, tool, tags)._replace(
        next_reward=_next_reward(language, tags) if condition else "",
        condition=condition or ("", ""),
    )


def filled_in(
    language: Language,
    heading: str,
    tool: NewsletterTool,
    everyone_url: str,
    values: Mapping[str, str],
) -> BlockTexts:
    """As the tool would show it to a subscriber whose fields have these values."""
    if not tool.has_tags:
        return _for_everyone(language, heading, everyone_url)
    has_next = values[NEXT] and _has_progress(tool)
    return _personal(language, heading, tool, values)._replace(
        next_reward=_next_reward(language, values) if has_next else ""
    )


def _personal(
    language: Language, heading: str, tool: NewsletterTool, values: Mapping[str, str]
) -> BlockTexts:
    progress = language.gettext("Friends referred so far: {count}", count=values[COUNT])
    return BlockTexts(
        heading=heading,
        hub=values[HUB],
        button=language.gettext("Share your link"),
        link=values[LINK],
        progress=progress if tool.has(COUNT) else "",
    )


def _next_reward(language: Language, values: Mapping[str, str]) -> str:
    return language.gettext(
        "Next reward: {reward}. Still to go: {count}", reward=values[NEXT], count=values[TO_GO]
    )


def _for_everyone(language: Language, heading: str, url: str) -> BlockTexts:
    return BlockTexts(
        heading=heading,
        hub=url,
        button=language.gettext("Get your link"),
        invitation=language.gettext("Share your own link with friends and earn rewards."),
    )


def parts(texts: BlockTexts, style: str, brand: EmailBranding) -> EmailParts:
    html = layout.render("newsletter_block.html", **_values(texts, style, brand))
    return EmailParts(_text(texts, style, brand.language), html.strip() + "\n")


def sample_issue(texts: BlockTexts, style: str, brand: EmailBranding) -> EmailParts:
    """An issue with nothing in it but the block, for the preview and for a test email."""
    html = layout.render("newsletter_issue.html", brand=brand, **_values(texts, style, brand))
    return EmailParts(_text(texts, style, brand.language), html)


def _values(texts: BlockTexts, style: str, brand: EmailBranding) -> dict[str, Any]:
    before, _, after = _copy_it(brand.language, "\0").partition("\0")
    return {
        "block": texts,
        "style": style,
        "light": brand.palette.light,
        "direction": brand.language.direction,
        "before_link": before,
        "after_link": after,
    }


def _copy_it(language: Language, link: str) -> str:
    return language.gettext("Or copy it: {link}", link=link)


def _text(texts: BlockTexts, style: str, language: Language) -> str:
    share = f"{texts.button}: {texts.hub}"
    if style == LINE:
        return f"{texts.heading} {share}\n"
    if style == BUTTON:
        return f"{texts.heading}\n\n{share}\n"
    opening, closing = texts.condition
    next_reward = f"{opening}{texts.next_reward}{closing}" if texts.next_reward else ""
    lines = (texts.heading, texts.progress, next_reward, texts.invitation)
    rest = (share, _copy_it(language, texts.link) if texts.link else "")
    return "\n\n".join("\n".join(filter(None, each)) for each in (lines, rest)) + "\n"
