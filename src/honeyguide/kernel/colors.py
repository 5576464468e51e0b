"""Colors: an operator's accent color becomes shades that can be read in both themes.

Contrast is WCAG's ratio. Text needs 4.5:1 against every background it can be on; shapes and borders
need 3:1. A color that has it is used as it is; another one is mixed with black (light theme) or
white (dark theme), just as far as needed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from honeyguide.kernel.errors import Invalid

TEXT_CONTRAST = 4.5
SHAPE_CONTRAST = 3.0

# The backgrounds of reader pages, as in honeyguide/names.css: ground, surface, sunken.
LIGHT_GROUNDS = ("#fbf9f5", "#ffffff", "#f5f1e8")
DARK_GROUNDS = ("#131109", "#1c1912", "#27221a")
BLACK, WHITE = "#000000", "#ffffff"
# How much of the accent is in its soft shade.
_SOFT = {"light": 0.1, "dark": 0.18}
_STEPS = 256

_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE | re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Shades:
    """One theme's colors, each as #rrggbb."""

    accent: str
    """For text, and for buttons in a color of the operator's."""
    on_accent: str
    """Text on `accent`."""
    soft: str
    """A pale background for text in `accent`."""
    shape: str
    """For progress bars and other shapes: closer to the operator's color than `accent`."""
    on_shape: str
    main: str
    """The filled button."""
    main_edge: str
    on_main: str


@dataclass(frozen=True, slots=True)
class Palette:
    light: Shades
    dark: Shades


# Honeyguide's own colors, as in honeyguide/names.css.
NEUTRAL = Palette(
    light=Shades(
        accent="#8a4f00",
        on_accent="#ffffff",
        soft="#fdf1d6",
        shape="#d99414",
        on_shape="#1d1300",
        main="#f5b73b",
        main_edge="#a96a00",
        on_main="#231600",
    ),
    dark=Shades(
        accent="#f6bd4b",
        on_accent="#1d1300",
        soft="#3a2b0f",
        shape="#f4b740",
        on_shape="#1d1300",
        main="#f4b740",
        main_edge="#f4b740",
        on_main="#231600",
    ),
)


def parse(text: str, *, param: str) -> str:
    """`#4C5FD3` or `#45d` as `#4c5fd3`. Only such a value ever reaches a style sheet."""
    if not _HEX(text):
        raise Invalid("{field} must be a hex color such as #4c5fd3.", param=param)
    digits = text[1:].lower()
    return "#" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))


def contrast(one: str, other: str) -> float:
    """From 1 (the same) to 21 (black on white)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=1024)
def palette(color: str) -> Palette:
    """Readable shades of a parsed color."""
    return Palette(
        light=_shades(color, LIGHT_GROUNDS, BLACK, _SOFT["light"]),
        dark=_shades(color, DARK_GROUNDS, WHITE, _SOFT["dark"]),
    )


def _shades(color: str, grounds: tuple[str, ...], toward: str, soft: float) -> Shades:
    def is_text(step: int) -> bool:
        mixed = mix(color, toward, step / _STEPS)
        pale = mix(grounds[1], mixed, soft)
        return all(contrast(mixed, ground) >= TEXT_CONTRAST for ground in (*grounds, pale))

    def is_shape(step: int) -> bool:
        mixed = mix(color, toward, step / _STEPS)
        return all(contrast(mixed, ground) >= SHAPE_CONTRAST for ground in grounds)

    # No ground is near the middle, so every step away from the grounds only adds contrast.
    accent = mix(color, toward, bisect_left(range(_STEPS), True, key=is_text) / _STEPS)
    shape = mix(color, toward, bisect_left(range(_STEPS), True, key=is_shape) / _STEPS)
    return Shades(
        accent=accent,
        on_accent=text_on(accent),
        soft=mix(grounds[1], accent, soft),
        shape=shape,
        on_shape=text_on(shape),
        main=accent,
        main_edge=accent,
        on_main=text_on(accent),
    )


def text_on(color: str) -> str:
    """White where it can be read, else black; one of them always can."""
    return WHITE if contrast(WHITE, color) >= TEXT_CONTRAST else BLACK


def mix(one: str, other: str, share: float) -> str:
    """`share` of the other color, the rest of the first."""
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}"
        for a, b in zip(channels(one), channels(other), strict=True)
    )


def channels(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


@lru_cache(maxsize=4096)
def _luminance(color: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(level: float) -> float:
    return level / 12.92 if level <= 0.04045 else float(((level + 0.055) / 1.055) ** 2.4)
