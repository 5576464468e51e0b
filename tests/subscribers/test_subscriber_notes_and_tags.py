"""What operators add about subscribers: tags, notes and saved filters, and corrections of a name or
an email address. It is exported with the person and gone when they are erased.
"""

import re
from typing import Any

import pytest

from honeyguide.subscribers.tags import split_tags
from tests.support.delayed import pass_minute
from tests.support.effort import effort_of
from tests.support.service import Member, Service
from tests.support.tables import dump, mentions
from tests.support.web import Operator, run_import, text_of, upload


def tags_of(member: Member, uuid: str) -> Any:
    return member.get(f"{member.v1}/subscribers/{uuid}/tags").json()["tags"]


def found(alice: Operator, query: str) -> list[str]:
    page = alice.web.get(f"/subscribers?{query}").text
    return re.findall(r'aria-label="Select ([^"@]+)@', page)


def flash(alice: Operator, path: str = "/subscribers") -> str:
    return text_of(alice.web.get(path).text)


def test_tags_are_split_in_linear_time() -> None:
    """A cell of an import is split on the event loop."""
    assert split_tags('"vip", podcast;\t"two words"|\n') == ["vip", "podcast", "two words"]
    for unit in ('"', " ", '" ', "\t"):
        text = unit * (500_000 // len(unit))
        assert split_tags(text) == []
        assert effort_of(lambda text=text: split_tags(text), most=100) < 100


def test_tags_over_the_api(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")["uuid"]
    path = f"{alice.v1}/subscribers/ana@example.org/tags"
    assert alice.get(path).json() == {"tags": []}
    put = alice.put(path, {"tags": ["VIP", "  Podcast   guest ", "vip"]})
    assert (put.status_code, put.json()) == (200, {"tags": ["podcast guest", "vip"]})
    assert alice.post(f"{path}/add", {"tags": ["new"]}).json()["tags"][0] == "new"
    assert alice.post(f"{path}/remove", {"tags": ["vip", "never"]}).json() == {
        "tags": ["new", "podcast guest"]
    }
    assert alice.get(f"{alice.v1}/tags").json() == {"tags": ["new", "podcast guest"]}
    assert alice.put(path, {"tags": []}).json() == {"tags": []} == alice.get(path).json()
    for body, sentence in (
        ({}, "tags is required."),
        ({"tags": "vip"}, "tags must be a list"),
        ({"tags": ["a,b"]}, "without commas"),
        ({"tags": [" "]}, "1 to 50 characters"),
        ({"tags": ["x" * 51]}, "1 to 50 characters"),
        ({"tags": ["a\nb\x07"]}, "1 to 50 characters"),
        ({"tags": [str(n) for n in range(51)]}, "at most 50 tags"),
        ({"tags": ["\x00"]}, "NUL"),
    ):
        answer = alice.put(path, body)
        assert answer.status_code == 400 and sentence in answer.json()["error"], body
        assert answer.json()["param"] == "tags"
    # The specification's object stays as it is.
    assert "tags" not in alice.subscriber(ana)


def test_an_import_tags_new_and_known_subscribers(alice: Operator) -> None:
    known = alice.subscribe("known@example.org")["uuid"]
    text = 'email,Tags\nknown@example.org,"""VIP"",""Podcast"""\nnew@example.org,vip; b\n'
    text += f"bad@example.org,{'x' * 60}\n"
    page = run_import(alice, upload(alice, text))
    assert tags_of(alice, known) == ["podcast", "vip"]
    assert tags_of(alice, "new@example.org") == ["b", "vip"]
    assert "Tags: a tag must be 1 to 50 characters" in text_of(page)
    assert sorted(found(alice, "tag=vip")) == ["known", "new"]
    exported = alice.web.get("/subscribers/export.csv?tag=podcast").text.splitlines()
    assert len(exported) == 2 and '"podcast, vip"' in exported[1]


def test_many_are_tagged_at_once(alice: Operator) -> None:
    ids = [alice.subscribe(f"s{number}@example.org")["uuid"] for number in range(55)]
    alice.web.post("/subscribers/tags", page="/subscribers", id=ids[:2], tag="Few", do="add")
    assert "2 subscribers changed." in flash(alice)
    assert sorted(found(alice, "tag=few")) == ["s0", "s1"]
    query = {"all": "1", "query": "q=example", "tag": "all, both", "do": "add"}
    alice.web.post("/subscribers/tags", page="/subscribers", **query)
    assert "55 subscribers changed." in flash(alice)
    assert "55 of 55 subscribers" in flash(alice, "/subscribers?tag=both")
    alice.web.post("/subscribers/tags", page="/subscribers", id=ids[0], tag="few", do="remove")
    assert found(alice, "tag=few") == ["s1"]
    for wrong, sentence in (
        ({"tag": ""}, "Enter a tag first."),
        ({"tag": "x" * 60, "id": ids[0]}, "Tag: a tag must be 1 to 50 characters"),
        ({"tag": "x"}, "Select at least one subscriber first."),
    ):
        alice.web.post("/subscribers/tags", page="/subscribers", do="add", **wrong)
        assert sentence in flash(alice)


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_all_who_match_days_are_those_whom_the_list_shows(alice: Operator, zone: str) -> None:
    alice.web.post("/settings/time-zone", page="/settings", time_zone=zone)
    for hour in range(0, 72, 4):
        at = f"2026-09-{21 + hour // 24}T{hour % 24:02}:30:00Z"
        alice.subscribe(f"h{hour}@example.org", created_at=at)
    query = "joined_from=2026-09-22&joined_to=2026-09-22"
    fields = {"all": "1", "query": query, "tag": "that-day", "do": "add"}
    alice.web.post("/subscribers/tags", page="/subscribers", **fields)
    assert len(found(alice, query)) == 6
    assert sorted(found(alice, "tag=that-day")) == sorted(found(alice, query))


@pytest.mark.parametrize(
    "query", ["status=gone", "joined_from=x", "min_referrals=x", "reward=mug", "referral=no"]
)
def test_a_wrong_filter_tags_nobody(alice: Operator, query: str) -> None:
    for number in range(3):
        alice.subscribe(f"s{number}@example.org")
    for do in ("add", "remove"):
        fields = {"all": "1", "query": query, "tag": "oops", "do": do}
        assert alice.web.post("/subscribers/tags", page="/subscribers", **fields).status_code == 400
    assert found(alice, "tag=oops") == [] and len(found(alice, "")) == 3


def test_filters_are_saved_under_a_name(service: Service, alice: Operator) -> None:
    alice.subscribe("ana@example.org")
    for name in ("Gone", "=SUM(1)", "Gone"):
        alice.web.post(
            "/subscribers/filters",
            page="/subscribers",
            name=name,
            query=f"status={'unsubscribed' if name == 'Gone' else 'active'}",
        )
    page = alice.web.get("/subscribers?status=unsubscribed").text
    chosen = 'href="/subscribers?status=unsubscribed" aria-current="true"><bdi>Gone</bdi></a>'
    assert page.count(chosen) == 1
    chips = re.findall(r'class="chip" href="([^"]+)"', page)
    assert chips == ["/subscribers?status=active", "/subscribers?status=unsubscribed"]
    (saved,) = re.findall(r'name="id" value="([0-9a-f-]+)"', page)
    alice.web.post("/subscribers/filters", page="/subscribers", do="delete", id=saved)
    assert "1 saved filter will be deleted in a minute." in flash(alice)
    pass_minute(service)
    assert "Gone" not in flash(alice)
    for fields, sentence in (
        ({"name": "x", "query": ""}, "Choose at least one filter"),
        ({"name": " ", "query": "q=x"}, "Enter a name for the filter."),
        ({"name": "x" * 61, "query": "q=x"}, "Name must be at most 60 characters long."),
    ):
        alice.web.post("/subscribers/filters", page="/subscribers", **fields)
        assert sentence in flash(alice)
    for number in range(31):
        alice.web.post("/subscribers/filters", page="/settings", name=f"f{number}", query="q=x")
    assert "You have 30 saved filters. Delete one first." in flash(alice)


def test_a_wrong_filter_is_shown_with_the_error_and_exports_nothing(alice: Operator) -> None:
    alice.subscribe("ana@example.org")
    for query, sentence in (
        ("joined_from=2026-02-31", "Joined from must be a date such as 2026-11-15."),
        (
            "joined_from=2026-02-02&joined_to=2026-02-01",
            "Joined until must not be before the first day.",
        ),
        ("max_referrals=x", "Referrals at most must be a whole number."),
        ("reward=<b>", "Earned reward must be one of your rewards."),
    ):
        answer = alice.web.get(f"/subscribers?{query}")
        assert answer.status_code == 400 and sentence in text_of(answer.text), query
        assert "ana@example.org" not in answer.text
        assert alice.web.get(f"/subscribers/export.csv?{query}").status_code == 400


def test_notes_and_corrections_on_a_subscriber_page(alice: Operator) -> None:
    alice.subscribe("taken@example.org")
    ana = alice.subscribe("ana@example.org", name="Ana")
    path = f"/subscribers/{ana['uuid']}"
    alice.web.post(f"{path}/notes", page=path, note="Met at the fair.\n<b>Nice</b>")
    assert "Met at the fair. <b>Nice</b>" in text_of(alice.web.get(path).text).replace("&lt;", "<")
    refused = alice.web.post(f"{path}/notes", page=path, note="x" * 5_000)
    assert refused.status_code == 400
    assert "Note must be at most 2,000 characters long." in text_of(refused.text)
    assert "x" * 5_000 in refused.text, "what was typed stays"
    assert alice.web.post(f"{path}/notes", page=path, note=" ").status_code == 400

    saved = alice.web.post(
        f"{path}/edit", page=path, name='=HYPERLINK("x")', email="Ana.New@example.org"
    )
    assert saved.status_code == 303
    now = alice.subscriber(ana["uuid"])
    assert (now["email"], now["ref_code"]) == ("Ana.New@example.org", ana["ref_code"])
    assert "'=HYPERLINK" in alice.web.get("/subscribers/export.csv?q=hyperlink").text
    for fields, sentence in (
        ({"name": "", "email": "TAKEN@example.org"}, "Email has already been taken"),
        ({"name": "", "email": "nobody"}, "Enter a valid email address."),
        ({"name": "", "email": ""}, "Enter an email address."),
        ({"name": "x" * 256, "email": "a@example.org"}, "Name must be at most 255 characters"),
    ):
        answer = alice.web.post(f"{path}/edit", page=path, **fields)
        assert answer.status_code == 400 and sentence in text_of(answer.text), fields
    assert alice.subscriber(ana["uuid"])["name"] == '=HYPERLINK("x")'
    alice.web.post(f"{path}/tags", page=path, tag="VIP, friend")
    alice.web.post(f"{path}/tags", page=path, tag="vip", do="remove")
    assert tags_of(alice, ana["uuid"]) == ["friend"]


def test_what_was_added_is_exported_and_erased(service: Service, alice: Operator) -> None:
    zelda = alice.subscribe("zelda.q@example.org", name="Zelda Quixote")["uuid"]
    other = alice.subscribe("other@example.org")["uuid"]
    for uuid in (zelda, other):
        path = f"/subscribers/{uuid}"
        alice.web.post(f"{path}/tags", page=path, tag=f"tag of {uuid[-12:]}")
        alice.web.post(f"{path}/notes", page=path, note=f"note on {uuid[-12:]}")
    for name, query in (
        ("By address", "q=Zelda.Q%40example.org"),
        ("zelda quixote", "status=active"),
        ("First name only", "q=zelda"),
    ):
        alice.web.post("/subscribers/filters", page="/subscribers", name=name, query=query)
    export = alice.get(f"{alice.v1}/subscribers/{zelda}/export").json()["export"]
    assert export["tags"] == [f"tag of {zelda[-12:]}"]
    assert [note["text"] for note in export["notes"]] == [f"note on {zelda[-12:]}"]
    assert [each["name"] for each in export["saved_filters"]] == ["By address", "zelda quixote"]
    alice.delete(f"{alice.v1}/subscribers/{zelda}")
    held = dump(service)
    for text in ("zelda.q", "quixote", f"tag of {zelda[-12:]}", f"note on {zelda[-12:]}"):
        assert not mentions(held, text), text
    assert tags_of(alice, other) and "First name only" in flash(alice)
