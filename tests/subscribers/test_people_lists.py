"""The operator's lists on SQLite: each is met along an index made for it, so that a million people
cost what a thousand do. PostgreSQL plans by what is there, and a test has little; `python -m bench`
looks at both.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from honeyguide.rewards import earned_rewards
from honeyguide.screening import review
from honeyguide.signups import open_work
from honeyguide.store.migrate import migrate_sqlite
from honeyguide.store.statements import Statement
from honeyguide.subscribers import search

BY_ID = "sqlite_autoindex_subscriber_1"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    path: Path = tmp_path_factory.mktemp("lists") / "empty.db"
    migrate_sqlite(path)
    with apsw.Connection(str(path)) as connection:
        yield connection


def steps(connection: apsw.Connection, statement: Statement[Any]) -> list[str]:
    asked = connection.execute(
        f"EXPLAIN QUERY PLAN {statement.sqlite}", (0,) * len(statement.sqlite_order)
    )
    return [row[3] for row in asked]


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (open_work._COUNTS, "subscriber_suspicious"),
        (search._SUSPECTED, "subscriber_suspicious"),
        (review._NEWEST["suspected"], "subscriber_suspicious"),
        (review._NEWEST["pending"], "subscriber_review"),
        (search._JUDGED, "subscriber_review"),
        (search._NEWEST, "subscriber_list"),
        (search._OLDEST, "subscriber_list"),
        (search._BEST, "advocate_best"),
        (search._FEWEST, "advocate_best"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_page_is_met_along_its_index_and_nothing_is_sorted(
    empty: apsw.Connection, statement: Statement[Any], index: str
) -> None:
    found = steps(empty, statement)
    assert any(f"INDEX {index} " in step for step in found), found
    assert not any("TEMP B-TREE" in step for step in found), found


@pytest.mark.parametrize("statement", [search._OF_IDS], ids=lambda statement: statement.name)
def test_people_of_given_ids_are_looked_up_one_by_one(
    empty: apsw.Connection, statement: Statement[Any]
) -> None:
    found = steps(empty, statement)
    assert f"SEARCH s USING INDEX {BY_ID} (id=?)" in found[0], found


@pytest.mark.parametrize(
    "statement",
    [
        earned_rewards._OF_PERSON,
        earned_rewards._OF_PEOPLE,
        earned_rewards._SOME_OF_PERSON,
        earned_rewards._COUNT_OF_PERSON,
    ],
    ids=lambda statement: statement.name,
)
def test_what_people_won_is_looked_up_person_by_person(
    empty: apsw.Connection, statement: Statement[Any]
) -> None:
    found = steps(empty, statement)
    by_person = "USING INDEX won_reward_person (subscriber_id=?)"
    assert any(by_person in step for step in found), found
