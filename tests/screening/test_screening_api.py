"""The labelled month replayed through the API, by the service's own clock: it catches what the pure
rules catch.
"""

from collections.abc import Iterator

import pytest

from tests.corpus.signups import (
    ALIAS,
    BURST,
    DAY,
    DISPOSABLE,
    HONEST,
    LOOP,
    NETWORK,
    SIGNUPS,
    Signup,
)
from tests.screening.test_screening_corpus import replay
from tests.support.service import Member, Service
from tests.support.tables import dump

Judged = list[tuple[Signup, str, str | None]]


@pytest.fixture(scope="module")
def quiet_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Without background work, so that holds end when we say so."""
    service = Service(request.param)
    service.application._work = False
    with service:
        yield service


def replayed(member: Member, level: str) -> Judged:
    """Every signup in its order, at its minute, and what became of it."""
    assert member.put(f"{member.v1}/settings", {"screening": level}).status_code == 200
    codes: dict[str, str] = {}
    ids: dict[str, Signup] = {}
    for signup in SIGNUPS:
        member.service.set_clock(signup.minute * 60)
        code = codes[signup.referrer] if signup.referrer else None
        made = member.subscribe(signup.email, referrer_code=code, ip_address=signup.ip)
        codes[signup.email] = made["ref_code"]
        if code is not None:
            ids[made["uuid"]] = signup
    rows = [row for row in dump(member.service)["subscriber"] if row["id"] in ids]
    return [(ids[row["id"]], row["referral_status"], row["referral_reason"]) for row in rows]


def share(judged: Judged, label: str, *statuses: str) -> float:
    of_label = [status in statuses for signup, status, _ in judged if signup.label == label]
    return sum(of_label) / len(of_label)


# Flexible screening asks the store nothing that strong screening does not ask too, and its rules
# have tests of their own.
@pytest.mark.parametrize(
    ("quiet_service", "level"),
    [
        pytest.param("sqlite", "flexible", marks=pytest.mark.long),
        pytest.param("sqlite", "strong", marks=pytest.mark.long),
        pytest.param("postgres", "strong", marks=pytest.mark.long),
    ],
    indirect=["quiet_service"],
)
def test_the_service_judges_the_labelled_month_as_it_should(
    quiet_service: Service, level: str
) -> None:
    alice = quiet_service.member("alice")
    judged = replayed(alice, level)
    assert len(judged) > 300
    for attack in (ALIAS, DISPOSABLE, LOOP):
        assert share(judged, attack, "pending", "rejected") >= 0.95
    assert share(judged, HONEST, "rejected") <= 0.01
    if level == "strong":
        for attack in (BURST, NETWORK):
            assert share(judged, attack, "pending") >= 0.95
    else:
        assert share(judged, HONEST, "pending") == 0
    # The seconds that the replay takes may tip a rate at its very edge; nothing else may differ
    # from the rules' own replay.
    by_rules = {
        signup.email: (decision.status.value, decision.reason) for signup, decision in replay(level)
    }
    differ = [
        (signup.email, status, reason)
        for signup, status, reason in judged
        if by_rules[signup.email] != (status, reason)
    ]
    assert len(differ) <= 2, differ
    # Nobody objected, so every hold ends by itself, and the counts are what was not rejected.
    alice.service.set_clock((SIGNUPS[-1].minute + 8 * DAY) * 60)
    alice.service.run_jobs()
    advocates = alice.get(
        f"{alice.v1}/subscribers", params={"type": "advocates", "per_page": 200}
    ).json()["subscribers"]
    assert sum(each["referrals_count"] for each in advocates) == sum(
        status != "rejected" for _, status, _ in judged
    )
