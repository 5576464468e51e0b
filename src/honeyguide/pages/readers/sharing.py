"""A reader's link and the ways to share it. Each works without JavaScript; the script adds copying
and the phone's share menu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

import segno
from markupsafe import Markup

from honeyguide.pages.readers.page_texts import PageTexts


class SocialLink(NamedTuple):
    """Opens the form of an app or website with the message filled in."""

    name: str
    url: str


@dataclass(frozen=True)
class Share:
    link: str
    text: str
    subject: str

    @property
    def shown(self) -> str:
        """Without its scheme, as people read it."""
        return self.link.partition("://")[2]

    @property
    def mail(self) -> str:
        return f"mailto:?subject={quote(self.subject)}&body={quote(self.text)}"

    @property
    def message(self) -> str:
        # Android expects `?body=`, iOS `&body=`; both accept this.
        return f"sms:?&body={quote(self.text)}"

    @property
    def social(self) -> tuple[SocialLink, ...]:
        """Facebook and LinkedIn take no message, only the link. Telegram wants them apart."""
        link, text = quote(self.link, safe=""), quote(self.text)
        without_link = quote(self.text.replace(self.link, "").strip(" \u00a0:："))
        return (
            SocialLink("WhatsApp", f"https://wa.me/?text={text}"),
            SocialLink("Telegram", f"https://t.me/share/url?url={link}&text={without_link}"),
            SocialLink("X", f"https://x.com/intent/post?text={text}"),
            SocialLink("Facebook", f"https://www.facebook.com/sharer/sharer.php?u={link}"),
            SocialLink("LinkedIn", f"https://www.linkedin.com/sharing/share-offsite/?url={link}"),
            SocialLink("Bluesky", f"https://bsky.app/intent/compose?text={text}"),
        )

    @property
    def qr(self) -> Markup:
        return qr_code(self.link)


def of(texts: PageTexts, link: str) -> Share:
    return Share(link, texts.share_text(link), texts.share_subject)


def qr_code(link: str) -> Markup:
    """Dark on light in both themes: many phones cannot read the opposite.

    The mask is fixed: scanners read any of the eight, and to try all of them takes five times as
    long. On our links mask 0 is within 5% of the best.
    """
    code = segno.make(link, error="m", micro=False, mask=0)
    return Markup(
        code.svg_inline(
            omitsize=True, border=3, dark="#211b12", light="#ffffff", svgclass="qr", lineclass=None
        )
    )
