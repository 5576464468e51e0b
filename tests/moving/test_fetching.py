"""People fetched from another service's API: all of them once, whatever happens meanwhile."""

import itertools
from typing import Any

import msgspec
import pytest
from aiohttp import web

from honeyguide.kernel.clock import HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.moving import fetching, importing, moved_documents, remote_people
from honeyguide.moving.fetching import FetchStage
from honeyguide.signups import import_erasure
from honeyguide.store.tx import Tx, timed
from tests.support.incumbent import KEY, IncumbentServer, person
from tests.support.moves import moving
from tests.support.platforms.stand_in import garbage, pass_on, status
from tests.support.readings import change_of, changes_of, reads
from tests.support.stores import OpenStore


def emails(lines: list[dict[str, str]]) -> list[str]:
    return sorted(line["email"] for line in lines)


def everybody(server: IncumbentServer) -> list[str]:
    return sorted(each["email"].strip() for each in server.people)


def test_everybody_once_with_all_that_is_said(opened: OpenStore) -> None:
    move = moving(opened, 500)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        lines = await move.lines(import_id)
        assert emails(lines) == everybody(move.server)
        assert (fetch.stage, fetch.fetched, fetch.total, fetch.lines) == (
            FetchStage.DONE,
            500,
            500,
            500,
        )
        assert fetch.not_understood == {"fingerprint": 5} and fetch.says_who_left
        # Three pages, and the first once more.
        assert len(move.server.seen) == 4
        by_email = {line["email"]: line for line in lines}
        assert by_email["reader113@old.example"] == {
            "email": "reader113@old.example",
            "name": "Reader 113",
            "ref_code": "c0000113",
            "code": "",
            "referrer": "c0000110",
            "referral_status": "pending",
            "status": "confirmed",
            "created_at": "2024-06-02T10:00:00.000Z",
            "utm_source": "",
            "utm_campaign": "",
            "ip_address": "",
            "tags": "",
            "own_id": "sub-000113",
            "referrals_count": "",
            "adjustments": "",
        }
        assert by_email["reader107@old.example"]["status"] == "unsubscribed"
        assert by_email["reader123@old.example"]["referrals_count"] == "7"
        # It is an ordinary import now.
        kept = await move.store.read(reads(importing.get, move.tenant), import_id)
        assert kept.total == 500 and kept.file_name.endswith(": The Old Program")
        assert kept.mapping == remote_people.MAPPING and kept.header == remote_people.HEADER

    opened.run(work())
    assert opened.ask("SELECT COUNT(*) FROM fetched_person") == [(0,)]


def test_an_import_is_not_seen_before_everybody_is_fetched(opened: OpenStore) -> None:
    move = moving(opened, 450)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.fetch(import_id, pages=2)
            assert (fetch.fetched, fetch.total, fetch.has_people) == (400, 450, False)
            assert 0 < fetch.seconds_left < 10
            assert await move.store.read(reads(importing.of_account, move.tenant)) == []
            await move.fetch(import_id)
            assert len(await move.store.read(reads(importing.of_account, move.tenant))) == 1

    opened.run(work())


def test_people_who_join_and_leave_meanwhile(opened: OpenStore) -> None:
    """Both move the pages. Who was there all the time is never missed or doubled."""
    move = moving(opened, 1000)
    served = itertools.count(1)

    async def change(request: web.Request) -> web.StreamResponse:
        number = next(served)
        if number in (2, 4):
            move.server.people += [person(2000 + 10 * number + each) for each in range(7)]
        if number == 3:
            del move.server.people[500:530]
        return await pass_on(request)

    async def work() -> None:
        async with move.server.serving():
            move.server.before = change
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        lines = emails(await move.lines(import_id))
        assert len(set(lines)) == len(lines) == fetch.fetched
        assert set(everybody(move.server)) <= set(lines)

    opened.run(work())


def test_people_who_move_between_pages_are_not_missed(opened: OpenStore) -> None:
    """From a page that is not read yet to the middle of one that is."""
    move = moving(opened, 1000)
    served = itertools.count(1)

    async def change(request: web.Request) -> web.StreamResponse:
        if next(served) == 3:  # the list is newest first
            move.server.people[690:690] = [move.server.people.pop(7) for _ in range(5)]
        return await pass_on(request)

    async def work() -> None:
        async with move.server.serving():
            move.server.before = change
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        assert emails(await move.lines(import_id)) == everybody(move.server)
        assert fetch.fetched == 1000

    opened.run(work())


def test_people_who_come_up_as_others_leave_are_not_missed(opened: OpenStore) -> None:
    """Those who left were read already, so that the next page begins further down."""
    move = moving(opened, 1000)
    served = itertools.count(1)

    async def change(request: web.Request) -> web.StreamResponse:
        if next(served) == 3:  # the list is newest first
            del move.server.people[700:730]
        return await pass_on(request)

    async def work() -> None:
        async with move.server.serving():
            move.server.before = change
            import_id = await move.begin()
            await move.fetch(import_id)
        assert set(everybody(move.server)) <= set(emails(await move.lines(import_id)))

    opened.run(work())


@pytest.mark.parametrize("only_people", [True, False])
def test_the_key_is_forgotten_once_everything_is_fetched(
    opened: OpenStore, only_people: bool
) -> None:
    move = moving(opened, 300)
    secrets = "SELECT secret FROM remote_fetch"

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.store.read(reads(fetching.get, move.tenant), import_id)
            await move.store.write(
                changes_of(fetching.resume, move.tenant), fetch, secret="encrypted"
            )
            begun = await move.fetch(import_id, pages=1, only_people=only_people)
            assert begun.secret == "encrypted"
            done = await move.fetch(import_id, only_people=only_people)
            assert (done.stage, done.is_under_way) == (FetchStage.DONE, False)
            later_ms = move.now_ms + HOUR_MS
            assert await move.store.read(timed(fetching.due, later_ms), most=10) == []

    opened.run(work())
    assert opened.ask(secrets) == [("",)]


def test_it_obeys_and_goes_on_after_whatever_passes(opened: OpenStore) -> None:
    move = moving(opened, 900)
    faults = [
        *(status(429, retry_after="30"), status(503), garbage),
        *(status(500), status(429, retry_after="soon")),
    ]
    served = itertools.count(1)

    async def sometimes(request: web.Request) -> web.StreamResponse:
        if next(served) % 2 and faults:
            return await faults.pop()(request)
        return await pass_on(request)

    async def work() -> None:
        async with move.server.serving():
            move.server.before = sometimes
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        assert not faults and fetch.stage == FetchStage.DONE and not fetch.problem
        assert emails(await move.lines(import_id)) == everybody(move.server)
        assert move.waited_ms >= 30_000 + 4 * 1000

    opened.run(work())


def test_a_key_that_is_refused_halfway_can_be_replaced(opened: OpenStore) -> None:
    move = moving(opened, 600)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            await move.fetch(import_id, pages=1)
            move.server.key = "another"
            stopped = await move.fetch(import_id)
            assert stopped.is_stopped and "does not accept the key." in stopped.problem
            assert (stopped.fetched, stopped.page) == (200, 2)
            asked = len(move.server.seen)
            assert (await move.fetch(import_id)).is_stopped and len(move.server.seen) == asked
            await move.store.write(changes_of(fetching.resume, move.tenant), stopped)
            fetch = await move.fetch(import_id, key="another")
        assert fetch.stage == FetchStage.DONE and not fetch.problem
        assert emails(await move.lines(import_id)) == everybody(move.server)

    opened.run(work())


async def nine_megabytes(_request: web.Request) -> web.StreamResponse:
    return web.Response(body=b" " * 9_000_000, content_type="application/json")


@pytest.mark.parametrize(
    ("answer", "tries"), [(garbage, 4), (status(503), 10), (nine_megabytes, 1)]
)
def test_it_gives_up_with_a_sentence(opened: OpenStore, answer: Any, tries: int) -> None:
    move = moving(opened, 300)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            await move.fetch(import_id, pages=1)
            move.server.before = answer
            fetch = await move.fetch(import_id)
            assert fetch.is_stopped and fetch.problem.endswith(".")
            assert len(move.server.seen) == 1 + tries
            assert move.waited_ms < 30 * 60_000
            move.server.before = None
            await move.store.write(changes_of(fetching.resume, move.tenant), fetch)
            assert (await move.fetch(import_id)).fetched == 300

    opened.run(work())


def test_two_processes_at_once_store_a_page_once(opened: OpenStore) -> None:
    move = moving(opened, 500)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.store.read(reads(fetching.get, move.tenant), import_id)
            async with move.fetcher() as fetcher:
                api = fetcher.api(move.server.url, KEY)
                page = await api.page("/v2/subscribers", "subscribers", 1, expand="campaigns")
            args = (fetch, page, remote_people.read_people(page.items))
            assert await move.store.write(
                changes_of(fetching.store_people, move.tenant), *args, only_people=True
            )
            assert not await move.store.write(
                changes_of(fetching.store_people, move.tenant), *args, only_people=True
            )
            await move.fetch(import_id)
        assert emails(await move.lines(import_id)) == everybody(move.server)

    opened.run(work())


def test_people_who_cannot_be_read_are_counted_and_skipped(opened: OpenStore) -> None:
    move = moving(opened, 250)
    move.server.people[3] = {"uuid": "x", "email": 7}
    move.server.people[240] = {"email": "nobody@old.example"}

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        assert fetch.fetched == 248 and fetch.not_understood[remote_people.UNREADABLE] == 2
        assert len(move.server.seen) == 3

    opened.run(work())


def test_a_service_with_nobody(opened: OpenStore) -> None:
    move = moving(opened, 0)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        assert fetch.stage == FetchStage.DONE and fetch.fetched == 0
        assert await move.store.read(reads(importing.of_account, move.tenant)) == []

    opened.run(work())


def test_payouts_are_documents_and_no_ledger_entries(opened: OpenStore) -> None:
    move = moving(opened, 5)
    move.server.payouts = [
        {**move.server.payouts[0], "uuid": f"payout-{number}"} for number in range(450)
    ]
    move.server.payouts[7] = {"uuid": None}

    async def work() -> None:
        async with move.server.serving():
            for _ in range(2):  # the second time adds nothing
                import_id = await move.begin()
                fetch = await move.fetch(import_id, only_people=False)
                assert fetch.stage == FetchStage.DONE
                assert fetch.not_understood == {"documents that could not be read": 1}
        assert await move.store.read(reads(moved_documents.count, move.tenant)) == 449

    opened.run(work())
    ((name, content),) = opened.ask(
        "SELECT name, content FROM moved_document WHERE uuid = 'payout-3'"
    )
    assert name == "Payout 2026-09"
    assert msgspec.json.decode(content)["amount_in_dollars"] == 412.5
    assert opened.ask("SELECT COUNT(*) FROM payout") == [(0,)]


def test_waits_are_bounded() -> None:
    waits = [fetching.wait_ms(tries, None) for tries in range(10)]
    assert waits[:4] == [1000, 2000, 4000, 8000]
    assert fetching.wait_ms(0, 45) == 45_000
    assert fetching.wait_ms(0, 10**8) == fetching.LONGEST_WAIT_MS


def test_who_is_erased_meanwhile_is_not_imported(opened: OpenStore) -> None:
    """The erasure finds the line that is stored already, and nobody fetches it again."""
    move = moving(opened, 450)

    async def erase(tx: Tx) -> None:
        ann = EmailAddress.parse("reader440@old.example")
        await import_erasure.erase(change_of(tx, move.tenant), ann)

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            await move.fetch(import_id, pages=2)
            await move.store.write(erase)
            fetch = await move.fetch(import_id)
        assert (fetch.fetched, fetch.lines) == (450, 449)
        kept = await move.run_import(import_id)
        assert (kept.added, kept.total) == (449, 449)

    opened.run(work())
    found = opened.ask("SELECT 1 FROM subscriber WHERE email_key = 'reader440@old.example'")
    assert found == []


def test_people_with_hundreds_of_fields_that_nobody_knows(opened: OpenStore) -> None:
    move = moving(opened, 0)
    odd = {f"{number:04}": number for number in range(700)}
    move.server.people = [{**person(number), **odd} for number in range(1, 601)]

    async def work() -> None:
        async with move.server.serving():
            import_id = await move.begin()
            fetch = await move.fetch(import_id)
        assert fetch.fetched == 600 and len(fetch.not_understood) == remote_people.MOST_NAMES

    opened.run(work())
