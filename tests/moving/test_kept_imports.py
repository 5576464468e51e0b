"""The file of an import is kept after it is done. Nobody stays in it who was erased."""

import pytest

from honeyguide.signups import signups
from honeyguide.signups.lifecycle import SubscriberChanges
from tests.support.imported import Program

FILE = (
    "email,code,referrer,referrals\n"
    "ann@example.org,ann-lee,,7\n"
    "ben@example.org,7,Ann-Lee,\n"
    "cy@example.org,,ann@example.org,7\n"
)


def kept_lines(program: Program) -> str:
    return "\n".join(lines for (lines,) in program.opened.ask("SELECT lines FROM import_part"))


def test_an_erased_person_is_removed_by_address_and_by_code(program: Program) -> None:
    kept = program.bring(FILE)
    assert "ann-lee" in kept_lines(program)
    program.change(signups.erase, "ann@example.org")
    left = kept_lines(program)
    assert "ann" not in left.lower() and "ben@example.org" in left and "cy@example.org" in left
    program.change(signups.erase, "ben@example.org")
    assert '"7"' in kept_lines(program), "a count that looks like a code stays"
    assert program.find_import(kept.id).total == 3, "as many lines as it had"


@pytest.mark.parametrize("column", ["referrer", "referrer_code", "claimed_code"])
def test_an_erased_persons_code_stays_in_no_column_of_another_line(
    program: Program, column: str
) -> None:
    ann = program.subscribe("ann@example.org")
    program.bring(f"email,{column},notes\nben@example.org,{ann.ref_code.upper()},Met Ann\n")
    program.start(f"email,{column}\ncy@example.org, {ann.ref_code} \n")
    assert kept_lines(program).lower().count(ann.ref_code) == 2
    program.change(signups.erase, "ann@example.org")
    left = kept_lines(program)
    assert ann.ref_code not in left.lower()
    assert all(each in left for each in ("ben@example.org", "Met Ann", "cy@example.org"))


def test_an_address_that_was_changed_is_removed_when_it_changes(program: Program) -> None:
    program.bring(FILE)
    program.change(signups.update, "ben@example.org", SubscriberChanges(email="Ben@example.org"))
    assert "ben@example.org" in kept_lines(program), "the same in other letters"
    program.change(signups.update, "ben@example.org", SubscriberChanges(email="bo@example.org"))
    assert "ben@example.org" not in kept_lines(program)
    program.start(FILE)
    program.change(signups.update, "cy@example.org", SubscriberChanges(email="cyd@example.org"))
    assert kept_lines(program).count("cy@example.org") == 1, "a file that runs is left alone"
