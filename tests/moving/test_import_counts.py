"""Counts and rewards of another tool: what was counted there and has no people here becomes an
adjustment, and what was given there is never given again.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel import actors
from honeyguide.moving import given_rewards
from honeyguide.moving.counts import Counted, missing
from honeyguide.rewards import adjustments, backfill, earned_rewards
from honeyguide.store.tx import timed
from tests.support.changes import SITE
from tests.support.imported import Program

ANN = "ann@example.org"


def given_to(program: Program, email: str) -> list[tuple[str, int, str, str | None]]:
    found = [
        (each.name, each.multiple, each.status, each.redeemed_by) for each in program.earned(email)
    ]
    return sorted(found)


def backfill_all(program: Program) -> None:
    store = program.opened.store
    while program.opened.run(store.write(timed(backfill.grant_batch, program.now_ms), SITE)):
        pass


FILE = (
    "email,referrer,referrals\n"
    "ben@example.org,ann@example.org,\n"
    "ann@example.org,,5\n"
    "cy@example.org,ann@example.org,0\n"
)


def test_a_count_without_people_becomes_an_adjustment_once(program: Program) -> None:
    for _ in range(2):
        kept = program.bring(FILE, name="old-tool.csv")
        ann = program.get(ANN)
        assert (ann.referrals_verified, ann.adjustments, ann.toward_rewards) == (2, 3, 5)
    assert program.findings(kept) == []
    (made,) = program.read(adjustments.of_subscriber, ann.id)
    assert (made.amount, made.reason) == (3, "Carried over from old-tool.csv")
    assert (made.actor_kind, made.by) == (actors.ActorKind.JOB, None)
    assert program.get("cy@example.org").adjustments == 0


def test_a_count_that_is_lower_than_the_people_is_found(program: Program) -> None:
    kept = program.bring(FILE.replace(",5\n", ",1\n"))
    assert program.findings(kept) == [(3, "count_lower_than_people")]
    assert program.get(ANN).toward_rewards == 2, "nobody loses what is here"


@pytest.mark.parametrize("between", [0, 1_500])
@pytest.mark.parametrize("first", [2, 5])
def test_of_two_lines_about_somebody_the_higher_count_holds(
    program: Program, first: int, between: int
) -> None:
    for name, referrals in {"Sticker": 1, "Mug": 5}.items():
        program.offer(name, referrals)
    others = [f"reader{n}@example.org,," for n in range(between)]
    lines = [f"{ANN},{first},Sticker", *others, f"{ANN},{7 - first},Mug"]
    kept = program.bring("\n".join(["email,referrals,last reward", *lines]) + "\n")
    assert program.get(ANN).toward_rewards == 5 and program.findings(kept) == []
    assert [name for name, *_ in given_to(program, ANN)] == ["Mug", "Sticker"]


def test_rewards_reached_elsewhere_are_marked_and_never_given_again(program: Program) -> None:
    for name, referrals in {"Sticker": 1, "Mug": 5, "Shirt": 6}.items():
        program.offer(name, referrals)
    program.offer("Coffee", 2, recurring=True)
    backfill_all(program)
    program.bring(FILE)
    marked = [
        ("Coffee", 1, "redeemed", "import"),
        ("Coffee", 2, "redeemed", "import"),
        ("Mug", 1, "redeemed", "import"),
        ("Sticker", 1, "redeemed", "import"),
    ]
    assert given_to(program, ANN) == marked
    program.bring(FILE)
    program.offer("Hat", 4)
    backfill_all(program)
    later = [("Hat", 1, "unlocked", None)]
    assert given_to(program, ANN) == sorted([*marked, *later]), "a new reward is given as usual"
    program.subscribe("dee@example.org", referrer_code=program.get(ANN).ref_code)
    later += [("Coffee", 3, "unlocked", None), ("Shirt", 1, "unlocked", None)]
    assert given_to(program, ANN) == sorted([*marked, *later]), "what they reach here is given"


def test_a_referrer_who_is_not_in_the_file_gets_nothing_for_it_either(program: Program) -> None:
    program.offer("Sticker", 1)
    ann = program.subscribe(ANN)
    program.bring(f"email,referrer\nben@example.org,{ann.ref_code}\n")
    assert given_to(program, ANN) == [("Sticker", 1, "redeemed", "import")]
    program.subscribe("cy@example.org", referrer_code=ann.ref_code)
    assert given_to(program, ANN) == [("Sticker", 1, "redeemed", "import")]


def test_rewards_are_given_if_the_operator_asks_and_not_those_the_file_has(
    program: Program,
) -> None:
    program.offer("Sticker", 1)
    program.offer("Mug", 5)
    kept = program.bring(
        "email,referrer,referrals,RH_LASTREWARD\n"
        "ben@example.org,ann@example.org,,\n"
        "ann@example.org,,5,sticker\n"
        "cy@example.org,,1,A yacht\n",
        gives_rewards=True,
    )
    assert program.findings(kept) == [(4, "reward_unknown")]
    assert given_to(program, ANN) == [
        ("Mug", 1, "unlocked", None),
        ("Sticker", 1, "redeemed", "import"),
    ]
    assert given_to(program, "cy@example.org") == [("Sticker", 1, "unlocked", None)]


def test_who_reached_a_recurring_reward_very_often_is_given_all_of_them(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the operator asks for rewards: a part at once, the rest by the job that follows."""
    monkeypatch.setattr(earned_rewards, "MOST_AT_ONCE", 3)
    program.offer("Sticker", 1, recurring=True)
    backfill_all(program)
    program.bring("email,referrals\nann@example.org,10\n", gives_rewards=True)
    backfill_all(program)
    assert [multiple for _, multiple, *_ in given_to(program, ANN)] == list(range(1, 11))


def test_the_last_reward_marks_all_below_it_though_the_count_is_lower(program: Program) -> None:
    for name, referrals in {"Sticker": 1, "Mug": 5, "Shirt": 6}.items():
        program.offer(name, referrals)
    program.bring("email,RH_LASTREWARD\nann@example.org,Mug\nben@example.org,5\n")
    for email in (ANN, "ben@example.org"):
        assert [name for name, *_ in given_to(program, email)] == ["Mug", "Sticker"]


def test_a_million_referrals_and_a_reward_for_each_are_one_row(program: Program) -> None:
    program.offer("Coffee", 1, recurring=True)
    kept = program.bring("email,referrals\nann@example.org,1000000\nben@example.org,1000001\n")
    assert given_to(program, ANN) == [("Coffee", 1_000_000, "redeemed", "import")]
    assert program.findings(kept) == [(3, "count_unreadable")]


counts = st.integers(0, 50)
amounts = st.integers(-50, 50)


@given(counts, amounts, counts | st.none(), amounts | st.none())
def test_what_is_missing_is_added_once(
    verified: int, adjusted: int, count: int | None, adjustment: int | None
) -> None:
    counted = Counted("1", ANN, 1, verified, adjusted, None)
    amount = missing(counted, count, adjustment)
    after = counted._replace(adjustments=adjusted + amount)
    assert missing(after, count, adjustment) == 0
    has, had = after.verified + after.adjustments, verified + adjusted
    if count is not None:
        assert has >= min(count + (adjustment or 0), had), "nobody loses what they had elsewhere"
    if amount < 0:
        assert adjusted == 0 and adjustment is not None and amount >= adjustment


def test_the_last_reward_is_known_by_its_name_or_number() -> None:
    assert given_rewards.up_to([], "Mug") is None
    assert given_rewards.up_to([], "7") == []
