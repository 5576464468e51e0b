"""What the pages of one language need and those of others hide: room for long words, the order of
two scripts in one line, the language's own quotation marks.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from honeyguide.languages.language import CODES
from honeyguide.rewards.rewards import NewReward
from honeyguide.subscribers.reader_emails import stop_url
from tests.browser.conftest import DESKTOP, PHONE, SMALL_PHONE, PageAt
from tests.browser.test_reader_languages import CUT_OFF
from tests.browser.test_reader_pages import Places
from tests.support.embeds import embedding
from tests.support.newsletter import Newsletter
from tests.support.prizes import earned_by
from tests.support.service import Service

CLIPPED_VALUES = """(inputs) =>
  inputs.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.value)"""
# Single letters before a hyphen whose word goes on in the next line.
LONE_LETTERS = r"""(heading) => {
  const texts = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    for (const start of texts.currentNode.data.matchAll(/(?<!\p{L})\p{L}-\p{L}/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, start.index);
      range.setEnd(texts.currentNode, start.index + start[0].length);
      const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
      if (new Set(lines).size > 1) found.push(texts.currentNode.data);
    }
  }
  return found;
}"""
# Of each letter of a text.
LEFT_EDGES = """(part) => {
  const text = part.firstChild, range = document.createRange();
  return [...text.data].map((_, place) => {
    range.setStart(text, place);
    range.setEnd(text, place + 1);
    return range.getBoundingClientRect().left;
  });
}"""
GAP_TO_NUMBER = """(row) => {
  const name = document.createRange(), [number, what] = row.children;
  name.selectNodeContents(what);
  const [one, other] = [number.getBoundingClientRect(), name.getBoundingClientRect()];
  return Math.max(other.left - one.right, one.left - other.right);
}"""
QUOTES = {
    "en": "“{}”",
    "de": "„{}“",
    "fr": "«\xa0{}\xa0»",
    "es": "«{}»",
    "pt": "“{}”",
    "it": "«{}»",
    "nl": "‘{}’",
    "pl": "„{}”",
    "ja": "「{}」",
    "ar": "«{}»",
}


# The languages whose headings broke, and the one that is read from the right.
LONG_WORDS = ("de", "nl", "ar")


IN_SHORT = [
    code if code in LONG_WORDS else pytest.param(code, marks=pytest.mark.long) for code in CODES
]


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


@pytest.mark.parametrize("code", IN_SHORT)
@pytest.mark.parametrize(
    "width",
    [SMALL_PHONE, *(pytest.param(each, marks=pytest.mark.long) for each in (PHONE, DESKTOP))],
)
def test_the_referral_page_fits_in_every_language(
    code: str, width: int, places: Places, page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    places.wax.speak(code)
    page = page_at(width, locale=code)
    for name in ("hub", "hub-claimed"):
        page.goto(places.wax.service.url + places.paths[name])
        fits(page)
        assert page.evaluate(CUT_OFF) == [], name
        assert page.locator(".coupon .input").evaluate_all(CLIPPED_VALUES) == [], name


@pytest.mark.parametrize("code", IN_SHORT)
def test_headings_break_no_word_on_a_small_phone(
    code: str, places: Places, page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    """Nor behind the first letter of "e-mail"."""
    places.wax.speak(code)
    page, url = page_at(SMALL_PHONE, locale=code), places.wax.service.url
    site = places.wax.service.services.site

    def check() -> None:
        fits(page)
        assert page.locator("h1").evaluate(LONE_LETTERS) == []

    for name in ("leave", "hub-left"):
        page.goto(url + places.paths[name])
        check()
    page.goto(f"{url}/hub")
    check()
    stop = stop_url(site, places.wax.advocate(1)).replace(site.base_url, url)
    for path in (f"{stop}?never=1", stop):
        page.goto(path)
        check()
    for _ in ("stopped", "resumed"):
        page.locator("main button").click()
        check()


def test_texts_in_two_scripts_stay_in_order(service: Service, page_at: PageAt) -> None:
    """On an Arabic page: what the newsletter wrote in English, and what was claimed earlier."""
    wax = Newsletter(service)
    wax.offer(
        NewReward("A call", 1, "manual"),
        NewReward("A card", 2, "coupon", coupon_code="HONEY", recurring=True),
    )
    ben = wax.advocate(6)
    hub, api = wax.hub(ben), f"{wax.member.v1}/rewards"
    earned = earned_by(wax.member, {"uuid": ben.id})
    for each in earned:
        claimed = f"{hub}/claim/{each['uuid']}"
        wax.visitor.post(claimed, data={"token": wax.claim_token(hub)})
    (call,) = (each["uuid"] for each in earned if each["name"] == "A call")
    declined = wax.member.post(f"{api}/{call}/decline", {"reason": "Please ask again in May."})
    assert declined.status_code == 200
    wax.speak("ar")
    page = page_at(DESKTOP, locale="ar")
    page.goto(service.url + hub)
    page.get_by_text("سابقًا").click()
    reason = page.locator("p", has_text="Please ask").locator("bdi")
    assert reason.evaluate(LEFT_EDGES) == sorted(reason.evaluate(LEFT_EDGES))
    name, code, day = (part.bounding_box() for part in page.locator(".earlier bdi").all()[:3])
    assert name and code and day
    assert name["x"] > code["x"] + code["width"] - 1 > day["x"] + day["width"] - 1


def test_a_quote_is_marked_as_the_language_does(service: Service) -> None:
    wax = Newsletter(service)
    wax.offer(NewReward("A call", 1, "manual"))
    ben = wax.advocate(1)
    hub = wax.hub(ben)
    (call,) = earned_by(wax.member, {"uuid": ben.id})
    wax.visitor.post(f"{hub}/claim/{call['uuid']}", data={"token": wax.claim_token(hub)})
    wax.member.post(f"{wax.member.v1}/rewards/{call['uuid']}/decline", {"reason": "In <May>."})
    for code, quote in QUOTES.items():
        wax.speak(code)
        expected = quote.format("<bdi>In &lt;May&gt;.</bdi>")
        assert expected in wax.visitor.get(hub).text, code


def test_names_in_an_embed_stand_beside_their_numbers(service: Service, page_at: PageAt) -> None:
    """In Arabic too, where an English name would begin at the other side of its column."""
    wax = Newsletter(service)
    wax.offer(NewReward("A hive", 3, "manual"))
    ben = wax.advocate(1)
    embed = embedding(wax.member, service.url)
    source = f"{service.url}/embed/{embed.public_id}/frame/hub?hub={wax.hub(ben).split('/')[-1]}"
    gaps = {}
    for code in ("ar", "ja", "en"):
        page = page_at(PHONE)
        page.goto(f"{source}&language={code}")
        row = page.locator("honeyguide-hub .reward").first
        row.wait_for()
        gaps[code] = row.evaluate(GAP_TO_NUMBER)
        breaks = page.locator("honeyguide-hub h2").evaluate(
            "(heading) => getComputedStyle(heading).wordBreak"
        )
        assert breaks == ("auto-phrase" if code == "ja" else "normal")
    assert gaps == pytest.approx({"ar": 12, "ja": 12, "en": 12}, abs=1)
