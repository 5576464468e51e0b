"""The partner network: browse, filter, join; the owner's budget stays private, and what is off
vanishes at once.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.partner_network import join, offer, publish

NETWORK = "/v2/partner_network/partner_programs"
CAMPAIGN_KEYS = {
    "uuid",
    "name",
    "status",
    "partner_program_uuid",
    "publication_uuid",
    "ref_code",
    "referral_link",
    "magic_link",
    "cpa",
    "max_payout",
    "remaining_payout",
    "referral_pending_duration",
    "terms",
    "thankyou_page_url",
    "created_at",
    "remaining_budget_dollars",
    "referral_pending_period",
}


def found(member, **query):
    answer = member.get(NETWORK, params={"per_page": 200, **query})
    assert answer.status_code == 200, answer.text
    return [program["uuid"] for program in answer.json()["partner_programs"]]


def test_an_offer_shows_what_partners_choose_by_and_never_the_budget(alice, bob):
    publication = publish(alice)
    program = offer(alice, publication, terms="Be kind")
    shown = bob.get(f"{NETWORK}/{program['uuid']}").json()["partner_program"]
    assert shown["cpa"] == 3
    assert shown["max_payout"] == 90
    assert "total_budget" not in shown
    assert (
        shown["own"],
        shown["joined"],
        shown["budget_left"],
        shown["confirmation_rate_30d"],
    ) == (
        False,
        False,
        "plenty",
        None,
    )
    assert shown["publication"] == {
        name: publication[name]
        for name in (
            "uuid",
            "name",
            "description",
            "logo_url",
            "categories",
            "audience_gender",
            "income_levels",
            "age_ranges",
        )
    }
    assert alice.get(f"{NETWORK}/{program['uuid']}").json()["partner_program"]["own"] is True
    assert 300 not in [*shown.values(), *shown["publication"].values()]


def test_unlisted_is_not_secret_but_disabled_archived_and_deleted_are_gone(alice, bob):
    publication = publish(alice)
    program = offer(alice, publication, show_in_directory=False)
    one, publication_path = (
        f"{NETWORK}/{program['uuid']}",
        f"/v2/publications/{publication['uuid']}",
    )
    assert program["uuid"] not in found(bob)
    assert bob.get(one).status_code == 200
    alice.put(f"/v2/partner_programs/{program['uuid']}", {"show_in_directory": True})
    assert program["uuid"] in found(bob)
    for off, on in (
        ({"enabled_partner_program": False}, {"enabled_partner_program": True}),
        ({"status": "archived"}, {"status": "active"}),
    ):
        alice.put(publication_path, off)
        assert program["uuid"] not in found(bob)
        assert (bob.get(one).status_code, bob.post(f"{one}/join").status_code) == (404, 404)
        alice.put(publication_path, on)
        assert program["uuid"] in found(bob)
    alice.delete(f"/v2/partner_programs/{program['uuid']}")
    assert bob.get(one).status_code == 404


def test_filters_search_and_sort_narrow_the_list(alice, bob):
    bees = offer(
        alice,
        publish(
            alice,
            name="Bees 100%_real",
            categories=["science"],
            audience_gender="mainly_female",
            age_ranges=["60+"],
        ),
        cpa=2,
        max_payout=500,
    )["uuid"]
    cars = offer(
        alice,
        publish(alice, name="Cars", description="fast ones", income_levels=["$150k+"]),
        cpa=9.5,
        max_payout=50,
    )["uuid"]
    own = {bees, cars}

    def narrowed(**query):
        return [uuid for uuid in found(bob, **query) if uuid in own]

    assert narrowed() == [cars, bees]
    assert narrowed(search="bEEs") == [bees]
    assert narrowed(search="FAST") == [cars]
    assert narrowed(search="100%_real") == [bees]
    assert narrowed(search="100x_real") == []
    assert narrowed(search="real ones") == []
    assert narrowed(search="ast") == [cars]
    assert narrowed(search="ees real") == [bees]
    assert narrowed(search="es") == [cars, bees]
    assert narrowed(search="ones of fast", category="food & drink") == []
    assert narrowed(search="ONE fas") == [cars]
    assert narrowed(category="science") == [bees]
    assert narrowed(audience_gender="mainly_female") == [bees]
    assert narrowed(age_range="60+") == [bees]
    assert narrowed(income_level="$150k+") == [cars, bees]
    assert narrowed(min_cpa="2.01") == [cars]
    assert narrowed(min_cpa="2") == [cars, bees]
    assert narrowed(sort="cpa") == [cars, bees]
    assert narrowed(sort="max_payout") == [bees, cars]
    assert set(narrowed(sort="confirmation_rate")) == own


@pytest.mark.parametrize(
    "query",
    [
        {"category": "bees"},
        {"sort": "name"},
        {"min_cpa": "x"},
        {"min_cpa": "-1"},
        {"age_range": "7"},
        {"page": "0"},
    ],
)
def test_an_unknown_filter_value_is_a_400(bob, query):
    answer = bob.get(NETWORK, params=query)
    assert (answer.status_code, answer.json()["param"]) == (400, next(iter(query)))


def test_joining_twice_gives_the_same_place(alice, bob):
    program = offer(alice, terms="Be kind", thankyou_page_url="https://wax.example/thanks")
    first = bob.post(f"{NETWORK}/{program['uuid']}/join", {"reason_for_recommending": "I read it"})
    again = bob.post(f"{NETWORK}/{program['uuid']}/join")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    place = first.json()["partner_campaign"]
    assert set(place) == CAMPAIGN_KEYS
    assert place["status"] == "active"
    assert place["remaining_payout"] == place["remaining_budget_dollars"] == 90
    assert place["referral_link"].endswith(f"/p/{place['ref_code']}")
    assert place["magic_link"].endswith(f"/m/{place['ref_code']}")
    assert bob.get(f"{NETWORK}/{program['uuid']}").json()["partner_program"]["joined"] is True
    listed = bob.get("/v2/partner_profile/partner_campaigns").json()
    assert listed["partner_campaigns"] == [place]
    assert listed["meta"]["total_partner_campaigns"] == 1
    assert bob.get(f"/v2/partner_profile/partner_campaigns/{place['uuid']}").json() == {
        "partner_campaign": place
    }


def test_a_partner_campaign_has_the_holding_period_that_applies(alice, bob):
    """It has no flag beside it, so the days of a period that is off must not be read as a wait."""
    program = offer(alice, referral_pending_duration=9, referral_pending_duration_enabled=True)
    path = f"/v2/partner_programs/{program['uuid']}"

    def days(answer):
        shown = answer.json()["partner_campaign"]
        assert shown["referral_pending_period"] == shown["referral_pending_duration"]
        return shown["referral_pending_duration"]

    joined = bob.post(f"{NETWORK}/{program['uuid']}/join")
    again = f"/v2/partner_profile/partner_campaigns/{joined.json()['partner_campaign']['uuid']}"
    assert days(joined) == 9
    alice.put(path, {"referral_pending_duration_enabled": False})
    assert days(bob.get(again)) == 0
    assert days(bob.post(f"{NETWORK}/{program['uuid']}/join")) == 0
    listed = bob.get("/v2/partner_profile/partner_campaigns").json()["partner_campaigns"]
    assert listed[0]["referral_pending_duration"] == 0
    # The specification's own object keeps both fields as they were set.
    shown = alice.get(path).json()["partner_program"]
    assert shown["referral_pending_duration"] == 9
    assert shown["referral_pending_duration_enabled"] is False


def test_joining_at_once_gives_one_place(alice, bob):
    program = offer(alice)
    path = f"{NETWORK}/{program['uuid']}/join"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: bob.post(path), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.text for answer in answers}) == 1


def test_a_place_tells_when_its_program_is_off(alice, bob):
    publication = publish(alice)
    place = join(bob, offer(alice, publication))
    alice.put(f"/v2/publications/{publication['uuid']}", {"enabled_partner_program": False})
    paused = bob.get(f"/v2/partner_profile/partner_campaigns/{place['uuid']}").json()[
        "partner_campaign"
    ]
    assert paused["status"] == "paused"


def test_a_stranger_sees_nobodys_places(alice, bob, mallory):
    place = join(bob, offer(alice))
    assert mallory.get("/v2/partner_profile/partner_campaigns").json()["partner_campaigns"] == []
    assert mallory.get(f"/v2/partner_profile/partner_campaigns/{place['uuid']}").status_code == 404
    assert alice.get(f"/v2/partner_profile/partner_campaigns/{place['uuid']}").status_code == 404


def test_budget_left_and_confirmation_rate_follow_what_happens(alice, bob):
    program = offer(alice, total_budget=9, cpa=3)
    code = join(bob, program)["ref_code"]

    def shown():
        return bob.get(f"{NETWORK}/{program['uuid']}").json()["partner_program"]

    alice.subscribe("one@example.org", referrer_code=code)
    assert (shown()["budget_left"], shown()["confirmation_rate_30d"]) == ("plenty", 1)
    alice.subscribe("two@example.org", referrer_code=code)
    alice.subscribe("bad@mailinator.com", referrer_code=code)
    assert shown()["confirmation_rate_30d"] == pytest.approx(2 / 3, abs=1e-4)
    alice.put(f"/v2/partner_programs/{program['uuid']}", {"total_budget": 7})
    assert shown()["budget_left"] == "low"
    alice.subscribe("three@example.org", referrer_code=code)
    assert shown()["budget_left"] == "none"


def test_a_partner_sees_that_a_budget_is_spent_but_not_how_much_is_left(alice, bob):
    program = offer(alice, total_budget=7, cpa=3, max_payout=90)
    place = join(bob, program)

    def remaining():
        path = f"/v2/partner_profile/partner_campaigns/{place['uuid']}"
        shown = bob.get(path).json()["partner_campaign"]
        return shown["remaining_payout"], shown["remaining_budget_dollars"]

    alice.subscribe("first@example.org", referrer_code=place["ref_code"])
    assert remaining() == (87, 87)
    alice.subscribe("second@example.org", referrer_code=place["ref_code"])
    alice.subscribe("third@example.org", referrer_code=place["ref_code"])
    assert remaining() == (84, 0)
