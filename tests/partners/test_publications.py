"""v2 publications: every rule of the field table, logos in every form, on both engines."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest

from honeyguide.partners import audience
from tests.support.partner_network import logo_field, offer, png, publication_fields, publish
from tests.support.service import ONE_ENGINE

KEYS = {
    "uuid",
    "name",
    "description",
    "categories",
    "list_id",
    "status",
    "logo",
    "logo_url",
    "enabled_partner_program",
    "audience_gender",
    "income_levels",
    "age_ranges",
    "created_at",
}


def test_a_publication_answers_with_every_accepted_field(alice):
    answer = alice.post("/v2/publications", publication_fields(list_id="main"))
    assert answer.status_code == 201
    publication = answer.json()["publication"]
    assert set(publication) == KEYS
    assert publication["status"] == "active"
    assert publication["list_id"] == "main"
    assert publication["enabled_partner_program"] is False
    assert publication["categories"] == ["food & drink", "lifestyle"]
    assert publication["logo"] == publication["logo_url"]
    assert alice.get(f"/v2/publications/{publication['uuid']}").json() == {
        "publication": publication
    }


def test_what_is_required_is_asked_for_by_name(alice):
    for missing in ("name", "categories", "logo", "audience_gender", "income_levels", "age_ranges"):
        whole = publication_fields()
        for fields in (
            {**whole, missing: None},
            {name: value for name, value in whole.items() if name != missing},
        ):
            answer = alice.post("/v2/publications", fields)
            assert (answer.status_code, answer.json()["param"]) == (400, missing)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("categories", []),
        ("categories", ["tech", "news", "media", "travel"]),
        ("categories", ["bees"]),
        ("categories", "tech"),
        ("categories", [1]),
        ("income_levels", []),
        ("income_levels", ["rich"]),
        ("age_ranges", []),
        ("age_ranges", ["old"]),
        ("audience_gender", "all"),
        ("status", "deleted"),
        ("name", ""),
        ("name", "x" * 256),
        ("name", 5),
        ("name", "a\x00b"),
        ("description", "x" * 2001),
        ("list_id", "x" * 256),
        ("logo", "not base64!"),
        ("logo", 7),
        (
            "logo",
            "data:image/svg+xml;base64,"
            + base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode(),
        ),
        ("logo", "https://elsewhere.example/logo.png"),
    ],
)
@ONE_ENGINE
def test_a_value_outside_the_table_is_a_400_naming_it(alice, field, value):
    answer = alice.post("/v2/publications", publication_fields(**{field: value}))
    assert answer.status_code == 400, answer.text
    assert answer.json()["param"] == field


def test_every_allowed_word_is_taken(alice):
    publication = publish(
        alice, income_levels=list(audience.INCOME_LEVELS), age_ranges=list(audience.AGE_RANGES)
    )
    assert publication["income_levels"] == list(audience.INCOME_LEVELS)
    path = f"/v2/publications/{publication['uuid']}"
    for gender in audience.GENDERS:
        assert (
            alice.put(path, {"audience_gender": gender}).json()["publication"]["audience_gender"]
            == gender
        )
    for start in range(0, len(audience.CATEGORIES), 3):
        chosen = list(audience.CATEGORIES[start : start + 3])
        assert alice.put(path, {"categories": chosen}).json()["publication"]["categories"] == chosen


def test_a_form_brings_the_logo_as_a_file_and_lists_as_repeated_fields(alice):
    for suffix in ("", "[]"):
        data = {
            "name": "Form",
            f"categories{suffix}": ["tech", "news"],
            "audience_gender": "mixed",
            f"income_levels{suffix}": ["$150k+"],
            f"age_ranges{suffix}": ["60+", "40 - 59"],
        }
        answer = alice.http.post(
            "/v2/publications", data=data, files={"logo": ("../../x.png", png(), "text/html")}
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["publication"]["categories"] == ["tech", "news"]
        assert answer.json()["publication"]["age_ranges"] == ["60+", "40 - 59"]
    uuid = answer.json()["publication"]["uuid"]
    changed = alice.http.put(
        f"/v2/publications/{uuid}",
        files={"logo": ("a.png", png((1, 2, 3)), "image/png"), "status": (None, "archived")},
    )
    assert changed.status_code == 200, changed.text
    assert changed.json()["publication"]["status"] == "archived"
    assert changed.json()["publication"]["logo"] != answer.json()["publication"]["logo"]


def part(name: str, value: bytes, more: str = "") -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


UNREADABLE = ("The multipart body cannot be read.", None)
FORMS: dict[str, tuple[bytes, str, tuple[str, str | None]]] = {
    "no part": (b"--x\r\nnonsense", "boundary=x", UNREADABLE),
    "empty": (b"", "boundary=x", UNREADABLE),
    "cut short": (part("name", b"Wax"), "boundary=x", UNREADABLE),
    "cut short in a file": (part("logo", png(), '; filename="a"')[:-9], "boundary=x", UNREADABLE),
    "another boundary": (part("name", b"Wax") + b"--x--\r\n", "boundary=y", UNREADABLE),
    "no boundary": (part("name", b"Wax") + b"--x--\r\n", "a=b", UNREADABLE),
    "an open quote": (part("name", b"Wax") + b"--x--\r\n", 'boundary="x', UNREADABLE),
    "a part without a name": (
        b"--x\r\nContent-Type: text/plain\r\n\r\nWax\r\n--x--\r\n",
        "boundary=x",
        UNREADABLE,
    ),
    "51 fields": (part("name", b"Wax") * 51 + b"--x--\r\n", "boundary=x", UNREADABLE),
    "51 files": (part("logo", b"", '; filename=""') * 51 + b"--x--\r\n", "boundary=x", UNREADABLE),
    "50 fields and a file": (
        part("name", b"Wax") * 50 + part("logo", b"", '; filename="a"') + b"--x--\r\n",
        "boundary=x",
        UNREADABLE,
    ),
    "not UTF-8": (
        part("name", b"\xff") + b"--x--\r\n",
        "boundary=x",
        ("name is not valid UTF-8.", "name"),
    ),
    "not UTF-8, whatever the charset": (
        part("name", b"\xff") + b"--x--\r\n",
        "charset=latin-1; boundary=x",
        ("name is not valid UTF-8.", "name"),
    ),
    "50 parts": (
        part("name", "Wäx".encode()) * 50 + b"--x--\r\n",
        "boundary=x",
        ("categories is required.", "categories"),
    ),
    "a file of 1.5 MB": (
        part("logo", b"\xff\xd8\xff" + bytes(1_500_000), '; filename="a"') + b"--x--\r\n",
        "boundary=x",
        ("name is required.", "name"),
    ),
}


@pytest.mark.parametrize("name", FORMS)
@ONE_ENGINE
def test_a_form_that_cannot_be_used_is_a_400_that_says_why(alice, name):
    body, options, sentence = FORMS[name]
    answer = alice.http.post(
        "/v2/publications",
        content=body,
        headers={"content-type": f"multipart/form-data; {options}"},
    )
    error = answer.json()
    assert (answer.status_code, (error["error"], error.get("param"))) == (400, sentence)


def test_another_content_type_is_a_415(alice):
    other = alice.http.post(
        "/v2/publications",
        content=b"a=b",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert other.status_code == 415


def test_the_logo_is_served_clean_and_for_long(alice):
    publication = publish(alice, logo="data:image/png;base64," + logo_field())
    served = alice.http.get(publication["logo_url"], headers={"X-Api-Key": ""})
    assert served.status_code == 200
    assert served.headers["content-type"] in ("image/png", "image/jpeg")
    assert served.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in served.headers["cache-control"]
    assert served.content != png()


def test_update_changes_only_what_it_names_and_null_clears_only_what_may_be_empty(alice):
    publication = publish(alice)
    path = f"/v2/publications/{publication['uuid']}"
    changed = alice.put(path, {"name": "The Evening Wax"}).json()["publication"]
    assert changed == {**publication, "name": "The Evening Wax"}
    assert alice.put(path, {"description": None}).json()["publication"]["description"] is None
    assert (
        alice.put(path, {"logo": publication["logo"]}).json()["publication"]["logo"]
        == publication["logo"]
    )
    for field in (
        "name",
        "categories",
        "status",
        "audience_gender",
        "income_levels",
        "age_ranges",
        "logo",
        "enabled_partner_program",
    ):
        refused = alice.put(path, {field: None})
        assert refused.status_code == 400, field
        assert refused.json()["param"] == field
    assert alice.put(path, {}).status_code == 200


def test_the_switch_of_the_partner_program_is_ignored_on_create(alice):
    body = publication_fields(enabled_partner_program=True)
    publication = alice.post("/v2/publications", body).json()["publication"]
    assert publication["enabled_partner_program"] is False


def test_lists_are_paged_newest_first_and_deleted_ones_are_gone(alice):
    made = [publish(alice, name=f"No {number}")["uuid"] for number in range(3)]
    first = alice.get("/v2/publications", params={"per_page": 2})
    assert [p["uuid"] for p in first.json()["publications"]] == made[:0:-1]
    assert first.json()["meta"] == {
        "per_page": 2,
        "page": 1,
        "total_pages": 2,
        "total_publications": 3,
    }
    assert 'rel="next"' in first.headers["link"]
    assert alice.delete(f"/v2/publications/{made[0]}").json().keys() == {"message"}
    assert alice.get(f"/v2/publications/{made[0]}").status_code == 404
    assert alice.get("/v2/publications").json()["meta"]["total_publications"] == 2


def test_a_stranger_sees_nothing(alice, mallory):
    publication = publish(alice)
    path = f"/v2/publications/{publication['uuid']}"
    for answer in (mallory.get(path), mallory.put(path, {"name": "Mine"}), mallory.delete(path)):
        assert answer.status_code == 404
    assert mallory.get("/v2/publications").json()["publications"] == []
    assert alice.get(path).json()["publication"] == publication


def test_changes_made_at_once_are_all_kept(service, alice):
    """Each names another field, and the program comes and goes meanwhile: none writes back what
    another changed.
    """
    publication = publish(alice)
    program = offer(alice, publication)
    path = f"/v2/publications/{publication['uuid']}"
    for n in range(6):
        off = n % 2 == 0
        changes = [
            (path, {"name": f"Wax {n}"}),
            (path, {"description": f"Number {n}"}),
            (path, {"list_id": f"list {n}"}),
            (path, {"status": "archived" if off else "active"}),
            (f"/v2/partner_programs/{program['uuid']}", {"terms": f"Be kind {n}"}),
        ]
        with ThreadPoolExecutor(len(changes)) as pool:
            answers = list(pool.map(lambda change: alice.put(*change), changes))
        assert [answer.status_code for answer in answers] == [200] * len(changes)
        shown = alice.get(path).json()["publication"]
        assert (shown["name"], shown["description"], shown["list_id"]) == (
            f"Wax {n}",
            f"Number {n}",
            f"list {n}",
        )
        assert shown["status"] == ("archived" if off else "active")
        found = alice.get(
            "/v2/partner_network/partner_programs",
            params={"search": f"Wax Number {n}", "per_page": 200},
        ).json()
        assert (program["uuid"] in [each["uuid"] for each in found["partner_programs"]]) is not off
