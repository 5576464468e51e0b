"""Every connection really has the settings that durability, erasure and integrity rest on."""

from pathlib import Path

import apsw

from honeyguide.store.sqlite import connect
from tests.support.disks import durable_commits

EXPECTED = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "secure_delete": 1,
    "trusted_schema": 0,
    "temp_store": 2,
}


def test_a_connection_has_every_pragma_we_ask_for(tmp_path: Path) -> None:
    with durable_commits():
        connection = connect(tmp_path / "a.db")
    assert {
        name: connection.execute(f"PRAGMA {name}").fetchall()[0][0] for name in EXPECTED
    } == EXPECTED


def test_a_statement_keeps_its_plan_whatever_its_parameters(tmp_path: Path) -> None:
    """Else one on a table with partial indexes is compiled anew for each set of parameters
    (find_referrer: 41 µs for 5).
    """
    assert connect(tmp_path / "a.db").config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
