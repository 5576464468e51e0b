"""A campaign's branding on both engines: what is kept and what is refused."""

import re
from functools import partial
from html import unescape
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields, Branding, BrandPictures
from tests.support import partner_network
from tests.support.changes import changing
from tests.support.newsletter import Newsletter
from tests.support.readings import reading
from tests.support.service import ONE_ENGINE, Member


def save(member: Member, **fields: Any) -> Branding:
    return member.make(branding.save, BrandFields(**fields))  # type: ignore[no-any-return]


def load(member: Member) -> Branding:
    tenant = Tenant(member.account_id, member.campaign_id)
    return member.service.read(lambda tx: branding.of(reading(tx, tenant)))


def test_a_campaign_without_branding_has_a_neutral_one(alice: Member) -> None:
    found = load(alice)
    assert (found.accent, found.logo_id, found.language) == (None, None, "en")
    assert found.palette.light.accent == "#8a4f00"
    assert found.sender_name == found.name


def test_what_is_saved_is_loaded_in_one_row(alice: Member) -> None:
    given = {
        "accent": "#4C5FD3",
        "privacy_url": "https://wax.example/privacy",
        "imprint_url": "http://wax.example/imprint",
        "consent_text": "I’d like to get it by email.",
        "asks_name": True,
        "language": "ja",
        "follow_browser_language": True,
        "from_name": "Nora from The Morning Wax",
        "reply_to": "Nora@Wax.Example",
        "show_leaderboard": True,
        "show_inviter": True,
    }
    saved = save(alice, **given)
    assert saved == load(alice)
    expected = given | {"accent": "#4c5fd3", "reply_to": "Nora@wax.example"}
    assert {name: getattr(saved, name) for name in expected} == expected
    assert saved.sender_name == "Nora from The Morning Wax"
    assert save(alice)._replace(consent_text_id=None) == load(alice), "empty fields are emptied"
    assert load(alice).consent_text is None


def test_the_logo_falls_back_to_the_first_active_publication(alice: Member) -> None:
    first, second = (
        partner_network.publish(alice, name="First"),
        partner_network.publish(alice, name="Second"),
    )
    logo = load(alice).logo_url(alice.service.services.site)
    assert logo == f"{alice.service.settings.base_url}/logos/{load(alice).logo_id}"
    assert logo.endswith(first["logo_url"].rpartition("/")[2])
    alice.put(f"/v2/publications/{first['uuid']}", {"status": "archived"})
    assert second["logo_url"].endswith(str(load(alice).logo_id))


def test_own_pictures_come_first(alice: Member) -> None:
    own = partner_network.publish(alice)["logo_url"].rpartition("/")[2]
    partner_network.publish(alice, name="Another")
    tenant = Tenant(alice.account_id, alice.campaign_id)
    pictures = BrandPictures(logo_id=own, icon_id=own, share_id=own, share_source="x")
    alice.make(branding.change_pictures, **pictures._asdict())
    save(alice, accent="#123456")
    assert alice.service.read(lambda tx: branding.pictures_of(reading(tx, tenant))) == pictures
    assert (load(alice).logo_id, load(alice).icon_id, load(alice).share_id) == (own, own, own)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"accent": "red;} body{display:none"}, "accent must be a hex color such as #4c5fd3."),
        ({"accent": "#12"}, "accent must be a hex color"),
        ({"privacy_url": "javascript:alert(1)"}, "privacy_url must be an absolute http or https"),
        ({"imprint_url": "data:text/html,<script>"}, "imprint_url must be an absolute http or"),
        ({"imprint_url": "https://a.example/" + "x" * 2048}, "imprint_url must be at most 2,048"),
        ({"consent_text": "x" * 601}, "consent_text must be at most 600 characters long."),
        ({"language": "xx"}, "language must be one of: en, de,"),
        ({"from_name": "Nora\r\nBcc: all@example.org"}, "from_name must not contain line breaks"),
        ({"from_name": "Nora\u2028Bcc: x"}, "from_name must not contain line breaks"),
        ({"from_name": "x" * 81}, "from_name must be at most 80 characters long."),
        ({"reply_to": "a@example.org, b@example.org"}, "reply_to must be one email address"),
        ({"reply_to": "a@example.org\nBcc: b@example.org"}, "reply_to must be one email address"),
        ({"reply_to": "Nora <a@example.org>"}, "reply_to must be one email address"),
    ],
)
def test_bad_values_are_refused_with_a_sentence(
    alice: Member, fields: dict[str, Any], sentence: str
) -> None:
    save(alice, accent="#4c5fd3")
    with pytest.raises(Invalid) as refused:
        save(alice, **fields)
    assert refused.value.message.startswith(sentence)
    assert load(alice).accent == "#4c5fd3"


def test_another_accounts_campaign_is_not_found(alice: Member, mallory: Member) -> None:
    theirs = Tenant(mallory.account_id, alice.campaign_id)
    nowhere = Tenant(alice.account_id, new_id())
    for tenant in (theirs, nowhere):
        save_there = changing(branding.save, alice.service.services.site, tenant, 1)
        with pytest.raises(Missing):
            alice.service.write(partial(save_there, given=BrandFields()))
        with pytest.raises(Missing):
            alice.service.read(lambda tx, tenant=tenant: branding.of(reading(tx, tenant)))


def test_a_changed_text_or_privacy_link_is_another_text(wax: Newsletter) -> None:
    member, texts = wax.member, []
    for text, link in (("Yes", None), ("Yes", None), ("Yes!", None), ("Yes!", "https://a.example")):
        texts.append(save(member, consent_text=text, privacy_url=link).consent_text_id)
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


@ONE_ENGINE
def test_the_color_comes_from_a_style_sheet_that_may_be_cached_forever(wax: Newsletter) -> None:
    assert "/accents/" not in wax.visitor.get(wax.page).text
    save(wax.member, accent="#FF0")
    html = wax.visitor.get(wax.page).text
    address = re.findall(r'href="(/accents/ffff00\.css\?v=[0-9a-f]{8})"', html)[0]
    answer = wax.visitor.get(address)
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.text.startswith(":root{--accent:light-dark(#717100,#ffff00);")
    assert "style=" not in html and "<style" not in html


@ONE_ENGINE
@pytest.mark.parametrize("color", ["fff", "FFFF00", "ffff0g", "ffff00;x", "%23ffff", "ffff00}x{"])
def test_a_style_sheet_of_anything_but_a_color_does_not_exist(wax: Newsletter, color: str) -> None:
    assert wax.visitor.get(f"/accents/{color}.css").status_code == 404


def tags(html: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="((?:og|twitter):[^"]+)" content="([^"]*)">', html)
    return {name: unescape(text) for name, text in found}


@ONE_ENGINE
def test_a_shared_page_shows_its_picture_and_keeps_the_referral(wax: Newsletter) -> None:
    base_url = wax.service.settings.base_url
    logo_id = partner_network.publish(wax.member)["logo_url"].rpartition("/")[2]
    found = tags(wax.visitor.get(wax.page).text)
    assert found["og:image"] == f"{base_url}/logos/{logo_id}"
    assert found["twitter:card"] == "summary"
    wax.member.make(branding.change_pictures, share_id=logo_id)
    found = tags(wax.visitor.get(f"{wax.page}?ref=a%22b%3E").text)
    assert found["twitter:card"] == "summary_large_image"
    assert found["og:image"] == f"{base_url}/logos/{logo_id}"
    assert found["og:url"] == f"{base_url}{wax.page}?ref=a%22b%3E"
    assert (found["og:image:width"], found["og:image:height"]) == ("1200", "630")


@ONE_ENGINE
def test_every_page_of_a_newsletter_has_its_branding(wax: Newsletter) -> None:
    wax.configure(needs_confirmation=False)
    save(wax.member, accent="#123456", privacy_url="https://wax.example/p?a=1&b=2")
    partner_network.publish(wax.member)
    email = wax.address()
    thanks = wax.join(email).headers["location"]
    program = partner_network.offer(wax.member, partner_network.publish(wax.member, name="Second"))
    joined = partner_network.join(wax.service.member("bob"), program)
    hub = wax.hub(wax.person(email))
    for path in (wax.page, thanks, hub, f"/hub?of={wax.campaign.slug}", f"/m/{joined['ref_code']}"):
        html = wax.visitor.get(path).text
        assert "/accents/123456.css" in html, path
        assert re.search(r'<img class="logo" src="/logos/[0-9a-f-]{36}"', html), path
        assert re.search(r'<link rel="icon" href="/logos/[0-9a-f-]{36}"', html), path
        assert 'href="https://wax.example/p?a=1&amp;b=2"' in html, path
