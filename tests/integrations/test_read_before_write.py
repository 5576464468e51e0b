"""Connecting a platform whose fields another tool has filled: its list is read, the operator is
asked, and not one contact is written before they answer.
"""

import pytest
from aiohttp import web

from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.field_names import USUAL
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.signups import privacy
from tests.support.occupied import Occupied
from tests.support.platforms.stand_in import garbage, pass_on
from tests.support.readings import reads, reads_account
from tests.support.service import ENGINES
from tests.support.stores import statement

# Every platform whose contacts have fields.
PLATFORMS = ("beehiiv", "brevo", "buttondown", "kit", "listmonk", "mailchimp", "mailerlite")
PLATFORM = "mailchimp"  # where a test has only one
FEW = ("mailchimp", "kit", "listmonk")


@pytest.mark.parametrize("key", PLATFORMS)
async def test_nothing_is_written_before_the_answer(occupied: Occupied) -> None:
    await occupied.synced.join("here@example.org")
    occupied.add("james@example.org", "james23B", "7")
    occupied.add("zelda@example.org", "", "2")
    occupied.add("empty@example.org")
    await occupied.connect()
    assert await occupied.adoption() == "reading"
    for number in range(3):  # also those who join, change and leave meanwhile wait
        await occupied.synced.sync()
        await occupied.synced.join(f"new{number}@example.org")
        await occupied.synced.change("here@example.org", status="unsubscribed")
        occupied.synced.pass_a_day()
    assert occupied.writes() == []
    assert await occupied.adoption() == "asked"
    counts = await occupied.counts()
    assert (counts.contacts, counts.codes, counts.referrals) == (2, 1, 2)
    assert occupied.there("james@example.org") == ("james23B", "7")
    assert await occupied.synced.find("empty@example.org") is not None  # reading goes on as ever
    await occupied.answer("replace")
    await occupied.synced.sync()
    james = await occupied.synced.find("james@example.org")
    assert james is not None
    assert occupied.there("james@example.org") == (james.ref_code, "0")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", FEW)
async def test_without_values_it_is_written_once_the_list_was_read(occupied: Occupied) -> None:
    occupied.add("ada@example.org")
    await occupied.connect()
    assert await occupied.adoption() == "reading"
    await occupied.synced.sync()
    ada = await occupied.synced.find("ada@example.org")
    assert ada is not None and occupied.there("ada@example.org") == (ada.ref_code, "0")
    integration = await occupied.synced.integration()
    assert (integration.adoption, integration.adoption_answer) == ("", "")
    assert integration.first_sync_ms is not None


async def test_fields_that_are_new_there_are_written_at_once(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect({SyncField.CODE: USUAL[SyncField.CODE]})
    assert await occupied.adoption() == ""
    await occupied.synced.sync()
    assert occupied.writes() and occupied.there("james@example.org") == ("james23B", "7")


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_we_wrote_ourselves_is_not_asked_about(occupied: Occupied) -> None:
    ada = await occupied.synced.join("ada@example.org")
    occupied.add("ada@example.org", ada.ref_code, "5")
    await occupied.connect()
    await occupied.synced.sync()
    assert await occupied.adoption() == "" and occupied.there("ada@example.org")[1] == "0"


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_integration_from_before_is_not_asked(occupied: Occupied) -> None:
    person = occupied.add("ada@example.org")
    await occupied.connect_quietly()
    await occupied.synced.sync()
    occupied.fill(person, "theirs", "9")
    occupied.synced.pass_a_day()
    await occupied.synced.sync()
    integration = await occupied.synced.integration()
    assert (integration.adoption, integration.adoption_answer) == ("", "")


@pytest.mark.parametrize("engine", ENGINES)
async def test_values_go_with_the_person_and_with_the_integration(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    occupied.add("zelda@example.org", "zelda1", "")
    await occupied.connect()
    await occupied.synced.sync()
    james = await occupied.synced.find("james@example.org")
    assert james is not None
    held = await occupied.synced.store.read(
        reads(privacy.export_person, occupied.synced.tenant), james
    )
    [found] = held["found_on_platforms"]
    assert (found["platform"], found["code"], found["referrals"]) == (
        "mailchimp",
        "james23B",
        "7",
    )
    await occupied.synced.erase("james@example.org")
    assert (await occupied.counts()).contacts == 1
    left = statement("SELECT code FROM adoption_value", "reads adoption_value")
    assert "james23B" not in str(await occupied.synced.store.read(lambda tx: tx.all(left)))
    assert occupied.writes() == []


async def test_the_operator_is_notified_once(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B")
    await occupied.connect()
    for _ in range(2):
        await occupied.synced.sync()
        occupied.synced.pass_a_day()
    found = await occupied.synced.store.read(
        reads_account(notifications.page_of, occupied.synced.tenant.account_id), Page(1, 10)
    )
    assert [each.notification.kind for each in found] == ["integration_asks"]


async def test_what_vanishes_there_before_the_answer_is_forgotten(occupied: Occupied) -> None:
    james = occupied.add("james@example.org", "james23B", "7")
    occupied.add("zelda@example.org", "zelda1")
    await occupied.connect()
    await occupied.synced.sync()
    occupied.case.fields(james).clear()
    occupied.synced.pass_a_day()
    await occupied.synced.sync()
    assert (await occupied.counts()).contacts == 1


async def test_a_list_that_cannot_be_read_is_not_written(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect()
    occupied.server.before = garbage
    for _ in range(12):
        await occupied.synced.sync()
        occupied.synced.now_ms += 600 * 60_000
    assert await occupied.adoption() == "reading" and occupied.writes() == []
    with pytest.raises(Invalid, match="answered already"):
        await occupied.answer("adopt")  # nobody knows what there is to adopt
    occupied.server.before = None
    await occupied.answer("replace")
    await occupied.synced.sync()
    assert occupied.writes()


@pytest.mark.parametrize("engine", ENGINES)
async def test_new_names_that_are_in_use_there_are_read_first(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect({SyncField.CODE: "HG_CODE"})
    await occupied.synced.sync()
    occupied.server.seen.clear()
    names = {SyncField.CODE: "RH_CODE"}
    await occupied.synced.make(integrations.set_field_names, names, "", has_fields=True)
    await occupied.synced.sync()
    assert await occupied.adoption() == "asked" and occupied.writes() == []
    assert (await occupied.counts()).codes == 1


@pytest.mark.parametrize("engine", ENGINES)
async def test_names_that_change_while_a_page_is_read_begin_anew(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect({SyncField.CODE: "HG_CODE"})
    await occupied.synced.sync()

    async def rename(request: web.Request) -> web.StreamResponse:
        occupied.server.before = None
        names = {SyncField.CODE: "RH_CODE"}
        await occupied.synced.make(integrations.set_field_names, names, "", has_fields=True)
        return await pass_on(request)

    occupied.synced.pass_a_day()
    occupied.server.before = rename
    await occupied.synced.sync()
    # That page was read without the new field, and said nothing about it.
    assert await occupied.adoption() == "asked"
    assert occupied.there("james@example.org")[0] == "james23B"
