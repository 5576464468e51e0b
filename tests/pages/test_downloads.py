"""Files that the product hands out: their names survive every alphabet, and no cell of a CSV file
runs as a formula.
"""

import csv
import io
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from honeyguide.kernel import spreadsheets
from honeyguide.kernel.ids import new_id
from honeyguide.moving import import_files
from honeyguide.pages.downloads import attachment
from honeyguide.partners import statements
from honeyguide.partners.payouts import Owed
from tests.support.process import command
from tests.support.service import Service
from tests.support.web import operator

SOURCE = Path(__file__).parents[2] / "src" / "honeyguide"


@pytest.mark.parametrize(
    "email", ["жанна@example.org", "zoë@example.org", "plain@example.org", "o'neil%41@example.org"]
)
def test_the_export_of_a_subscriber_is_named_after_any_email_address(
    service: Service, email: str
) -> None:
    alice = operator(service)
    alice.subscribe(email)
    answer = alice.web.get(f"/subscribers/{quote(email)}/export.json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["subscriber"]["email"] == email
    named = answer.headers["content-disposition"]
    assert named.startswith("attachment; filename=") and named.isascii()
    assert (
        named == f'attachment; filename="{email}.json"'
    ) or f"filename*=UTF-8''{quote(email, safe='')}.json" in named


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("people.csv", 'attachment; filename="people.csv"'),
        ("zoë.csv", "attachment; filename=\"zo_.csv\"; filename*=UTF-8''zo%C3%AB.csv"),
        ('a"b\\c.csv', "attachment; filename=\"a_b_c.csv\"; filename*=UTF-8''a%22b%5Cc.csv"),
        (
            "a\r\nb%41.csv",
            "attachment; filename=\"a__b_41.csv\"; filename*=UTF-8''a%0D%0Ab%2541.csv",
        ),
    ],
)
def test_a_file_name_cannot_break_its_header(name: str, header: str) -> None:
    assert attachment(name) == {"content-disposition": header}


def test_one_function_names_every_file() -> None:
    naming = [
        path.name for path in SOURCE.rglob("*.py") if "attachment; filename" in path.read_text()
    ]
    assert naming == ["downloads.py"]


FORMULAS = ["=1+1", "\n=1", "@x", "+1", "-1", "\t=1", "\r=1"]
# Excel takes these for the plain ones in some languages, or drops what is in front.
DISGUISED = [f"{sign}1" for sign in "＝＋－＠﹦﹢﹣﹫⁼⁺⁻"] + [
    " =1",
    "\u00a0=1",
    "\ufeff=1",
    "\u3000＝1",
]


def test_signs_that_a_spreadsheet_takes_for_a_formulas_are_guarded() -> None:
    for text in DISGUISED:
        written = next(csv.reader(io.StringIO(spreadsheets.csv_text([[text]]))))
        assert written == [f"'{text}"] and spreadsheets.unguarded(written[0]) == text
    for text in ("Ann", "", "'tis", "—dash", "1-2", "ａ＝１", "'", "× 2"):
        assert next(csv.reader(io.StringIO(spreadsheets.csv_text([[text, "x"]])))) == [text, "x"]


def assert_harmless(text: str, *, names: int) -> None:
    """No cell begins as a formula does, and each of the names above is there as text."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))] == []
    assert sum(cell[1:] in FORMULAS for cell in cells if cell.startswith("'")) == names, cells


def test_no_cell_of_the_subscribers_export_is_a_formula(service: Service) -> None:
    alice = operator(service)
    for n, name in enumerate(FORMULAS):
        alice.subscribe(f"reader{n}@example.org", name=name)
    alice.subscribe("=1+1@example.org")
    assert_harmless(alice.web.get("/subscribers/export.csv").text, names=len(FORMULAS))
    done = command(
        "export", "--account", alice.email, database_url=service.database_url, base_url=service.url
    )
    assert_harmless(done.stdout, names=len(FORMULAS))


def test_no_cell_of_a_statement_is_a_formula() -> None:
    for side in (statements.PARTNER, statements.OWNER):
        lines = [
            statements.StatementLine(new_id(), 1, name, new_id(), 1, 300, name, name, reason, name)
            for name in FORMULAS
            for reason in (None, "other")
        ]
        text = statements.csv_of(side, lines, with_headings=True)
        # The reason stands before what the owner wrote, which is no formula then.
        assert_harmless(text, names=2 * len(FORMULAS) * (1 if side == statements.PARTNER else 3))
        assert ",3.00," in text


def test_no_cell_of_the_payouts_is_a_formula() -> None:
    rows = [
        Owed(
            id=new_id(),
            account_id=new_id(),
            month="2026-10",
            amount_cents=1_250,
            paid_ms=1,
            paid_reference=name,
            marks=1,
            created_ms=1,
            email="wax@example.org",
            name=name,
        )
        for name in FORMULAS
    ]
    assert_harmless(statements.csv_of_payouts(rows), names=2 * len(FORMULAS))


def test_no_cell_of_the_lines_not_imported_is_a_formula_and_they_come_back_as_they_were() -> None:
    columns = ["email", *(name for name in FORMULAS if name != "@x"), "city"]
    refused = [import_files.RefusedLine(2, "=2 is no address.", json.dumps(["", *FORMULAS]))]
    text = import_files.csv_of_refused(columns, refused)
    assert_harmless(text, names=2 * len(FORMULAS) - 1)
    header, lines = import_files.read(text.encode())
    assert header == [*(each.strip() for each in columns), "line", "why"]
    assert lines[0].cells == ["", *(each.strip() for each in FORMULAS), "2", "=2 is no address."]


def test_one_function_writes_every_csv_file() -> None:
    writing = [path.name for path in SOURCE.rglob("*.py") if "csv.writer" in path.read_text()]
    assert writing == ["spreadsheets.py"]
