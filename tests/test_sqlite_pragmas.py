"""Every connection really has the settings that durability, erasure and integrity rest on."""

from __future__ import annotations

from pathlib import Path

from honeyguide.store.sqlite import connect

WANTED = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1, "trusted_schema": 0, "temp_store": 2}


def test_a_connection_has_every_pragma_we_ask_for(tmp_path: Path) -> None:
    connection = connect(tmp_path / "a.db")
    assert {name: connection.execute(f"PRAGMA {name}").fetchall()[0][0] for name in WANTED} == WANTED
