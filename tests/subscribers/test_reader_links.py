"""Where a shared link leads, and how clicks on it are counted without knowing who clicked."""

import asyncio
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.site import Site
from honeyguide.store.tx import Tx
from honeyguide.subscribers import clicks, links
from honeyguide.subscribers.links import Link
from tests.support.readings import in_account
from tests.support.service import Member
from tests.support.tables import dump

SITE = Site("https://go.example.org", "https://go.example.org/join", b"x" * 32)
NOW = 1_790_000_000_000


def led(destination: str | None, query: str) -> str:
    return links.destination(SITE, Link("k7m2x9pa", "s", "a", "c", "wax", destination), query)


@pytest.mark.parametrize(
    ("destination", "query", "target"),
    [
        (None, "", "https://go.example.org/join/wax?ref=k7m2x9pa"),
        ("https://wax.example.org", "", "https://wax.example.org?ref=k7m2x9pa"),
        (
            "https://wax.example.org/in?a=1#top",
            "b=2",
            "https://wax.example.org/in?a=1&b=2&ref=k7m2x9pa#top",
        ),
        (
            "https://wax.example.org/",
            "ref=evil&utm_source=x&ref=evil2",
            "https://wax.example.org/?utm_source=x&ref=k7m2x9pa",
        ),
        ("https://wax.example.org/", "%72ef=evil&re%66=e", "https://wax.example.org/?ref=k7m2x9pa"),
        (
            "https://wax.example.org/?ref=old",
            "a=%20b+c&d",
            "https://wax.example.org/?a=%20b+c&d&ref=k7m2x9pa",
        ),
        (
            "https://wax.example.org/",
            "url=https://evil.example",
            "https://wax.example.org/?url=https://evil.example&ref=k7m2x9pa",
        ),
        (
            "https://wax.example.org/",
            "a=é\r\nLocation:x",
            "https://wax.example.org/?a=%C3%A9%0D%0ALocation:x&ref=k7m2x9pa",
        ),
        ("https://wax.example.org/", "a=" + "x" * 9000, "https://wax.example.org/?ref=k7m2x9pa"),
        ("https://wax.example.org/", "&&a=1&", "https://wax.example.org/?a=1&ref=k7m2x9pa"),
        ("https://wax.example.org/", "a=1#b", "https://wax.example.org/?a=1%23b&ref=k7m2x9pa"),
    ],
)
def test_a_link_leads_to_the_stored_address_with_what_the_visitor_brought(
    destination: str | None, query: str, target: str
) -> None:
    assert led(destination, query) == target


def lookup(member: Member, code: str) -> Link | None:
    async def work(tx: Tx) -> Link | None:
        return await links.lookup(tx, code)

    return member.service.read(work)


def test_a_code_is_found_whatever_its_case_until_its_owner_is_erased(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    found = lookup(alice, ana["ref_code"].upper())
    assert found is not None
    assert (found.subscriber_id, found.campaign_id, found.account_id) == (
        ana["uuid"],
        alice.campaign_id,
        alice.account_id,
    )
    for wrong in ("", "zzzzzzzz", "k7m2x9p", ana["ref_code"] + "a", "' OR 1=1", "\x00" * 8):
        assert lookup(alice, wrong) is None
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    assert lookup(alice, ana["ref_code"]) is None


def test_a_changed_destination_and_an_erased_person_show_at_once_although_links_are_kept(
    alice: Member,
) -> None:
    services = alice.service.services
    ana = alice.subscribe("ana@example.org")

    async def open_book() -> links.LinkCache:
        return links.LinkCache(services.store, services.site, services.clock)

    book = alice.service.run(open_book())

    def find() -> Link | None:
        return alice.service.run(book.find(ana["ref_code"]))

    first = find()
    assert first is not None and first.destination_url is None
    assert find() is first, "kept"
    alice.put(f"{alice.v1}/settings", {"destination_url": "https://wax.example.org"})
    moved = find()
    assert moved is not None and moved.destination_url == "https://wax.example.org"
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    assert find() is None


def click(
    member: Member, code: str, *, ip: str = "203.0.113.1", agent: str = "Firefox", now_ms: int = NOW
) -> clicks.Click:
    return clicks.click(
        SITE,
        account_id=member.account_id,
        target_id=member.campaign_id,
        code=code,
        address=ip,
        user_agent=agent,
        now_ms=now_ms,
    )


def count(member: Member, *some: clicks.Click) -> int:
    async def work(tx: Tx) -> int:
        return await clicks.count_clicks(tx, list(some))

    return member.service.write(work)


def totals(member: Member, code: str = "") -> list[tuple[int, int]]:
    async def work(tx: Tx) -> list[clicks.DayCount]:
        return await clicks.by_day(
            in_account(tx, member.account_id), member.campaign_id, code=code, since_ms=0
        )

    return [tuple(each) for each in member.service.read(work)]  # type: ignore[misc]


def test_a_visitor_counts_once_an_hour_and_is_another_one_tomorrow(alice: Member) -> None:
    day = NOW // DAY_MS * DAY_MS
    once = click(alice, "aaaaaaaa")
    assert count(alice, once, once) == 1
    assert count(alice, once) == 0
    assert count(alice, click(alice, "aaaaaaaa", now_ms=NOW + HOUR_MS)) == 1
    assert count(alice, click(alice, "aaaaaaaa", ip="203.0.113.2"), click(alice, "bbbbbbbb")) == 2
    tomorrow = click(alice, "aaaaaaaa", now_ms=NOW + DAY_MS)
    assert tomorrow.visitor != once.visitor
    assert count(alice, tomorrow) == 1
    assert totals(alice) == [(day, 4), (day + DAY_MS, 1)]
    assert totals(alice, "aaaaaaaa") == [(day, 3), (day + DAY_MS, 1)]


def test_of_a_visitor_only_a_hash_is_kept_and_not_for_long(alice: Member) -> None:
    count(alice, click(alice, "cccccccc", ip="198.51.100.77", agent="Mosaic/0.9"))
    tables = dump(alice.service)
    kept = [row for row in tables["click"] if row["target_id"] == alice.campaign_id]
    assert len(kept) == 1 and len(kept[0]["visitor"]) == 32
    assert "198.51.100.77" not in str(tables) and "Mosaic" not in str(tables)

    async def purge(tx: Tx) -> Any:
        return await clicks.purge(tx.at(NOW + 2 * DAY_MS + HOUR_MS))

    while alice.service.write(purge):
        pass
    tables = dump(alice.service)
    assert [row for row in tables["click"] if row["target_id"] == alice.campaign_id] == []
    assert totals(alice, "cccccccc") == [(NOW // DAY_MS * DAY_MS, 1)]


def test_clicks_counted_at_once_by_many_are_all_counted(alice: Member) -> None:
    store = alice.service.services.store

    async def all_at_once() -> None:
        batches = [
            [click(alice, f"code000{n % 3}", ip=f"10.0.{w}.{n}") for n in range(40)]
            for w in range(8)
        ]

        async def write(batch: list[clicks.Click]) -> int:
            return await store.write(lambda tx: clicks.count_clicks(tx, batch))

        await asyncio.gather(*(write(batch) for batch in batches for _ in range(2)))

    alice.service.run(all_at_once())
    assert totals(alice) == [(NOW // DAY_MS * DAY_MS, 320)]


def test_the_counter_writes_what_it_was_given_shortly_after(alice: Member) -> None:
    async def scenario() -> None:
        counter = clicks.ClickCounter(alice.service.services.store)
        for n in range(1200):
            counter.add(click(alice, "dddddddd", ip=f"10.1.{n // 250}.{n % 250}"))
            counter.add(click(alice, "dddddddd", ip=f"10.1.{n // 250}.{n % 250}"))
        await counter.flush()
        await counter.flush()

    alice.service.run(scenario())
    assert totals(alice, "dddddddd") == [(NOW // DAY_MS * DAY_MS, 1200)]
