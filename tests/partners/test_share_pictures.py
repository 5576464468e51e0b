"""The picture of a shared link: every script we have a language for, and no text that breaks it."""

import asyncio
import io

import pytest
from PIL import Image, ImageChops, features

from honeyguide.partners import share_pictures
from honeyguide.partners.logos import Logo
from honeyguide.partners.share_pictures import ShareDesign, draw, draw_apart
from tests.support.partner_network import png

GROUND = (0x12, 0x34, 0x56)


def drawn(name: str, headline: str, logo: bytes | None = None) -> Image.Image:
    return opened(draw(ShareDesign(name, headline, "#123456", "#ffffff"), logo))


def opened(made: Logo) -> Image.Image:
    assert (made.width, made.height, made.content_type) == (1200, 630, "image/png")
    assert len(made.data) < 300_000, "some apps show no larger picture"
    return Image.open(io.BytesIO(made.data)).convert("RGB")


def ink(image: Image.Image) -> tuple[int, int, int, int]:
    """The box around everything that was drawn."""
    ground = Image.new("RGB", image.size, GROUND)
    return ImageChops.difference(image, ground).getbbox() or (0, 0, 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "Five minutes of honey, every morning",
        "Fünf Minuten Honig. Grüße! Ça va? ¿Qué? São João. Zażółć gęślą jaźń",
        "毎朝5分で読める、はちみつの話。",
        "x" * 400,
        "word " * 80,
        "朝" * 300,
        "\u202egnirts\u202c and\u0000\ttabs\nand lines",
    ],
)
def test_texts_stay_within_the_picture(text: str) -> None:
    left, top, right, bottom = ink(drawn("The Morning Wax", text, png()))
    assert left >= 70 and top >= 70 and right <= 1130 and bottom <= 570


@pytest.mark.skipif(not features.check("raqm"), reason="this Pillow cannot shape Arabic")
def test_arabic_starts_on_the_right() -> None:
    left, _, right, _ = ink(drawn("شمع الصباح", "خمس دقائق من العسل كل صباح"))
    assert 1200 - right < left


def test_arabic_that_could_not_be_shaped_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_pictures, "_shapes_arabic", lambda: False)
    share_pictures._has.cache_clear()
    try:
        assert ink(drawn("خمس", "خمس دقائق")) == (0, 0, 0, 0)
        assert ink(drawn("Wax", "خمس")) != (0, 0, 0, 0)
    finally:
        share_pictures._has.cache_clear()


@pytest.mark.parametrize("text", ["", "🐝🍯", "\U0010ffff", "\u0000"])
def test_what_no_font_has_is_left_out(text: str) -> None:
    assert ink(drawn(text, text)) == (0, 0, 0, 0)


def test_the_child_draws_the_same() -> None:
    design = ShareDesign("The Morning Wax", "Honey 蜂蜜", "#123456", "#ffffff")
    assert asyncio.run(draw_apart(design, png())) == draw(design, png())


def test_the_source_changes_with_everything_that_is_drawn() -> None:
    design = ShareDesign("a", "b", "#123456", "#ffffff")
    others = [ShareDesign("ab", "", "#123456", "#ffffff"), ShareDesign("a", "b", "#123457", "#fff")]
    sources = {design.source(None), design.source("1"), *(each.source(None) for each in others)}
    assert len(sources) == 4
