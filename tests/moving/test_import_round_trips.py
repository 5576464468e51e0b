"""Random programs that are exported, imported into an empty installation and exported again: all is
equal but the ids, and a second import changes nothing.
"""

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.errors import Invalid
from honeyguide.rewards import adjustments, earned_rewards
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.signups import signups
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes, consents, notes, tags
from honeyguide.subscribers.codes import CodeHolder
from tests.support.imported import NOW_MS, Program
from tests.support.readings import change_of
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

EXAMPLES = {"sqlite": 12, "postgres": 3}
# No NUL and no half of a surrogate pair, which nobody can store, and nothing that is trimmed.
texts = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
    .map(str.strip)
    .filter(lambda text: text == text.strip())
)
some_text = st.none() | texts.filter(bool) | st.sampled_from(["'=1+1", "''", "-", "a\r\nb", '"'])
codes_of_others = st.text("abcABC019_-", min_size=1, max_size=6)
people = st.lists(
    st.fixed_dictionaries(
        {
            "local": st.sampled_from(["ann", "Ann+1", "ben", "cy", "dee", "eve", "fay", "gil"]),
            "domain": st.sampled_from(["example.org", "gmail.com"]),
            "name": some_text,
            "utm_source": some_text,
            "ip_address": st.none() | st.just("198.51.100.7"),
            "status": st.sampled_from(["active", "confirmed", "unsubscribed"]),
            "age_ms": st.integers(0, 900 * DAY_MS),
            "referrer": st.none() | st.integers(0, 7) | st.just("nobody-has-this"),
            "codes": st.lists(codes_of_others, max_size=2),
            "adjustment": st.sampled_from([0, 0, 3, -1]),
            "tags": st.lists(st.sampled_from(["vip", "a b", "é"]), max_size=2),
            "decided": st.sampled_from([None, None, "verified", "rejected"]),
            "leaves": st.booleans(),
            "notes": st.lists(texts.filter(bool), max_size=2),
            "consent": st.none() | st.sampled_from(["I agree.", 'Ünd "this"\nas well']),
            "redeems": st.booleans(),
        }
    ),
    max_size=12,
)
rules = st.fixed_dictionaries(
    {"hold_days": st.sampled_from([0, 3]), "needs_confirmation": st.sampled_from([0, 1])}
)


def make(program: Program, plan: list[dict[str, Any]], campaign: dict[str, int]) -> None:
    program.opened.do(
        "UPDATE campaign SET hold_days = :hold_days, needs_confirmation = :needs_confirmation",
        **campaign,
    )
    offer_rewards(program)
    made: dict[str, Any] = {}
    for person in plan:
        email = f"{person['local']}@{person['domain']}"
        if email.lower() in made:
            continue
        referrer = person["referrer"]
        known = list(made.values())
        if isinstance(referrer, int):
            referrer = known[referrer % len(known)].ref_code if known else None
        subscriber = program.subscribe(
            email,
            **{key: person[key] for key in ("name", "utm_source", "ip_address", "status")},
            referrer_code=referrer,
            created_at=iso(NOW_MS - person["age_ms"]),
        )
        made[email.lower()] = subscriber
        holders = [CodeHolder(code, subscriber.id) for code in person["codes"]]
        program.change(codes.adopt, holders)
        has = program.get(email).toward_rewards
        if (amount := person["adjustment"]) and has + amount >= 0:
            program.change(adjustments.add, email, AdjustmentFields(amount, "By hand"))
        tag(program, subscriber.id, person["tags"])
        if person["decided"] and subscriber.referrer_code:
            with contextlib.suppress(Invalid):  # what is verified stays that
                program.change(signups.decide, email, person["decided"])
        write_down(program, subscriber.id, person)
        if person["leaves"]:
            left = signups.SubscriberChanges(status="unsubscribed")
            program.change(signups.update, email, left)


def offer_rewards(program: Program) -> None:
    program.offer("A mug", 2)
    program.offer("A sticker", 1, recurring=True, approval="automatic")


def write_down(program: Program, subscriber_id: str, person: dict[str, Any]) -> None:
    """Notes, a consent and a redeemed reward."""

    async def write(tx: Tx) -> None:
        tenant, now_ms = program.tenant, NOW_MS - 1
        for number, text in enumerate(person["notes"]):
            await notes.add(change_of(tx, tenant, now_ms=now_ms - number), subscriber_id, text)
        if person["consent"]:
            text_id = await consents.add_text(
                change_of(tx, tenant, now_ms=now_ms),
                person["consent"],
                "https://example.org/privacy",
            )
            await consents.record(change_of(tx, tenant, now_ms=now_ms), subscriber_id, text_id)

    program.opened.run(program.opened.store.write(write))
    earned = program.read(earned_rewards.earned_by, subscriber_id)
    for each in earned if person["redeems"] else []:
        program.change(earned_rewards.approve, each.id)
        program.change(earned_rewards.redeem, each.id)


def tag(program: Program, subscriber_id: str, names: list[str]) -> None:
    async def add(tx: Tx) -> None:
        await tags.add(change_of(tx, program.tenant, now_ms=NOW_MS), [subscriber_id], names)

    program.opened.run(program.opened.store.write(add))


def without_ids(program: Program) -> dict[str, dict[str, str]]:
    rows = program.exported()
    for row in rows.values():
        del row["uuid"]
        row["codes"] = " ".join(sorted(row["codes"].split()))
    return rows


def check(engine: str, plan: list[dict[str, Any]], campaign: dict[str, int]) -> None:
    with OpenStore(engine) as first:
        program = Program(first)
        make(program, plan, campaign)
        before, file = without_ids(program), program.export()
    if not before:
        return
    with OpenStore(engine) as second:
        other = Program(second)
        offer_rewards(other)
        kept = other.bring(file)
        assert other.errors(kept) == []
        assert without_ids(other) == before
        other.now_ms += DAY_MS
        again = other.bring(file)
        assert (again.added, again.failed) == (0, 0)
        assert without_ids(other) == before
        assert other.count("event") == other.count("letter") == other.count("notice") == 0


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_export_comes_back_whole(engine: str, times: int) -> None:
    most = EXAMPLES[engine] * times

    @settings(max_examples=most, deadline=None, suppress_health_check=list(HealthCheck))
    @given(people, rules)
    def run(plan: list[dict[str, Any]], campaign: dict[str, int]) -> None:
        check(engine, plan, campaign)

    run()
