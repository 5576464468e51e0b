"""Our own export keeps notes, consents and earned rewards, so that another Honeyguide has them."""

from honeyguide.moving.source_columns import FIELDS
from honeyguide.rewards import earned_rewards
from honeyguide.store.tx import Tx
from honeyguide.subscribers import consents, notes
from tests.moving.test_certificates import certify, differences
from tests.support.imported import LOUD, Program
from tests.support.readings import change_of
from tests.support.stores import OpenStore

HEADER = "email,ref_code,referrals_verified,notes,consents,earned_rewards\n"
DAY = "2026-01-02T03:04:05.678Z"


def line(email: str, code: str, **cells: str) -> str:
    names = ("notes", "consents", "earned_rewards")
    quoted = ('"' + cells.get(name, "").replace('"', '""') + '"' for name in names)
    return f"{email},{code},0,{','.join(quoted)}\n"


KEPT = ("notes", "consents", "earned_rewards")


def write_down(program: Program) -> None:
    """What an installation knows about Ann, who referred Ben."""
    ann = program.subscribe("ann@example.org")
    program.subscribe("ben@example.org", referrer_code=ann.ref_code)

    async def write(tx: Tx) -> None:
        for number in range(2):  # the same text twice, at two times
            await notes.add(
                change_of(tx, program.tenant, now_ms=number + 1), ann.id, "Met in Porto"
            )
        agreed = await consents.add_text(change_of(tx, program.tenant, now_ms=1), "I agree.", None)
        await consents.record(change_of(tx, program.tenant, now_ms=77), ann.id, agreed)

    program.opened.run(program.opened.store.write(write))


def offer(program: Program) -> None:
    program.offer("A mug", 1, kind="coupon", coupon_code="MUG10")
    program.offer("A shirt", 2)


def test_notes_consents_and_rewards_come_along(program: Program) -> None:
    with OpenStore("sqlite") as elsewhere:
        old = Program(elsewhere)
        offer(old)
        write_down(old)
        file, before = old.export(), old.exported()["ann@example.org"]
    assert all(before[name] for name in KEPT)
    offer(program)
    program.now_ms += 1
    for _ in range(2):
        kept = program.bring(file)
        assert program.findings(kept) == [] and program.errors(kept) == []
        after = program.exported()["ann@example.org"]
        assert [after[name] for name in KEPT] == [before[name] for name in KEPT]
    assert {table: program.count(table) for table in LOUD} == dict.fromkeys(LOUD, 0)
    [mug] = program.earned("ann@example.org")
    assert (mug.name, mug.status, mug.coupon_code) == ("A mug", "unlocked", "MUG10")
    assert differences(certify(program, kept)) == []
    # What was promised there and is missing here is found.
    program.opened.do("DELETE FROM won_reward")
    assert differences(certify(program, kept)) == [("reward_lost", [2])]


def test_a_reward_that_we_lack_is_reported_and_one_without_a_code_is_to_approve(
    program: Program,
) -> None:
    program.offer("A mug", 3)
    earned = '[{{"name":"{}","referrals":{},"status":"out_of_stock","earned_at":"{}"}}]'
    kept = program.bring(
        HEADER
        + line("ann@example.org", "k7m2x9pa", earned_rewards=earned.format("A mug", 3, DAY))
        + line("ben@example.org", "k7m2x9pb", earned_rewards=earned.format("A mug", 5, DAY))
    )
    assert program.findings(kept) == [(3, "reward_unknown")]
    [mug] = program.earned("ann@example.org")
    assert mug.status == earned_rewards.AWAITING
    assert program.earned("ben@example.org") == []
    assert differences(certify(program, kept)) == []


BAD = {
    "no list": {"consents": "yes"},
    "no JSON": {"notes": '[{"'},
    "another shape": {"earned_rewards": '[{"name": "A mug"}]'},
    "an unknown status": {
        "earned_rewards": f'[{{"name":"m","referrals":1,"status":"lost","earned_at":"{DAY}"}}]'
    },
    "no time": {"notes": '[{"text":"x","written_at":"yesterday"}]'},
    "the future": {"notes": '[{"text":"x","written_at":"2126-01-02T03:04:05.678Z"}]'},
    "no address": {
        "consents": f'[{{"text":"x","agreed_at":"{DAY}","privacy_url":"javascript:x"}}]'
    },
    "NUL": {"notes": f'[{{"text":"\\u0000","written_at":"{DAY}"}}]'},
    "no number": {
        "earned_rewards": (
            f'[{{"name":"m","referrals":1,"status":"redeemed","multiple":0,"earned_at":"{DAY}"}}]'
        )
    },
    "deep": {"consents": "[" * 10_000},
}


def test_a_cell_that_we_did_not_write_is_refused_with_its_line() -> None:
    with OpenStore("sqlite") as opened:
        program = Program(opened)
        lines = [line(f"p{n}@example.org", "", **cells) for n, cells in enumerate(BAD.values())]
        whole = line("ann@example.org", "k7m2x9pa", notes="[VIP] not a list, so one note")
        kept = program.bring(HEADER + whole + "".join(lines))
        assert (kept.added, kept.failed) == (1, len(BAD))
        errors = program.errors(kept)
        assert [each.line for each in errors] == [3 + n for n in range(len(BAD))]
        for name, each in zip(BAD, errors, strict=True):
            assert each.sentence.endswith("."), name
            assert FIELDS[next(iter(BAD[name]))] in each.sentence, name
        [note] = program.read(notes.of_subscriber, program.get("ann@example.org").id)
        assert note.text == "[VIP] not a list, so one note"
