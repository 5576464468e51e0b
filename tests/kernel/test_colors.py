"""Whatever color an operator chooses, what readers see in it can be read, in both themes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.kernel import colors
from honeyguide.kernel.colors import DARK_GROUNDS, LIGHT_GROUNDS, contrast
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.static import FOLDER

# White, black, yellow and gray hide text in one theme or in both; the rest is what brands use.
NAMED = (
    *("#ffffff", "#000000", "#ffff00", "#808080", "#777777", "#767676", "#fffffe", "#010101"),
    *("#00ff00", "#ff0000", "#0000ff", "#6577e8", "#955600", "#f4b740", "#1da1f2", "#e60023"),
)


def check(color: str) -> None:
    made = colors.palette(color)
    for shades, grounds in ((made.light, LIGHT_GROUNDS), (made.dark, DARK_GROUNDS)):
        for ground in (*grounds, shades.soft):
            assert contrast(shades.accent, ground) >= 4.5, (color, shades, ground)
        for ground in grounds:
            assert contrast(shades.shape, ground) >= 3, (color, shades, ground)
        assert contrast(shades.on_accent, shades.accent) >= 4.5, (color, shades)
        assert contrast(shades.on_shape, shades.shape) >= 4.5, (color, shades)


@pytest.mark.parametrize("color", NAMED)
def test_no_color_can_hide_text(color: str) -> None:
    check(color)


@settings(deadline=None)
@given(st.integers(0, 0xFFFFFF))
def test_nor_can_any_other(number: int) -> None:
    check(f"#{number:06x}")


def test_a_color_that_can_be_read_stays_as_it_is() -> None:
    assert colors.palette("#955600").light.accent == "#955600"
    assert colors.palette("#f4b740").dark.accent == "#f4b740"


def test_contrast_is_what_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#0000ff", "#ffffff") == pytest.approx(8.59, abs=0.005)


@pytest.mark.parametrize(
    ("text", "color"), [("#4C5FD3", "#4c5fd3"), ("#45d", "#4455dd"), ("#FFF", "#ffffff")]
)
def test_hex_colors_are_read(text: str, color: str) -> None:
    assert colors.parse(text, param="accent") == color


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "red",
            "4c5fd3",
            "#12",
            "#1234",
            "#12345",
            "#1234567",
            "#ggg",
            "#4c5fd3;",
            "#４c5fd3",
        ),
        *("#fff}body{display:none", "url(//evil.example)", "rgb(0,0,0)", "#fff\n", " #fff", "#ſff"),
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="must be a hex color such as #4c5fd3"):
        colors.parse(text, param="accent")


def test_the_grounds_and_the_neutral_colors_are_those_of_the_style_sheet() -> None:
    css = (FOLDER / "honeyguide" / "names.css").read_text(encoding="utf-8")
    pairs = [
        ("ground", (LIGHT_GROUNDS[0], DARK_GROUNDS[0])),
        ("surface", (LIGHT_GROUNDS[1], DARK_GROUNDS[1])),
        ("sunken", (LIGHT_GROUNDS[2], DARK_GROUNDS[2])),
        ("accent", (colors.NEUTRAL.light.accent, colors.NEUTRAL.dark.accent)),
        ("on-accent", (colors.NEUTRAL.light.on_accent, colors.NEUTRAL.dark.on_accent)),
        ("accent-soft", (colors.NEUTRAL.light.soft, colors.NEUTRAL.dark.soft)),
        ("main", (colors.NEUTRAL.light.main, colors.NEUTRAL.dark.main)),
        ("main-edge", (colors.NEUTRAL.light.main_edge, colors.NEUTRAL.dark.main_edge)),
        ("honey", (colors.NEUTRAL.light.shape, colors.NEUTRAL.dark.shape)),
    ]
    for name, (light, dark) in pairs:
        assert f"--{name}: light-dark({light}, {dark});" in css
    for shades in (colors.NEUTRAL.light, colors.NEUTRAL.dark):
        assert f"--on-main: {shades.on_main};" in css
