"""The forms for publications, programs and rewards succeed at once and lose nothing on errors."""

import re
from typing import Any

from honeyguide.kernel.ids import new_id
from honeyguide.partners import logos, publications
from tests.pages.dashboard.test_program_forms import mistakes
from tests.support.network_operators import PROGRAM, PUBLICATION, send_publication
from tests.support.partner_network import png, publish
from tests.support.service import Service
from tests.support.web import operator, text_of

CHOICES = {name: PUBLICATION[name] for name in ("categories", "age_ranges", "income_levels")}


def value(page: str, name: str) -> str:
    """What a form has in its field."""
    found = re.search(rf'<input[^>]*\bname="{name}"[^>]*?\bvalue="([^"]*)"', page, re.DOTALL)
    return found[1] if found else ""


def filled_in(page: str, *names: str) -> dict[str, str]:
    return {name: value(page, name) for name in names}


def brand(web: Any, color: str = "#4c5fd3", **fields: str) -> Any:
    form = {"accent": color, "language": "en", "share": "made", **fields}
    return web.http.post(
        "/look/branding",
        data={"csrf": web.token("/look/branding"), **form},
        files={"logo": ("logo.png", png(), "image/png")},
    )


def test_whoever_filled_in_branding_only_chooses_an_audience(partner_network):
    web = partner_network.mallory.web
    web.post("/look/pages", details="About bees, for people in a hurry.")
    assert brand(web).status_code == 303
    page = web.get("/publications/new").text
    assert "About bees, for people in a hurry." in page
    start = filled_in(page, "name", "kept_logo")
    assert start["name"] and f'src="/logos/{start["kept_logo"]}"' in page
    made = web.post(
        "/publications/new", **start, description="About bees", audience_gender="mixed", **CHOICES
    )
    assert made.status_code == 303, text_of(made.text)
    place = made.headers["location"]
    form = web.get(place).text
    publication_id = place.rpartition("=")[2]
    offered = filled_in(form, "cpa", "max_payout", "total_budget", "slug")
    assert offered["slug"]
    answer = web.post(
        "/program/new",
        page=place,
        publication=publication_id,
        **offered,
        referral_pending_duration="14",
        show_in_directory="yes",
    )
    assert answer.status_code == 303, text_of(answer.text)


def test_a_logo_survives_an_error_in_another_field(partner_network):
    web = partner_network.bob.web
    refused = send_publication(partner_network.bob, categories=[])
    assert refused.status_code == 400
    assert mistakes(refused.text) == {"h-categories": "Choose 1 to 3 categories."}
    kept = value(refused.text, "kept_logo")
    assert f'src="/logos/{kept}"' in refused.text
    assert web.http.get(f"/logos/{kept}").status_code == 200
    shown = web.post(
        "/publications/preview/card", page="/publications/new", kept_logo=kept, **PUBLICATION
    )
    assert f"/logos/{kept}" in shown.text
    made = web.post("/publications/new", kept_logo=kept, **PUBLICATION)
    assert made.status_code == 303, text_of(made.text)
    publication_id = made.headers["location"].rpartition("=")[2]
    assert f"/logos/{kept}" in web.get(f"/publications/{publication_id}").text


def test_a_logo_of_the_branding_survives_an_error_too(partner_network):
    web = partner_network.mallory.web
    refused = brand(web, color="mauve")
    assert refused.status_code == 400 and "must be a hex color" in refused.text
    kept = value(refused.text, "kept_logo")
    assert f'src="/logos/{kept}"' in refused.text
    saved = web.post(
        "/look/branding", accent="#4c5fd3", language="en", share="made", kept_logo=kept
    )
    assert saved.status_code == 303
    assert f'src="/logos/{kept}"' in web.get("/look/branding").text
    assert value(web.get("/look/branding").text, "kept_logo") == ""


def test_a_logo_of_somebody_else_cannot_be_kept(partner_network):
    kept = value(send_publication(partner_network.bob, categories=[]).text, "kept_logo")
    stolen = partner_network.mallory.web.post("/publications/new", kept_logo=kept, **PUBLICATION)
    assert stolen.status_code == 400
    assert mistakes(stolen.text) == {"h-logo": "Choose a logo."}
    broken = partner_network.mallory.web.post("/publications/new", kept_logo="../x", **PUBLICATION)
    assert mistakes(broken.text) == {"h-logo": "Choose a logo."}


def test_everything_wrong_with_a_program_is_said_at_once(partner_network):
    publication_id = publish(partner_network.bob)["uuid"]
    wrong = {
        "cpa": "abc",
        "max_payout": "-1",
        "total_budget": "",
        "slug": "Not A Slug",
        "referral_pending_duration": "soon",
        "thankyou_page_url": "ftp://example.org",
    }
    answer = partner_network.bob.web.post(
        "/program/new",
        page=f"/program/new?publication={publication_id}",
        publication=publication_id,
        **{**PROGRAM, **wrong},
    )
    assert answer.status_code == 400
    assert set(mistakes(answer.text)) == {f"h-{name}" for name in wrong}


def test_a_fee_that_cannot_be_read_is_never_shown_as_nothing(partner_network):
    web, publication_id = partner_network.alice.web, partner_network.publication["uuid"]
    form = f"/program/new?publication={publication_id}"
    typed = {**PROGRAM, "publication": publication_id}
    for fee in ("abc", ""):
        card = web.post("/program/preview/card", page=form, **{**typed, "cpa": fee}).text
        assert "$0.00" not in card and "Unpaid" not in card, fee
    card = web.post("/program/preview/card", page=form, **{**typed, "cpa": "0"}).text
    assert "Unpaid recommendation" in card


def test_the_preview_of_a_live_program_shows_what_the_network_shows(partner_network):
    web, program_id = partner_network.alice.web, partner_network.program["uuid"]
    assert "100%" in text_of(web.get(f"/network/{program_id}").text)
    preview = web.get(f"/program/{program_id}/change").text
    assert "100%" in preview and "No data yet" not in preview


def test_a_stored_logo_may_be_added_twice(partner_network):
    """As when a form is sent again with the logo that its first try kept."""
    service, account_id = partner_network.service, partner_network.bob.account_id
    logo = logos.StoredLogo(new_id(), "image/png", b"png")
    for _ in range(2):
        service.write(lambda tx: publications.add_logo(tx.at(1_700_000_000_000), account_id, logo))


def test_the_reward_form_says_all_that_is_wrong_at_once(service: Service) -> None:
    """A wrong number is not kept back until the name is there."""
    alice = operator(service, "rhea")
    typed = {"name": "", "referrals": "-1", "kind": "link", "link": "", "description": "Kept"}
    refused = alice.web.post("/rewards", **typed)
    assert refused.status_code == 400 and "Kept" in refused.text
    assert mistakes(refused.text) == {
        "h-name": "Enter a name for the reward.",
        "h-referrals": "Referrals needed must be a whole number, 1 or more.",
        "h-link": "Enter the link to the reward.",
    }
    typed |= {"referrals": "0", "link": "not a link", "name": "Guide"}
    said = mistakes(alice.web.post("/rewards", **typed).text)
    assert set(said) == {"h-referrals", "h-link"} and "from 1 to 1,000,000" in said["h-referrals"]
