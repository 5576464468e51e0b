"""The branding page over HTTP: what it saves, what it refuses next to its field, and the pictures.
Pictures are decoded and drawn before the store is asked, so one engine is enough for them.
"""

import io
import re
from typing import Any

import httpx
import pytest
from PIL import Image

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import share_pictures
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import Branding, BrandPictures
from tests.support.partner_network import png
from tests.support.readings import reading
from tests.support.service import ONE_ENGINE
from tests.support.web import Operator

FIELDS = {
    "accent": "#4C5FD3",
    "privacy_url": "https://wax.example/privacy",
    "imprint_url": "https://wax.example/imprint",
    "consent_text": "Yes, please.",
    "asks_name": "1",
    "language": "pt",
    "follow_browser_language": "1",
    "from_name": "Nora",
    "reply_to": "nora@wax.example",
    "share": "made",
    "show_inviter": "1",
    "show_leaderboard": "1",
}
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def tenant(owner: Operator) -> Tenant:
    return Tenant(owner.account_id, owner.campaign_id)


def load(owner: Operator) -> Branding:
    return owner.service.read(lambda tx: branding.of(reading(tx, tenant(owner))))


def pictures(owner: Operator) -> BrandPictures:
    return owner.service.read(lambda tx: branding.pictures_of(reading(tx, tenant(owner))))


def send(owner: Operator, files: dict[str, bytes] | None = None, **fields: Any) -> httpx.Response:
    data = {"csrf": owner.web.token("/look/branding"), **fields}
    named = {name: (f"{name}.png", body) for name, body in (files or {}).items()}
    return owner.web.http.post("/look/branding", data=data, files=named or {"logo": ("", b"")})


def served(owner: Operator, picture_id: str | None) -> Image.Image:
    answer = owner.web.get(f"/logos/{picture_id}")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    return Image.open(io.BytesIO(answer.content))


def test_everything_on_the_form_is_saved_and_shown_again(alice: Operator) -> None:
    answer = send(alice, **FIELDS)
    assert (answer.status_code, answer.headers["location"]) == (303, "/look/branding")
    found = load(alice)
    assert (found.accent, found.language, found.asks_name) == ("#4c5fd3", "pt", 1)
    assert (found.from_name, found.reply_to) == ("Nora", "nora@wax.example")
    assert (found.show_inviter, found.show_leaderboard) == (1, 1)
    html = alice.web.get("/look/branding").text
    for text in ("#4c5fd3", "https://wax.example/imprint", "Yes, please.", "nora@wax.example"):
        assert text in html
    assert 'value="pt" selected' in html


@ONE_ENGINE
def test_every_wrong_field_is_named_at_once_and_nothing_is_saved(alice: Operator) -> None:
    wrong = {
        "accent": "red",
        "privacy_url": "javascript:alert(1)",
        "imprint_url": "wax.example",
        "consent_text": "x" * 601,
        "language": "tlh",
        "from_name": "Nora\nBcc: all@example.org",
        "reply_to": "a@example.org, b@example.org",
    }
    answer = send(alice, **FIELDS | wrong)
    assert answer.status_code == 400
    for name, sentence in {
        "accent": "Accent color must be a hex color such as #4c5fd3.",
        "privacy_url": "Privacy policy must be an absolute http or https URL",
        "imprint_url": "Imprint must be an absolute http or https URL",
        "consent_text": "Consent text must be at most 600 characters long.",
        "language": "Language must be one of",
        "from_name": "From name must not contain line breaks or control characters.",
        "reply_to": "Reply-To must be one email address, such as hello@example.com.",
    }.items():
        below = re.search(
            rf'id="h-{name}">\s*(?:<p class="wrong">|<svg.*?</svg>)*([^<]+)', answer.text
        )
        assert below is not None and below[1].startswith(sentence), name
    assert load(alice).accent is None


@ONE_ENGINE
def test_a_logo_brings_an_icon_and_a_share_picture(alice: Operator) -> None:
    assert send(alice, {"logo": png((1, 99, 2))}, **FIELDS).status_code == 303
    found = load(alice)
    assert found.logo_id == pictures(alice).logo_id
    assert served(alice, found.logo_id).size == (64, 64)
    assert served(alice, found.icon_id).size == (96, 96)
    share = served(alice, found.share_id)
    assert share.size == (1200, 630)
    assert share.convert("RGB").getpixel((5, 5)) == (0x4C, 0x5F, 0xD3)
    assert share.convert("RGB").getpixel((140, 140)) == (1, 99, 2)
    send(alice, **FIELDS)
    assert load(alice).share_id == found.share_id, "nothing changed, so it is not drawn again"
    send(alice, **FIELDS | {"remove_logo": "1"})
    assert (load(alice).logo_id, load(alice).icon_id) == (None, None)
    assert load(alice).share_id != found.share_id


@ONE_ENGINE
def test_own_pictures_are_kept_until_they_are_removed(alice: Operator) -> None:
    send(alice, {"logo": png(), "icon": png((9, 9, 9))}, **FIELDS)
    own = pictures(alice)
    assert own.icon_is_own
    send(alice, {"logo": png((1, 2, 3))}, **FIELDS)
    assert pictures(alice).icon_id == own.icon_id
    assert "Choose a picture to upload." in send(alice, **FIELDS | {"share": "own"}).text
    send(alice, {"share_picture": png((200, 0, 0))}, **FIELDS | {"share": "own"})
    share = pictures(alice)
    assert share.share_is_own
    assert served(alice, share.share_id).format == "JPEG"
    send(alice, **FIELDS | {"share": "own", "accent": "#111111"})
    assert pictures(alice).share_id == share.share_id
    send(alice, **FIELDS | {"remove_icon": "1"})
    assert not pictures(alice).share_is_own and not pictures(alice).icon_is_own
    assert pictures(alice).share_id not in (None, share.share_id)


@ONE_ENGINE
@pytest.mark.parametrize("field", ["logo", "icon", "share_picture"])
def test_drawings_with_scripts_are_refused_next_to_their_field(alice: Operator, field: str) -> None:
    share = "own" if field == "share_picture" else "made"
    answer = send(alice, {field: SVG}, **FIELDS | {"share": share})
    assert answer.status_code == 400
    assert "must be a PNG or JPEG image." in answer.text
    assert load(alice).accent is None


@ONE_ENGINE
def test_a_new_headline_or_name_draws_the_share_picture_again(alice: Operator) -> None:
    send(alice, **FIELDS)
    seen = [load(alice).share_id]
    alice.web.post("/look/pages", promise="Another headline")
    seen.append(load(alice).share_id)
    settings = {"name": "Another name", "slug": load(alice).slug, "screening": "strong"}
    assert alice.web.post("/settings/campaign", page="/settings", **settings).status_code == 303
    seen.append(load(alice).share_id)
    assert len(set(seen)) == 3


@ONE_ENGINE
def test_a_picture_that_cannot_be_drawn_costs_no_change(
    alice: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the picture worker failed")

    monkeypatch.setattr(share_pictures, "draw_apart", broken)
    assert send(alice, **FIELDS).status_code == 303
    assert (load(alice).accent, load(alice).share_id) == ("#4c5fd3", None)


@ONE_ENGINE
def test_the_preview_shows_what_is_typed_and_saves_nothing(alice: Operator) -> None:
    typed = FIELDS | {"preview_theme": "dark"}
    html = alice.web.post("/look/branding/preview", page="/look/branding", **typed).text
    for text in ("/accents/4c5fd3.css", "Yes, please.", 'name="name"', 'data-theme="dark"'):
        assert text in html
    assert "<script" not in html
    wrong = FIELDS | {"accent": "#4c5fd3}x{", "privacy_url": "javascript:alert(1)"}
    html = alice.web.post("/look/branding/preview", page="/look/branding", **wrong).text
    assert "/accents/" not in html and "javascript:" not in html
    hub = alice.web.post(
        "/look/branding/preview", page="/look/branding", **typed, preview_page="hub"
    ).text
    assert 'class="reader hub"' in hub
    assert load(alice).accent is None


@ONE_ENGINE
def test_the_note_says_what_becomes_of_a_color(alice: Operator) -> None:
    def note(accent: str) -> str:
        return alice.web.post(
            "/look/branding/preview/color", page="/look/branding", accent=accent
        ).text

    assert "We adjust your color" in note("#ff0") and "#717100" in note("#ff0")
    assert "default honey color" in note("")
    assert note("<script>").strip() == ""
