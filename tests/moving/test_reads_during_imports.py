"""While somebody imports and checks a file, others are served as before: no step of either keeps
the event loop busy, and reads of another account get their turn between any two of them.

Seconds are CPU time of the loop, so that a busy machine changes nothing. `bench/moving.py` measures
what visitors notice.
"""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.support.loop_steps import LoopSteps
from tests.support.service import ENGINES, Member, Service
from tests.support.web import Operator, chosen_columns, operator, upload


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as running:
        yield running


def file_of(lines: int) -> str:
    """A tenth referred the others, and has a higher count than that."""
    rows = ["email,code,referrer,referrals"]
    for number in range(lines):
        first = number - number % 10
        referrer, count = ("", "12") if number == first else (f"m-{first}", "")
        rows.append(f"m{number}@moved.example,m-{number},{referrer},{count}")
    return "\n".join(rows)


def read_until(is_done: Callable[[], bool], other: Member, uuid: str) -> list[float]:
    """How long each read and list of another account took, on the clock of the wall."""
    took_s = []
    while not is_done():
        for path in (f"{other.v1}/subscribers/{uuid}", f"{other.v1}/subscribers"):
            for _ in range(5):
                began_s = time.perf_counter()
                assert other.get(path).status_code == 200
                took_s.append(time.perf_counter() - began_s)
    return took_s


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("lines", [600, pytest.param(20_000, marks=pytest.mark.long)])
def test_others_are_served_between_the_steps_of_an_import(
    service: Service, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    other = service.member("bob")
    people = [other.subscribe(f"b{n}@example.org") for n in range(60)]
    uuid = people[0]["uuid"]
    importing_s: list[float] = []
    checking_s: list[float] = []

    def import_and_check() -> None:
        alice: Operator = operator(service)
        page = f"/subscribers/import/{upload(alice, file_of(lines))}"
        columns = chosen_columns(alice.web.get(page).text)
        assert alice.web.post(page, do="start", **columns).status_code == 303
        importing_s[:] = read_until(
            lambda: "Import finished" in alice.web.get(page).text, other, uuid
        )
        certificate = alice.web.post(page, do="check").headers["location"]
        is_made = f"{certificate}/certificate.json"
        checking_s[:] = read_until(lambda: alice.web.get(is_made).is_success, other, uuid)
        assert alice.total() == lines

    with LoopSteps(service) as steps:
        steps.judge("an import and its check", import_and_check)
    with capsys.disabled():
        for name, took_s in (("import", importing_s), ("check", checking_s)):
            found = sorted(took_s) or [0.0]
            print(
                f"\n{lines:,} lines, {name}: {len(found):,} reads, median "
                f"{found[len(found) // 2] * 1000:.0f} ms, 99th percentile "
                f"{found[len(found) * 99 // 100] * 1000:.0f} ms; {steps.report()}"
            )
    assert steps.slow == []
    assert importing_s, "somebody read while lines were imported"
