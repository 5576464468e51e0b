"""What a struct says about its fields, and what is read from it: rules, columns, views, forms."""

from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from honeyguide.api.views import View, filler
from honeyguide.kernel import checks, fields, money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.public import doc
from honeyguide.partners.publications import Publication, PublicationChanges
from honeyguide.store.rows import RowMaker

Title = Annotated[str, doc("A title.", label="Title", rule=partial(checks.text, limit=5))]
Fee = Annotated[Any, doc("A fee.", rule=money.cents, unit="cents")]
Color = Annotated[str, doc("A color.", default="red")]


class NoteFields(msgspec.Struct, frozen=True):
    title: Annotated[Title, doc("Its title.")] | UnsetType = UNSET
    fee: Fee = UNSET
    color: Color | UnsetType = UNSET
    link: Title | UnsetType | None = UNSET
    is_open: Annotated[bool | UnsetType, doc(default=False)] = UNSET
    tags: list[str] | UnsetType = UNSET


class NoteBody(NoteFields, frozen=True):
    extra: int = 1


def test_what_was_given_becomes_columns_as_they_are_stored() -> None:
    given = NoteBody(title="Bees", fee=Decimal("2.50"), link=None, is_open=True, tags=["ä"])
    columns = fields.checked(NoteFields, given)
    assert columns == {
        "title": "Bees",
        "fee_cents": 250,
        "link": None,
        "is_open": 1,
        "tags": '["ä"]',
    }
    assert type(columns["is_open"]) is int, "PostgreSQL takes no bool for a BIGINT"
    assert fields.columns(NoteFields) == (
        "title",
        "fee_cents",
        "color",
        "link",
        "is_open",
        "tags",
    )


@pytest.mark.parametrize("wrong", [{"title": "Too long"}, {"link": "Too long"}, {"fee": -1}])
def test_a_value_that_breaks_its_rule_is_refused_by_the_name_of_its_field(wrong: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        fields.checked(NoteFields, NoteFields(**wrong))
    assert [refusal.value.param] == [*wrong]


def test_all_problems_are_found_at_once() -> None:
    given = NoteFields(title="Too long", fee=-1, link=None)
    assert [each.param for each in fields.problems(NoteFields, given)] == ["title", "fee"]


def test_a_new_row_gets_defaults_where_a_field_has_one_or_may_be_null() -> None:
    assert fields.defaults(NoteFields) == {"color": "red", "link": None, "is_open": 0}


def test_an_outer_description_does_not_hide_the_label_and_rule_of_the_inner_one() -> None:
    title = fields.fields_of(NoteFields)["title"]
    assert (title.label, title.kind, title.may_be_null) == ("Title", str, False)
    assert fields.fields_of(NoteFields)["link"].may_be_null


def test_every_field_of_a_publication_that_callers_may_set_is_a_column_of_its_row() -> None:
    assert set(fields.columns(PublicationChanges)) <= set(Publication._fields)


class Note(NamedTuple):
    id: str
    author_id: str
    fee_cents: int
    is_open: bool
    tags: list[str]
    title: str | None
    seen_ms: int | None
    is_new: bool | None


class NoteView(View, frozen=True):
    uuid: str
    url: str
    author_uuid: str
    fee: Annotated[Decimal, doc("A fee.")]
    is_open: bool
    tags: list[str]
    heading: str
    seen_at: str | None
    is_new: bool | None


NOTE = RowMaker(Note).one("n1", "a1", 250, 1, '["x"]', None, 0, 0)


class Status(StrEnum):
    OPEN = "open"


class Point(msgspec.Struct, frozen=True):
    x: int


class Stored(NamedTuple):
    status: Status
    point: Point | None
    counts: dict[str, int]
    lines: list[Point]
    is_seen: bool = False


def test_a_row_has_its_columns_as_the_types_of_its_fields_say() -> None:
    row = RowMaker(Stored).one("open", None, '{"a":1}', '[{"x":2}]', 1)
    assert row == Stored(Status.OPEN, None, {"a": 1}, [Point(2)], True)
    assert row.status is Status.OPEN and row.is_seen is True
    assert RowMaker(Stored).one("open", '{"x":3}', "{}", "[]").point == Point(3)
    assert (NOTE.is_open, NOTE.tags, NOTE.is_new) == (True, ["x"], False)
    assert RowMaker(Point).one is Point, "nothing to read costs nothing"


@pytest.mark.parametrize("wrong", ["closed", None])
def test_a_column_that_its_type_does_not_know_is_an_error(wrong: str | None) -> None:
    with pytest.raises(ValueError):
        RowMaker(Stored).one(wrong, None, "{}", "[]")


def test_columns_of_a_row_become_what_the_database_has() -> None:
    stored = fields.as_stored(NOTE, ("fee_cents", "is_open", "tags", "is_new", "title"))
    assert stored == {
        "fee_cents": 250,
        "is_open": 1,
        "tags": '["x"]',
        "is_new": 0,
        "title": None,
    }
    assert type(stored["is_open"]) is int


def test_a_view_is_filled_from_the_columns_that_belong_to_its_fields() -> None:
    fill = filler(NoteView, Note, heading=("title", lambda title: title or "Untitled"))
    assert fill(NOTE, url="/n1") == NoteView(
        uuid="n1",
        url="/n1",
        author_uuid="a1",
        fee=Decimal("2.50"),
        is_open=True,
        tags=["x"],
        heading="Untitled",
        seen_at="1970-01-01T00:00:00.000Z",
        is_new=False,
    )
    without = fill(NOTE._replace(seen_ms=None, is_new=None), url="")
    assert (without.seen_at, without.is_new) == (None, None)


def test_what_the_row_does_not_know_is_given_with_each_call() -> None:
    fill = filler(NoteView, Note, given=["uuid"], heading="title")
    assert fill(NOTE, url="", uuid="n2").uuid == "n2"
    for given in ({"url": ""}, {"uuid": ""}, {"url": "", "uuid": "", "fee": 1}):
        with pytest.raises(TypeError):
            fill(NOTE, **given)
