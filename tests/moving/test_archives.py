"""Zip archives: the CSV files in them are read; bombs, hostile paths and everything else that an
operator would not upload on purpose is refused with a sentence.
"""

import io
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import archives
from honeyguide.moving.archives import MOST_FILES, open_archive
from tests.support.effort import effort_of

CSV = b"email,name\nann@example.org,Ann\n"
MEGABYTE = 1024 * 1024


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def with_password(data: bytes) -> bytes:
    """The same archive with the flag for encryption in both of its headers."""
    changed = bytearray(data)
    changed[data.index(b"PK\x03\x04") + 6] |= 1
    changed[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def with_small_claim(data: bytes) -> bytes:
    """The same archive, which claims that its file has one byte."""
    changed = bytearray(data)
    claim = (1).to_bytes(4, "little")
    changed[(at := data.index(b"PK\x03\x04") + 22) : at + 4] = claim
    changed[(at := data.index(b"PK\x01\x02") + 24) : at + 4] = claim
    return bytes(changed)


def with_name(data: bytes, name: bytes) -> bytes:
    """What no zip tool writes: NUL in a name."""
    return data.replace(b"x" * len(name), name)


MANY = {f"{n}.csv": CSV for n in range(MOST_FILES + 1)}
# Made when they are needed: every test process collects all tests.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "a bomb": (lambda: packed({"a.csv": bytes(100 * MEGABYTE)}), "compressed too much"),
    "a bomb that claims to be small": (
        lambda: with_small_claim(packed({"a.csv": bytes(100 * MEGABYTE)})),
        "damaged",
    ),
    "a bomb in another method": (
        lambda: packed({"a.csv": bytes(100 * MEGABYTE)}, zipfile.ZIP_LZMA),
        "in an unusual way",
    ),
    "many files that are small one by one": (
        lambda: packed({f"{n}.csv": CSV * 40_000 for n in range(18)}, zipfile.ZIP_STORED),
        "larger than 20 MB",
    ),
    "a path upward": (lambda: packed({"../a.csv": CSV}), "unsafe path"),
    "a path upward to a hidden file": (lambda: packed({"../.a.csv": CSV}), "unsafe path"),
    "an absolute path": (lambda: packed({"/etc/a.csv": CSV}), "unsafe path"),
    "a path of Windows": (lambda: packed({"C:\\a.csv": CSV}), "unsafe path"),
    "a path with NUL": (lambda: with_name(packed({"x" * 9: CSV}), b"a.csv\0.sh"), "unsafe path"),
    "a password": (lambda: with_password(packed({"a.csv": CSV})), "password"),
    "an archive in the archive": (
        lambda: packed({"a.zip": packed({"a.csv": CSV})}),
        "another zip archive",
    ),
    "an archive called CSV": (
        lambda: packed({"a.csv": packed({"a.csv": CSV})}),
        "another zip archive",
    ),
    "21 files": (lambda: packed(MANY), "more than 20 files"),
    "1,000 folders": (lambda: packed({f"{n}/": b"" for n in range(1000)}), "more than 20 files"),
    "a page": (lambda: packed({"a.csv": CSV, "posts/1.html": b"<p>"}), "other than CSV files"),
    "a spreadsheet": (
        lambda: packed({"[Content_Types].xml": b"<x/>", "xl/a.xml": b""}),
        "spreadsheet",
    ),
    "nothing": (lambda: packed({}), "no CSV file"),
    "only hidden files": (lambda: packed({"__MACOSX/a.csv": CSV, ".a.csv": CSV}), "no CSV file"),
    "half an archive": (lambda: packed({"a.csv": CSV * 100})[:-60], "damaged"),
    "no archive": (lambda: b"PK\x03\x04" + CSV, "damaged"),
}


@pytest.mark.parametrize(("made", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_hostile_or_mistaken_archive_is_refused_quickly(
    made: Callable[[], bytes], sentence: str
) -> None:
    data = made()

    def refuse() -> None:
        with pytest.raises(Invalid) as refused:
            open_archive(data)
        assert sentence in refused.value.message and refused.value.message.endswith(".")

    assert effort_of(refuse, most=200) < 200


def test_the_csv_files_are_read_in_their_order() -> None:
    files = {"list/": b"", "list/b.csv": CSV, "list/a.CSV": CSV * 2, "__MACOSX/list/._b.csv": b"x"}
    assert archives.is_archive(packed(files)) and not archives.is_archive(CSV)
    assert open_archive(packed(files)) == [("list/b.csv", CSV), ("list/a.CSV", CSV * 2)]
    assert len(open_archive(packed(dict(list(MANY.items())[:MOST_FILES])))) == MOST_FILES


def test_a_list_that_compresses_well_is_no_bomb() -> None:
    """A thousand people at one company, with a long column that nobody filled in."""
    lines = [f"person{n}@example.org,{'0,' * 200}" for n in range(20_000)]
    data = packed({"a.csv": "\n".join(lines).encode()})
    assert len(open_archive(data)[0].data) > 5 * MEGABYTE


def test_the_command_line_may_read_more() -> None:
    data = packed({"a.csv": CSV * 1_000_000}, zipfile.ZIP_STORED)
    with pytest.raises(Invalid, match="larger than 20 MB"):
        open_archive(data)
    assert len(open_archive(data, most_bytes=64 * MEGABYTE)[0].data) == len(CSV) * 1_000_000


@given(st.data())
def test_a_changed_archive_is_read_or_refused_with_a_sentence(data: st.DataObject) -> None:
    whole = bytearray(packed({"a.csv": CSV * 3, "b/c.csv": CSV}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with suppress(Invalid):
        assert len(open_archive(bytes(whole))) <= 2
