"""The operator adopts what another tool wrote: its codes count, its counts become adjustments, and
in the platform code and link stay byte for byte as they were.
"""

from __future__ import annotations

from typing import Any

import pytest

from honeyguide.integrations import adoption, integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.adoption import AdoptionValue
from honeyguide.moving import adopting
from honeyguide.referrals import adjustments, codes, earned_rewards
from honeyguide.referrals.rewards import NewReward
from tests.support.occupied import NAMES, Occupied, adopt, with_occupied
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import SITE

PLATFORMS = ("beehiiv", "brevo", "buttondown", "kit", "listmonk", "mailchimp", "mailerlite")
FEW = ("mailchimp", "kit", "listmonk")


async def further_codes(on: Occupied, email: str) -> list[str]:
    here = await on.synced.find(email)
    assert here is not None
    found = await on.synced.store.read(codes.of_subscriber, on.synced.tenant, here.id)
    return [each.code for each in found]


@pytest.mark.parametrize("key", PLATFORMS)
def test_codes_stay_byte_for_byte_and_count_here(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "James23B", "7")
        on.add("zelda@example.org", "", "2")
        on.add("empty@example.org")
        await on.connect()
        await on.synced.sync()
        await adopt(on)
        await on.synced.sync()
        assert on.there("james@example.org") == ("James23B", "7")
        zelda = await on.synced.find("zelda@example.org")
        empty = await on.synced.find("empty@example.org")
        assert zelda is not None and on.there("zelda@example.org") == (zelda.ref_code, "2")
        assert empty is not None and on.there("empty@example.org") == (empty.ref_code, "0")
        sent = [each.body for each in on.writes()]
        # It is not even written back, where a platform takes some fields without the others.
        assert key == "buttondown" or not any(b"James23B" in body for body in sent)
        # A link with the old code credits James, and the count goes on from there.
        on.synced.pass_a_minute()
        friend = await on.synced.join("friend@example.org", "James23B")
        await on.synced.sync()
        james = await on.synced.find("james@example.org")
        assert james is not None and friend.referrer_code == james.ref_code
        assert on.there("james@example.org") == ("James23B", "8")

    with_occupied("sqlite", key, monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", FEW)
def test_counts_are_carried_over_and_unlock_nothing(
    engine: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        await on.synced.offer(NewReward("Mug", 3, "manual"))
        await on.synced.offer(NewReward("Shirt", 8, "manual"))
        on.add("james@example.org", "james23B", "7")
        on.add("odd@example.org", "odd", "many")
        await on.connect()
        await on.synced.sync()
        emails = statement("SELECT id FROM letter WHERE kind LIKE 'reward%'", "reads letter")
        events = statement("SELECT id FROM event", "reads event")
        before = await on.synced.store.read(lambda tx: tx.all(events))
        await adopt(on)
        james = await on.synced.find("james@example.org")
        odd = await on.synced.find("odd@example.org")
        assert james is not None and (james.referrals_verified, james.adjustments) == (0, 7)
        assert odd is not None and odd.adjustments == 0
        [adjusted] = await on.synced.store.read(
            adjustments.of_subscriber, on.synced.tenant, james.id
        )
        assert adjusted.reason == f"Carried over from {on.platform.about.name}"
        assert await on.synced.store.read(lambda tx: tx.all(emails)) == []
        assert await on.synced.store.read(lambda tx: tx.all(events)) == before
        # The mug was given there; one more referral unlocks the shirt only.
        await on.synced.join("friend@example.org", "james23B")
        earned = await on.synced.store.read(earned_rewards.earned_by, on.synced.tenant, james.id)
        assert [(each.name, each.status) for each in earned] == [
            ("Mug", "redeemed"),
            ("Shirt", "unlocked"),
        ]

    with_occupied(engine, key, monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_whether_they_were_referred_stays_until_we_know_it(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        def is_referred(email: str) -> str:
            return str(on.case.fields(on.case.find(on.server, email)).get("RH_ISREF", ""))

        here = await on.synced.join("here@example.org")
        await on.synced.join("zelda@example.org", here.ref_code)
        for name in ("james", "zelda"):
            person = on.add(f"{name}@example.org", f"{name}23B", "7")
            on.case.fields(person)["RH_ISREF"] = "VERIFIED"
        on.add("empty@example.org")
        await on.connect({**NAMES, SyncField.IS_REFERRED: "RH_ISREF"})
        await on.synced.sync()
        await adopt(on)
        await on.synced.sync()
        assert is_referred("james@example.org") == "VERIFIED"
        assert is_referred("zelda@example.org") == "YES"
        # The other tool wrote nothing about these two.
        assert is_referred("empty@example.org") == is_referred("here@example.org") == "NO"

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_code_that_is_taken_or_no_code_stays_there_and_is_listed(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        here = await on.synced.join("here@example.org")
        on.add("ada@example.org", here.ref_code)  # another subscriber's
        on.add("eve@example.org", "näh!")
        on.add("twin1@example.org", "Twin")
        on.add("twin2@example.org", "twin")  # differs in case only
        await on.connect()
        await on.synced.sync()
        await adopt(on)
        await on.synced.sync()
        integration = await on.synced.integration()
        listed = await on.synced.store.read(adoption.refused, integration, most=10)
        assert {each.email: each.problem for each in listed} == {
            "ada@example.org": "taken",
            "eve@example.org": "no_code",
        }
        assert all(each.sentence.endswith(".") for each in listed)
        assert on.there("ada@example.org")[0] == here.ref_code
        assert on.there("eve@example.org")[0] == "näh!"
        assert await further_codes(on, "twin1@example.org") == ["Twin"]
        assert await further_codes(on, "twin2@example.org") == ["twin"]

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_can_stop_at_any_part_and_be_done_twice(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        monkeypatch.setattr(adopting, "BATCH", 2)
        for number in range(5):
            on.add(f"reader{number}@example.org", f"old-{number}", str(number))
        await on.connect()
        await on.synced.sync()
        await on.answer("adopt")
        integration = await on.synced.integration()

        async def one_part(**fails: Any) -> bool:
            async def unit(tx: Any) -> bool:
                more = await adopting.adopt_batch(tx, SITE, integration.id, now_ms=on.synced.now_ms)
                if fails:
                    raise RuntimeError
                return more

            return await on.synced.store.write(unit)

        with pytest.raises(RuntimeError):
            await one_part(fails=True)
        assert await one_part()
        await on.synced.sync()
        assert on.writes() == []  # not before all of it is done
        await on.synced.erase("reader4@example.org")
        again = statement("UPDATE adoption_value SET state = 'found'", "changes adoption_value")
        await on.synced.store.write(lambda tx: tx.run(again))
        while await one_part():
            pass
        for number in range(4):
            here = await on.synced.find(f"reader{number}@example.org")
            assert here is not None and here.adjustments == number
            assert await further_codes(on, f"reader{number}@example.org") == [f"old-{number}"]
        await on.synced.sync()
        assert on.there("reader3@example.org") == ("old-3", "3")
        assert on.there("reader4@example.org") == ("", "")  # erased: our fields are emptied

    with_occupied(engine, "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_who_comes_with_a_code_later_is_adopted_too(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect()
        await on.synced.sync()
        await adopt(on)
        await on.synced.sync()
        on.add("late@example.org", "late1", "4")
        on.synced.pass_a_day()
        await on.synced.sync()
        assert on.there("late@example.org") == ("late1", "4")
        await adopt(on, answered="")
        on.synced.pass_a_minute()
        await on.synced.sync()
        assert on.there("late@example.org") == ("late1", "4")
        assert await further_codes(on, "late@example.org") == ["late1"]
        assert on.there("james@example.org") == ("james23B", "7")

    with_occupied(engine, "mailchimp", monkeypatch, test)


def test_new_names_get_the_adopted_code(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        person = on.add("james@example.org", "james23B", "7")
        await on.connect()
        await on.synced.sync()
        await adopt(on)
        await on.synced.sync()
        on.server.tags.add("MY_CODE")
        names = {**NAMES, SyncField.CODE: "MY_CODE"}
        await on.synced.make(integrations.set_field_names, names, "")
        await on.synced.sync()
        assert on.case.fields(person)["MY_CODE"] == "james23B"
        assert on.there("james@example.org") == ("james23B", "7")

    with_occupied("sqlite", "mailchimp", monkeypatch, test)


@pytest.mark.parametrize("engine", ENGINES)
def test_after_replacing_nothing_is_kept(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(on: Occupied) -> None:
        on.add("james@example.org", "james23B", "7")
        await on.connect()
        await on.synced.sync()
        await adopt(on, answered="replace")
        await on.synced.sync()
        james = await on.synced.find("james@example.org")
        assert james is not None and james.adjustments == 0
        assert on.there("james@example.org") == (james.ref_code, "0")
        assert await further_codes(on, "james@example.org") == []
        kept = statement("SELECT subscriber_id FROM adoption_value", "reads adoption_value")
        assert await on.synced.store.read(lambda tx: tx.all(kept)) == []

    with_occupied(engine, "mailchimp", monkeypatch, test)


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
