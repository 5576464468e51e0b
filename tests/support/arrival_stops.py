"""An owner who stops a program or a partner and lets them go on, by API and by form."""

from functools import partial

from tests.support.arrival_world import PARTNERS, ArrivalWorld
from tests.support.network_partings import share_member


class StopMoves(ArrivalWorld):
    def switch(self) -> None:
        self._pass_the_minute_of_undo()
        is_off = not self.offer.paused and self.chance.random() < 0.3
        if self.chance.random() < 0.5:
            self._put(self.publication, status="archived" if is_off else "active")
        self._put(self.publication, enabled_partner_program=not is_off)
        if not is_off:
            self._put(self.publication, status="active")
        self.offer.paused = is_off

    def pause_by_form(self) -> None:
        if not self.offer.paused:
            self._act("pause")
            self.offer.paused = True
            self.arrive()
            self._pass_the_minute_of_undo()
            self._act("resume")
            self.offer.paused = False

    def _act(self, do: str) -> None:
        self._press(f"{self.live.page}/act", do=do)

    def stop_and_undo(self) -> None:
        """Within a minute: whoever came meanwhile counts as if nothing had been."""
        if self.offer.paused:
            return
        self._pass_the_minute_of_undo()  # or it would also undo a stop that has just ended
        how = self.chance.choice(["pause", "archive", "form"])
        if how == "form":
            self._act("pause")
        elif how == "pause":
            self._put(self.publication, enabled_partner_program=False)
        else:
            self._put(self.publication, status="archived")
        for _ in range(self.chance.randrange(1, 3)):
            self.arrive()
        if how == "form":
            self._act("resume")
        elif how == "pause":
            self._put(self.publication, enabled_partner_program=True)
        else:
            self._put(self.publication, status="active")

    def close_account(self) -> None:
        """And keep it after all. Whoever comes meanwhile comes to a paused program."""
        was_paused = self.offer.paused
        self._press("/account/close", newsletter=self._newsletter())
        self.offer.paused = True
        self.arrive()
        self.time_passes()
        self.arrive()
        self._press("/account/keep")
        self.offer.paused = was_paused

    def _newsletter(self) -> str:
        campaigns = self.owner.get("/v1/campaigns").json()["campaigns"]
        return str(campaigns[0]["name"])

    def delete_program(self) -> None:
        """Another follows. Who waits in the deleted one goes on waiting."""
        self._pass_the_minute_of_undo()
        for partner in sorted(self.offer.removed | self.offer.blocked):
            self._let_back(partner)
        if self.chance.random() < 0.5:
            assert self.owner.delete(self.program).status_code == 200
        else:
            self._act("delete")
        self.offer.is_deleted = True
        self._put(self.publication, status="active")
        self.open_program()

    def part(self) -> None:
        """Removes or blocks a partner, or allows them again."""
        partner = self.chance.randrange(PARTNERS)
        if partner in self.offer.removed | self.offer.blocked:
            self._pass_the_minute_of_undo()
            self._let_back(partner)
            return
        ends, is_removal = self.chance.random() < 0.3, self.chance.random() < 0.5
        path = f"{self.program}/partners/{self.live.joined[partner]['uuid']}"
        if self.chance.random() < 0.3:
            page = f"/program/partners/{self.live.joined[partner]['uuid']}"
            where, pending = "here" if is_removal else "all", "end" if ends else "keep"
            self._press(f"{page}/remove", where=where, pending=pending)
        elif is_removal:
            self.owner.delete(path, params={"end_pending": str(ends).lower()})
        else:
            self.owner.post(f"{path}/block", {"end_pending": ends})
        (self.offer.removed if is_removal else self.offer.blocked).add(partner)
        if ends:
            for program in self.programs if not is_removal else [self.live]:
                self.model.end_pending(program.offer, partner)
            self._work()  # more than twenty are ended by a job

    def _let_back(self, partner: int) -> None:
        path = f"{self.program}/partners/{self.live.joined[partner]['uuid']}"
        page = f"/program/partners/{self.live.joined[partner]['uuid']}"
        if self.chance.random() < 0.3 and partner not in self.offer.removed & self.offer.blocked:
            do = "unblock" if partner in self.offer.blocked else "allow"
            self._press(f"{page}/allow", do=do)
        else:
            self.owner.post(f"{path}/unblock")
            self.owner.post(f"{path}/allow")
        self.offer.removed.discard(partner)
        self.offer.blocked.discard(partner)

    def share_member(self) -> None:
        partner = self.chance.randrange(PARTNERS)
        accounts = (self.owner.account_id, self.partners[partner].account_id)
        self.offer.shared ^= {partner}
        is_shared, now_ms = partner in self.offer.shared, self.service.now_ms()
        share = partial(share_member, accounts, is_shared=is_shared, now_ms=now_ms)
        self.service.write(share)
