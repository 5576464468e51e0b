"""Reader pages in other languages: no text is left in English, none is cut off, and pages from
right to left and in Japanese are as good as the English ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from honeyguide.languages.language import CODES
from honeyguide.mail import emails
from honeyguide.pages.readers import forms
from honeyguide.referrals import branding
from honeyguide.referrals.branding import BrandFields
from tests.browser.conftest import DESKTOP, LOOKS, PHONE, PageAt
from tests.browser.test_reader_pages import NAMES, WORDS, Places
from tests.support.newsletter import REWARDS, Newsletter
from tests.support.pseudo_language import CODE, is_untranslated, pseudo_language, untranslated
from tests.support.service import Service

# Names, and what operators wrote.
OWN = (
    *WORDS.values(),
    *(reward.name for reward in REWARDS),
    *(reward.description for reward in REWARDS if reward.description),
    *("The Morning Wax", "Plain Letters", "The Weekly Hive", "All that buzzes, every Friday."),
    *("Ben", "Cleo", "WhatsApp", "HONEY-2026", "Nov"),
)
CUT_OFF = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const text = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const box = each.getBoundingClientRect();
  if (!text || !each.checkVisibility() || each.closest(".unseen, .trap, svg")) return false;
  const clips = getComputedStyle(each).overflowX !== "visible";
  const isOutside = box.left < -1 || box.right > innerWidth + 1;
  return isOutside || (clips && each.scrollWidth > each.clientWidth + 1);
}).map((each) => each.outerHTML.slice(0, 200))"""


@pytest.fixture(autouse=True)
def quick_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms.NetworkLimit, "another", lambda self, address, now_ms: None)


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


def speak(newsletter: Newsletter, code: str) -> None:
    """Changes the campaign's language."""
    now_ms, fields = newsletter.service.now_ms(), BrandFields(language=code)
    newsletter.service.write(lambda tx: branding.save(tx, newsletter.tenant, fields, now_ms=now_ms))


@pytest.fixture
def in_pseudo(places: Places, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with pseudo_language(tmp_path_factory.mktemp("locale")):
        for newsletter in (places.wax, places.shy):
            speak(newsletter, CODE)
        places.wax.visitor.headers["accept-language"] = CODE
        yield places
        for newsletter in (places.wax, places.shy):
            speak(newsletter, "en")
        del places.wax.visitor.headers["accept-language"]


def refused_pages(places: Places) -> dict[str, str]:
    """Forms that are shown again, and pages that say what went wrong."""
    visitor, wax, claim = places.wax.visitor, places.wax, places.paths["claim"]
    token = wax.fields(claim)
    form = "application/x-www-form-urlencoded"
    posts = {
        "no email": visitor.post(wax.page, data=wax.fields(wax.page)),
        "bad email": visitor.post(wax.page, data={**wax.fields(wax.page), "email": "bad"}),
        "trap": visitor.post(wax.page, data={**wax.fields(wax.page), forms.TRAP: "bot"}),
        "expired": visitor.post(wax.page, data={"email": "a@example.org"}),
        "no form": visitor.post(wax.page, json={}),
        "not text": visitor.post(wax.page, content=b"\xff=1", headers={"content-type": form}),
        "too long": visitor.post(wax.page, data={"email": "x" * forms.BODY_LIMIT}),
        "other site": visitor.post(
            wax.page, data={"email": "a"}, headers={"sec-fetch-site": "cross-site"}
        ),
        "no address": visitor.post(claim, data=token),
        "long address": visitor.post(claim, data={**token, "name": "x" * 300, "city": "\0"}),
        "find without email": visitor.post("/hub", data=wax.fields("/hub")),
        "expired link": visitor.get("/confirm/zzzz"),
    }
    wrong = {name: answer.status_code for name, answer in posts.items()}
    assert set(wrong.values()) <= {400, 403, 410, 413, 415}, wrong
    return {name: answer.text for name, answer in posts.items()}


def test_no_page_has_a_text_in_english(in_pseudo: Places) -> None:
    wax = in_pseudo.wax
    pages = {name: wax.visitor.get(in_pseudo.paths[name]).text for name in NAMES}
    pages |= refused_pages(in_pseudo)
    pages["asked"] = wax.visitor.post("/hub", data={**wax.fields("/hub"), "email": "a@b.de"}).text
    for name, html in pages.items():
        assert '<html lang="de" dir="ltr">' in html, name
        assert "⟦" in html, name
        assert untranslated(html, OWN) == [], name


def test_no_email_has_a_text_in_english(in_pseudo: Places) -> None:
    wax, shy = in_pseudo.wax, in_pseudo.shy
    shy.join(shy.address())
    wax.join(wax.address())
    wax.advocate(3)
    found = set()
    for newsletter in (wax, shy):
        for letter in newsletter.letters():
            text = wax.service.read(
                lambda tx, newsletter=newsletter, letter=letter: emails.text_of(
                    tx, newsletter.tenant.account_id, letter.id
                )
            )
            if "⟦" in f"{letter.subject}{text}":
                found.add(letter.kind)
                lines = [letter.subject or "", *(text or "").splitlines()]
                assert [line for line in lines if is_untranslated(line, OWN)] == []
    assert found == {"confirm", "hub_link", "reward_unlocked"}


def test_longer_texts_are_not_cut_off_on_a_phone(
    in_pseudo: Places, page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    page = page_at(PHONE, locale=CODE)
    for name in NAMES:
        page.goto(in_pseudo.wax.service.url + in_pseudo.paths[name])
        fits(page)
        assert page.evaluate(CUT_OFF) == [], name


@pytest.mark.parametrize("code", ["ar", "ja"])
def test_other_scripts_are_as_good(
    code: str, places: Places, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    speak(places.wax, code)
    page = page_at(DESKTOP)
    for name in ("signup", "hub-claimed"):
        page.goto(places.wax.service.url + places.paths[name])
        assert page.locator("html").get_attribute("lang") == code
        looks_good(page)


@pytest.mark.long
@pytest.mark.parametrize("code", CODES)
def test_every_page_in_every_language_and_look(
    code: str,
    places: Places,
    page_at: PageAt,
    axe: Callable[..., None],
    fits: Callable[[Page], None],
) -> None:
    for newsletter in (places.wax, places.shy):
        speak(newsletter, code)
    for width, theme in LOOKS:
        page = page_at(width, theme, locale=code)
        for name in NAMES:
            page.goto(places.wax.service.url + places.paths[name])
            assert page.locator("html").get_attribute("lang") == code, name
            fits(page)
            assert page.evaluate(CUT_OFF) == [], name
            axe(page)
