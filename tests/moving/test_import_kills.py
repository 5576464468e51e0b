"""Real processes that import a file, killed at random points: whoever continues doubles nobody and
loses nobody.
"""

import random
import time
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.imported import Program
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.workers import eager_worker

WORKERS = 2
STAGES = 3


def file_of(dice: random.Random, people: int) -> str:
    """Referrers come before and after those they referred. Some lines have a problem."""
    lines = ["email,code,referrer,referrals,tags"]
    for n in range(people):
        by = dice.choice(["", f"p{dice.randrange(people)}@example.org", f"c{dice.randrange(99)}"])
        code = f"c{n % (people - 40)}"
        lines.append(f"p{n}@example.org,{code},{by},{dice.choice(['', '1', '7'])},vip")
    return "\n".join([*lines, "no address,,,,"])


def state(program: Program, import_id: str) -> dict[str, Any]:
    """Everything that may be doubled or lost."""
    kept = program.go_on(import_id, 0)
    rows = program.exported()
    kinds = ("name", "tags", "codes", "adjustments", "referrals_verified", "referral_status")
    return {
        "people": {email: [row[kind] for kind in kinds] for email, row in rows.items()},
        "referrers": program.referrers(),
        "import": (kept.status, kept.total, kept.done, kept.added, kept.skipped, kept.failed),
        "findings": program.findings(kept),
        "rewards": {
            email: sorted((each.name, each.multiple, each.status) for each in program.earned(email))
            for email in list(rows)[:40]
        },
        "rows": {
            table: program.count(table)
            for table in ("adjustment", "won_reward", "subscriber_code", "import_part", "event")
        },
    }


def begin(opened: OpenStore, text: str) -> tuple[Program, str]:
    program = Program(opened)
    program.offer("Sticker", 1)
    program.offer("Coffee", 2, recurring=True)
    opened.do("UPDATE reward SET walk_ms = NULL, walk_id = NULL")
    return program, program.start(text)


def progress(program: Program, import_id: str) -> int:
    kept = program.go_on(import_id, 0)
    return kept.steps_done if kept.status == "running" else STAGES * kept.total


@pytest.mark.parametrize(
    ("kills", "people"), [(5, 100), pytest.param(20, 240, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_import_survives_the_death_of_its_processes(
    engine: str, kills: int, people: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("honeyguide.moving.import_files.PART", 4)
    dice = random.Random(36)
    text = file_of(dice, people)
    with OpenStore(engine) as opened:
        program, import_id = begin(opened, text)
        program.go_on(import_id)
        expected = state(program, import_id)
    assert expected["import"] == ("done", people + 1, people + 1, people, 0, 1)
    with OpenStore(engine) as opened:
        program, import_id = begin(opened, text)
        midway = 0
        all_lines = STAGES * (people + 1)
        for at in sorted(dice.sample(range(all_lines), kills)):
            with ExitStack() as stack:
                for _ in range(WORKERS):
                    stack.enter_context(eager_worker(opened.url))
                give_up = time.monotonic() + 60
                while progress(program, import_id) < at:
                    assert time.monotonic() < give_up, "the import does not go on"
                time.sleep(dice.uniform(0, 0.01))
            midway += progress(program, import_id) < all_lines
        assert midway >= kills // 2, "most of them are killed while there is something to do"
        program.go_on(import_id)
        assert state(program, import_id) == expected
