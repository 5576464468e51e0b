"""The partners' and the administrator's pages over HTTP, on both engines: refusals beside the
field, doors that stay shut, money that adds up, and a stranger who tries every address of the
others.
"""

import csv
import io
import re
from decimal import Decimal
from typing import Any

import httpx

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.partners import rules
from tests.pages.dashboard.test_program_forms import mistakes
from tests.support.network_operators import PROGRAM
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.tables import dump, mentions
from tests.support.web import Operator, operator, text_of

SIDES = ("partner", "owner")


def test_pages_show_the_words_of_a_publication_as_labels(partner_network):
    traits = {
        "categories": ["tech", "web3.0", "TV & movie"],
        "audience_gender": "mainly_female",
    }
    ranges = {
        "age_ranges": ["under 18", "18 - 24"],
        "income_levels": ["less than $20k", "$20k - $50k"],
    }
    publication = publish(partner_network.bob, name="Labels", **traits, **ranges)
    program = offer(partner_network.bob, publication)
    shown = text_of(partner_network.bob.web.get(f"/network/{program['uuid']}").text)
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
        page = text_of(partner_network.bob.web.get(path).text)
        assert not re.search(r"\d - \$?\d|web3\.0|mainly_|\btech\b", page), path


def test_nothing_is_done_without_the_token_or_from_elsewhere(partner_network):
    for page in PAGES:
        if page.method == "POST" and not page.open_to_all:
            path = page.path.replace("{id}", partner_network.program["uuid"])
            assert (
                partner_network.alice.web.http.post(path, data={"do": "delete"}).status_code == 403
            ), path
            elsewhere = {"origin": "https://evil.example"}
            fields = {"csrf": partner_network.alice.web.token("/publications/new"), "do": "delete"}
            assert (
                partner_network.alice.web.http.post(
                    path, data=fields, headers=elsewhere
                ).status_code
                == 403
            ), path
    assert (
        partner_network.alice.web.get(f"/program/{partner_network.program['uuid']}").status_code
        == 200
    )


def test_a_stranger_who_is_logged_in_sees_nothing_of_the_others(partner_network):
    """Every address of the dashboard with the others' identifiers: not found, or one's own empty
    view.
    """
    theirs = [
        partner_network.publication["uuid"],
        partner_network.program["uuid"],
        partner_network.place["uuid"],
        partner_network.payout_id,
    ]
    theirs += [
        partner_network.alice.subscriber("veiled0@example.org")["uuid"],
        partner_network.alice.account_id,
        partner_network.bob.account_id,
    ]
    foreign = (
        "veiled",
        "Veiled",
        "Secret garden",
        partner_network.alice.email,
        partner_network.bob.email,
        partner_network.place["ref_code"],
        "$6.00",
    )
    # out of the directory, and open to whoever has its address
    unlisted = f"/network/{partner_network.program['uuid']}"
    addresses = {
        (
            page.method,
            page.path.replace("{side}", side).replace("{month}", partner_network.month),
        ): page
        for page in PAGES
        for side in SIDES
    }
    form = {"csrf": partner_network.mallory.web.token("/publications"), "do": "delete"}
    form |= {"name": "Mine", **PROGRAM}
    for (_, path), page in addresses.items():
        for each in theirs if "{" in path else [""]:
            address = re.sub(r"\{\w+\}", each, path)
            if page.method == "GET" and address != unlisted and not page.open_to_all:
                answer = partner_network.mallory.web.get(address)
                assert answer.status_code in ((404,) if each else (200, 204, 303, 404)), address
                assert not [word for word in foreign if word in answer.text], address
            elif page.method == "POST" and each and address != f"{unlisted}/join":
                answer = partner_network.mallory.web.http.post(address, data=form)
                assert answer.status_code in (400, 404), address
    shown = partner_network.mallory.web.get(unlisted).text
    assert partner_network.place["ref_code"] not in shown and "$6.00" not in shown, (
        "never the owner's budget"
    )
    assert (
        partner_network.alice.web.get(f"/program/{partner_network.program['uuid']}").status_code
        == 200
    )


def test_the_administrators_pages_do_not_exist_for_others(partner_network):
    for path in ("/administration", "/administration/proof", "/administration/payouts.csv"):
        assert partner_network.alice.web.get(path).status_code == 200
        assert partner_network.bob.web.get(path).status_code == 404
    answer = partner_network.bob.web.post(
        "/administration/payouts",
        page="/payouts",
        payout=partner_network.payout_id,
        reference="mine",
    )
    assert answer.status_code == 404
    assert partner_network.payouts()[0]["paid"] == "no"
    assert "/administration" not in partner_network.bob.web.get("/").text


def test_a_payout_is_marked_and_taken_back_and_a_blank_reference_is_refused(partner_network):
    web, place = partner_network.alice.web, "/administration"
    blank = web.post(
        "/administration/payouts", page=place, payout=partner_network.payout_id, reference=" "
    )
    assert blank.status_code == 400 and mistakes(blank.text) == {
        "h-reference": "Enter a payment reference."
    }
    assert (
        web.post(
            "/administration/payouts",
            page=place,
            payout=partner_network.payout_id,
            reference="SEPA 7",
        ).status_code
        == 303
    )
    assert (partner_network.payouts()[0]["paid"], partner_network.payouts()[0]["reference"]) == (
        "yes",
        "SEPA 7",
    )
    assert "SEPA 7" in partner_network.bob.web.get("/payouts").text
    assert (
        web.post(
            "/administration/payouts", page=place, payout=partner_network.payout_id, do="undo"
        ).status_code
        == 303
    )
    assert partner_network.payouts()[0]["paid"] == "no"


def test_statements_of_both_sides_are_one_sum(partner_network):
    for who, side in ((partner_network.bob, "partner"), (partner_network.alice, "owner")):
        answer = who.web.get(f"/statements/{side}/{partner_network.month}.csv")
        assert (
            answer.headers["content-type"].startswith("text/csv")
            and "attachment" in answer.headers["content-disposition"]
        )
        lines = list(csv.DictReader(io.StringIO(answer.text)))
        assert sum(Decimal(line["amount_usd"]) for line in lines) == Decimal("6.00")
        shown = text_of(who.web.get(f"/statements/{side}/{partner_network.month}").text)
        assert "$6.00" in shown and rules.month_name(partner_network.month) in shown
    assert Decimal(partner_network.payouts()[0]["amount_usd"]) == Decimal("6.00")
    assert (
        "veiled"
        not in partner_network.bob.web.get(f"/statements/partner/{partner_network.month}").text
    ), "readers are the owner's"
    for wrong in (
        "/statements/thief/2026-11",
        "/statements/partner/2026-13",
        "/statements/owner/x.csv",
    ):
        assert partner_network.bob.web.get(wrong).status_code == 404


def test_the_icon_counts_unread_notifications(partner_network):
    """The budget of 6 dollars was reached by the second reader."""
    page = partner_network.bob.web.get("/notices").text
    assert "Secret garden" in text_of(page)
    again = text_of(partner_network.bob.web.get("/").text)
    assert "Notifications 1" not in again


def test_filters_that_make_no_sense_are_left_out(partner_network):
    for query in (
        "min_cpa=much",
        "page=-3",
        "page=999999999",
        "category=none",
        "sort=random",
        "search=%00",
        "min_cpa=1e999",
    ):
        assert partner_network.bob.web.get(f"/network?{query}").status_code == 200, query


def test_time_moves_only_where_the_setting_allows_it_and_takes_every_session_along():
    with Service("sqlite") as service:
        alice, bob = operator(service), operator(service, "bob")
        before_ms = service.now_ms()
        assert (
            alice.web.post("/clock", page="/", step="week", back="//evil.example").headers[
                "location"
            ]
            == "/"
        )
        assert service.now_ms() - before_ms > 7 * DAY_MS - HOUR_MS
        for who in (alice, bob):
            assert who.web.get("/").status_code == 200, "still logged in"
        assert (
            alice.web.post("/clock", page="/", step="now", back="/program").headers["location"]
            == "/program"
        )
        assert (
            abs(service.now_ms() - system_clock()) < HOUR_MS
            and alice.web.get("/").status_code == 200
            and bob.web.get("/").status_code == 200
        )
    with Service("sqlite", test_clock="") as service:
        alice = operator(service)
        assert "To month end" not in alice.web.get("/").text
        assert alice.web.post("/clock", page="/", step="week").status_code == 404


def test_a_partner_sees_the_clicks_on_their_own_link_and_nobody_elses(partner_network):
    """Each visitor once an hour; robots, previews and a look at the headers are no visits."""
    bob, carol = partner_network.bob, operator(partner_network.service, "carol")
    program = offer(partner_network.alice, redirect_url="https://wax.example/welcome?from=us")
    bobs, carols = join(bob, program), join(carol, program)
    visitors = httpx.Client(base_url=partner_network.service.url, verify=False)

    def follow(place: dict[str, Any], agent: str, method: str = "GET", **headers: str) -> None:
        link = place["referral_link"].removeprefix(partner_network.service.settings.base_url)
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
            r"([\d,]+ clicks?) this month", text_of(who.web.get(f"/earnings/{place['uuid']}").text)
        )
        assert found is not None
        return found[1]

    until(lambda: (clicks_of(bob, bobs), clicks_of(carol, carols)) == ("2 clicks", "1 click"))
    partner_network.service.set_clock(
        (partner_network.service.now_ms() + HOUR_MS - system_clock()) / 1000
    )
    follow(bobs, "Safari/19")
    until(lambda: clicks_of(bob, bobs) == "3 clicks")
    assert carol.web.get(f"/earnings/{bobs['uuid']}").status_code == 404

    tables = dump(partner_network.service)
    kept = [row for row in tables["click"] if row["target_id"] == bobs["uuid"]]
    assert len(kept) == 3 and all(re.fullmatch("[0-9a-f]{32}", row["visitor"]) for row in kept)
    assert mentions(tables, "Firefox/140 Veiled") == []
    theirs = {
        (row["code"], row["n"]) for row in tables["click_day"] if row["target_id"] == bobs["uuid"]
    }
    assert theirs == {(bobs["ref_code"], 3), ("", 3)}


def test_the_last_30_days_end_today_and_those_before_are_60(partner_network):
    """Of referrals that came at the first and last moments of these days."""
    service, bob = partner_network.service, partner_network.bob
    alice = operator(service, "alice30")
    place = join(bob, offer(alice))
    today_ms = service.now_ms() // DAY_MS * DAY_MS
    move = statement("UPDATE partner_referral SET arrived_ms = :ms WHERE subscriber_id = :id")

    def come(days_ago: int, at_ms: int) -> None:
        made = alice.subscribe(f"d{days_ago}-{at_ms}@example.org", referrer_code=place["ref_code"])
        at = {"id": made["uuid"], "ms": today_ms - days_ago * DAY_MS + at_ms}
        service.write(lambda tx: tx.run(move, **at))

    for days_ago in (29, 89):
        come(days_ago, 0)
    for days_ago in (30, 90):
        come(days_ago, DAY_MS - 1)
    program = alice.get("/v2/partner_programs").json()["partner_programs"][0]["uuid"]
    page = alice.web.get(f"/program/{program}").text
    row = page.partition(f'<tr data-href="/program/partners/{place["uuid"]}"')[2]
    cell = r'data-name="([^"]+)">(.*?)</td>'
    cells = dict(re.findall(cell, row.partition("</tr>")[0], re.DOTALL))
    assert (cells["Signups"], cells["Verified"]) == ("1", "1"), "day 29 and no other"
    assert "2 of 2" in text_of(cells["Still subscribed"]), "days 30 and 89, and not day 90"
    found = alice.web.get(f"/program/partners/{place['uuid']}?days=90").text
    assert "Signups 3 " in text_of(found)
    assert "Signups 1 " in text_of(alice.web.get(f"/program/partners/{place['uuid']}").text)


def test_a_persons_page_names_the_partner_and_the_fee(partner_network):
    ids = [
        partner_network.alice.subscriber(f"veiled{number}@example.org")["uuid"]
        for number in range(3)
    ]
    shown = [text_of(partner_network.alice.web.get(f"/subscribers/{each}").text) for each in ids]
    assert all("Bob partner of Secret garden" in page for page in shown)
    assert (
        sum(
            f"$3.00, charged in {rules.month_name(partner_network.month)}" in page for page in shown
        )
        == 2
    )
    assert (
        sum("Fee None. The program had reached its monthly budget." in page for page in shown) == 1
    )


def test_an_invite_link_says_which_program_it_is_if_that_is_listed(
    service: Service,
) -> None:
    stranger = httpx.Client(base_url=service.url, follow_redirects=True, verify=False)
    alice = operator(service)
    listed = offer(alice, publish(alice, name="The <b>Wax</b>"), show_in_directory=True, cpa=3)
    unlisted = offer(alice, publish(alice, name="Hidden hive"), show_in_directory=False)
    page = stranger.get(f"/network/{listed['uuid']}").text
    assert "The &lt;b&gt;Wax&lt;/b&gt;" in page
    assert "pays partners $3.00 for each new subscriber" in text_of(page)
    assert "You need an invitation" in text_of(page)
    page = stranger.get(f"/network/{unlisted['uuid']}").text
    assert "Hidden hive" not in page and "Log in to see this partner program" in page
