"""What follows from a change to a subscriber, row by row, without a database."""

import pytest

from honeyguide.signups import consequence_writer, consequences
from honeyguide.signups.consequences import CONTENDED, Consequence
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.consequence_table import (
    CHARGE_FEE,
    COUNT_DECISION,
    ERASURES,
    FIRST,
    FULL,
    QUIET,
    REVERSE_CHARGE,
    ROWS,
    Row,
)
from tests.support.subscriber_states import (
    CLAIMING,
    COUNTED,
    HOLD,
    NOBODY,
    REFERRED,
    SCREENED,
    SENT,
    TAKEN_BACK,
    UNCONFIRMED,
    but,
)


def planned(row: Row) -> list[Consequence]:
    return consequences.of_change(row.before, row.after, row.campaign, is_by_hand=row.is_by_hand)


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=[name for name, _ in ROWS])
def test_what_follows_from_a_change(row: Row) -> None:
    assert planned(row) == row.expected


def test_without_listeners_only_the_partner_and_its_program_may_be_told() -> None:
    """They have webhooks of their own; the other events go to the campaign's."""
    to_both = {"TELL_NEW_PARTNER_REFERRAL", "TELL_PARTNER_REFERRAL_REVERSED"}
    for _, row in ROWS:
        unheard = row._replace(campaign=row.campaign._replace(has_listeners=False))
        assert planned(unheard) == [
            each
            for each in row.expected
            if each.name in to_both or not each.name.startswith("TELL_")
        ], row.what


@pytest.mark.parametrize(
    ("erased", "expected"),
    [(erased, expected) for _, erased, expected in ERASURES],
    ids=[name for name, _, _ in ERASURES],
)
def test_what_follows_from_an_erasure(erased: Subscriber, expected: list[Consequence]) -> None:
    assert consequences.of_erasure(erased) == expected


def test_every_consequence_follows_from_some_row() -> None:
    assert {each for _, row in ROWS for each in row.expected} == set(Consequence)


def every_plan() -> list[list[Consequence]]:
    """Of all changes from any state to any other, in any campaign."""
    people = [NOBODY, REFERRED, SENT, CLAIMING]
    people = [but(each, origin=origin) for each in people for origin in ("api", "import")]
    states = [
        but(each, status=status, **decision)
        for each in people
        for status in ("active", "confirmed", "unsubscribed")
        for decision in (COUNTED, HOLD, UNCONFIRMED, SCREENED, TAKEN_BACK)
    ]
    campaigns = [FULL, FIRST, QUIET]
    plans = [consequences.of_erasure(each) for each in states]
    for before in (None, *states):
        for after in states:
            plans += [
                consequences.of_change(before, after, campaign, is_by_hand=True)
                for campaign in campaigns
            ]
    return plans


def test_a_plan_is_in_the_order_in_which_consequences_are_defined() -> None:
    order = list(Consequence)
    plans = every_plan()
    assert set().union(*plans) == set(order)
    for plan in plans:
        places = [order.index(each) for each in plan]
        assert places == sorted(set(places)), plan


def test_contended_locks_come_last() -> None:
    assert tuple(Consequence)[-len(CONTENDED) :] == CONTENDED
    assert set(CONTENDED) == {CHARGE_FEE, REVERSE_CHARGE, COUNT_DECISION}


def test_every_consequence_has_a_writer() -> None:
    assert list(consequence_writer._WRITERS) == list(Consequence)
