"""No row stops a job for everybody. Every job in the table is given work of two accounts, with the
oddest data that the API accepts, and the database refuses what belongs to one of them: the other
one's is done, what failed is recorded, and it is done when the database relents.
"""

from collections.abc import Iterator

import pytest

from honeyguide.app import Application
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.store import job_failures
from tests.support.job_cases import CASES
from tests.support.job_world import World
from tests.support.planted import permit, refuse
from tests.support.service import ENGINES, Service

# About the whole installation: nothing to skip.
WHOLE = {
    "check the ledger": "it reads, and serves nobody",
    "make a backup": "a backup without a row would be none",
    "copy erasures to the backups": "an erasure that is left out would come back with a restore",
}


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    service = Service(request.param)
    service.application = Application(service.settings, work=False)
    with service:
        yield World(service)


@pytest.mark.parametrize("name", CASES)
def test_what_fails_of_one_account_stops_no_other(world: World, name: str) -> None:
    case = CASES[name]
    world.good, world.bad = world.service.member(), world.service.member()
    case.prepare(world)
    bad, good = world.bad, world.good
    trigger = f"planted_{new_id().replace('-', '')}"
    condition = case.condition.format(id=bad.account_id)
    refuse(world.service, case.event, case.table, condition, trigger)
    try:
        world.run(name)
        assert case.is_done(world, good) and not case.is_done(world, bad)
        failed = [each for each in world.service.read(job_failures.list_all) if each.job == name]
        assert len(failed) == 1, failed
        assert failed[0].retry_ms > system_clock()
        # What is skipped is not found again before its time, so an idle job stays idle.
        before = world.ask("SELECT started_ms FROM job_lease WHERE name = :name", name=name)
        (job,) = [job for job in world.service.services.loop.jobs if job.name == name]
        if not job.always_runs:
            world.run(name)
            after = world.ask("SELECT started_ms FROM job_lease WHERE name = :name", name=name)
            assert before == after
    finally:
        permit(world.service, case.table, trigger)
    world.do("UPDATE job_failure SET retry_ms = 1 WHERE job = :name", name=name)
    world.run(name)
    assert case.is_done(world, bad)
    assert not [each for each in world.service.read(job_failures.list_all) if each.job == name]
    if not job.always_runs:
        before = world.ask("SELECT started_ms FROM job_lease WHERE name = :name", name=name)
        world.run(name)
        after = world.ask("SELECT started_ms FROM job_lease WHERE name = :name", name=name)
        assert before == after, "it finds again what it has done"


def table_of_jobs(world: World) -> set[str]:
    return {job.name for job in world.service.services.loop.jobs}


def test_every_job_has_a_case(world: World) -> None:
    """A new job needs one."""
    assert table_of_jobs(world) - WHOLE.keys() == CASES.keys()
    for job in world.service.services.loop.jobs:
        assert isinstance(job.work, tuple) == (job.name in CASES), job.name
