"""v2 partner programs: fields, defaults, exact money, slugs, one per publication, on both
engines.
"""

import pytest

from tests.support.partner_network import offer, publish

KEYS = {
    "uuid",
    "name",
    "description",
    "terms",
    "resources_url",
    "redirect_url",
    "show_in_directory",
    "thankyou_page_url",
    "referral_pending_duration",
    "referral_pending_duration_enabled",
    "max_payout",
    "total_budget",
    "cpa",
    "created_at",
    "publication_uuid",
    "categories",
}

JSON = {"content-type": "application/json"}


def body(publication, **fields):
    return {
        "max_payout": 90,
        "total_budget": 300,
        "cpa": 3,
        "redirect_url": "https://wax.example/",
        **fields,
        "publication_uuid": publication["uuid"],
    }


def test_a_program_has_exactly_the_specified_fields_and_the_decided_defaults(alice):
    publication = publish(alice, name="Wax")
    answer = alice.post(
        "/v2/partner_programs", body(publication, slug="wax-" + alice.campaign_id[-12:])
    )
    assert answer.status_code == 201
    program = answer.json()["partner_program"]
    assert set(program) == KEYS
    assert program["name"] == "Wax's partner program"
    assert program["description"] == publication["description"]
    assert program["categories"] == publication["categories"]
    assert program["show_in_directory"] is False
    assert program["referral_pending_duration"] == 14
    assert program["referral_pending_duration_enabled"] is False
    assert [program[name] for name in ("terms", "resources_url", "thankyou_page_url")] == [
        None,
        None,
        None,
    ]
    assert alice.get(f"/v2/partner_programs/{program['uuid']}").json() == {
        "partner_program": program
    }
    alice.put(f"/v2/publications/{publication['uuid']}", {"name": "Evening"})
    assert (
        alice.get(f"/v2/partner_programs/{program['uuid']}").json()["partner_program"]["name"]
        == "Evening's partner program"
    )


def test_what_is_required_is_asked_for_by_name(alice):
    whole = body(publish(alice))
    for missing in ("max_payout", "total_budget", "cpa", "redirect_url", "publication_uuid"):
        answer = alice.post(
            "/v2/partner_programs",
            {name: value for name, value in whole.items() if name != missing},
        )
        assert (answer.status_code, answer.json()["param"]) == (400, missing)


NO_AMOUNTS = (
    "-1",
    "1.999",
    '"5"',
    "true",
    "1e-9",
    "1000000000000",
    "1000000.01",
    "null",
    "[1]",
    "1e400",
    "NaN",
)
NO_TARGETS = (
    "javascript:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "https:evil.example",
    "\\\\evil",
    "ftp://x.example/",
    "https://user:pw@evil.example/",
    "/relative",
    "https://a.example/\n",
    "https://a.example/" + "x" * 2100,
)


def test_an_amount_that_is_no_amount_is_a_400(alice):
    publication = publish(alice)
    for field in ("max_payout", "total_budget", "cpa"):
        for value in NO_AMOUNTS:
            fields = {"max_payout": "90", "total_budget": "300", "cpa": "3", field: value}
            amounts = ",".join(f'"{name}":{text}' for name, text in fields.items())
            raw = f'{{{amounts},"redirect_url":"https://wax.example/","publication_uuid":"{publication["uuid"]}"}}'
            answer = alice.http.post("/v2/partner_programs", content=raw, headers=JSON)
            assert answer.status_code == 400, (field, value, answer.text)
            assert answer.json().get("param", field) == field


@pytest.mark.parametrize(
    ("text", "shown"),
    [("0", "0"), ("0.01", "0.01"), ("2.50", "2.5"), ("1000000", "1000000"), ("1e2", "100")],
)
def test_amounts_come_back_to_the_cent(alice, text, shown):
    raw = (
        f'{{"max_payout":{text},"total_budget":{text},"cpa":{text},"redirect_url":"https://w.example/",'
        f'"publication_uuid":"{publish(alice)["uuid"]}"}}'
    )
    answer = alice.http.post("/v2/partner_programs", content=raw, headers=JSON)
    assert answer.status_code == 201, answer.text
    for name in ("max_payout", "total_budget", "cpa"):
        assert f'"{name}":{shown},' in answer.text


def test_a_target_that_is_no_plain_web_address_is_refused(alice):
    publication = publish(alice)
    for field in ("redirect_url", "thankyou_page_url", "resources_url"):
        for url in NO_TARGETS:
            answer = alice.post("/v2/partner_programs", body(publication, **{field: url}))
            assert (answer.status_code, answer.json()["param"]) == (400, field), url


def test_days_are_a_whole_number_on_create_and_on_update(alice):
    publication = publish(alice)
    for days in ("14.5", '"14"', "-1", "366", "true", "1e9"):
        raw = (
            f'{{"max_payout":1,"total_budget":1,"cpa":1,"redirect_url":"https://w.example/","referral_pending_duration":{days},'
            f'"publication_uuid":"{publication["uuid"]}"}}'
        )
        answer = alice.http.post("/v2/partner_programs", content=raw, headers=JSON)
        assert (answer.status_code, answer.json()["param"]) == (400, "referral_pending_duration"), (
            days
        )
    program = offer(alice, publication, referral_pending_duration=30)
    path = f"/v2/partner_programs/{program['uuid']}"

    def put(days):
        return alice.http.put(path, content=f'{{"referral_pending_duration":{days}}}', headers=JSON)

    assert put("14.0").json()["partner_program"]["referral_pending_duration"] == 14
    assert put("7").json()["partner_program"]["referral_pending_duration"] == 7
    for days in ("14.5", '"7"', "null", "1e9"):
        assert put(days).status_code == 400, days
    assert alice.get(path).json()["partner_program"]["referral_pending_duration"] == 7


def test_one_live_program_per_publication(alice):
    publication = publish(alice)
    program = offer(alice, publication)
    second = alice.post("/v2/partner_programs", body(publication))
    assert (second.status_code, second.json()["param"]) == (400, "publication_uuid")
    assert alice.delete(f"/v2/partner_programs/{program['uuid']}").json().keys() == {"message"}
    assert alice.get(f"/v2/partner_programs/{program['uuid']}").status_code == 404
    assert (
        alice.get(f"/v2/publications/{publication['uuid']}").json()["publication"][
            "enabled_partner_program"
        ]
        is False
    )
    assert alice.post("/v2/partner_programs", body(publication)).status_code == 201


def test_a_slug_is_unique_and_a_freed_one_stays_with_its_account(alice, bob):
    slug = "s" + alice.campaign_id[-12:]
    program = offer(alice, slug=slug)
    taken = bob.post("/v2/partner_programs", body(publish(bob), slug=slug))
    assert (taken.status_code, taken.json()["param"]) == (400, "slug")
    assert bob.get("/v2/partner_programs").json()["partner_programs"] == []
    alice.put(f"/v2/partner_programs/{program['uuid']}", {"slug": None})
    assert bob.post("/v2/partner_programs", body(publish(bob), slug=slug)).status_code == 400
    publication = publish(alice)
    assert alice.post("/v2/partner_programs", body(publication, slug=slug)).status_code == 201
    alice.delete(f"/v2/publications/{publication['uuid']}")
    assert bob.post("/v2/partner_programs", body(publish(bob), slug=slug)).status_code == 400
    assert alice.post("/v2/partner_programs", body(publish(alice), slug=slug)).status_code == 201


def test_a_slug_of_the_wrong_form_is_refused(alice):
    publication = publish(alice)
    for slug in ("Upper", "under_score", "-lead", "trail-", "api", "v1", "x" * 61, "ü", "a b", ""):
        answer = alice.post("/v2/partner_programs", body(publication, slug=slug))
        assert (answer.status_code, answer.json()["param"]) == (400, "slug"), slug


def test_update_changes_only_what_it_names(alice):
    program = offer(alice, terms="No coupons", thankyou_page_url="https://wax.example/thanks")
    path = f"/v2/partner_programs/{program['uuid']}"
    changed = alice.put(path, {"cpa": 4.25, "terms": None}).json()["partner_program"]
    assert changed == {**program, "cpa": 4.25, "terms": None}
    for field in (
        "max_payout",
        "total_budget",
        "cpa",
        "redirect_url",
        "show_in_directory",
        "referral_pending_duration_enabled",
    ):
        assert (alice.put(path, {field: None}).status_code, field) == (400, field)
    assert (
        alice.put(path, {"name": "Other", "categories": ["tech"], "uuid": "x"}).json()[
            "partner_program"
        ]
        == changed
    )


def test_lists_are_paged_and_strangers_see_nothing(alice, mallory):
    programs = [offer(alice)["uuid"] for _ in range(2)]
    listed = alice.get("/v2/partner_programs").json()
    assert [p["uuid"] for p in listed["partner_programs"]] == programs[::-1]
    assert listed["meta"] == {
        "per_page": 50,
        "page": 1,
        "total_pages": 1,
        "total_partner_programs": 2,
    }
    path = f"/v2/partner_programs/{programs[0]}"
    answers = [
        mallory.get(path),
        mallory.put(path, {"cpa": 0}),
        mallory.delete(path),
        mallory.get(path + "/referrals"),
        mallory.get(path + "/spend"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert mallory.get("/v2/partner_programs").json()["partner_programs"] == []
    foreign = mallory.post(
        "/v2/partner_programs", body({"uuid": listed["partner_programs"][0]["publication_uuid"]})
    )
    assert foreign.status_code == 400
