"""Every connection really has the settings that durability, erasure and integrity rest on."""

from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.store.sqlite import connect

WANTED = {"journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1, "trusted_schema": 0, "temp_store": 2, "cache_size": -65536}


@pytest.mark.parametrize(("synced", "synchronous"), [(True, 2), (False, 0)])
def test_a_connection_has_every_pragma_we_ask_for(tmp_path: Path, synced: bool, synchronous: int) -> None:
    connection = connect(tmp_path / "a.db", synced=synced)
    found = {name: connection.execute(f"PRAGMA {name}").fetchall()[0][0] for name in (*WANTED, "synchronous")}
    assert found == WANTED | {"synchronous": synchronous}
