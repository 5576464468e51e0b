"""Attacks on the public endpoints behind embeds: guesses who is subscribed, forged and replayed
codes, and floods. Other websites are in `test_hostile_origins.py`.
"""

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from honeyguide.pages.embeds import endpoint
from honeyguide.subscribers import subscribers
from tests.support.embeds import SITE, Visitor, embedding, people
from tests.support.partner_network import join, offer, publish
from tests.support.prizes import advocate, post_of, tenant_of
from tests.support.readings import reading
from tests.support.service import Member, Service

# All tests share one address; the limit per campaign and network has a test.
pytestmark = pytest.mark.usefixtures("roomy_network")

PROBES, AT_ONCE = 40, 10


@pytest.fixture
def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers wait for nothing; one test is about that."""
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)


def test_an_unknown_campaign_has_no_endpoints(alice: Member) -> None:
    embed = embedding(alice)
    for public_id in ("hg_2222222222222222", alice.campaign_id, "' OR 1=1"):
        visitor = Visitor(alice, embed._replace(public_id=public_id))
        assert visitor.sign_up("ben@example.org").status_code == 404


@pytest.mark.usefixtures("no_floor")
def test_no_answer_tells_who_is_subscribed(alice: Member) -> None:
    alice.subscribe("in@example.org")
    alice.subscribe("out@example.org", status="unsubscribed")
    visitor = Visitor(alice, embedding(alice))
    answers = [
        visitor.sign_up(email) for email in ("in@example.org", "out@example.org", "new@example.org")
    ]
    robots = [
        visitor.post("signup", email="bot@example.org", waited_ms="20"),
        visitor.sign_up("trap@example.org", website="https://spam.example"),
    ]
    assert {(each.status_code, each.text) for each in [*answers, *robots]} == {
        (200, '{"ok":true,"needs_confirmation":false}')
    }
    # Nor does any header but the date, nor how often an address can be tried.
    assert len({frozenset({**each.headers, "date": ""}.items()) for each in answers}) == 1
    tries = {
        tuple(visitor.sign_up(f"{name}@example.org").status_code for _ in range(5))
        for name in ("in", "new")
    }
    assert tries == {(200, 200, 200, 200, 429)}
    assert set(people(alice)) == {"in@example.org", "out@example.org", "new@example.org"}
    # An unsubscribed person comes back only through their mailbox.
    left = alice.service.read(
        lambda tx: subscribers.get(reading(tx, tenant_of(alice)), "out@example.org")
    )
    assert left.status == "unsubscribed"
    assert [each.to_email for each in post_of(alice, "confirm")] == ["out@example.org"]


def test_every_answer_to_a_form_takes_at_least_as_long(alice: Member) -> None:
    visitor = Visitor(alice, embedding(alice))
    for email in ("new@example.org", "new@example.org", "not an address"):
        assert visitor.sign_up(email).elapsed.total_seconds() >= endpoint.ANSWER_AFTER_S


@pytest.mark.long
@pytest.mark.parametrize("name", ["signup", "find"])
def test_the_time_of_an_answer_tells_nobody_who_is_subscribed(
    alice: Member, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The measure: how often a new address takes longer than a subscribed one. A coin would say
    half of the time.
    """
    roomy = endpoint.BY_CAMPAIGN_AND_NETWORK._replace(most=1_000)
    monkeypatch.setattr(endpoint, "BY_CAMPAIGN_AND_NETWORK", roomy)
    embed = embedding(alice)
    for number in range(PROBES):
        alice.subscribe(f"in{number}@example.org")
    guesses = [f"{kind}{number}@example.org" for number in range(PROBES) for kind in ("in", "new")]

    def timed(share: list[str]) -> list[tuple[str, float]]:
        visitor = Visitor(alice, embed)
        visitor.get("config")  # connected
        answers = [(email, visitor.post(name, email=email)) for email in share]
        assert all(answer.status_code == 200 for _, answer in answers)
        return [(email, answer.elapsed.total_seconds()) for email, answer in answers]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        shares = [guesses[number::AT_ONCE] for number in range(AT_ONCE)]
        times = [time for share in pool.map(timed, shares) for time in share]
    subscribed = [taken for email, taken in times if email.startswith("in")]
    unknown = [taken for email, taken in times if email.startswith("new")]
    pairs = list(itertools.product(subscribed, unknown))
    longer = sum(new > old for old, new in pairs) / len(pairs)
    assert 0.25 < longer < 0.75


@pytest.mark.usefixtures("no_floor")
def test_a_forged_code_costs_the_attribution_only(alice: Member) -> None:
    visitor, eve = Visitor(alice, embedding(alice)), alice.service.member("eve")
    foreign = advocate(eve, email="eve-reader@example.org")["ref_code"]
    partner = join(alice.service.member("bob"), offer(eve, publish(eve)))["ref_code"]
    codes = ("nosuchcd", "x" * 300, "<script>", "\u0000", foreign, partner)
    for number, code in enumerate(codes):
        for kind in ("ref", "partner"):
            email = f"{kind}{number}@example.org"
            assert visitor.sign_up(email, **{kind: code}).status_code == 200
    found = people(alice)
    assert len(found) == 2 * len(codes)
    assert {row["referral_status"] for row in found.values()} <= {"verified", None}
    assert eve.subscriber("eve-reader@example.org")["referrals_count"] == 0


@pytest.mark.usefixtures("no_floor")
def test_a_replayed_signup_moves_and_counts_nothing(alice: Member) -> None:
    visitor = Visitor(alice, embedding(alice))
    ann, bea = advocate(alice), advocate(alice, email="bea@example.org")
    for code in (ann["ref_code"], ann["ref_code"], bea["ref_code"]):
        assert visitor.sign_up("ben@example.org", ref=code).status_code == 200
    # Nor can somebody refer themselves afterwards.
    assert visitor.sign_up("bea@example.org", ref=bea["ref_code"]).status_code == 200
    assert people(alice)["ben@example.org"]["referrer_code"] == ann["ref_code"]
    counts = [alice.subscriber(each["uuid"])["referrals_count"] for each in (ann, bea)]
    assert counts == [1, 0]


@pytest.mark.long
@pytest.mark.usefixtures("no_floor")
def test_a_thousand_signups_from_one_network_are_sixty(
    alice: Member, processes: list[Service]
) -> None:
    embed = embedding(alice)

    def send(number: int) -> list[int]:
        visitor = Visitor(alice, embed, service=processes[number % len(processes)])
        answers = [visitor.sign_up(f"p{number}-{n}@example.org") for n in range(100)]
        assert all(each.headers["retry-after"] for each in answers if each.status_code == 429)
        return [each.status_code for each in answers]

    with ThreadPoolExecutor(10) as pool:
        statuses = [status for share in pool.map(send, range(10)) for status in share]
    most = endpoint.BY_CAMPAIGN_AND_NETWORK.most
    assert Counter(statuses) == {200: most, 429: 1_000 - most}
    assert alice.total() == most
    # Another campaign is not affected, nor this one after ten minutes.
    eve = alice.service.member("eve")
    assert Visitor(eve, embedding(eve)).sign_up("ben@example.org").status_code == 200
    alice.service.set_clock(11 * 60)
    assert Visitor(alice, embed).sign_up("ben@example.org").status_code == 200


@pytest.mark.usefixtures("no_floor")
def test_invalid_forms_and_robots_are_counted_too(alice: Member) -> None:
    visitor = Visitor(alice, embedding(alice))
    for _ in range(30):
        assert visitor.sign_up("not an address").status_code == 400
        assert visitor.sign_up("trap@example.org", website="spam").status_code == 200
    refused = visitor.sign_up("ben@example.org")
    assert refused.status_code == 429 and refused.headers["access-control-allow-origin"] == SITE
    assert list(refused.json()["errors"]) == [""]
