"""Reader pages in other languages: no text is left in English, none is cut off, and pages from
right to left and in Japanese are as good as the English ones.
"""

import inspect
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from honeyguide.languages import countries
from honeyguide.languages.language import CODES, ENGLISH, get_language
from honeyguide.mail import layout, shipment_texts, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.layout import EmailBranding, EmailLinks
from honeyguide.mail.texts import AdvocateFacts, RewardAhead, UnlockedReward
from honeyguide.pages.readers import forms
from honeyguide.rewards import advocate_emails
from honeyguide.subscribers.reader_emails import stop_url
from tests.browser.conftest import APPEARANCES, DESKTOP, PHONE, SMALL_PHONE, PageAt, weights
from tests.browser.test_reader_pages import LIGHT, NAMES, TEXTS, Places
from tests.support.newsletter import REWARDS
from tests.support.pseudo_language import (
    CODE,
    is_untranslated,
    pseudo_language,
    untranslated,
    write_catalog,
)
from tests.support.service import Service

# Names, and what operators wrote.
OWN = (
    *TEXTS.values(),
    *(reward.name for reward in REWARDS),
    *(reward.description for reward in REWARDS if reward.description),
    *("The Morning Wax", "Plain Letters", "The Weekly Hive", "All that buzzes, every Friday."),
    *("I’d like to get Plain Letters by email.", "Ben B.", "Ben", "Cleo", "HONEY-2026", "Nov"),
    *("WhatsApp", "Telegram", "Facebook", "LinkedIn", "Bluesky"),
    *countries.names(get_language(CODE)).values(),
)
NAME, REWARD, NEXT_REWARD = "The Morning Wax", "The mug", "A jar of honey"
HUB, LINK = "https://example.org/hub", "https://example.org/link"
HOW_TO_CLAIM = "Parcels leave on the first of each month."


def email_values(reward: str, next_reward: str) -> dict[str, Any]:
    """For each parameter of an email to a reader, by its type."""
    return {
        "AdvocateFacts": AdvocateFacts(HUB, referrals=3, toward_rewards=3, first_name="Ben"),
        "UnlockedReward": UnlockedReward(reward, "HONEY-2026", LINK, HOW_TO_CLAIM),
        "RewardAhead | None": RewardAhead(next_reward, 7, "https://example.org/r/23456789"),
        "str": reward,
    }


FULL = email_values(REWARD, NEXT_REWARD)
NEEDED = {
    "AdvocateFacts": AdvocateFacts(HUB, referrals=3),
    "UnlockedReward": UnlockedReward(REWARD),
    "RewardAhead | None": None,
    "str": REWARD,
}
CUT_OFF = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const text = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const box = each.getBoundingClientRect();
  if (!text || !each.checkVisibility() || each.closest(".unseen, .trap, svg")) return false;
  const clips = getComputedStyle(each).overflowX !== "visible";
  const isOutside = box.left < -1 || box.right > innerWidth + 1;
  return isOutside || (clips && each.scrollWidth > each.clientWidth + 1);
}).map((each) => each.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


@pytest.fixture(scope="module")
def pseudo_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("locale")
    write_catalog(folder)
    return folder


@pytest.fixture
def in_pseudo(places: Places, pseudo_catalog: Path) -> Iterator[Places]:
    with pseudo_language(pseudo_catalog):
        for newsletter in (places.wax, places.shy):
            newsletter.speak(CODE)
        places.wax.visitor.headers["accept-language"] = CODE
        yield places
        for newsletter in (places.wax, places.shy):
            newsletter.speak("en")
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
        "no page": visitor.get("/hub/a/b/c"),
        "no method": visitor.put(wax.page),
    }
    wrong = {name: answer.status_code for name, answer in posts.items()}
    assert set(wrong.values()) <= {400, 403, 404, 405, 410, 413, 415}, wrong
    return {name: answer.text for name, answer in posts.items()}


def test_no_page_has_a_text_in_english(in_pseudo: Places) -> None:
    wax = in_pseudo.wax
    pages = {name: wax.visitor.get(in_pseudo.paths[name]).text for name in NAMES}
    pages |= refused_pages(in_pseudo)
    pages["asked"] = wax.visitor.post("/hub", data={**wax.fields("/hub"), "email": "a@b.de"}).text
    reader = wax.advocate(1)
    stop = stop_url(wax.service.services.site, reader)
    pages["stop"], pages["stopped"] = wax.visitor.get(stop).text, wax.visitor.post(stop).text
    pages["resumed"] = wax.visitor.post(f"{stop}?again=1").text
    for name, html in pages.items():
        assert '<html lang="de" dir="ltr">' in html, name
        assert "⟦" in html, name
        assert untranslated(html, OWN) == [], name


def reader_emails() -> dict[str, Callable[..., EmailText]]:
    """The functions of `mail.texts` that take a newsletter's branding."""
    functions = inspect.getmembers(texts, inspect.isfunction)
    return {
        name: function
        for name, function in functions
        if "brand" in inspect.signature(function).parameters and not name.startswith("_")
    }


def written(
    function: Callable[..., EmailText], brand: EmailBranding, values: dict[str, Any]
) -> EmailText:
    parameters = inspect.signature(function).parameters.values()
    given = {
        each.name: LINK if each.name == "link" else values[each.annotation]
        for each in parameters
        if each.name != "brand"
    }
    return function(brand, **given)


def test_no_email_has_a_text_in_english_or_cut_off(in_pseudo: Places, page_at: PageAt) -> None:
    page = page_at(PHONE)
    found = {kind: faults_of_email(page, email) for kind, email in reader_emails().items()}
    assert {kind: faults for kind, faults in found.items() if faults} == {}


def faults_of_email(page: Page, function: Callable[..., EmailText]) -> list[str]:
    """Texts in English or cut off, with all values and with only those that it needs."""
    brand = EmailBranding(NAME, get_language(CODE), reply_to="a@example.org")
    faults: list[str] = []
    for values in (FULL, NEEDED):
        email = written(function, brand, values)
        assert "⟦" in email.subject
        lines = [email.subject, *email.text.splitlines()]
        faults += [line for line in lines if is_untranslated(line, OWN)]
        html = layout.parts(
            email, brand, EmailLinks("https://example.org/stop", "https://example.org/leave")
        ).html
        faults += untranslated(html, OWN)
        page.set_content(html)
        faults += page.evaluate(CUT_OFF)
    return faults


STEPS = """() => [...document.querySelectorAll("td[colspan]")].map((cell) => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  const box = words.getBoundingClientRect(), next = cell.nextElementSibling.getBoundingClientRect();
  return Math.max(next.left - box.right, box.left - next.right);
})"""


def test_the_steps_of_a_package_stand_apart_on_a_phone(page_at: PageAt) -> None:
    page = page_at(PHONE)
    for code in CODES:
        language = get_language(code)
        days = {name: language.day(1_795_000_000_000) for name in ("earned", "sent", "expected")}
        brand = EmailBranding(NAME, language)
        sending = shipment_texts.Sending("The mug", **days, town="Porto")
        email = shipment_texts.shipment_sent(brand, AdvocateFacts(HUB, 3), sending)
        page.set_content(layout.parts(email, brand).html)
        gaps = page.evaluate(STEPS)
        assert len(gaps) == 2 and min(gaps) >= 8, (code, gaps)


def test_a_long_word_is_broken_in_every_email(
    page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    page = page_at(320)
    word = "Donaudampfschifffahrtsgesellschaftsnachrichten"
    brand = EmailBranding(word, ENGLISH, reply_to="a@example.org")
    values = email_values(word * 3, word * 3)
    for function in reader_emails().values():
        email = written(function, brand, values)
        page.set_content(
            layout.parts(email, brand, EmailLinks(stop="https://example.org/stop")).html
        )
        fits(page)


def test_the_campaigns_language_reaches_every_email(in_pseudo: Places) -> None:
    wax, shy = in_pseudo.wax, in_pseudo.shy
    shy.join(shy.address())
    wax.join(wax.address())
    wax.advocate(3)
    # One kind at a time: an advocate gets one email about referrals a day.
    for kind, friends in (("friend_joined", 1), ("one_more", 2)):
        for other in ("reward_unlocked", "friend_joined", "one_more"):
            wax.member.make(advocate_emails.switch, other, is_on=other == kind)
        wax.advocate(friends)
    emails = [*wax.emails(), *shy.emails()]
    assert {email.kind for email in emails if "⟦" in (email.subject or "")} == {*reader_emails()}


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
    places.wax.speak(code)
    page = page_at(DESKTOP)
    for name in ("signup", "hub-claimed"):
        page.goto(places.wax.service.url + places.paths[name])
        assert page.locator("html").get_attribute("lang") == code
        looks_good(page)


def test_a_reward_named_in_another_script_reads_from_its_own_side(
    places: Places, page_at: PageAt
) -> None:
    """Or the full stop of an English description would come before it."""
    places.wax.speak("ar")
    page = page_at(PHONE)
    page.goto(places.wax.service.url + places.wax.hub(places.wax.advocate(9)))
    for text in page.locator(".ready-list :is(b, p), .reward-list :is(b, p)").all():
        assert text.evaluate("(each) => getComputedStyle(each).unicodeBidi") == "plaintext"
    for text in page.locator("main [dir=ltr]").all():
        assert text.evaluate("(each) => getComputedStyle(each).textAlign") == "right"


@pytest.mark.parametrize("code", CODES)
def test_a_real_font_is_installed(code: str) -> None:
    """Without one, boxes are measured in place of letters, and they are narrower."""
    found = subprocess.run(["fc-list", f":lang={code}"], capture_output=True, text=True, check=True)
    assert found.stdout, "`make chromium` installs fonts-noto-cjk on Debian"


@pytest.mark.long
@pytest.mark.parametrize("code", CODES)
def test_every_page_is_light_in_every_language(code: str, places: Places, page_at: PageAt) -> None:
    for newsletter in (places.wax, places.shy):
        newsletter.speak(code)
    page = page_at(PHONE, locale=code)
    for name in NAMES:
        found = weights(page, places.wax.service.url + places.paths[name])
        own = sum(weight for url, weight in found.items() if "/logos/" not in url)
        assert 0 < own < LIGHT, (name, found)


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
        newsletter.speak(code)
    for width, theme in [(SMALL_PHONE, "light"), *APPEARANCES]:
        page = page_at(width, theme, locale=code)
        for name in NAMES:
            page.goto(places.wax.service.url + places.paths[name])
            assert page.locator("html").get_attribute("lang") == code, name
            fits(page)
            assert page.evaluate(CUT_OFF) == [], name
            axe(page)
