"""A reader's link and the ways to share it. Each works without JavaScript; the script adds copying
and the phone's share menu.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import segno
from markupsafe import Markup

from honeyguide.pages.readers.page_texts import PageTexts


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
    def whatsapp(self) -> str:
        return f"https://wa.me/?text={quote(self.text)}"

    @property
    def qr(self) -> Markup:
        return qr_code(self.link)


def of(words: PageTexts, link: str) -> Share:
    return Share(link, words.share_text(link), words.share_subject)


def qr_code(link: str) -> Markup:
    """Dark on light in both themes: many phones cannot read the opposite."""
    code = segno.make(link, error="m", micro=False)
    return Markup(
        code.svg_inline(
            omitsize=True, border=3, dark="#211b12", light="#ffffff", svgclass="qr", lineclass=None
        )
    )
