"""Connecting a platform whose fields another tool has filled: its list is read, the operator is
asked, and not one contact is written before they answer.
"""

from __future__ import annotations

import pytest
from aiohttp import web

from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.field_names import USUAL
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.signups import privacy
from tests.support.integrations import connect_case
from tests.support.occupied import Occupied, with_occupied
from tests.support.platforms.stand_in import garbage, pass_on
from tests.support.service import ENGINES
from tests.support.stores import statement

# Every platform whose contacts have fields.
PLATFORMS = ("beehiiv", "brevo", "buttondown", "kit", "listmonk", "mailchimp", "mailerlite")
FEW = ("mailchimp", "kit", "listmonk")


@pytest.mark.parametrize("key", PLATFORMS)
def test_nothing_is_written_before_the_answer(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        await on.synced.join("here@example.org")
        on.add("james@example.org", "james23B", "7")
        on.add("zelda@example.org", "", "2")
        on.add("empty@example.org")
        await on.connect()
        assert await on.adoption() == "reading"
        for number in range(3):  # also those who join, change and leave meanwhile wait
            await on.synced.sync()
            await on.synced.join(f"new{number}@example.org")
            await on.synced.change("here@example.org", status="unsubscribed")
            on.synced.pass_a_day()
        assert on.writes() == []
        assert await on.adoption() == "asked"
        counts = await on.counts()
        assert (counts.contacts, counts.codes, counts.referrals) == (2, 1, 2)
        assert on.there("james@example.org") == ("james23B", "7")
        assert await on.synced.find("empty@example.org") is not None  # reading goes on as ever
        await on.answer("replace")
        await on.synced.sync()
        james = await on.synced.find("james@example.org")
        assert james is not None
        assert on.there("james@example.org") == (james.ref_code, "0")

    with_occupied("sqlite", key, monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", FEW)
def test_without_values_it_is_written_once_the_list_was_read(
    engine: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        on.add("ada@example.org")
        await on.connect()
        assert await on.adoption() == "reading"
        await on.synced.sync()
        ada = await on.synced.find("ada@example.org")
        assert ada is not None and on.there("ada@example.org") == (ada.ref_code, "0")
        integration = await on.synced.integration()
        assert (integration.adoption, integration.adoption_answer) == ("", "")
        assert integration.first_sync_ms is not None

    with_occupied(engine, key, monkeypatch, test)


def test_fields_that_are_new_there_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect({SyncField.CODE: USUAL[SyncField.CODE]})
        assert await on.adoption() == ""
        await on.synced.sync()
        assert on.writes() and on.there("james@example.org") == ("james23B", "7")

    with_occupied("sqlite", "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_we_wrote_ourselves_is_not_asked_about(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        ada = await on.synced.join("ada@example.org")
        on.add("ada@example.org", ada.ref_code, "5")
        await on.connect()
        await on.synced.sync()
        assert await on.adoption() == "" and on.there("ada@example.org")[1] == "0"

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_integration_from_before_is_not_asked(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        person = on.add("ada@example.org")
        await connect_case(monkeypatch, on.synced, on.key, on.case, on.server)
        await on.synced.sync()
        on.fill(person, "theirs", "9")
        on.synced.pass_a_day()
        await on.synced.sync()
        integration = await on.synced.integration()
        assert (integration.adoption, integration.adoption_answer) == ("", "")

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_values_go_with_the_person_and_with_the_integration(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        on.add("zelda@example.org", "zelda1", "")
        await on.connect()
        await on.synced.sync()
        james = await on.synced.find("james@example.org")
        assert james is not None
        held = await on.synced.store.read(privacy.export_person, on.synced.tenant, james)
        [found] = held["found_on_platforms"]
        assert (found["platform"], found["code"], found["referrals"]) == (
            "mailchimp",
            "james23B",
            "7",
        )
        await on.synced.erase("james@example.org")
        assert (await on.counts()).contacts == 1
        left = statement("SELECT code FROM adoption_value", "reads adoption_value")
        assert "james23B" not in str(await on.synced.store.read(lambda tx: tx.all(left)))
        assert on.writes() == []

    with_occupied(engine, "mailchimp", monkeypatch, test)


def test_the_operator_is_notified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B")
        await on.connect()
        for _ in range(2):
            await on.synced.sync()
            on.synced.pass_a_day()
        found = await on.synced.store.read(
            notifications.page_of, on.synced.tenant.account_id, Page(1, 10)
        )
        assert [each.notification.kind for each in found] == ["integration_asks"]

    with_occupied("sqlite", "mailchimp", monkeypatch, test)


def test_what_vanishes_there_before_the_answer_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test(on: Occupied) -> None:
        james = on.add("james@example.org", "james23B", "7")
        on.add("zelda@example.org", "zelda1")
        await on.connect()
        await on.synced.sync()
        on.case.fields(james).clear()
        on.synced.pass_a_day()
        await on.synced.sync()
        assert (await on.counts()).contacts == 1

    with_occupied("sqlite", "mailchimp", monkeypatch, test)


def test_a_list_that_cannot_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect()
        on.server.before = garbage
        for _ in range(12):
            await on.synced.sync()
            on.synced.now_ms += 600 * 60_000
        assert await on.adoption() == "reading" and on.writes() == []
        with pytest.raises(Invalid, match="answered already"):
            await on.answer("adopt")  # nobody knows what there is to adopt
        on.server.before = None
        await on.answer("replace")
        await on.synced.sync()
        assert on.writes()

    with_occupied("sqlite", "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_new_names_that_are_in_use_there_are_read_first(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect({SyncField.CODE: "HG_CODE"})
        await on.synced.sync()
        on.server.seen.clear()
        names = {SyncField.CODE: "RH_CODE"}
        await on.synced.make(integrations.set_field_names, names, "", has_fields=True)
        await on.synced.sync()
        assert await on.adoption() == "asked" and on.writes() == []
        assert (await on.counts()).codes == 1

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_change_while_a_page_is_read_begin_anew(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect({SyncField.CODE: "HG_CODE"})
        await on.synced.sync()

        async def rename(request: web.Request) -> web.StreamResponse:
            on.server.before = None
            names = {SyncField.CODE: "RH_CODE"}
            await on.synced.make(integrations.set_field_names, names, "", has_fields=True)
            return await pass_on(request)

        on.synced.pass_a_day()
        on.server.before = rename
        await on.synced.sync()
        # That page was read without the new field, and said nothing about it.
        assert await on.adoption() == "asked"
        assert on.there("james@example.org")[0] == "james23B"

    with_occupied(engine, "mailchimp", monkeypatch, test)
