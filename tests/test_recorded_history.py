"""What follows from changes stays as it was recorded: a history of mixed changes, played again."""

from __future__ import annotations

import pytest

from tests.support.recorded_history import STEPS, play, recorded
from tests.support.service import ENGINES


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_changes_have_the_recorded_consequences(engine: str) -> None:
    compare(engine, 200)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_all_changes_have_the_recorded_consequences(engine: str) -> None:
    compare(engine, STEPS)


def compare(engine: str, steps: int) -> None:
    expected = recorded()[: steps + 1]
    for number, (step, before) in enumerate(zip(play(engine, steps), expected, strict=True)):
        assert step == before, f"step {number}"
