"""Subscribers against a model simple enough to be obviously right: whatever is done in whatever
order, every list, page, total and count agrees with it, whenever the lists were last folded. Runs
are cut at three rows and stars begin at five referrals, so that a dozen people meet what a million
would.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw
import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from honeyguide.subscribers import page_index
from tests.support.service import Member, Service
from tests.support.stores import statement

STAR = 5
DAYS = [
    "2024-01-01T00:00:00Z",
    "2024-01-02T00:00:00Z",
    "2024-01-02T00:00:00.001Z",
    "1999-12-31T23:59:59Z",
    None,
]
LIST_TYPES = ("all", "referrals", "advocates")


@dataclass(eq=False)
class Person:
    uuid: str
    email: str
    name: str | None
    ref_code: str
    referrer: Person | None
    status: str  # of the referral
    created_at: str
    number: int
    here: bool = True

    @property
    def place(self) -> tuple[datetime, int]:
        return datetime.fromisoformat(self.created_at), self.number


class Campaign:
    """The model: a list of people, and plain questions about it."""

    def __init__(self, needs_confirmation: bool) -> None:
        self.needs_confirmation = needs_confirmation
        self.people: list[Person] = []

    def here(self) -> list[Person]:
        return [person for person in self.people if person.here]

    def brought_by(self, referrer: Person) -> list[Person]:
        return [person for person in self.here() if person.referrer is referrer]

    def count(self, person: Person) -> int:
        return sum(brought.status == "verified" for brought in self.brought_by(person))

    def listed(self, kind: str) -> list[Person]:
        chosen = {
            "all": self.here(),
            "referrals": [person for person in self.here() if person.referrer],
            "advocates": [person for person in self.here() if self.count(person)],
        }[kind]
        return sorted(chosen, key=lambda person: person.place, reverse=True)

    def owner_of(self, email: str) -> Person | None:
        return next(
            (person for person in self.here() if person.email.lower() == email.lower()), None
        )

    def judged(self, email: str, referrer: Person | None) -> str:
        if referrer is None:
            return "verified"
        above = referrer.referrer
        while above is not None:
            if above.email.lower() == email.lower():
                return "rejected"  # a loop: they brought their own referrer
            above = above.referrer
        if email.endswith("@mailinator.com"):
            return "rejected"
        return "pending" if self.needs_confirmation else "verified"


class Machine(RuleBasedStateMachine):
    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.alice: Member = service.member("alice")
        self.model = Campaign(False)

    @initialize(needs_confirmation=st.booleans())
    def choose(self, needs_confirmation: bool) -> None:
        self.model.needs_confirmation = needs_confirmation
        change = statement("UPDATE campaign SET needs_confirmation = :flag WHERE id = :id")
        self.service.write(
            lambda tx: tx.run(change, flag=int(needs_confirmation), id=self.alice.campaign_id)
        )

    def teardown(self) -> None:
        self.alice.http.close()

    def pick(self, data: st.DataObject) -> Person:
        return data.draw(st.sampled_from(self.model.here()), label="who")

    # -- what can be done

    @rule(
        data=st.data(),
        many=st.integers(1, 6),
        day=st.sampled_from(DAYS),
        domain=st.sampled_from(["example.org"] * 4 + ["mailinator.com"]),
    )
    def sign_up(self, data: st.DataObject, many: int, day: str | None, domain: str) -> None:
        referrer = (
            data.draw(st.none() | st.sampled_from(self.model.here()), label="referrer")
            if self.model.here()
            else None
        )
        for _ in range(many):
            email = f"{data.draw(st.sampled_from('aAbBcd'))}{data.draw(st.integers(0, 9))}@{domain}"
            self.arrives(email, referrer, day)

    @precondition(lambda self: self.model.here())
    @rule(data=st.data(), many=st.sampled_from([2, 3, 6, 9]), day=st.sampled_from(DAYS))
    def become_a_star(self, data: st.DataObject, many: int, day: str | None) -> None:
        referrer = self.pick(data)
        for _ in range(many):
            self.arrives(f"fan{len(self.model.people)}@example.org", referrer, day)

    def arrives(self, email: str, referrer: Person | None, day: str | None) -> None:
        code = referrer.ref_code if referrer else "nosuchcode"
        answer = self.alice.post(
            f"{self.alice.v1}/subscribers",
            {"email": email, "referrer_code": code, "created_at": day},
        )
        if self.model.owner_of(email):
            assert (answer.status_code, answer.json()["error"]) == (
                400,
                "Email has already been taken",
            )
            return
        assert answer.status_code == 201, answer.text
        made = answer.json()["subscriber"]
        status = self.model.judged(email, referrer)
        number = len(self.model.people)
        self.model.people.append(
            Person(
                made["uuid"],
                email,
                None,
                made["ref_code"],
                referrer,
                status,
                made["created_at"],
                number,
            )
        )

    @precondition(lambda self: self.model.here())
    @rule(data=st.data(), name=st.none() | st.sampled_from(["Ana", "Ben"]), taken=st.booleans())
    def update(self, data: st.DataObject, name: str | None, taken: bool) -> None:
        person = self.pick(data)
        email = (
            self.pick(data).email.upper()
            if taken
            else f"renamed{len(self.model.people)}{person.number}@example.org"
        )
        answer = self.alice.put(
            f"{self.alice.v1}/subscribers/{person.email}", {"name": name, "email": email}
        )
        owner = self.model.owner_of(email)
        if owner not in {None, person}:
            assert answer.status_code == 400
            return
        assert answer.status_code == 200, answer.text
        person.name, person.email = name, answer.json()["subscriber"]["email"]

    @precondition(lambda self: self.model.here())
    @rule(data=st.data(), status=st.sampled_from(["unsubscribed", "confirmed"]))
    def set_status(self, data: st.DataObject, status: str) -> None:
        person = self.pick(data)
        answer = self.alice.put(f"{self.alice.v1}/subscribers/{person.uuid}", {"status": status})
        assert answer.status_code == 200
        if person.referrer and person.status == "pending":
            person.status = "verified" if status == "confirmed" else "rejected"

    @precondition(lambda self: self.model.here())
    @rule(data=st.data(), many=st.integers(1, 4))
    def delete(self, data: st.DataObject, many: int) -> None:
        for _ in range(min(many, len(self.model.here()))):
            person = self.pick(data)
            assert (
                self.alice.delete(f"{self.alice.v1}/subscribers/{person.uuid}").status_code == 200
            )
            person.here = False

    @rule()
    def fold(self) -> None:
        self.service.run_jobs()

    # -- what can be seen

    def seen(self, path: str, **query: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
        answer = self.alice.get(f"{self.alice.v1}/subscribers{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()["subscribers"], answer.json()["meta"]

    def check_page(
        self, path: str, whole: list[Person], page: int, per_page: int, **query: Any
    ) -> None:
        rows, meta = self.seen(path, page=page, per_page=per_page, **query)
        expected = whole[(page - 1) * per_page : page * per_page]
        assert [row["email"] for row in rows] == [person.email for person in expected]
        pages = -(-len(whole) // per_page)
        assert meta == {
            "per_page": per_page,
            "page": page,
            "total_pages": pages,
            "total_subscribers": len(whole),
        }
        for row, person in zip(rows, expected, strict=True):
            self.check_row(row, person)

    def check_row(self, row: dict[str, Any], person: Person) -> None:
        shown = {
            key: row[key]
            for key in (
                "uuid",
                "email",
                "name",
                "ref_code",
                "created_at",
                "referral_status",
                "referred",
            )
        }
        assert shown == {
            "uuid": person.uuid,
            "email": person.email,
            "name": person.name,
            "ref_code": person.ref_code,
            "created_at": person.created_at,
            "referral_status": person.status,
            "referred": person.referrer is not None,
        }
        assert row["referrer_code"] == (person.referrer.ref_code if person.referrer else None)
        assert row["referrals_count"] == self.model.count(person)

    @rule(kind=st.sampled_from(LIST_TYPES), page=st.integers(1, 9), per_page=st.integers(1, 4))
    def read_a_page(self, kind: str, page: int, per_page: int) -> None:
        self.check_page("", self.model.listed(kind), page, per_page, type=kind)

    @precondition(lambda self: self.model.here())
    @rule(data=st.data(), page=st.integers(1, 5), per_page=st.integers(1, 4))
    def read_referrals(self, data: st.DataObject, page: int, per_page: int) -> None:
        person = self.pick(data)
        whole = sorted(
            self.model.brought_by(person), key=lambda brought: brought.place, reverse=True
        )
        self.check_page(f"/{person.uuid}/referrals", whole, page, per_page)
        self.check_page(f"/{person.email}/referrals", whole, 1, 200)

    @precondition(lambda self: len(self.model.here()) < len(self.model.people))
    @rule(data=st.data())
    def look_for_somebody_gone(self, data: st.DataObject) -> None:
        gone = data.draw(
            st.sampled_from([person for person in self.model.people if not person.here])
        )
        assert self.alice.get(f"{self.alice.v1}/subscribers/{gone.uuid}").status_code == 404

    @invariant()
    def every_list_is_exact(self) -> None:
        for kind in LIST_TYPES:
            whole = self.model.listed(kind)
            self.check_page("", whole, 1, 200, type=kind)
        for page in (2, 3):  # what lies behind the first run is found by the runs
            self.check_page("", self.model.listed("all"), page, 3, type="all")


def make_stars_early(service: Service) -> None:
    """The threshold is in the triggers' text; everything else about them stays as it is."""
    if service.engine == "sqlite":
        with contextlib.closing(
            apsw.Connection(service.database_url.removeprefix("sqlite:///"))
        ) as connection:
            connection.set_busy_timeout(5000)
            query = (
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%>= "
                "1000%'"
            )
            for name, sql in connection.execute(query).fetchall():
                connection.execute(
                    f"BEGIN; DROP TRIGGER {name}; {sql.replace('>= 1000', f'>= {STAR}')}; COMMIT"
                )
                return
    else:
        assert asyncio.run(_make_stars_early(service.database_url))
        return
    pytest.fail("no trigger tells when a star begins")


async def _make_stars_early(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        ours = "prosrc LIKE '%>= 1000%' AND pronamespace = 'public'::regnamespace"
        found = await connection.fetch(f"SELECT pg_get_functiondef(oid) FROM pg_proc WHERE {ours}")
        for (text,) in found:
            await connection.execute(text.replace(">= 1000", f">= {STAR}"))
        return len(found)
    finally:
        await connection.close()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def small_runs(request: pytest.FixtureRequest) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patch, Service(request.param) as service:
        patch.setattr(page_index, "BLOCK_ROWS", 3)
        patch.setattr(page_index, "BATCH", 4)
        make_stars_early(service)
        yield service


def run_machine(service: Service, examples: int, steps: int, phases: tuple[Phase, ...]) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: Machine(service), settings=chosen)


def test_whatever_is_done_every_list_and_count_agrees_with_the_model(small_runs: Service) -> None:
    # Twenty steps can be read as they are; shrinking them would take longer than a test may.
    run_machine(small_runs, examples=5, steps=20, phases=(Phase.reuse, Phase.generate))


def test_a_list_that_grows_by_whole_runs_is_cut_at_its_own_bounds_too(small_runs: Service) -> None:
    machine = Machine(small_runs)
    for day in (DAYS[3], DAYS[0], DAYS[1], None):
        referrer = machine.model.people[0] if machine.model.people else None
        for _ in range(3 * page_index.BLOCK_ROWS):
            machine.arrives(f"grows{len(machine.model.people)}@example.org", referrer, day)
        machine.fold()
        for kind in LIST_TYPES:
            whole = machine.model.listed(kind)
            for page in range(1, len(whole) + 2):
                machine.check_page("", whole, page, 1, type=kind)
    machine.teardown()


@pytest.mark.long
def test_whatever_is_done_for_long_every_list_and_count_agrees_with_the_model(
    small_runs: Service,
) -> None:
    run_machine(small_runs, examples=300, steps=60, phases=tuple(Phase))
    # A few random steps may come to neither.
    runs, stars = (
        small_runs.read(lambda tx, sql=sql: tx.one(statement(f"SELECT COUNT(*) FROM {sql}")))
        for sql in ("listing_run", "listing WHERE list LIKE '%/brought'")
    )
    assert runs and runs[0] > 300, "the runs were never cut"
    assert stars and stars[0] > 0, "nobody became a star"
