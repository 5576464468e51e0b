"""The picture that apps show with a shared link, drawn from the newsletter's name, headline, color
and logo. It is drawn when branding is saved, in a child process, never while a reader waits.

The fonts cover Latin, Greek, Cyrillic, Hebrew, Japanese and Arabic. Characters that they lack, such
as emoji, are left out.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from honeyguide.partners import logos, picture_process
from honeyguide.partners.logos import SHARE, Logo

if TYPE_CHECKING:
    from PIL import Image, ImageDraw
    from PIL.ImageFont import FreeTypeFont

_FONTS = Path(__file__).parent / "fonts"
# Both have Latin letters; for a text in nothing else, the first is used.
_FONT_FILES = ("notosansarabic-bold.woff2", "mplus1p-bold.woff2")
# Changes when drawings look different, so that old ones are made again.
_VERSION = "1"

_MARGIN = 84
_LOGO_SIDE = 112
_LOGO_CORNER = 26
_NAME_SIZE = 44
# The headline is as large as fits.
_HEADLINE_SIZES = (88, 80, 72, 64, 56, 48)
_MOST_LINES = 4
_LEADING = 1.28
_ELLIPSIS = "…"
# No line begins with these.
_CLOSING = "、。，．・：；？！゛゜ー」』）】〉》〕…,.!?:;)]}’”"


class ShareDesign(msgspec.Struct, frozen=True):
    name: str
    headline: str
    ground: str
    ink: str

    def source(self, logo_id: str | None) -> str:
        """The same for the same picture."""
        parts = (*msgspec.structs.astuple(self), logo_id, _VERSION)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


async def draw_apart(design: ShareDesign, logo: bytes | None) -> Logo:
    """`draw` in a child process."""
    data = msgspec.json.encode(design) + b"\n" + (logo or b"")
    code, answer = await picture_process.run("honeyguide.partners.share_pictures", data)
    return logos.read_answer(code, answer, SHARE)


def draw(design: ShareDesign, logo: bytes | None) -> Logo:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SHARE.width, SHARE.height), design.ground)
    board = ImageDraw.Draw(image)
    name, headline = _drawable(design.name), _drawable(design.headline)
    is_rtl = _is_rtl(headline or name)
    name_start = _MARGIN
    if logo is not None:
        _paste_logo(image, logo, is_rtl)
        name_start += _LOGO_SIDE + 28
    name_middle = _MARGIN + _LOGO_SIDE // 2
    _draw_line(
        board,
        _shorten(name, _NAME_SIZE, SHARE.width - name_start - _MARGIN),
        name_start,
        name_middle,
        _NAME_SIZE,
        ink=design.ink,
        is_rtl=is_rtl,
    )
    size, lines = _wrap(headline)
    height = round(size * _LEADING)
    first = SHARE.height - _MARGIN - height * len(lines) + height // 2
    for place, line in enumerate(lines):
        _draw_line(
            board, line, _MARGIN, first + place * height, size, ink=design.ink, is_rtl=is_rtl
        )
    return logos.encode(image, photograph=False)


def _draw_line(
    board: ImageDraw.ImageDraw,
    text: str,
    start: int,
    middle: int,
    size: int,
    *,
    ink: str,
    is_rtl: bool,
) -> None:
    """`start` is the distance from the side where the text begins."""
    place = (SHARE.width - start, middle) if is_rtl else (start, middle)
    board.text(place, text, font=_font_for(text, size), fill=ink, anchor="rm" if is_rtl else "lm")


def _paste_logo(image: Image.Image, logo: bytes, is_rtl: bool) -> None:
    from PIL import Image, ImageDraw, ImageOps

    side = _LOGO_SIDE
    picture = Image.open(io.BytesIO(logo), formats=["PNG", "JPEG"]).convert("RGBA")
    picture = ImageOps.contain(picture, (side, side), Image.Resampling.LANCZOS)
    square = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    # Drawn larger and scaled down, which makes the corners smooth.
    mask = Image.new("L", (side * 4, side * 4), 0)
    corner = _LOGO_CORNER * 4
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, side * 4 - 1, side * 4 - 1), corner, fill=255)
    rounded = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    rounded.paste(square, mask=mask.resize((side, side), Image.Resampling.LANCZOS))
    image.paste(rounded, (SHARE.width - _MARGIN - side if is_rtl else _MARGIN, _MARGIN), rounded)


@cache
def _font(file: str, size: int) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(_FONTS / file, size)


@cache
def _shapes_arabic() -> bool:
    """Without this library letters would be drawn apart and in the wrong order."""
    from PIL import features

    return bool(features.check("raqm"))


@cache
def _has(file: str, character: str) -> bool:
    """Whether the font has more for a character than the box that stands for missing ones."""
    if unicodedata.bidirectional(character) == "AL" and not _shapes_arabic():
        return False
    font = _font(file, 24)
    return bytes(font.getmask(character)) != bytes(font.getmask("\U0010ffff"))


def _font_for(text: str, size: int) -> FreeTypeFont:
    return _font(_best_file(text), size)


def _best_file(text: str) -> str:
    """The font that has most of the text."""
    characters = [character for character in text if not character.isspace()]
    return max(_FONT_FILES, key=lambda file: sum(_has(file, each) for each in characters))


def _drawable(text: str) -> str:
    """What the best font has of the text, with single spaces."""
    file = _best_file(text)
    kept = (
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFC", text)
        if character.isspace() or (character.isprintable() and _has(file, character))
    )
    return " ".join("".join(kept).split())


def _is_rtl(text: str) -> bool:
    strong = (unicodedata.bidirectional(character) for character in text)
    return next((kind in ("R", "AL") for kind in strong if kind in ("L", "R", "AL")), False)


def _width(text: str, size: int) -> float:
    return _font_for(text, size).getlength(text)


def _shorten(text: str, size: int, most: int) -> str:
    if _width(text, size) <= most:
        return text
    while text and _width(text + _ELLIPSIS, size) > most:
        text = text[:-1].rstrip()
    return text + _ELLIPSIS


def _wrap(text: str) -> tuple[int, list[str]]:
    """The largest size at which the headline fits, and its lines."""
    most = SHARE.width - 2 * _MARGIN
    lines: list[str] = []
    for size in _HEADLINE_SIZES:
        lines = _lines(text, size, most)
        room = SHARE.height - 2 * _MARGIN - _LOGO_SIDE - 24
        if len(lines) <= _MOST_LINES and len(lines) * size * _LEADING <= room:
            return size, lines
    kept = lines[:_MOST_LINES]
    kept[-1] = _shorten(kept[-1] + _ELLIPSIS * 2, _HEADLINE_SIZES[-1], most)
    return _HEADLINE_SIZES[-1], kept


def _lines(text: str, size: int, most: int) -> list[str]:
    lines: list[str] = []
    line = ""
    for part in _parts(text):
        if line and _width((line + part).rstrip(), size) > most:
            lines.append(line.rstrip())
            line = ""
        line += part
    return [*lines, line.rstrip()] if line.strip() else lines


def _parts(text: str) -> list[str]:
    """Where a line may end: after spaces, and between characters of scripts without spaces."""
    parts: list[str] = []
    for character in text:
        is_wide = unicodedata.east_asian_width(character) in "WF"
        before = parts[-1][-1] if parts else " "
        may_break = before == " " or is_wide or unicodedata.east_asian_width(before) in "WF"
        if parts and (character == " " or character in _CLOSING or not may_break):
            parts[-1] += character
        else:
            parts.append(character)
    # One word may be wider than the picture.
    return [part[at : at + 24] for part in parts for at in range(0, len(part), 24)]


def _worker() -> None:
    picture_process.limit_ourselves()
    head, _, logo = sys.stdin.buffer.read().partition(b"\n")
    made = draw(msgspec.json.decode(head, type=ShareDesign), logo or None)
    size = {"width": made.width, "height": made.height}
    sys.stdout.buffer.write(json.dumps(size).encode() + b"\n" + made.data)


if __name__ == "__main__":
    _worker()
