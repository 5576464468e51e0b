"""The table of roles in docs/team.md is the one that the code asks."""

from pathlib import Path

from honeyguide.accounts import permissions
from honeyguide.accounts.permissions import RIGHTS, Right, Role

PAGE = Path(__file__).parents[2] / "docs" / "team.md"


def test_the_table_of_roles_is_the_one_of_the_code() -> None:
    expected = []
    for right in Right:
        having = permissions.roles_with(right)
        marks = " | ".join("✓" if role in having else "" for role in Role)
        expected.append(f"| {RIGHTS[right].about} | {marks} |")
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "✓" in line]
    assert lines == expected
