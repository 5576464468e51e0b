"""Some clients send 0001-01-01T00:00:00Z for "no time". It is stored as it is, and stops neither a
job nor a page, in no time zone.
"""

from datetime import UTC, date, datetime

import pytest

from honeyguide.kernel.periods import Period, day_of, days_later, local_time, start_of, zone_of
from honeyguide.store import Tx
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, upload

ZERO = "0001-01-01T00:00:00Z"
FIRST_MS = round(datetime(1, 1, 1, tzinfo=UTC).timestamp() * 1000)
ZONES = ("America/New_York", "UTC", "Pacific/Kiritimati")
PAGES = (
    "/",
    "/?from=2024-01-01&to=2024-02-01&compare=year",
    "/subscribers",
    "/review",
    "/rewards",
    "/subscribers/export.csv",
    "/overview/days.csv",
    "/overview/sources.csv",
)


@pytest.mark.parametrize("zone", tuple(map(zone_of, ZONES)), ids=ZONES)
def test_the_first_day_has_the_first_moment(zone: object) -> None:
    day = day_of(FIRST_MS, zone)  # type: ignore[arg-type]
    assert day == date(1, 1, 1) and local_time(FIRST_MS, zone).year == 1  # type: ignore[arg-type]
    (whole,) = Period(day, day, zone).days  # type: ignore[arg-type]
    assert whole.since_ms <= FIRST_MS < whole.until_ms
    (last,) = Period(date.max, date.max, zone).days  # type: ignore[arg-type]
    assert last.until_ms - last.since_ms == 86_400_000
    assert days_later(date.min, -1) == date.min and days_later(date.max, 1) == date.max
    assert Period(date.min, date.max, zone).shifted(-7).first == date.min  # type: ignore[arg-type]
    assert start_of(date.min, zone) <= FIRST_MS  # type: ignore[arg-type]


def set_zone(alice: Operator, zone: str) -> None:
    async def work(tx: Tx) -> None:
        sql = "UPDATE account SET time_zone = :zone WHERE id = :id"
        await tx.run(statement(sql), zone=zone, id=alice.account_id)

    alice.service.write(work)


@pytest.mark.parametrize("zone", ZONES)
def test_somebody_of_the_year_1_is_shown_counted_and_erased(
    service: Service, alice: Operator, zone: str
) -> None:
    set_zone(alice, zone)
    ada = alice.subscribe("ada@example.org", created_at=ZERO, utm_source="go", utm_campaign="net")
    assert ada["created_at"] == "0001-01-01T00:00:00.000Z"
    alice.subscribe("bob@example.org", referrer_code=ada["ref_code"])
    upload(alice, f"email,created_at\nold@example.org,{ZERO}\n")
    service.run_jobs()
    own = f"/subscribers/{ada['uuid']}"
    for page in (*PAGES, own, f"{own}/export.json"):
        answer = alice.web.get(page)
        assert answer.status_code == 200, (page, answer.status_code)
    for path in (f"{alice.v1}/subscribers", f"{alice.v1}/subscribers/{ada['uuid']}"):
        assert alice.get(path).status_code == 200

    async def counted(tx: Tx) -> list[tuple[str, int]]:
        sql = (
            "SELECT day, joined FROM cohort_count WHERE campaign_id = :id AND kind = 'utm_source'"
            " AND key = 'go'"
        )
        return await tx.all(statement(sql), id=alice.campaign_id)  # type: ignore[return-value]

    assert service.read(counted) == [("0001-01-01", 1)]
    assert alice.delete(f"{alice.v1}/subscribers/{ada['uuid']}").status_code in (200, 204)
    assert service.read(counted) == []
    service.run_jobs()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("zone", ZONES)
def test_people_are_counted_on_their_day_in_every_zone(engine: str, zone: str) -> None:
    with Service(engine) as service:
        alice = operator(service)
        set_zone(alice, zone)
        moments = [
            f"{day}:00:00Z"
            for day in ("1969-12-31T01", "1969-12-31T23", "1970-01-01T01", "1970-01-01T23")
        ] + [f"{day}:00:00Z" for day in ("2024-03-05T01", "2024-03-05T12", "2024-03-08T23")]
        for place, moment in enumerate(moments):
            alice.subscribe(f"p{place}@example.org", created_at=moment)
        service.run_jobs()

        async def counted(tx: Tx) -> dict[str, int]:
            sql = "SELECT day, joined FROM cohort_count WHERE campaign_id = :id AND kind = 'group'"
            return dict(await tx.all(statement(sql), id=alice.campaign_id))  # type: ignore[arg-type]

        expected: dict[str, int] = {}
        for moment in moments:
            day = datetime.fromisoformat(moment).astimezone(zone_of(zone)).date().isoformat()
            expected[day] = expected.get(day, 0) + 1
        assert service.read(counted) == expected
