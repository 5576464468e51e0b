"""Which backups are deleted, and which never are."""

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.clock import DAY_MS
from honeyguide.operating.backups.names import (
    backup_ms,
    backup_name,
    erasures_ms,
    erasures_name,
    expired,
)

NOW_MS = 1_794_819_600_000
FOREIGN = [
    "notes.txt",
    "honeyguide.db",
    "honeyguide-20261399T020000000Z.db.gz",
    "honeyguide-x.dump",
]


def backup(days_old: float) -> str:
    return backup_name(NOW_MS - round(days_old * DAY_MS), "db.gz", is_encrypted=False)


def erasures(days_old: float) -> str:
    return erasures_name(NOW_MS - round(days_old * DAY_MS), "ab12")


def test_a_name_tells_when_the_backup_was_started() -> None:
    name = backup_name(NOW_MS + 123, "dump", is_encrypted=True)
    assert name == "honeyguide-20261116T090000123Z.dump.age"
    assert backup_ms(name) == NOW_MS + 123
    assert erasures_ms(erasures(0)) == NOW_MS and backup_ms(erasures(0)) is None
    assert [backup_ms(name) for name in FOREIGN] == [None] * 4


def test_backups_are_deleted_when_they_are_too_old() -> None:
    names = [backup(days) for days in (1, 29.9, 30.1, 200)] + FOREIGN
    assert expired(names, names, keep_days=30, now_ms=NOW_MS) == [backup(200), backup(30.1)]


def test_the_newest_good_backup_stays_and_so_does_the_newest() -> None:
    names = [backup(days) for days in (40, 50, 60)]
    assert expired(names, [backup(50)], keep_days=30, now_ms=NOW_MS) == [backup(60)]
    assert expired(names, [], keep_days=30, now_ms=NOW_MS) == [backup(60), backup(50)]
    assert expired([], [], keep_days=30, now_ms=NOW_MS) == []


def test_erasures_stay_as_long_as_a_backup_that_is_older() -> None:
    names = [backup(10), backup(40), backup(50)]
    names += [erasures(days) for days in (9, 12, 30.5, 31.5, 40.5, 41.5)]
    gone = expired(names, [backup(40)], keep_days=30, now_ms=NOW_MS)
    assert gone == sorted([backup(50), erasures(41.5)])
    # Also as long as any would be kept: the list of a place can miss some.
    gone = expired(names, [backup(10)], keep_days=30, now_ms=NOW_MS)
    assert gone == sorted([backup(40), backup(50), *map(erasures, (31.5, 40.5, 41.5))])


@given(st.sets(st.integers(0, 400)), st.sets(st.integers(0, 400)), st.integers(1, 100))
def test_something_good_is_always_left(days: set[int], good: set[int], keep_days: int) -> None:
    names, proved = {backup(each) for each in days}, {backup(each) for each in good & days}
    left = names - set(expired(names, proved, keep_days=keep_days, now_ms=NOW_MS))
    assert bool(left) == bool(names)
    if proved:
        assert max(proved) in left
    assert {backup(each) for each in days if each < keep_days} <= left
