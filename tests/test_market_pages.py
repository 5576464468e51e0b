"""The partners' and the administrator's pages over HTTP, on both engines: refusals beside the field, doors that stay shut,
money that adds up, and a stranger who tries every address of the others."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.partners import rules
from tests.support.market import join, offer, png, publish
from tests.support.service import ENGINES, Service, until
from tests.support.tables import dump, mentions
from tests.support.web import Operator, operator, words


class Market:
    """Alice runs the installation and an offer, Bob brings readers, Mallory is logged in and must see nothing of either."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.mallory = operator(service, "mallory")
        self.publication = publish(self.alice, name="Secret garden")
        self.program = offer(self.alice, self.publication, total_budget=6, show_in_directory=False)
        self.place = join(self.bob, self.program)
        for number in range(3):
            self.alice.subscribe(
                f"veiled{number}@example.org",
                name="Veiled reader",
                referrer_code=self.place["ref_code"],
            )
        self.month = rules.month_of(service.now_ms())
        service.set_clock((rules.closes_at(self.month) + HOUR_MS - system_clock()) / 1000)
        service.run_jobs()
        for who in (self.alice, self.bob, self.mallory):  # the sessions of last month are over
            who.web.log_in(who.email)
        self.payout_id = self.payouts()[0]["payout_uuid"]

    def payouts(self) -> list[dict[str, str]]:
        return list(
            csv.DictReader(io.StringIO(self.alice.web.get("/administration/payouts.csv").text))
        )


@pytest.fixture(scope="module", params=ENGINES)
def market(request: pytest.FixtureRequest) -> Iterator[Market]:
    with Service(request.param) as service:
        yield Market(service)


PUBLICATION = {
    "name": "Bee lines",
    "description": "",
    "categories": ["science"],
    "audience_gender": "mixed",
    "age_ranges": ["60+"],
    "income_levels": ["$150k+"],
}
SIDES = ("partner", "owner")
PROGRAM = {
    "cpa": "2",
    "max_payout": "20",
    "total_budget": "200",
    "redirect_url": "https://bees.example/",
    "slug": "",
}


def beside(page: str, sentence: str) -> bool:
    """Whether a refusal stands beside its field."""
    return any(
        sentence in words(found)
        for found in re.findall(r'<p[^>]*class="wrong"[^>]*>.*?</p>', page, re.DOTALL)
    )


def send_publication(who: Operator, logo: bytes = png(), **fields: Any) -> Any:
    data = {"csrf": who.web.token("/publications/new"), **PUBLICATION, **fields}
    return who.web.http.post("/publications/new", data=data, files={"logo": ("logo.png", logo)})


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
def test_a_publication_that_is_wrong_is_refused_beside_its_field(market, fields, logo, sentence):
    answer = send_publication(market.bob, logo, **fields)
    assert answer.status_code == 400
    assert beside(answer.text, sentence), words(answer.text)
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
def test_an_offer_that_is_wrong_is_refused_beside_its_field(market, fields, sentence):
    publication = publish(market.bob)["uuid"]
    page = f"/program/new?publication={publication}"
    answer = market.bob.web.post(
        "/program/new", page=page, publication=publication, **{**PROGRAM, **fields}
    )
    assert answer.status_code == 400
    assert beside(answer.text, sentence), words(answer.text)


def mistakes(page: str) -> dict[str, str]:
    """What a form says, by the id of the sentence; every sentence belongs to a marked input."""
    found = dict(re.findall(r'<p class="wrong" id="(h-[\w-]+)">(.*?)</p>', page))
    for each in found:
        assert re.search(rf'aria-describedby="{each}"', page), each
    assert len(re.findall('aria-invalid="true"', page)) >= len(found)
    return found


def test_every_missing_field_of_a_publication_is_reported_at_once(market):
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
    web = market.bob.web
    new = web.post("/publications/new", **{**PUBLICATION, **typed})
    assert new.status_code == 400 and mistakes(new.text) == {**asked, "h-logo": "Choose a logo."}
    assert "Kept as typed" in new.text
    assert mistakes(send_publication(market.bob, b"").text) == {"h-logo": "Choose a logo."}
    place = f"/publications/{publish(market.bob)['uuid']}"
    old = web.post(place, **{**PUBLICATION, **typed})
    assert old.status_code == 400 and mistakes(old.text) == asked, "a publication keeps its logo"


def test_every_missing_field_of_a_program_is_reported_at_once(market):
    asked = {
        "h-cpa": "Enter a fee.",
        "h-max_payout": "Enter a monthly cap per partner.",
        "h-total_budget": "Enter a monthly budget.",
        "h-redirect_url": "Enter the URL that partner links lead to.",
    }
    publication = publish(market.bob)
    empty = {**dict.fromkeys(PROGRAM, ""), "terms": "Kept as typed"}
    page = f"/program/new?publication={publication['uuid']}"
    new = market.bob.web.post("/program/new", page=page, publication=publication["uuid"], **empty)
    assert new.status_code == 400 and mistakes(new.text) == asked and "Kept as typed" in new.text
    program = offer(market.bob, publication)
    old = market.bob.web.post(f"/program/{program['uuid']}/change", **empty)
    assert old.status_code == 400 and mistakes(old.text) == asked


def test_a_reason_that_is_too_long_is_refused_beside_its_field(market):
    place = f"/network/{market.program['uuid']}"
    answer = market.mallory.web.post(f"{place}/join", page=place, reason="x" * 2001)
    assert answer.status_code == 400
    assert mistakes(answer.text) == {
        "h-reason": "Why you recommend it must be at most 2,000 characters long."
    }
    assert "x" * 2001 in answer.text


def test_pages_show_the_words_of_a_publication_as_labels(market):
    words_of_it = {
        "categories": ["tech", "web3.0", "TV & movie"],
        "audience_gender": "mainly_female",
    }
    ranges = {
        "age_ranges": ["under 18", "18 - 24"],
        "income_levels": ["less than $20k", "$20k - $50k"],
    }
    publication = publish(market.bob, name="Labels", **words_of_it, **ranges)
    program = offer(market.bob, publication)
    shown = words(market.bob.web.get(f"/network/{program['uuid']}").text)
    assert "Tech, Web3, TV & movies" in shown
    assert (
        "Mainly women" in shown
        and "Under 18, 18–24" in shown
        and "Less than $20k, $20k–$50k" in shown
    )
    assert publication["age_ranges"] == ["under 18", "18 - 24"], "the API keeps its words"
    for path in (
        "/publications",
        "/publications/new",
        "/network",
        f"/publications/{publication['uuid']}",
    ):
        page = words(market.bob.web.get(path).text)
        assert not re.search(r"\d - \$?\d|web3\.0|mainly_|\btech\b", page), path


def test_a_publication_and_its_offer_are_made_changed_paused_and_deleted(market):
    web = market.bob.web
    made = send_publication(market.bob, name="Honest <b>work</b>")
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
    assert "Paused" in words(web.get(program).text)
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


def test_previews_follow_what_is_typed(market):
    web, page = market.alice.web, f"/publications/{market.publication['uuid']}"
    typed = {
        **PUBLICATION,
        "name": "Honey <b>fresh</b>",
        "description": "From our own hives",
        "id": market.publication["uuid"],
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
        "publication": market.publication["uuid"],
        "cpa": "2.50",
        "max_payout": "80",
        "total_budget": "120",
    }
    typed |= {
        "readers": "100",
        "partners": "3",
        "referral_pending_duration_enabled": "yes",
        "referral_pending_duration": "9",
    }
    form = f"/program/new?publication={market.publication['uuid']}"
    card = words(web.post("/program/preview/card", page=form, **typed).text)
    assert "Secret garden" in card and "$2.50" in card and "9 days" in card
    cost = words(web.post("/program/preview/cost", page=form, **typed).text)
    assert "$120.00 for 48 of 100 new subscribers ($250.00 without caps)" in cost
    assert "4 subscribers over the cap per partner 48 subscribers over your monthly budget" in cost
    assert "Enter the fee, cap and budget to see an estimate." in words(
        web.post("/program/preview/cost", page=form, **{**typed, "cpa": "x"}).text
    )


def test_previews_show_nothing_of_others(market):
    web = market.mallory.web
    for path, fields in (
        ("/publications/preview/card", {**PUBLICATION, "id": market.publication["uuid"]}),
        ("/publications/preview/page", {**PUBLICATION, "id": market.publication["uuid"]}),
        ("/program/preview/card", {**PROGRAM, "publication": market.publication["uuid"]}),
    ):
        answer = web.post(path, page="/publications/new", **fields)
        assert answer.status_code == 404 and "Secret garden" not in answer.text, path


def test_nothing_is_done_without_the_token_or_from_elsewhere(market):
    for page in PAGES:
        if page.method == "POST" and not page.open_to_all:
            path = page.path.replace("{id}", market.program["uuid"])
            assert market.alice.web.http.post(path, data={"do": "delete"}).status_code == 403, path
            elsewhere = {"origin": "https://evil.example"}
            fields = {"csrf": market.alice.web.token("/publications/new"), "do": "delete"}
            assert (
                market.alice.web.http.post(path, data=fields, headers=elsewhere).status_code == 403
            ), path
    assert market.alice.web.get(f"/program/{market.program['uuid']}").status_code == 200


def test_a_stranger_who_is_logged_in_sees_nothing_of_the_others(market):
    """Every address of the dashboard with the others' identifiers: not found, or one's own empty view."""
    theirs = [
        market.publication["uuid"],
        market.program["uuid"],
        market.place["uuid"],
        market.payout_id,
    ]
    theirs += [
        market.alice.subscriber("veiled0@example.org")["uuid"],
        market.alice.account_id,
        market.bob.account_id,
    ]
    foreign = (
        "veiled",
        "Veiled",
        "Secret garden",
        market.alice.email,
        market.bob.email,
        market.place["ref_code"],
        "$6.00",
    )
    unlisted = f"/network/{market.program['uuid']}"  # out of the directory, and open to whoever has its address
    paths = [
        (page, page.path.replace("{side}", side).replace("{month}", market.month))
        for page in PAGES
        for side in SIDES
    ]
    for page, path in paths:
        for each in theirs if "{" in path else [""]:
            address = re.sub(r"\{\w+\}", each, path)
            if page.method == "GET" and address != unlisted and not page.open_to_all:
                answer = market.mallory.web.get(address)
                assert answer.status_code in ((404,) if each else (200, 303, 404)), address
                assert not [word for word in foreign if word in answer.text], address
            elif page.method == "POST" and each and address != f"{unlisted}/join":
                token = {
                    "csrf": market.mallory.web.token("/publications"),
                    "do": "delete",
                    "name": "Mine",
                    **PROGRAM,
                }
                answer = market.mallory.web.http.post(address, data=token)
                assert answer.status_code in (400, 404), address
    shown = market.mallory.web.get(unlisted).text
    assert market.place["ref_code"] not in shown and "$6.00" not in shown, (
        "never the owner's budget"
    )
    assert market.alice.web.get(f"/program/{market.program['uuid']}").status_code == 200


def test_the_administrators_pages_do_not_exist_for_others(market):
    for path in ("/administration", "/administration/proof", "/administration/payouts.csv"):
        assert market.alice.web.get(path).status_code == 200
        assert market.bob.web.get(path).status_code == 404
    answer = market.bob.web.post(
        "/administration/payouts", page="/payouts", payout=market.payout_id, reference="mine"
    )
    assert answer.status_code == 404
    assert market.payouts()[0]["paid"] == "no"
    assert "/administration" not in market.bob.web.get("/").text


def test_a_payout_is_marked_and_taken_back_and_a_blank_reference_is_refused(market):
    web, place = market.alice.web, "/administration"
    blank = web.post("/administration/payouts", page=place, payout=market.payout_id, reference=" ")
    assert blank.status_code == 400 and mistakes(blank.text) == {
        "h-reference": "Enter a payment reference."
    }
    assert (
        web.post(
            "/administration/payouts", page=place, payout=market.payout_id, reference="SEPA 7"
        ).status_code
        == 303
    )
    assert (market.payouts()[0]["paid"], market.payouts()[0]["reference"]) == ("yes", "SEPA 7")
    assert "SEPA 7" in market.bob.web.get("/payouts").text
    assert (
        web.post(
            "/administration/payouts", page=place, payout=market.payout_id, do="undo"
        ).status_code
        == 303
    )
    assert market.payouts()[0]["paid"] == "no"


def test_statements_of_both_sides_are_one_sum(market):
    for who, side in ((market.bob, "partner"), (market.alice, "owner")):
        answer = who.web.get(f"/statements/{side}/{market.month}.csv")
        assert (
            answer.headers["content-type"].startswith("text/csv")
            and "attachment" in answer.headers["content-disposition"]
        )
        lines = list(csv.DictReader(io.StringIO(answer.text)))
        assert sum(Decimal(line["amount_usd"]) for line in lines) == Decimal("6.00")
        shown = words(who.web.get(f"/statements/{side}/{market.month}").text)
        assert "$6.00" in shown and rules.spoken(market.month) in shown
    assert Decimal(market.payouts()[0]["amount_usd"]) == Decimal("6.00")
    assert "veiled" not in market.bob.web.get(f"/statements/partner/{market.month}").text, (
        "readers are the owner's"
    )
    for wrong in (
        "/statements/thief/2026-11",
        "/statements/partner/2026-13",
        "/statements/owner/x.csv",
    ):
        assert market.bob.web.get(wrong).status_code == 404


def test_the_bell_counts_what_was_not_read(market):
    assert market.service.engine  # the budget of 6 dollars was reached by the second reader
    page = market.bob.web.get("/notices").text
    assert "Secret garden" in words(page)
    again = words(market.bob.web.get("/").text)
    assert "Notifications 1" not in again


def test_filters_that_make_no_sense_are_left_out(market):
    for query in (
        "min_cpa=much",
        "page=-3",
        "page=999999999",
        "category=none",
        "sort=random",
        "search=%00",
        "min_cpa=1e999",
    ):
        assert market.bob.web.get(f"/network?{query}").status_code == 200, query


def test_time_moves_only_where_the_setting_allows_it_and_takes_the_visitor_along():
    with Service("sqlite") as service:
        alice = operator(service)
        before_ms = service.now_ms()
        assert (
            alice.web.post("/clock", page="/", step="week", back="//evil.example").headers[
                "location"
            ]
            == "/"
        )
        assert service.now_ms() - before_ms > 7 * DAY_MS - HOUR_MS
        assert alice.web.get("/").status_code == 200, "still logged in"
        assert (
            alice.web.post("/clock", page="/", step="now", back="/program").headers["location"]
            == "/program"
        )
        assert (
            abs(service.now_ms() - system_clock()) < HOUR_MS
            and alice.web.get("/").status_code == 200
        )
    with Service("sqlite", test_clock="") as service:
        alice = operator(service)
        assert "To month end" not in alice.web.get("/").text
        assert alice.web.post("/clock", page="/", step="week").status_code == 404


def test_a_partner_sees_the_clicks_on_their_own_link_and_nobody_elses(market):
    """Each visitor once an hour; robots, previews and a look at the headers are no visits."""
    bob, carol = market.bob, operator(market.service, "carol")
    program = offer(market.alice, redirect_url="https://wax.example/welcome?from=us")
    bobs, carols = join(bob, program), join(carol, program)
    visitors = httpx.Client(base_url=market.service.url)

    def follow(place: dict[str, Any], agent: str, method: str = "GET", **headers: str) -> None:
        link = place["referral_link"].removeprefix(market.service.settings.base_url)
        answer = visitors.request(method, link, headers={"user-agent": agent, **headers})
        assert answer.status_code == 302
        assert (
            answer.headers["location"]
            == f"https://wax.example/welcome?from=us&partner={place['ref_code']}"
        )

    for agent in ("Firefox/140 Veiled", "Firefox/140 Veiled", "Safari/19"):
        follow(bobs, agent)
    follow(carols, "Firefox/140 Veiled")
    follow(bobs, "Chrome/150", "HEAD")
    follow(bobs, "Chrome/150", **{"sec-purpose": "prefetch;prerender"})
    follow(bobs, "Slackbot-LinkExpanding 1.0")

    def clicks_of(who: Operator, place: dict[str, Any]) -> str:
        found = re.search(
            r"([\d,]+ clicks?) this month", words(who.web.get(f"/earnings/{place['uuid']}").text)
        )
        assert found is not None
        return found[1]

    until(lambda: (clicks_of(bob, bobs), clicks_of(carol, carols)) == ("2 clicks", "1 click"))
    market.service.set_clock((market.service.now_ms() + HOUR_MS - system_clock()) / 1000)
    follow(bobs, "Safari/19")
    until(lambda: clicks_of(bob, bobs) == "3 clicks")
    assert carol.web.get(f"/earnings/{bobs['uuid']}").status_code == 404

    tables = dump(market.service)
    kept = [row for row in tables["click"] if row["target_id"] == bobs["uuid"]]
    assert len(kept) == 3 and all(re.fullmatch("[0-9a-f]{32}", row["visitor"]) for row in kept)
    assert mentions(tables, "Firefox/140 Veiled") == []
    theirs = {
        (row["code"], row["n"]) for row in tables["click_day"] if row["target_id"] == bobs["uuid"]
    }
    assert theirs == {(bobs["ref_code"], 3), ("", 3)}


def test_a_persons_page_names_the_partner_and_the_fee(market):
    ids = [market.alice.subscriber(f"veiled{number}@example.org")["uuid"] for number in range(3)]
    shown = [words(market.alice.web.get(f"/subscribers/{each}").text) for each in ids]
    assert all("Referred by Bob , a partner of Secret garden ." in page for page in shown)
    assert sum(f"$3.00, charged in {rules.spoken(market.month)}" in page for page in shown) == 2
    assert (
        sum("Fee None. The program had reached its monthly budget." in page for page in shown) == 1
    )
