"""Files of people in shapes that nobody would want to import: each is refused with a sentence that
says what to do, on the dashboard and on the command line.
"""

from functools import partial
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import import_files, importing, stored_files
from honeyguide.moving.import_files import MOST_COLUMNS, ONE_LINE
from tests.support.process import command, migrated, new_account
from tests.support.readings import changes_of
from tests.support.service import Service
from tests.support.web import Operator, operator, run_import, text_of, upload


def addresses(number: int, separator: str = ",") -> bytes:
    return separator.encode().join([b"ann@example.org"] * number)


WIDE = b"email" + b",x" * MOST_COLUMNS + b"\nann@example.org\n"
REFUSED = {
    "three addresses on one line": (addresses(3), ONE_LINE),
    "20,000 addresses on one line": (addresses(20_000), ONE_LINE),
    "1,000,000 addresses on one line": (addresses(1_000_000, ";"), ONE_LINE),
    "on the second line": (b"email\n" + addresses(1000, ", "), ONE_LINE),
    "many columns": (WIDE, "Line 1 has more than 200 columns. Delete those that you don’t need."),
    "a wide line": (
        b"email\nann@example.org" + b"," * MOST_COLUMNS,
        "Line 2 has more than 200 columns. Delete those that you don’t need.",
    ),
    "commas": (
        b"," * 20_000_000,
        "Line 1 is longer than 256 KB. Delete the columns that you don’t",
    ),
    "a long line": (
        b"email,a,b\nann@example.org," + b"x" * 130_000 + b"," + b"y" * 130_000 + b",z" * 2_000,
        "Line 2 is longer than 256 KB. Delete the columns that you don’t need.",
    ),
    "a long line with line breaks": (
        b"email,a,b,c\nann@example.org" + (b',"' + b"x\n" * 65_000 + b'"') * 3,
        "Line 195002 is longer than 256 KB.",
    ),
    "quotes": (b'"' * 20_000_000, "Line 1 is longer than 256 KB."),
    "a quote that does not end": (b'email\n"' + b"x\n" * 5_000_000, "not a CSV file"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_list_of_lines_is_refused_with_advice(data: bytes, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        import_files.read(data)
    assert sentence in refused.value.message


def test_as_many_columns_as_are_allowed_are_read() -> None:
    header, lines = import_files.read(WIDE.replace(b",x\n", b"\n"))
    assert len(header) == MOST_COLUMNS and len(lines) == 1
    header, lines = import_files.read(b"email,referred by\nann@example.org,ben@example.org")
    assert lines[0].cells == ["ann@example.org", "ben@example.org"], "two addresses are no list"
    header, _ = import_files.read(b"email," + b"n" * 10_000 + b"\nann@example.org")
    assert [len(name) for name in header] == [5, 255], "a page shows each name many times"


def test_the_dashboard_and_the_command_line_say_so(
    service: Service, alice: Operator, tmp_path: Path
) -> None:
    answer = alice.web.http.post(
        "/subscribers/import",
        data={"csrf": alice.web.token("/subscribers/import")},
        files={"file": ("people.csv", addresses(20_000), "text/csv")},
    )
    assert answer.status_code == 400 and ONE_LINE in text_of(answer.text)
    if service.engine == "sqlite":
        (file := tmp_path / "people.csv").write_bytes(addresses(20_000))
        url = migrated("sqlite")
        owner = new_account(url)
        done = command("import", str(file), "--account", owner.email, database_url=url)
        assert done.returncode == 1 and ONE_LINE in done.stderr


def test_a_file_of_several_slices_is_stored_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_files, "SLICE", 2)
    alice = operator(service)
    people = b"email\n" + b"".join(b"p%d@example.org\n" % n for n in range(501))
    assert "501 subscribers added." in run_import(alice, upload(alice, people))
    assert alice.total() == 501


def test_an_upload_that_was_cut_off_is_not_shown(service: Service, alice: Operator) -> None:

    tenant = Tenant(alice.account_id, alice.campaign_id)
    begin = partial(
        changes_of(importing.begin, tenant, now_ms=1),
        file_name="half.csv",
        header=["email"],
        mapping={"email": 0},
    )
    cut_off = service.write(begin)
    assert "half.csv" not in alice.web.get("/subscribers/import").text
    assert alice.web.get(f"/subscribers/import/{cut_off}").status_code == 404
