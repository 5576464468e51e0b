"""Reader pages in a real browser: both widths, both themes, with and without JavaScript, by
keyboard, and light.
"""

import re
from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from honeyguide.pages.readers.preview import preview
from honeyguide.rewards import rewards
from honeyguide.rewards.earned_states import EarnedState
from honeyguide.rewards.rewards import NewReward
from honeyguide.subscribers import branding, hub_choices
from honeyguide.subscribers.branding import BrandFields
from tests.browser.conftest import DESKTOP, PHONE, Appearance, PageAt, weights
from tests.support import partner_network
from tests.support.newsletter import Newsletter
from tests.support.readings import change_of, reading
from tests.support.service import Service

TEXTS = {
    "tagline": "Bees, honey and the people who keep them",
    "promise": "The beekeeper’s week, in five quiet minutes",
    "details": (
        "Every Saturday: one hive, one recipe and one thing worth knowing. 12,400 keepers read it "
        "over breakfast."
    ),
    "hub_note": "Parcels leave on the first of each month.",
}
LIGHT = 15_000


class Places:
    """Every page there is, made once."""

    def __init__(self, service: Service) -> None:
        self.wax = wax = Newsletter(service, words=TEXTS)
        wax.offer()
        wax.brand(show_inviter=True, show_leaderboard=True)
        self.shy = shy = Newsletter(service, name="Plain Letters", needs_confirmation=True)
        # A color that nobody could read, and everything else that a form can ask.
        brand = BrandFields(
            accent="#ffff00",
            privacy_url="https://example.org/privacy",
            imprint_url="https://example.org/imprint",
            consent_text="I’d like to get Plain Letters by email.",
            asks_name=True,
        )
        shy.member.make(branding.save, brand)
        email = shy.address()
        inbox = shy.join(email).headers["location"]
        self.ben = wax.advocate(6, waiting=1)
        cleo = wax.advocate(10, name="Cleo")
        for person in (self.ben, cleo):
            service.write(
                lambda tx, person=person: hub_choices.save(
                    change_of(tx, wax.tenant), person.id, shows_name=True, on_leaderboard=True
                )
            )
        left = wax.advocate(1)
        wax.visitor.post(f"{wax.hub(left)}/leave")
        hub = wax.hub(cleo)
        html, token = wax.visitor.get(hub).text, wax.claim_token(hub)
        for path in re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', html):
            wax.visitor.post(path, data={"token": token})
        publication = partner_network.publish(
            wax.member, name="The Weekly Hive", description="All that buzzes, every Friday."
        )
        joined = partner_network.join(
            service.member("bob"), partner_network.offer(wax.member, publication)
        )
        self.paths = {
            "signup": f"{wax.page}?ref={self.ben.ref_code}",
            "signup-branded": shy.page,
            "thanks": (thanks := wax.join(wax.address()).headers["location"]),
            "start": f"/hub/start/{thanks.partition('?for=')[2]}",
            "inbox": inbox,
            "confirm": shy.confirm_link(email),
            "hub": wax.hub(self.ben),
            "hub-claimed": hub,
            "hub-empty": shy.hub(shy.person(email)),
            "hub-left": wax.hub(left),
            "leave": f"{hub}/leave",
            "claim": re.findall(r'href="(/hub/[^"]+/claim/[^"]+)"', html)[0],
            "find-hub": "/hub",
            "find-hub-branded": f"/hub?of={shy.campaign.slug}",
            "magic": f"/m/{joined['ref_code']}?email=reader@example.org",
            "nowhere": "/r/zzzzzzzz",
        }


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


NAMES = (
    "signup",
    "signup-branded",
    "thanks",
    "start",
    "inbox",
    "confirm",
    "hub",
    "hub-claimed",
    "hub-empty",
    "hub-left",
    "leave",
    "claim",
    "find-hub",
    "find-hub-branded",
    "magic",
    "nowhere",
)


def test_every_page_is_seen_read_and_reached(
    places: Places, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = page_at(DESKTOP)
    for name in NAMES:
        page.goto(places.wax.service.url + places.paths[name])
        looks_good(page)


@pytest.mark.long
def test_every_page_loaded_in_every_look(places: Places, appearance: Appearance) -> None:
    page = appearance.page()
    for name in NAMES:
        page.goto(places.wax.service.url + places.paths[name])
        appearance.check(page, f"reader-{name}")


def test_every_page_is_light(places: Places, page_at: PageAt) -> None:
    page = page_at(PHONE)
    for name in NAMES:
        found = weights(page, places.wax.service.url + places.paths[name])
        own = {url: weight for url, weight in found.items() if "/logos/" not in url}
        assert 0 < sum(own.values()) < LIGHT, (name, own)


def test_narrow_screens_and_text_of_twice_the_size_fit(
    places: Places, page_at: PageAt, fits: Callable[..., None]
) -> None:
    page = page_at(320)
    for name in NAMES:
        page.set_viewport_size({"width": 320, "height": 844})
        page.goto(places.wax.service.url + places.paths[name])
        fits(page)
        for button in page.locator(".btn").all():
            assert button.evaluate("(each) => getComputedStyle(each).textAlign") == "center"
        page.set_viewport_size({"width": PHONE, "height": 844})
        page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
        fits(page, words=False)


def test_who_left_the_program_sees_no_empty_column(places: Places, page_at: PageAt) -> None:
    page = page_at(DESKTOP)
    for name, columns in (("hub", 2), ("hub-left", 1)):
        page.goto(places.wax.service.url + places.paths[name])
        template = page.locator("main").evaluate(
            "(each) => getComputedStyle(each).gridTemplateColumns"
        )
        assert len(template.split()) == columns, name


DRAWN = """(row, state) => {
  row.className = state;
  return [...row.querySelectorAll("svg *")].map((part) => {
    const { fill, stroke, strokeWidth } = getComputedStyle(part);
    return [fill, stroke, strokeWidth].join(" ");
  });
}"""


def test_symbols_of_a_reward_look_alike_in_every_state(places: Places, page_at: PageAt) -> None:
    """Each state is a class of the row, and no rule for something else may have its name."""
    page = page_at(PHONE)
    page.goto(places.wax.service.url + places.paths["hub-claimed"])
    row = page.locator(".reward-list > li").first
    drawn = {state.value: row.evaluate(DRAWN, state) for state in EarnedState}
    assert drawn[EarnedState.REDEEMED]
    assert {
        state for state, parts in drawn.items() if parts != drawn[EarnedState.REDEEMED]
    } == set()


def test_words_longer_than_a_line_are_broken(
    service: Service, page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    """What people call themselves, and operators their newsletters and rewards."""
    wax = Newsletter(service, name="Donaudampfschifffahrtsgesellschaftsnachrichten")
    made = [
        NewReward(f"{kind} {'W' * 240}", number, kind, description="y" * 400, **more)
        for number, (kind, more) in enumerate(
            {
                "manual": {},
                "physical": {"variants": ["V" * 60, "v"]},
                "link": {"link": "https://example.org/"},
            }.items(),
            start=1,
        )
    ]
    wax.offer(*made)
    wax.brand(show_inviter=True, show_leaderboard=True)
    name = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren"
    ben = wax.advocate(2, name=name)
    service.write(
        lambda tx: hub_choices.save(
            change_of(tx, wax.tenant), ben.id, shows_name=True, on_leaderboard=True
        )
    )
    hub = wax.hub(ben)
    claim = re.findall(r'href="(/hub/[^"]+/claim/[^"]+)"', wax.visitor.get(hub).text)[0]
    thanks = wax.join(wax.address()).headers["location"]
    pages = (hub, claim, thanks, f"{hub}/leave", f"{wax.page}?ref={ben.ref_code}", f"{hub}x")
    page = page_at(320)
    for path in pages:
        page.set_viewport_size({"width": 320, "height": 844})
        page.goto(service.url + path)
        fits(page)
        page.set_viewport_size({"width": PHONE, "height": 844})
        page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
        fits(page)


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_friend_signs_up_shares_and_claims(
    places: Places, page_at: PageAt, width: int, scripts: bool
) -> None:
    """The whole way, with and without JavaScript."""
    wax, email = places.wax, places.wax.address("walker")
    friend = wax.advocate(0)
    page = page_at(width, scripts=scripts)
    page.goto(f"{wax.service.url}/r/{friend.ref_code}")
    expect(page.get_by_text("A friend invited you")).to_be_visible()
    page.get_by_label("Your email address").fill(email)
    wax.later()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")
    person = wax.person(email)
    assert page.get_by_label("Your link to share").input_value().endswith(f"/r/{person.ref_code}")
    page.goto(wax.service.url + wax.hub(friend))
    page.get_by_role("button", name="Claim Sticker pack").click()
    expect(page.get_by_text("Redeemed", exact=True)).to_be_visible()
    assert (
        page.get_by_role("link", name="Open").get_attribute("href")
        == "https://files.example.org/stickers"
    )


def test_joy_moves_once_and_briefly_and_not_for_who_wants_no_motion(
    places: Places, page_at: PageAt
) -> None:
    moving = """() => document.getAnimations().map(
      (each) => [each.animationName, each.effect.getComputedTiming().endTime])"""
    agent = {"user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0"}
    wishes: tuple[tuple[Literal["reduce", "no-preference"], list[list[object]]], ...] = (
        ("reduce", []),
        ("no-preference", [["fly", 700], ["pop", 500]]),
    )
    for wish, expected in wishes:
        page = page_at(PHONE, **agent)
        page.emulate_media(reduced_motion=wish)
        hub = places.wax.service.url + places.wax.hub(places.wax.advocate(1))
        page.goto(hub)
        expect(page.get_by_role("heading", level=1)).to_have_text("You’ve earned “Sticker pack”!")
        assert sorted(page.evaluate(moving)) == expected
        page.goto(hub)
        expect(page.get_by_role("heading", level=1)).to_contain_text("more friends to get")
        assert page.evaluate(moving) == []


def test_what_is_ready_is_on_a_phones_first_screen(places: Places, page_at: PageAt) -> None:
    page = page_at(PHONE)
    page.goto(places.wax.service.url + places.wax.hub(places.wax.advocate(1)))
    expect(page.get_by_role("button", name="Claim Sticker pack")).to_be_in_viewport(ratio=1)
    share = page.locator(".ways")
    ready = page.locator(".ready")
    assert ready.bounding_box()["y"] < page.locator("h1").bounding_box()["y"]  # type: ignore[index]
    assert share.locator("a > svg").count() == share.locator("a").count() == 8


def test_an_email_is_sent_again_by_a_press(places: Places, page_at: PageAt) -> None:
    shy = places.shy
    page = page_at(PHONE, scripts=False)
    page.goto(shy.service.url + shy.join(shy.address()).headers["location"])
    shy.later(61)
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("status")).to_have_text("We’ve sent it again.")


def test_copying_says_that_it_copied(places: Places, page_at: PageAt) -> None:
    page = page_at(DESKTOP, permissions=["clipboard-read", "clipboard-write"])
    page.goto(places.wax.service.url + places.paths["hub"])
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()").endswith(
        f"/r/{places.ben.ref_code}"
    )


def test_without_javascript_no_button_promises_what_it_cannot_do(
    places: Places, page_at: PageAt
) -> None:
    page = page_at(PHONE, scripts=False)
    page.goto(places.wax.service.url + places.paths["hub-claimed"])
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    expect(page.get_by_role("link", name="Email", exact=True)).to_be_visible()
    page.get_by_text("Show QR code").click()
    expect(page.get_by_role("img", name="QR code for your link")).to_be_visible()


def test_the_form_is_done_by_keyboard_alone(places: Places, page_at: PageAt) -> None:
    wax = places.wax
    page = page_at(DESKTOP)
    page.goto(wax.service.url + wax.page)
    page.keyboard.press("Tab")
    page.keyboard.type(wax.address("typist"))
    wax.later()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")


def test_a_refusal_is_announced_beside_what_was_typed(
    places: Places, page_at: PageAt, axe: Callable[[Page], None]
) -> None:
    wax = places.wax
    page = page_at(PHONE, "dark")
    page.goto(wax.service.url + wax.page)
    page.get_by_label("Your email address").fill("quick@example")
    wax.later()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter a valid email address.")
    assert page.get_by_label("Your email address").input_value() == "quick@example"
    axe(page)


def test_confirming_leads_to_the_hub(places: Places, page_at: PageAt) -> None:
    shy, email = places.shy, places.shy.address()
    shy.join(email)
    page = page_at(PHONE)
    page.goto(shy.service.url + shy.confirm_link(email))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("You’re confirmed.")).to_be_visible()
    assert shy.person(email).status == "confirmed"


def test_a_parcel_is_sent_to_the_address_of_the_form(places: Places, page_at: PageAt) -> None:
    wax = places.wax
    reader = wax.advocate(5, name="Dora Dale")
    page = page_at(PHONE)
    page.goto(wax.service.url + wax.hub(reader))
    page.get_by_role("link", name="Claim The mug").click()
    expect(page.get_by_label("Full name")).to_have_value("Dora Dale")
    for label, text in (
        ("Street", "1 Hive Lane"),
        ("City", "Leeds"),
        ("ZIP or postal code", "LS1"),
    ):
        page.get_by_label(label).fill(text)
    page.get_by_label("Country").select_option("United Kingdom")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("will send it to the address you entered")).to_be_visible()


def test_a_magic_link_takes_one_press(places: Places, page_at: PageAt) -> None:
    page = page_at(PHONE)
    email = places.wax.address("magic")
    page.goto(places.wax.service.url + places.paths["magic"].replace("reader@example.org", email))
    expect(page.get_by_label("Your email address")).to_have_value(email)
    assert places.wax.member.total() > 0
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")
    assert places.wax.person(email).origin == "magic"


@pytest.mark.parametrize("kind", ["signup", "thanks", "hub"])
def test_previews_are_whole_pages(places: Places, kind: str) -> None:
    wax = places.wax
    offered = wax.service.read(lambda tx: rewards.of_campaign(reading(tx, wax.tenant)))
    for shown in (offered, offered[:2], offered[:1], []):
        html = preview(kind, wax.branding, {"promise": "Other <words>"}, shown)
        assert html.startswith("<!doctype html>")
        assert "The Morning Wax" in html
        assert "<words>" not in html
