"""Files that the product hands out: their names survive every alphabet, and no cell of a CSV file runs as a formula."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from honeyguide.pages.downloads import attachment
from tests.support.desk import operator
from tests.support.service import Service

SOURCE = Path(__file__).parent.parent / "src" / "honeyguide"


@pytest.mark.parametrize("email", ["жанна@example.org", "zoë@example.org", "plain@example.org", "o'neil%41@example.org"])
def test_the_export_of_a_subscriber_is_named_after_any_email_address(service: Service, email: str) -> None:
    alice = operator(service)
    alice.subscribe(email)
    answer = alice.desk.get(f"/subscribers/{quote(email)}/export.json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["subscriber"]["email"] == email
    named = answer.headers["content-disposition"]
    assert named.startswith("attachment; filename=") and named.isascii()
    assert (named == f'attachment; filename="{email}.json"') or f"filename*=UTF-8''{quote(email, safe='')}.json" in named


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("people.csv", 'attachment; filename="people.csv"'),
        ("zoë.csv", "attachment; filename=\"zo_.csv\"; filename*=UTF-8''zo%C3%AB.csv"),
        ('a"b\\c.csv', "attachment; filename=\"a_b_c.csv\"; filename*=UTF-8''a%22b%5Cc.csv"),
        ("a\r\nb%41.csv", "attachment; filename=\"a__b_41.csv\"; filename*=UTF-8''a%0D%0Ab%2541.csv"),
    ],
)
def test_a_file_name_cannot_break_its_header(name: str, header: str) -> None:
    assert attachment(name) == {"content-disposition": header}


def test_one_function_names_every_file() -> None:
    naming = [path.name for path in SOURCE.rglob("*.py") if "attachment; filename" in path.read_text()]
    assert naming == ["downloads.py"]
