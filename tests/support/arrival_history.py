"""An owner who calls their routes in any order after readers came."""

from tests.support.arrival_people import PeopleMoves
from tests.support.arrival_stops import StopMoves
from tests.support.arrival_terms import TermMoves


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
