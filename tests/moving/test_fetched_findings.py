"""What an import of fetched people finds is exactly what is odd about them."""

import pytest

from honeyguide.moving import importing
from honeyguide.moving.findings import FindingKind
from tests.support.moves import moving
from tests.support.readings import reads
from tests.support.stores import OpenStore


def count(opened: OpenStore, where: str) -> int:
    ((number,),) = opened.ask(f"SELECT COUNT(*) FROM subscriber WHERE {where}")
    return int(number)


@pytest.mark.parametrize(
    "people",
    [
        500,
        pytest.param(5_000, marks=pytest.mark.long),
        pytest.param(50_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
    ],
)
def test_what_is_found_is_what_was_planted(opened: OpenStore, people: int) -> None:
    move = moving(opened, people)
    hundreds = people // 100

    async def work() -> dict[FindingKind, int]:
        async with move.server.serving():
            import_id = await move.begin()
            await move.fetch(import_id)
        kept = await move.run_import(import_id)
        assert (kept.added, kept.skipped, kept.failed) == (people, 0, 0)
        return await move.store.read(reads(importing.count_findings, move.tenant), import_id)

    assert opened.run(work()) == {FindingKind.DUPLICATE_CODE: hundreds}
    assert count(opened, "status = 'unsubscribed'") == hundreds
    assert count(opened, "referral_status = 'pending'") == hundreds
    # Who left in the stand-in was verified before.
    assert count(opened, "referral_status = 'rejected'") == hundreds
    referred = sum(1 for each in move.server.people if each["referrer_code"])
    assert count(opened, "referrer_id IS NOT NULL") == referred
    carried = opened.ask("SELECT COUNT(*), SUM(amount) FROM adjustment")
    assert [tuple(map(int, row)) for row in carried] == [(hundreds, 7 * hundreds)]
    # Nothing left.
    for table in ("event", "delivery", "letter", "won_reward", "notice"):
        assert opened.ask(f"SELECT COUNT(*) FROM {table}") == [(0,)]
