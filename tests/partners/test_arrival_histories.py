"""Whatever an owner does after a reader came, the referral earns what was promised then, but for a
decision or the reader's leaving, which the public figures count.
"""

from __future__ import annotations

import pytest

from tests.support.arrival_history import ArrivalHistory
from tests.support.service import ENGINES, Service

CHECK_EVERY = 25


def play(engine: str, seed: int, steps: int) -> None:
    with Service(engine, work=False) as service:
        history = ArrivalHistory(service, seed)
        try:
            for number in range(steps):
                history.step()
                if number % CHECK_EVERY == 0:
                    history.check()
            history.check()
            history.check_public_figures()
        except Exception as error:
            error.add_note(f"seed {seed}, step {len(history.log)}: {' '.join(history.log[-25:])}")
            raise
        finally:
            service.set_clock(0)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_owner_who_does_anything_lowers_nothing(engine: str) -> None:
    play(engine, 1, 100)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_steps_of_an_owner_lower_nothing(engine: str, part: int) -> None:
    play(engine, 100 + part, 1_000)
