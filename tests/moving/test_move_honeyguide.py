"""A whole Honeyguide moved into another one through its API: people, codes, referrers, statuses,
counts, publications and programs."""

from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.subscribers import codes
from honeyguide.subscribers.codes import CodeHolder
from tests.support.partner_network import offer, publish
from tests.support.process import command, migrated, new_account
from tests.support.service import Member, Service

# What is made anew, or says how they came here.
OTHERS = {"uuid", "origin", "user_agent"}


@pytest.fixture
def old() -> Iterator[Member]:
    """The account that moves, in a service of its own."""
    with Service("sqlite") as service:
        yield service.member()


def list_all(member: Member) -> list[dict[str, Any]]:
    query = {"expand": "campaigns", "per_page": 200}
    pages = [member.get("/v2/subscribers", params={**query, "page": n}).json() for n in (1, 2)]
    return [each for page in pages for each in page["subscribers"]]


def everybody(member: Member) -> dict[str, dict[str, Any]]:
    found = {}
    for each in list_all(member):
        (joined,) = each.pop("referral_programs")
        kept = {name: value for name, value in each.items() if name not in OTHERS}
        for name in ("referrals", "status", "codes", "adjustments", "tags"):
            kept[name] = joined[name]
        found[each["email"]] = kept
    return found


def live_for_a_while(old: Member) -> None:
    at = {"created_at": "2025-03-01T08:30:00.123Z"}
    ana = old.subscribe("ana@example.org", name="Ana", utm_source="x", **at)
    code = ana["ref_code"]
    ben = old.subscribe("ben@example.org", referrer_code=code, ip_address="203.0.113.9", **at)
    old.subscribe("cy@mailinator.com", referrer_code=code)  # rejected: disposable
    old.subscribe("dora@example.org", referrer_code=ben["ref_code"], status="unsubscribed")
    old.subscribe("ed@example.org", status="confirmed", **at)
    old.make(codes.adopt, [CodeHolder("Ana23b", ana["uuid"]), CodeHolder("ana-x", ana["uuid"])])
    old.post(f"{old.v1}/subscribers/{ana['uuid']}/adjustments", {"amount": 4, "reason": "Fair"})
    old.put(f"{old.v1}/subscribers/{ana['uuid']}/tags", {"tags": ["vip", "beta"]})
    for number in range(230):
        old.subscribe(f"many{number}@example.org", referrer_code=code)


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def test_a_whole_honeyguide_moves(old: Member, engine: str) -> None:
    live_for_a_while(old)
    program = offer(old, publish(old, name="The Old Wax"), cpa=2.5, slug="old-wax")
    before = everybody(old)
    url = migrated(engine)
    owner = new_account(url)
    arguments = ("import", "sparkloop", "--account", owner.email, "--base-url", old.service.url)
    done = command(*arguments, database_url=url, import_key=old.key)
    assert done.returncode == 0, done.stderr
    assert "235 added, 0 already subscribed, 0 failed." in done.stdout
    assert "Not understood" not in done.stdout and "does not say" not in done.stdout
    again = command(*arguments, database_url=url, import_key=old.key)
    assert "0 added, 235 already subscribed, 0 failed." in again.stdout, again.stderr
    with Service(engine, database_url=url) as service:
        new = Member(service, owner.account_id, owner.campaign_id, owner.key)
        assert everybody(new) == before
        # Codes of ours stay ours, and further ones go on crediting.
        fay = new.subscribe("fay@example.org", referrer_code="ANA23B")
        assert fay["referrer_code"] == before["ana@example.org"]["ref_code"]
        (publication,) = new.get("/v2/publications").json()["publications"]
        assert publication["name"] == "The Old Wax" and not publication["enabled_partner_program"]
        assert service.run(logo(service, publication["logo_url"]))
        (moved,) = new.get("/v2/partner_programs").json()["partner_programs"]
        assert (moved["cpa"], moved["total_budget"]) == (program["cpa"], program["total_budget"])
        assert not moved["show_in_directory"]
        assert new.get("/v2/partner_profile/payouts").json()["payouts"] == []


async def logo(service: Service, url: str) -> bytes:
    answer = await service.services.outbound.request(
        "GET", url, body=None, headers={}, most_read=2**20
    )
    assert answer.status == 200
    return answer.body
