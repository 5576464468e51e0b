"""The stages of an import. Each goes over the whole file before the next begins, so that a line may
name somebody who comes later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from honeyguide.moving import counts, imported_line, people, referrers
from honeyguide.moving.findings import ImportFinding
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import LineFormat
from honeyguide.store.change import Change


class Stage(StrEnum):
    label: str
    fields: frozenset[str]
    """It has nothing to do if a file has none of these."""

    def __new__(cls, code: str, label: str = "", fields: Collection[str] = ()) -> Self:
        stage = str.__new__(cls, code)
        stage._value_ = code
        stage.label, stage.fields = label, frozenset(fields)
        return stage

    PEOPLE = "people", "Adding subscribers", ("email",)
    REFERRERS = (
        "referrers",
        "Connecting referrers",
        ("referrer", "referrer_code", "claimed_code"),
    )
    COUNTS = (
        "counts",
        "Carrying over counts",
        ("referrals_count", "adjustments", "rewards_given"),
    )
    REWARDS = "rewards", "Giving rewards"


class ImportPlan(NamedTuple):
    """What an import is to do."""

    import_id: str
    form: LineFormat
    source: str
    """The name of the tool that the file is from, or of the file."""
    gives_rewards: bool

    @property
    def stages(self) -> list[Stage]:
        return [
            stage
            for stage in Stage
            if stage.fields & self.form.mapping.keys()
            or (stage is Stage.REWARDS and self.gives_rewards)
        ]

    def after(self, stage: Stage) -> Stage | None:
        later = self.stages[self.stages.index(stage) + 1 :] if stage in self.stages else []
        return later[0] if later else None


class StageResult(NamedTuple):
    added: int = 0
    skipped: int = 0
    refused: Sequence[tuple[ImportLine, Exception]] = ()
    findings: Sequence[ImportFinding] = ()


async def run(
    change: Change, plan: ImportPlan, stage: Stage, lines: Sequence[ImportLine]
) -> StageResult:
    """One stage for one part of a file. A line that is refused does not stop the others; it is
    refused in the first stage, and then left out."""
    read = imported_line.read(lines, plan.form, change.now_ms)
    gives = plan.gives_rewards
    if stage is Stage.PEOPLE:
        added = await people.add(change, plan.import_id, read.people)
        refused = [*read.refused, *added.refused]
        return StageResult(added.added, added.skipped, refused, added.findings)
    if stage is Stage.REFERRERS:
        return StageResult(
            findings=await referrers.connect(
                change, plan.import_id, read.people, gives_rewards=gives
            )
        )
    if stage is Stage.COUNTS:
        return StageResult(
            findings=await counts.carry_over(change, read.people, plan.source, gives_rewards=gives)
        )
    await counts.give_rewards(change, read.people)
    return StageResult()
