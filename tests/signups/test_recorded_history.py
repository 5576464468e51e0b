"""What follows from changes stays as it was recorded: a history of mixed changes, played again."""

import pytest

from tests.support.recorded_history import CHANGES, STEPS, play, recorded
from tests.support.recorder import RECORDED
from tests.support.service import ENGINES

# Their consequences are those of later steps.
SETTINGS = {"change_settings", "change_budget", "switch_program"}


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def test_the_first_changes_have_the_recorded_consequences(engine: str) -> None:
    compare(engine, 200)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_all_changes_have_the_recorded_consequences(engine: str) -> None:
    compare(engine, STEPS)


def test_the_record_has_every_change_and_every_consequence() -> None:
    """A change that does nothing, because a page or a field of it was renamed, proves nothing."""
    followed = [(step["step"], table) for step in recorded() for table in step]
    tables = {table for _, table in followed} - {"step", "status"}
    assert tables == {*RECORDED, "feed", "written"}
    changes = {change for change, table in followed if table in ("event", "feed", "written")}
    assert changes == set(CHANGES) - SETTINGS


def compare(engine: str, steps: int) -> None:
    expected = recorded()[: steps + 1]
    for number, (step, before) in enumerate(zip(play(engine, steps), expected, strict=True)):
        assert step == before, f"step {number}"
