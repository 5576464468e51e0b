"""The forms for publications and programs: what is refused beside its field, and the previews."""

import re

import pytest

from tests.support.network_operators import PROGRAM, PUBLICATION, send_publication
from tests.support.partner_network import join, offer, png, publish
from tests.support.web import text_of


def beside(page: str, sentence: str) -> bool:
    """Whether a refusal stands beside its field."""
    return any(
        sentence in text_of(found)
        for found in re.findall(r'<p[^>]*class="wrong"[^>]*>.*?</p>', page, re.DOTALL)
    )


@pytest.mark.parametrize(
    ("fields", "logo", "sentence"),
    [
        ({"name": ""}, png(), "Enter a name."),
        ({"categories": ["science", "tech", "news", "sports"]}, png(), "Choose 1 to 3 categories."),
        ({"age_ranges": []}, png(), "Choose at least one age range."),
        ({}, b"this is no picture", "Logo must be a PNG or JPEG image."),
        ({"description": "x" * 2001}, png(), "Description must be at most 2,000 characters long."),
    ],
    ids=["no name", "four categories", "no ages", "no picture", "long description"],
)
def test_a_publication_that_is_wrong_is_refused_beside_its_field(
    partner_network, fields, logo, sentence
):
    answer = send_publication(partner_network.bob, logo, **fields)
    assert answer.status_code == 400
    assert beside(answer.text, sentence), text_of(answer.text)
    if "name" not in fields:
        assert 'value="Bee lines"' in answer.text, "what was typed is still there"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"cpa": "a lot"}, "Fee per new subscriber must be an amount such as 2.50."),
        ({"cpa": "-1"}, "Fee per new subscriber must be a number of US dollars"),
        ({"total_budget": "1.005"}, "Monthly budget must be a number of US dollars"),
        ({"redirect_url": "javascript:alert(1)"}, "Landing page URL must be"),
        ({"slug": "Not A Slug"}, "Signup page URL must be"),
        (
            {"referral_pending_duration": "366"},
            "Holding period must be a whole number of days from 0 to 365.",
        ),
    ],
)
def test_an_offer_that_is_wrong_is_refused_beside_its_field(partner_network, fields, sentence):
    publication = publish(partner_network.bob)["uuid"]
    page = f"/program/new?publication={publication}"
    answer = partner_network.bob.web.post(
        "/program/new", page=page, publication=publication, **{**PROGRAM, **fields}
    )
    assert answer.status_code == 400
    assert beside(answer.text, sentence), text_of(answer.text)


def mistakes(page: str) -> dict[str, str]:
    """What a form says, by the id of the sentence; every sentence belongs to a marked input."""
    marked = re.findall(r'<p class="wrong" id="(h-[\w-]+)">(.*?)</p>', page)
    found = {each: text_of(sentence).strip() for each, sentence in marked}
    for each in found:
        assert re.search(rf'aria-describedby="{each}"', page), each
    assert len(re.findall('aria-invalid="true"', page)) >= len(found)
    return found


def test_every_missing_field_of_a_publication_is_reported_at_once(partner_network):
    asked = {
        "h-name": "Enter a name.",
        "h-categories": "Choose 1 to 3 categories.",
        "h-age_ranges": "Choose at least one age range.",
        "h-income_levels": "Choose at least one income range.",
    }
    typed = {
        "name": " ",
        "categories": [],
        "age_ranges": [],
        "income_levels": [],
        "description": "Kept as typed",
    }
    web = partner_network.bob.web
    new = web.post("/publications/new", **{**PUBLICATION, **typed})
    assert new.status_code == 400 and mistakes(new.text) == {**asked, "h-logo": "Choose a logo."}
    assert "Kept as typed" in new.text
    assert mistakes(send_publication(partner_network.bob, b"").text) == {
        "h-logo": "Logo is empty. Choose another file."
    }
    place = f"/publications/{publish(partner_network.bob)['uuid']}"
    old = web.post(place, **{**PUBLICATION, **typed})
    assert old.status_code == 400 and mistakes(old.text) == asked, "a publication keeps its logo"


def test_every_missing_field_of_a_program_is_reported_at_once(partner_network):
    asked = {
        "h-cpa": "Enter a fee.",
        "h-max_payout": "Enter a monthly cap per partner.",
        "h-total_budget": "Enter a monthly budget.",
        "h-redirect_url": "Enter your own page’s URL, or choose an address for our signup page.",
    }
    publication = publish(partner_network.bob)
    empty = {**dict.fromkeys(PROGRAM, ""), "terms": "Kept as typed"}
    page = f"/program/new?publication={publication['uuid']}"
    new = partner_network.bob.web.post(
        "/program/new", page=page, publication=publication["uuid"], **empty
    )
    assert new.status_code == 400 and mistakes(new.text) == asked and "Kept as typed" in new.text
    program = offer(partner_network.bob, publication)
    old = partner_network.bob.web.post(f"/program/{program['uuid']}/change", **empty)
    assert old.status_code == 400 and mistakes(old.text) == asked


def test_a_program_with_a_signup_page_here_needs_no_landing_page(partner_network):
    publication, web = publish(partner_network.bob), partner_network.bob.web
    page = f"/program/new?publication={publication['uuid']}"
    typed = {**PROGRAM, "redirect_url": "", "publication": publication["uuid"]}
    wrong = web.post("/program/new", page=page, **{**typed, "slug": "Not A Slug"})
    assert wrong.status_code == 400 and list(mistakes(wrong.text)) == ["h-slug"]
    slug = f"hive-{publication['uuid']}"
    made = web.post("/program/new", page=page, **{**typed, "slug": slug})
    assert made.status_code == 303, text_of(made.text)
    program = made.headers["location"]

    def link_of_partner() -> str:
        campaign = join(partner_network.mallory, {"uuid": program.rpartition("/")[2]})
        answer = web.http.get(f"/p/{campaign['ref_code']}", follow_redirects=False)
        return answer.headers["location"]

    assert f"/join/{slug}?partner=" in link_of_partner()
    assert 'name="redirect_url"\n         type="url" value=""' in web.get(f"{program}/change").text
    # The links follow when the page moves.
    web.post(f"{program}/change", **{**typed, "slug": f"{slug}-2"})
    moved = link_of_partner()
    assert f"/join/{slug}-2?partner=" in moved
    assert web.http.get(moved).status_code == 200


def test_a_reason_that_is_too_long_is_refused_beside_its_field(partner_network):
    place = f"/network/{partner_network.program['uuid']}"
    answer = partner_network.mallory.web.post(f"{place}/join", page=place, reason="x" * 2001)
    assert answer.status_code == 400
    assert mistakes(answer.text) == {
        "h-reason": "Why you recommend it must be at most 2,000 characters long."
    }
    assert "x" * 2001 in answer.text


def test_a_publication_and_its_offer_are_made_changed_paused_and_deleted(partner_network):
    web = partner_network.bob.web
    made = send_publication(partner_network.bob, name="Honest <b>work</b>")
    assert made.status_code == 303
    publication = made.headers["location"].rpartition("=")[2]
    answer = web.post(
        "/program/new", page=made.headers["location"], publication=publication, **PROGRAM
    )
    program = answer.headers["location"]
    shown = web.get(program).text
    assert "Honest &lt;b&gt;work&lt;/b&gt;" in shown and "<b>work</b>" not in shown
    changed = web.post(f"{program}/change", **{**PROGRAM, "cpa": "$3.50"})
    assert changed.status_code == 303 and "$3.50" in web.get(program).text
    assert web.post(f"{program}/act", page=program, do="pause").status_code == 303
    assert "Paused" in text_of(web.get(program).text)
    assert web.post(f"{program}/act", page=program, do="resume").status_code == 303
    assert web.post(f"{program}/act", page=program, do="delete").status_code == 303
    assert web.get(program).status_code == 404
    assert (
        web.post(
            f"/publications/{publication}/delete", page=f"/publications/{publication}"
        ).status_code
        == 303
    )
    assert web.get(f"/publications/{publication}").status_code == 404


def test_a_paused_program_can_be_edited_and_leads_nowhere_that_is_closed(partner_network):
    """Its owner sees the terms as they are, and no link to a page that nobody can open now."""
    web = partner_network.alice.web
    program = f"/program/{partner_network.program['uuid']}"
    closed = f'href="/network/{partner_network.program["uuid"]}"'
    assert closed in web.get(program).text
    web.post(f"{program}/act", page=program, do="pause")
    paused = web.get(program).text
    assert closed not in paused and "Invite" not in paused
    assert web.get(f"{program}/change").status_code == 200
    changed = web.post(f"{program}/change", page=f"{program}/change", **{**PROGRAM, "cpa": "3.50"})
    assert changed.status_code == 303 and "$3.50" in web.get(program).text
    web.post(f"{program}/act", page=program, do="resume")
    assert closed in web.get(program).text


def test_previews_follow_what_is_typed(partner_network):
    web, page = partner_network.alice.web, f"/publications/{partner_network.publication['uuid']}"
    typed = {
        **PUBLICATION,
        "name": "Honey <b>fresh</b>",
        "description": "From our own hives",
        "id": partner_network.publication["uuid"],
    }
    card = web.post("/publications/preview/card", page=page, **typed).text
    assert "Honey &lt;b&gt;fresh&lt;/b&gt;" in card and "60+" in card and "/logos/" in card, (
        "the logo stays while one types"
    )
    signup = web.post("/publications/preview/page", page=page, **typed).text
    assert (
        "Get Honey &lt;b&gt;fresh&lt;/b&gt; in your inbox" in signup
        and "From our own hives" in signup
    )
    assert "<script" not in signup and "Recommended for you" in signup
    typed = {
        "publication": partner_network.publication["uuid"],
        "cpa": "2.50",
        "max_payout": "80",
        "total_budget": "120",
    }
    typed |= {
        "subscribers": "100",
        "partners": "3",
        "referral_pending_duration_enabled": "yes",
        "referral_pending_duration": "9",
    }
    form = f"/program/new?publication={partner_network.publication['uuid']}"
    card = text_of(web.post("/program/preview/card", page=form, **typed).text)
    assert "Secret garden" in card and "$2.50" in card and "9 days" in card
    cost = text_of(web.post("/program/preview/cost", page=form, **typed).text)
    assert "$120.00 for 48 of 100 new subscribers ($250.00 without caps)" in cost
    assert "4 subscribers over the cap per partner 48 subscribers over your monthly budget" in cost
    wrong = {"cpa": "x", "max_payout": "-1", "total_budget": ""}
    said = text_of(web.post("/program/preview/cost", page=form, **{**typed, **wrong}).text)
    assert said.strip() == (
        "Fee per new subscriber must be an amount such as 2.50. Monthly cap per partner must be a "
        "number of US dollars from 0 to 1,000,000 with at most two decimals. "
        "Enter a monthly budget. Enter the fee, cap and budget to see an estimate."
    )


def test_a_publication_says_which_boxes_are_required(partner_network):
    page = partner_network.bob.web.get("/publications/new").text
    required = re.findall(r'<fieldset class="field required".*?<legend>(.*?)</legend>', page, re.S)
    assert required == ["Categories", "Ages", "Annual income"]


def test_previews_show_nothing_of_others(partner_network):
    web = partner_network.mallory.web
    for path, fields in (
        ("/publications/preview/card", {**PUBLICATION, "id": partner_network.publication["uuid"]}),
        ("/publications/preview/page", {**PUBLICATION, "id": partner_network.publication["uuid"]}),
        ("/program/preview/card", {**PROGRAM, "publication": partner_network.publication["uuid"]}),
    ):
        answer = web.post(path, page="/publications/new", **fields)
        assert answer.status_code == 404 and "Secret garden" not in answer.text, path
