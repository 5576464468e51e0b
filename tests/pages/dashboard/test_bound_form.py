"""Forms that are made of a struct: what they show of a row, and what they give to the domain.

The pages that have them are tested over HTTP (`test_program_forms.py`, `test_branding_page.py`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, NamedTuple

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from honeyguide.kernel import money
from honeyguide.kernel.public import choice, choices, doc
from honeyguide.pages.dashboard.bound_form import StructForm
from honeyguide.pages.forms import Field, FormErrors


class EventFields(msgspec.Struct, frozen=True):
    title: Annotated[str, doc(label="Title")] | UnsetType = UNSET
    place: Annotated[str, doc(label="Place")] | UnsetType | None = UNSET
    price: Annotated[object, doc(label="Price", rule=money.cents, unit="cents")] = UNSET
    seats: Annotated[int, doc(label="Seats", default=20)] | UnsetType = UNSET
    is_open: bool | UnsetType = UNSET
    topics: list[str] | UnsetType = UNSET


class EventChanges(EventFields, frozen=True):
    note: str = ""


class Event(NamedTuple):
    topics: list[str]
    title: str = "Bees & <honey>"
    place: str | None = None
    price_cents: int = 1250
    seats: int = 8
    is_open: bool = True


FORM = StructForm(
    EventFields,
    ask={"title": "Enter a title."},
    start={"place": "Here"},
    more={"picture": Field("Picture", "Choose a picture.")},
)
SHOWN = {
    "title": "Bees & <honey>",
    "place": "",
    "price": "12.50",
    "seats": "8",
    "is_open": True,
    "topics": ["wax"],
}


def test_a_row_is_shown_as_people_type_it_and_comes_back_as_the_domain_takes_it() -> None:
    form = FORM.saved(Event(["wax"]))
    assert form.values == SHOWN
    assert form.changes(EventChanges, note="!") == EventChanges(
        title="Bees & <honey>",
        place=None,
        price=Decimal("12.50"),
        seats=8,
        is_open=True,
        topics=["wax"],
        note="!",
    )
    assert form.changes(EventFields, title="Wax").title == "Wax"


def test_a_new_form_has_the_defaults_of_the_struct_and_of_the_page() -> None:
    new = {"title": "", "place": "Here", "price": "", "seats": "20", "is_open": False, "topics": []}
    assert FORM.new().values == new
    assert FORM.new(title="Wax").values == {**new, "title": "Wax"}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"seats": "many"}, "Seats must be a whole number."),
        ({"price": "much"}, "Price must be an amount such as 2.50."),
    ],
)
def test_what_is_no_number_is_refused_by_its_label(wrong: dict[str, str], sentence: str) -> None:
    with pytest.raises(FormErrors) as refusal:
        FORM.saved(Event(["wax"]), **wrong).changes(EventFields)
    assert refusal.value.errors == {next(iter(wrong)): sentence}


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = {"title": " ", "seats": "many", "price": "much"}
    with pytest.raises(FormErrors) as refusal:
        FORM.saved(Event(["wax"]), **wrong).valid(
            EventFields, unless=["picture"], wrong={"place": "No."}
        )
    assert refusal.value.errors == {
        "title": "Enter a title.",
        "seats": "Seats must be a whole number.",
        "price": "Price must be an amount such as 2.50.",
        "place": "No.",
    }


def test_what_is_missing_is_asked_for() -> None:
    form = FORM.saved(Event(["wax"]), title=" ")
    both = {"title": "Enter a title.", "picture": "Choose a picture."}
    assert form.missing() == both
    assert form.missing(picture="a.png", unless=["title"]) == {}
    with pytest.raises(FormErrors) as refusal:
        form.require(unless=["picture"])
    assert refusal.value.errors == {"title": "Enter a title."}


def test_a_field_renders_itself_and_an_unknown_one_is_an_error() -> None:
    form = FORM.saved(Event(["wax"]))
    html = form["title"](required=True)
    assert '<label for="f-title">Title</label>' in html
    assert 'value="Bees &amp; &lt;honey&gt;" required' in html
    assert "<textarea" in form["place"].area()
    assert form["picture"].label == "Picture"
    with pytest.raises(KeyError):
        form["titel"]


class VenueFields(msgspec.Struct, frozen=True):
    size: Annotated[
        str, choice("How large it is.", allowed=("small", "mid - size"), label="Size")
    ] = "small"
    drinks: Annotated[
        list[str], choices("What it serves.", allowed=("tea", "coffee"), label="Drinks")
    ] = msgspec.field(default_factory=list)
    is_open: Annotated[bool, doc(label="Open")] = False


class Venue(NamedTuple):
    size: str = "mid - size"
    drinks: str = '["tea"]'
    is_open: int = 1


VENUE = StructForm(VenueFields)


def test_what_is_chosen_from_is_drawn_from_the_choices_of_the_struct() -> None:
    form = VENUE.saved(Venue())
    options = re.findall(r"<option.*?</option>", form["size"].select())
    assert options == [
        '<option value="small">Small</option>',
        '<option value="mid - size" selected>Mid–size</option>',
    ]
    boxes = re.findall(r"<input[^>]*>", form["drinks"].checks(hint="At least one."))
    assert boxes == [
        '<input type="checkbox" name="drinks" value="tea" checked>',
        '<input type="checkbox" name="drinks" value="coffee">',
    ]
    assert 'name="is_open" value="1" checked>' in form["is_open"].check()


def test_a_page_says_more_about_what_can_be_chosen() -> None:
    form = VENUE.saved(Venue())
    html = form["size"].radios([("small", "Small", "Ten seats."), ("mid - size", "Large", "")])
    assert "<legend>Size</legend>" in html and "Ten seats." in html
    assert re.findall(r'value="([^"]*)" checked', html) == ["mid - size"]
    named = form["size"].select([("small", "Cozy")], label="Room", hint="How large?")
    assert ">Cozy</option>" in named and ">Room</label>" in named and "How large?" in named


def test_a_field_may_not_be_called_as_what_the_form_itself_has() -> None:
    class Hidden(msgspec.Struct):
        changes: str = ""

    with pytest.raises(AssertionError):
        StructForm(Hidden)
