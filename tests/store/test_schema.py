"""docs/schema.sql says what the tables have."""

from tests.schema_file import FILE, table, text


def test_the_schema_to_read_is_that_of_a_new_database() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run `make schema`"


def test_a_column_that_was_added_later_has_a_line_like_the_others() -> None:
    added = "CREATE TABLE t (\n    a TEXT, -- a note\n    CHECK (a IN ('x', 'y'))\n, b TEXT) STRICT"
    assert table(added).splitlines() == [
        "CREATE TABLE t (",
        "    a TEXT,",
        "    CHECK (a IN ('x', 'y')),",
        "    b TEXT",
        ") STRICT",
    ]
