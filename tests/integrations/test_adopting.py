"""The operator adopts what another tool wrote: its codes count, its counts become adjustments, and
in the platform code and link stay byte for byte as they were.
"""

import asyncio
from typing import Any

import pytest

from honeyguide.integrations import adoption, disconnecting, integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.adoption import AdoptionValue
from honeyguide.moving import adopting
from honeyguide.rewards import adjustments, earned_rewards
from honeyguide.rewards.rewards import NewReward
from honeyguide.store.tx import timed
from honeyguide.subscribers import codes
from tests.support.occupied import NAMES, Occupied, adopt
from tests.support.readings import reads
from tests.support.service import ENGINES
from tests.support.stores import found_in, statement
from tests.support.trade import SITE

PLATFORMS = ("beehiiv", "brevo", "buttondown", "kit", "listmonk", "mailchimp", "mailerlite")
PLATFORM = "mailchimp"  # where a test has only one
FEW = ("mailchimp", "kit", "listmonk")


async def further_codes(on: Occupied, email: str) -> list[str]:
    here = await on.synced.find(email)
    assert here is not None
    found = await on.synced.store.read(reads(codes.of_subscriber, on.synced.tenant), here.id)
    return [each.code for each in found]


@pytest.mark.parametrize("key", PLATFORMS)
async def test_codes_stay_byte_for_byte_and_count_here(occupied: Occupied, key: str) -> None:
    occupied.add("james@example.org", "James23B", "7")
    occupied.add("zelda@example.org", "", "2")
    occupied.add("empty@example.org")
    await occupied.connect()
    await occupied.synced.sync()
    await adopt(occupied)
    await occupied.synced.sync()
    assert occupied.there("james@example.org") == ("James23B", "7")
    zelda = await occupied.synced.find("zelda@example.org")
    empty = await occupied.synced.find("empty@example.org")
    assert zelda is not None and occupied.there("zelda@example.org") == (zelda.ref_code, "2")
    assert empty is not None and occupied.there("empty@example.org") == (empty.ref_code, "0")
    sent = [each.body for each in occupied.writes()]
    # It is not even written back, where a platform takes some fields without the others.
    assert key == "buttondown" or not any(b"James23B" in body for body in sent)
    # A link with the old code credits James, and the count goes on from there.
    occupied.synced.pass_a_minute()
    friend = await occupied.synced.join("friend@example.org", "James23B")
    await occupied.synced.sync()
    james = await occupied.synced.find("james@example.org")
    assert james is not None and friend.referrer_code == james.ref_code
    assert occupied.there("james@example.org") == ("James23B", "8")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", FEW)
async def test_counts_are_carried_over_and_unlock_nothing(occupied: Occupied) -> None:
    await occupied.synced.offer(NewReward("Mug", 3, "manual"))
    await occupied.synced.offer(NewReward("Shirt", 8, "manual"))
    occupied.add("james@example.org", "james23B", "7")
    occupied.add("odd@example.org", "odd", "many")
    await occupied.connect()
    await occupied.synced.sync()
    emails = statement("SELECT id FROM letter WHERE kind LIKE 'reward%'", "reads letter")
    events = statement("SELECT id FROM event", "reads event")
    before = await occupied.synced.store.read(lambda tx: tx.all(events))
    await adopt(occupied)
    james = await occupied.synced.find("james@example.org")
    odd = await occupied.synced.find("odd@example.org")
    assert james is not None and (james.referrals_verified, james.adjustments) == (0, 7)
    assert odd is not None and odd.adjustments == 0
    [adjusted] = await occupied.synced.store.read(
        reads(adjustments.of_subscriber, occupied.synced.tenant), james.id
    )
    assert adjusted.reason == f"Carried over from {occupied.platform.about.name}"
    assert await occupied.synced.store.read(lambda tx: tx.all(emails)) == []
    assert await occupied.synced.store.read(lambda tx: tx.all(events)) == before
    # The mug was given there; one more referral unlocks the shirt only.
    await occupied.synced.join("friend@example.org", "james23B")
    earned = await occupied.synced.store.read(
        reads(earned_rewards.earned_by, occupied.synced.tenant), james.id
    )
    assert [(each.name, each.status) for each in earned] == [
        ("Mug", "redeemed"),
        ("Shirt", "unlocked"),
    ]


@pytest.mark.parametrize("engine", ENGINES)
async def test_whether_they_were_referred_stays_until_we_know_it(occupied: Occupied) -> None:
    def is_referred(email: str) -> str:
        return str(
            occupied.case.fields(occupied.case.find(occupied.server, email)).get("RH_ISREF", "")
        )

    here = await occupied.synced.join("here@example.org")
    await occupied.synced.join("zelda@example.org", here.ref_code)
    for name in ("james", "zelda"):
        person = occupied.add(f"{name}@example.org", f"{name}23B", "7")
        occupied.case.fields(person)["RH_ISREF"] = "VERIFIED"
    occupied.add("empty@example.org")
    await occupied.connect({**NAMES, SyncField.IS_REFERRED: "RH_ISREF"})
    await occupied.synced.sync()
    await adopt(occupied)
    await occupied.synced.sync()
    assert is_referred("james@example.org") == "VERIFIED"
    assert is_referred("zelda@example.org") == "YES"
    # The other tool wrote nothing about these two.
    assert is_referred("empty@example.org") == is_referred("here@example.org") == "NO"


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_code_that_is_taken_or_no_code_stays_there_and_is_listed(
    occupied: Occupied,
) -> None:
    here = await occupied.synced.join("here@example.org")
    occupied.add("ada@example.org", here.ref_code)  # another subscriber's
    occupied.add("eve@example.org", "näh!")
    occupied.add("twin1@example.org", "Twin")
    occupied.add("twin2@example.org", "twin")  # differs in case only
    await occupied.connect()
    await occupied.synced.sync()
    await adopt(occupied)
    await occupied.synced.sync()
    integration = await occupied.synced.integration()
    listed = await occupied.synced.store.read(adoption.refused, integration, most=10)
    assert {each.email: each.problem for each in listed} == {
        "ada@example.org": "taken",
        "eve@example.org": "no_code",
    }
    assert all(each.sentence.endswith(".") for each in listed)
    assert occupied.there("ada@example.org")[0] == here.ref_code
    assert occupied.there("eve@example.org")[0] == "näh!"
    assert await further_codes(occupied, "twin1@example.org") == ["Twin"]
    assert await further_codes(occupied, "twin2@example.org") == ["twin"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_it_can_stop_at_any_part_and_be_done_twice(
    occupied: Occupied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adopting, "BATCH", 2)
    for number in range(5):
        occupied.add(f"reader{number}@example.org", f"old-{number}", str(number))
    await occupied.connect()
    await occupied.synced.sync()
    await occupied.answer("adopt")
    integration = await occupied.synced.integration()

    async def one_part(**fails: Any) -> bool:
        async def unit(tx: Any) -> bool:
            more = await adopting.adopt_batch(tx.at(occupied.synced.now_ms), SITE, integration.id)
            if fails:
                raise RuntimeError
            return more

        return await occupied.synced.store.write(unit)

    with pytest.raises(RuntimeError):
        await one_part(fails=True)
    assert await one_part()
    await occupied.synced.sync()
    assert occupied.writes() == []  # not before all of it is done
    await occupied.synced.erase("reader4@example.org")
    again = statement("UPDATE adoption_value SET state = 'found'", "changes adoption_value")
    await occupied.synced.store.write(lambda tx: tx.run(again))
    while await one_part():
        pass
    for number in range(4):
        here = await occupied.synced.find(f"reader{number}@example.org")
        assert here is not None and here.adjustments == number
        assert await further_codes(occupied, f"reader{number}@example.org") == [f"old-{number}"]
    await occupied.synced.sync()
    assert occupied.there("reader3@example.org") == ("old-3", "3")
    assert occupied.there("reader4@example.org") == ("", "")  # erased: our fields are emptied


@pytest.mark.parametrize("engine", ENGINES)
async def test_who_comes_with_a_code_later_is_adopted_too(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect()
    await occupied.synced.sync()
    await adopt(occupied)
    await occupied.synced.sync()
    occupied.add("late@example.org", "late1", "4")
    occupied.synced.pass_a_day()
    await occupied.synced.sync()
    assert occupied.there("late@example.org") == ("late1", "4")
    await adopt(occupied, answered="")
    occupied.synced.pass_a_minute()
    await occupied.synced.sync()
    assert occupied.there("late@example.org") == ("late1", "4")
    assert await further_codes(occupied, "late@example.org") == ["late1"]
    assert occupied.there("james@example.org") == ("james23B", "7")


async def test_new_names_get_the_adopted_code(occupied: Occupied) -> None:
    person = occupied.add("james@example.org", "james23B", "7")
    await occupied.connect()
    await occupied.synced.sync()
    await adopt(occupied)
    await occupied.synced.sync()
    occupied.server.tags.add("MY_CODE")
    names = {**NAMES, SyncField.CODE: "MY_CODE"}
    await occupied.synced.make(integrations.set_field_names, names, "")
    await occupied.synced.sync()
    assert occupied.case.fields(person)["MY_CODE"] == "james23B"
    assert occupied.there("james@example.org") == ("james23B", "7")


@pytest.mark.parametrize("engine", ENGINES)
async def test_after_replacing_nothing_is_kept(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect()
    await occupied.synced.sync()
    await adopt(occupied, answered="replace")
    await occupied.synced.sync()
    james = await occupied.synced.find("james@example.org")
    assert james is not None and james.adjustments == 0
    assert occupied.there("james@example.org") == (james.ref_code, "0")
    assert await further_codes(occupied, "james@example.org") == []
    kept = statement("SELECT subscriber_id FROM adoption_value", "reads adoption_value")
    assert await occupied.synced.store.read(lambda tx: tx.all(kept)) == []


async def test_after_replacing_no_file_holds_what_was_there(
    occupied: Occupied, database_url: str
) -> None:
    """What the replaced values were is somebody else's record of our people."""
    occupied.add("james@example.org", "wild-clover-23", "7")
    await occupied.connect()
    await occupied.synced.sync()
    assert found_in(database_url, "wild-clover-23")
    await adopt(occupied, answered="replace")
    async with asyncio.timeout(10):
        while found_in(database_url, "wild-clover-23"):
            await asyncio.sleep(0.02)


async def test_who_disconnects_before_the_job_comes_is_left_alone(occupied: Occupied) -> None:
    occupied.add("james@example.org", "james23B", "7")
    await occupied.connect()
    await occupied.synced.sync()
    await occupied.answer("adopt")
    store, now_ms = occupied.synced.store, occupied.synced.now_ms
    [found] = await store.read(timed(adopting.due, now_ms), most=1)
    await occupied.synced.make(disconnecting.disconnect)
    assert not await store.write(timed(adopting.adopt_batch, now_ms), SITE, found)
    assert await further_codes(occupied, "james@example.org") == []


@pytest.mark.parametrize(
    ("code", "link", "expected"),
    [
        ("James23", None, "James23"),
        (" James23 ", None, "James23"),
        (None, "https://sparklp.co/james23", "james23"),
        (None, "https://news.example.org/?rh_ref=abc_1&utm_source=x", "abc_1"),
        ("nö", "https://sparklp.co/james23/", "james23"),
        ("nö", None, None),
        (None, "https://", None),
        (None, None, None),
    ],
)
def test_the_code_is_in_its_field_or_in_the_link(
    code: str | None, link: str | None, expected: str | None
) -> None:
    value = AdoptionValue("id", code, "RH_CODE", link, "RH_REFLINK", None, None, None, 0)
    assert adopting.code_of(value) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("7", 7),
        (" 12 ", 12),
        ("3.0", 3),
        ("3.5", 0),
        ("-1", 0),
        ("", 0),
        ("many", 0),
        ("9" * 12, 0),
    ],
)
def test_a_count_is_a_whole_number(text: str, count: int) -> None:
    value = AdoptionValue("id", None, "", None, "", text, None, None, 0)
    assert adopting.count_of(value) == count
