"""Files that cannot be imported are refused with a sentence, on the dashboard and on the command
line, and nothing of them is stored.
"""

import io
import zipfile
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import import_files, uploaded_files
from tests.support import partner_network
from tests.support.moving_files import FIXTURES
from tests.support.process import command
from tests.support.service import ONE_ENGINE, Service
from tests.support.stores import statement
from tests.support.web import Operator, run_import, text_of, upload

GIGABYTE = 1024**3


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


BAD = {
    "open quote": (
        b'email,name\nann@example.org,Ann\nben@example.org,"Ben\ncy@example.org,Cy\n',
        "A quotation mark is opened and never closed",
    ),
    "bomb": (packed({"people.csv": b"a" * 8 * 1024**2}), "is compressed too much"),
    "hostile path": (
        packed({"../people.csv": b"email\nann@example.org\n"}),
        "a file with an unsafe path",
    ),
    "nested": (packed({"a.zip": packed({"a.csv": b"email"})}), "another zip archive in it"),
    "too large": (b"email\n" + b"x" * (import_files.MOST_BYTES + 1), "larger than 20 MB"),
}


@pytest.mark.parametrize(("data", "sentence"), BAD.values(), ids=list(BAD))
@ONE_ENGINE
def test_the_dashboard_refuses_it_and_stores_nothing(
    service: Service, alice: Operator, data: bytes, sentence: str
) -> None:
    answer = alice.web.http.post(
        "/subscribers/import",
        data={"csrf": alice.web.token("/subscribers/import"), "source": "mailchimp"},
        files={"file": ("people.zip", data)},
    )
    assert answer.status_code == 400 and sentence in text_of(answer.text), text_of(answer.text)
    assert 'value="mailchimp" checked' in answer.text, "the choice stays"
    find = statement("SELECT COUNT(*) FROM import WHERE account_id = :id")
    assert service.read(lambda tx: tx.all(find, id=alice.account_id)) == [(0,)]


def test_the_line_with_the_open_quote_is_named() -> None:
    with pytest.raises(Invalid, match="Look at line 3,"):
        uploaded_files.read(BAD["open quote"][0], "people.csv")
    _, lines = import_files.read(b'email,name\nann@example.org,"Ann\nLee"\n')
    assert lines[0].cells == ["ann@example.org", "Ann\nLee"], "closed ones may have line breaks"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@ONE_ENGINE
def test_any_common_encoding_is_read(alice: Operator, encoding: str) -> None:
    run_import(alice, upload(alice, "email,name\nzoe@example.org,Zoë Müller\n".encode(encoding)))
    assert alice.subscriber("zoe@example.org")["name"] == "Zoë Müller"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(2 * GIGABYTE)
    done = command("import", str(huge), "--account", "alice@example.org")
    assert done.returncode == 1 and "larger than 512 MB" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["open quote", "bomb", "hostile path"])
def test_the_command_line_refuses_it(tmp_path: Path, name: str) -> None:
    data, sentence = BAD[name]
    file = tmp_path / "people.zip"
    file.write_bytes(data)
    done = command("import", str(file), "--account", "alice@example.org")
    assert done.returncode == 1 and sentence in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--dates=iso", "--dates must be one of"), ("--source=acme", "--source must be one of")],
)
def test_unknown_answers_are_refused(option: str, sentence: str) -> None:
    file = str(FIXTURES / "any.csv")
    done = command("import", file, "--account", "alice@example.org", option)
    assert done.returncode == 1 and sentence in done.stderr


@ONE_ENGINE
def test_an_archive_is_imported_whole(service: Service, alice: Operator) -> None:
    header = b"Email Address,First Name,MEMBER_RATING,CONFIRM_TIME,LEID,EUID\n"
    files = {
        f"{status}_email_audience_export_1a.csv": header
        + f"{name}@example.org,{name},2,2023-01-01 00:00:00,1,e\n".encode()
        for status, name in [("subscribed", "ann"), ("cleaned", "ben")]
    }
    done = run_import(alice, upload(alice, packed(files), "audience.zip"))
    assert "2 subscribers added." in done and "Mailchimp" in done
    find = statement("SELECT email FROM subscriber WHERE campaign_id = :id AND status = 'active'")
    active = service.read(lambda tx: tx.all(find, id=alice.campaign_id))
    assert active == [("ann@example.org",)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b"email\n", "The file has a header row but no subscribers."),
        (b"\x00\x00", "This file is not a CSV file."),
        (b"email\na@example.org\rb", "This file is not a CSV file."),
        (partner_network.png(), "This file is a picture."),
        (b"\xff\xd8\xff\xe0" + bytes(99), "This file is a picture."),
        (b"%PDF-1.7\n", "This file is a PDF document."),
        (packed({"[Content_Types].xml": b"<Types/>"}), "This file is a spreadsheet."),
        (b"PK\x03\x04" + bytes(99), "This zip archive is damaged."),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "This file is a spreadsheet."),
    ],
    ids=["nothing", "heading", "NULs", "broken", "png", "jpeg", "pdf", "xlsx", "zip", "xls"],
)
@ONE_ENGINE
def test_a_file_that_holds_nobody_is_refused(alice: Operator, data: bytes, sentence: str) -> None:
    answer = alice.web.http.post(
        "/subscribers/import",
        data={"csrf": alice.web.token("/subscribers/import")},
        files={"file": ("x.csv", data)},
    )
    assert answer.status_code == 400 and sentence in text_of(answer.text)
