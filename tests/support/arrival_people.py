"""An owner who changes or decides on those who came, by the API, by lists, forms and files."""

from honeyguide.moving import import_parts
from honeyguide.store.tx import timed
from honeyguide.work.moving import import_file
from tests.support.arrival_world import ArrivalWorld
from tests.support.stores import statement
from tests.support.web import chosen_columns, upload

LISTS = "/settings/screening-lists"
ENTRIES = statement("SELECT id FROM screening_entry WHERE is_blocked = :is_blocked")
# A domain whose readers the owner trusts now and then, and one that nobody trusts.
TRUSTED, DISPOSABLE = "readers.example", "mailinator.com"
# Those who come from there are nobody else.
FIRST_OTHER = 10_000


class PeopleMoves(ArrivalWorld):
    def borrow_address(self) -> None:
        """Somebody's alias for somebody else, or their own one again."""
        if reader := self._reader("pending", "pending", "verified"):
            if reader.person >= FIRST_OTHER:
                return
            others = [each.person for each in self.model.readers[-99:]]
            others = [each for each in others if each < FIRST_OTHER]
            reader.listed_as = self.chance.choice([reader.person, *others])
            status = {"status": "confirmed"} if self.chance.random() < 0.2 else {}
            email = self._new_email(reader.listed_as)
            self._put(f"{self.people}/{reader.id}", email=email, **status)

    def change_person(self) -> None:
        if reader := self._reader("pending", "verified", "rejected"):
            status = {} if reader.has_left else {"status": "confirmed"}
            self._put(f"{self.people}/{reader.id}", name="Somebody Else", **status)

    def leave(self) -> None:
        if reader := self._reader("pending", "verified"):
            if self.chance.random() < 0.5:
                self._put(f"{self.people}/{reader.id}", status="unsubscribed")
            else:
                assert self.owner.delete(f"{self.people}/{reader.id}").status_code == 200
                reader.here = False
            self.model.leave(reader)

    def decide(self) -> None:
        if reader := self._reader("pending", "rejected"):
            verb = self.chance.choice(["verify", "reject"])
            self.owner.post(f"{self.people}/{reader.id}/referral/{verb}")
            if verb == "verify":
                self.model.verify(reader, self.service.now_ms())
            else:
                reader.status = "rejected"

    def decide_group(self) -> None:
        """Everybody who waits at one partner, or some of them."""
        waiting = [r for r in self.model.readers if r.here and r.status == "pending"]
        if not waiting:
            return
        chosen = self.chance.choice(waiting)
        group = [r for r in waiting if (r.offer, r.partner) == (chosen.offer, chosen.partner)][:20]
        status = self.chance.choice(["verified", "rejected"])
        path = f"{self.owner.v1}/referral_decisions"
        body = {"status": status, "subscribers": [each.id for each in group], "reason": "Looked"}
        answer = self.owner.post(path, body)
        assert answer.status_code == 200, answer.text
        for reader in group:
            if status == "verified":
                self.model.verify(reader, self.service.now_ms())
            else:
                reader.status = "rejected"

    def take_back(self) -> None:
        charged = [
            each
            for each in self.model.readers
            if each.charged is not None and each.offer is self.offer
        ]
        if charged:
            reader = self.chance.choice(charged[-50:])
            sql = statement("SELECT id FROM partner_referral WHERE subscriber_id = :id")
            (row,) = self.service.read(lambda tx: tx.all(sql, id=reader.id))
            path = f"{self.program}/referrals/{row[0]}/reversal"
            answer = self.owner.post(path, {"reason": "robot"})
            assert (answer.status_code == 201) is (self.model.reverse(reader) is None)

    # -- the block list and the allow list

    def block_person(self) -> None:
        """For those who come: what somebody brought before is not decided by a list."""
        reader = self._reader("pending", "pending", "verified")
        if reader is not None and reader.listed_as < FIRST_OTHER:
            self._press(LISTS, do="block", entries=f"p{reader.listed_as}@gmail.com")
            self.offer.owner.blocked_people.add(reader.listed_as)

    def unblock_people(self) -> None:
        self._remove_entries(is_blocked=True)
        self.offer.owner.blocked_people.clear()

    def _remove_entries(self, *, is_blocked: bool) -> None:
        find = {"is_blocked": int(is_blocked)}
        for (entry_id,) in self.service.read(lambda tx: tx.all(ENTRIES, **find)):
            self._press(LISTS, do="remove", id=entry_id)

    def trust_for_a_while(self) -> None:
        """Readers of a domain on the allow list come while screening is strict, and it is taken off
        the list before they are decided."""
        self._put(f"{self.program}/verification", screening="strict")
        self._press(LISTS, do="allow", entries=f"{TRUSTED}\n{DISPOSABLE}")
        for _ in range(self.chance.randrange(1, 6)):
            number = FIRST_OTHER + len(self.model.readers)
            domain = self.chance.choice([TRUSTED, TRUSTED, DISPOSABLE])
            self._arrive(self.live, f"r{number}@{domain}", number)
        self._remove_entries(is_blocked=False)
        self._put(f"{self.program}/verification", screening="flexible")

    def come_from_a_disposable_mailbox(self) -> None:
        number = FIRST_OTHER + len(self.model.readers)
        self._arrive(self.live, f"r{number}@{DISPOSABLE}", number, is_refused=True)

    # -- files and rewards

    def import_people(self) -> None:
        """A list that says other things of those who are here: they keep what they brought."""
        some = [each for each in self.model.readers[-200:] if each.here and not each.has_left]
        some = self.chance.sample(some, min(6, len(some)))
        sql = statement("SELECT id, email FROM subscriber")
        emails = dict(self.service.read(lambda tx: tx.all(sql)))
        lines = [
            f"{emails[each.id]},Someone,{self.chance.choice(['unsubscribed', 'active'])},"
            f"2026-01-01,{emails[some[0].id]}"
            for each in some
        ]
        lines.append(f"new{len(self.log)}@list.example,New,active,2026-01-01,")
        text = "\n".join(["email,name,status,created_at,referrer_email", *lines])
        import_id = upload(self.owner, text)
        page = f"/subscribers/import/{import_id}"
        shown = self.owner.web.get(page).text
        self.owner.web.post(page, do="start", **chosen_columns(shown))
        self._run_imports(import_id)

    def _run_imports(self, import_id: str) -> None:
        services = self.service.services

        async def run() -> None:
            for _ in range(200):
                now_ms = self.service.now_ms()
                if not await services.store.read(timed(import_parts.running, now_ms), most=1):
                    return
                await import_file(services.site, services.store, [import_id], now_ms)
            raise AssertionError("the import did not end")

        self.service.run(run())

    def change_rewards(self) -> None:
        path = f"{self.owner.v1}/rewards"
        made = self.owner.post(path, {"name": "Mug", "referrals": 1})
        assert made.status_code == 201, made.text
        reward = f"{path}/{made.json()['reward']['uuid']}"
        self._put(reward, name="Cup", referrals=2)
        assert self.owner.delete(reward).status_code == 200
