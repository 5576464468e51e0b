"""The people of a day are counted again when one of them changes meanwhile, and who left counts by
whole days.
"""

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.store import Tx
from honeyguide.store.tx import timed
from honeyguide.subscribers import cohorts, page_index
from honeyguide.subscribers.cohorts import CohortCount, CountJob
from tests.subscribers.test_statistics import tenant_of
from tests.support.readings import reads
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump, mentions
from tests.support.web import Operator


def joined(service: Service, alice: Operator) -> int:
    sql = (
        "SELECT joined FROM cohort_count WHERE campaign_id = :id AND kind = 'group' "
        "AND key = 'not_referred'"
    )

    async def find(tx: Tx) -> list[tuple[int]]:
        return await tx.all(statement(sql), id=alice.campaign_id)

    return sum(n for (n,) in service.read(find))


def index(service: Service) -> None:
    while service.run(service.services.store.write_snapshot(page_index.apply_changes)):
        pass


def begin(service: Service, alice: Operator) -> tuple[CountJob, list[CohortCount]]:
    """What the job does of one campaign before it saves."""
    store = service.services.store
    tenant = tenant_of(alice)
    due = cohorts.DueCampaign(*tenant, "UTC", "UTC")
    job = service.run(store.write(cohorts.begin_job, due))
    return job, service.run(store.slow_snapshot(reads(cohorts.count, tenant), job.days))


def test_somebody_who_joins_while_the_day_is_counted_is_counted(
    service: Service, alice: Operator
) -> None:
    day = "2024-03-05T12:00:00Z"
    alice.subscribe("first@example.org", created_at=day)
    index(service)
    job, counts = begin(service, alice)
    alice.subscribe("second@example.org", created_at=day)
    index(service)
    store, now_ms = service.services.store, service.now_ms()
    service.run(store.write(timed(cohorts.save_job, now_ms), job, counts))
    again, counts = begin(service, alice)
    service.run(store.write(timed(cohorts.save_job, now_ms), again, counts))
    assert joined(service, alice) == 2


def test_what_an_erased_person_told_us_leaves_the_counts_at_once(
    service: Service, alice: Operator
) -> None:
    word = f"from-zelda-{service.now_ms()}"
    zelda = alice.subscribe("z@example.org", utm_source=word, utm_campaign=word)
    index(service)
    store, now_ms = service.services.store, service.now_ms()
    service.run(store.write(timed(cohorts.save_job, now_ms), *begin(service, alice)))
    assert "cohort_count.key" in mentions(dump(service), word)
    assert alice.delete(f"{alice.v1}/subscribers/{zelda['uuid']}").status_code == 200
    assert mentions(dump(service), word) == []


def test_who_left_within_thirty_days_left_by_the_end_of_the_thirtieth(
    service: Service, alice: Operator
) -> None:
    stays = {
        "early": DAY_MS,
        "exactly": 30 * DAY_MS,
        "an hour late": 30 * DAY_MS + HOUR_MS,
        "a moment late": 30 * DAY_MS + 1,
        "in time for 90": 90 * DAY_MS,
        "never": 90 * DAY_MS + 1,
    }
    sql = (
        "UPDATE subscriber SET status = 'unsubscribed', unsubscribed_ms = created_ms + :stay "
        "WHERE id = :id"
    )
    for place, stay_ms in enumerate(stays.values()):
        person = alice.subscribe(f"p{place}@example.org")
        service.write(
            lambda tx, person=person, stay_ms=stay_ms: tx.run(  # type: ignore[misc]
                statement(sql), stay=stay_ms, id=person["uuid"]
            )
        )
    index(service)
    _, counts = begin(service, alice)
    (group,) = [each for each in counts if each.kind == "group"]
    assert (group.joined, group.followed, group.left_30, group.left_90) == (6, 6, 2, 5)
