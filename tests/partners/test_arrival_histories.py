"""Whatever an owner does after a reader came, the referral earns what was promised then, but for a
decision or the reader's leaving, which the public figures count.
"""

import pytest

from tests.support.arrival_people import PeopleMoves
from tests.support.arrival_stops import StopMoves
from tests.support.arrival_terms import TermMoves
from tests.support.service import Service


class ArrivalHistory(TermMoves, StopMoves, PeopleMoves):
    """The first steps make every move once, so that a short history has them all."""

    def step(self) -> None:
        moves = {
            self.arrive: 20,
            self.time_passes: 5,
            self.change_terms: 5,
            self.change_terms_by_form: 2,
            self.overprice: 2,
            self.squeeze: 2,
            self.change_rules: 1,
            self.switch: 2,
            self.pause_by_form: 1,
            self.stop_and_undo: 2,
            self.close_account: 1,
            self.delete_program: 1,
            self.part: 3,
            self.share_member: 2,
            self.borrow_address: 5,
            self.change_person: 2,
            self.leave: 1,
            self.decide: 1,
            self.decide_group: 1,
            self.take_back: 1,
            self.block_person: 1,
            self.unblock_people: 1,
            self.trust_for_a_while: 2,
            self.come_from_a_disposable_mailbox: 1,
            self.import_people: 1,
            self.change_rewards: 1,
        }
        if not self.log:
            self.rare_moves = self.chance.sample(list(moves), len(moves))
        is_rare = self.rare_moves and len(self.log) % 2
        drawn = self.chance.choices(list(moves), list(moves.values()))[0]
        move = self.rare_moves.pop() if is_rare else drawn
        self.log.append(move.__name__)
        move()


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


def test_an_owner_who_does_anything_lowers_nothing(engine: str) -> None:
    play(engine, 1, 100)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_steps_of_an_owner_lower_nothing(engine: str, part: int) -> None:
    play(engine, 100 + part, 1_000)
