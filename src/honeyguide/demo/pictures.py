"""Logos for the demo's publications, drawn when they are needed: a plain sign on a plain ground."""

from __future__ import annotations

import io
import math
from collections.abc import Callable

from PIL import Image, ImageDraw

SIDE = 160
# Twice the largest that a page shows.
SHOWN = 112
# Drawn larger and scaled down, which is what makes the edges smooth.
FINE = 2

_Draw = ImageDraw.ImageDraw
_MID = SIDE * FINE / 2


def _around(points: int, radius: float, turn: float = 0.0) -> list[tuple[float, float]]:
    angles = [2 * math.pi * (n + turn) / points for n in range(points)]
    return [(_MID + radius * math.cos(angle), _MID + radius * math.sin(angle)) for angle in angles]


def _hexagon(draw: _Draw, ink: str, ground: str) -> None:
    draw.polygon(_around(6, _MID * 0.68, 0.5), fill=ink)
    draw.polygon(_around(6, _MID * 0.46, 0.5), fill=ground)
    draw.polygon(_around(6, _MID * 0.26, 0.5), fill=ink)


def _leaf(draw: _Draw, ink: str, ground: str) -> None:
    steps = [n / 24 for n in range(25)]
    right = [(_MID + _MID * 0.5 * math.sin(math.pi * t), _MID * (0.25 + 1.3 * t)) for t in steps]
    left = [(2 * _MID - x, y) for x, y in reversed(right)]
    draw.polygon([*right, *left], fill=ink)
    draw.line((_MID, _MID * 0.6, _MID, _MID * 1.56), fill=ground, width=FINE * 5)
    draw.line((_MID, _MID * 1.5, _MID, _MID * 1.78), fill=ink, width=FINE * 6)
    for height in (0.85, 1.12):
        for side in (-1, 1):
            tip = (_MID * (1 + side * 0.24), _MID * (height - 0.17))
            draw.line(((_MID, _MID * height), tip), fill=ground, width=FINE * 4)


def _road(draw: _Draw, ink: str, ground: str) -> None:
    top, bottom = _MID * 0.4, _MID * 1.65
    draw.polygon(
        [(_MID * 0.88, top), (_MID * 1.12, top), (_MID * 1.6, bottom), (_MID * 0.4, bottom)],
        fill=ink,
    )
    for n in range(4):
        y = top + (bottom - top) * (0.08 + n * 0.24)
        wide = FINE * (2 + n * 2)
        draw.rectangle(
            (_MID - wide, y, _MID + wide, y + (bottom - top) * (0.08 + n * 0.015)), fill=ground
        )


def _wave(draw: _Draw, ink: str, _ground: str) -> None:
    for row in range(3):
        y = _MID * (0.62 + row * 0.38)
        line = [
            (x, y + math.sin(x / (_MID * 0.14)) * _MID * 0.1)
            for x in range(int(_MID * 0.35), int(_MID * 1.65), FINE)
        ]
        draw.line(line, fill=ink, width=FINE * 14, joint="curve")


def _sun(draw: _Draw, ink: str, ground: str) -> None:
    for point in _around(12, _MID * 0.74):
        draw.line(((_MID, _MID), point), fill=ink, width=FINE * 9)
    draw.ellipse((_MID * 0.5, _MID * 0.5, _MID * 1.5, _MID * 1.5), fill=ground)
    draw.ellipse((_MID * 0.62, _MID * 0.62, _MID * 1.38, _MID * 1.38), fill=ink)


def _frames(draw: _Draw, ink: str, ground: str) -> None:
    for row in range(3):
        for column in range(3):
            x, y = _MID * (0.4 + column * 0.42), _MID * (0.4 + row * 0.42)
            fill = ink if (row + column) % 2 else ground
            draw.rectangle(
                (x, y, x + _MID * 0.36, y + _MID * 0.36), fill=fill, outline=ink, width=FINE * 5
            )


def _cookie(draw: _Draw, ink: str, ground: str) -> None:
    draw.ellipse((_MID * 0.42, _MID * 0.42, _MID * 1.58, _MID * 1.58), fill=ink)
    draw.ellipse((_MID * 1.2, _MID * 0.24, _MID * 1.76, _MID * 0.8), fill=ground)
    for x, y in ((0.76, 0.8), (1.08, 1.0), (0.8, 1.22), (1.2, 1.3)):
        draw.ellipse(
            (_MID * (x - 0.09), _MID * (y - 0.09), _MID * (x + 0.09), _MID * (y + 0.09)),
            fill=ground,
        )


_SIGNS: dict[str, Callable[[_Draw, str, str], None]] = {
    "hexagon": _hexagon,
    "leaf": _leaf,
    "road": _road,
    "wave": _wave,
    "sun": _sun,
    "frames": _frames,
    "cookie": _cookie,
}


def logo(sign: str, ink: str, ground: str) -> bytes:
    """A PNG."""
    large = Image.new("RGB", (SIDE * FINE, SIDE * FINE), ground)
    _SIGNS[sign](ImageDraw.Draw(large), ink, ground)
    out = io.BytesIO()
    large.resize((SHOWN, SHOWN), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()
