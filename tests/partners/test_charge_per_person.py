"""One charge per program and person, on both engines: also when the person is erased while pending
or changes their address.
"""

import pytest

from honeyguide.kernel.errors import Missing
from honeyguide.partners import network, partner_referrals
from honeyguide.signups import signups
from honeyguide.store import Store
from tests.support.changes import changing
from tests.support.readings import in_account
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, SITE, Trade

NOVEMBER = "2026-11"
HELD = {"referral_pending_duration_enabled": True}


@pytest.mark.parametrize("reason", ["holding_period", "burst", "awaiting_confirmation"])
async def test_an_erased_pending_referral_is_decided_and_no_later_move_charges_it(
    store: Store, reason: str
) -> None:
    trade = await Trade.begin(store, **HELD)
    reader = await trade.arrive(email="gone@example.org")
    assert reader.referral_status == "pending"
    held = statement("UPDATE subscriber SET referral_reason = :reason WHERE id = :id")
    await store.write(lambda tx: tx.run(held, reason=reason, id=reader.id))
    await trade.erase(reader.id, now_ms=NOON_MS + DAY_MS)
    decided = await trade.rows(
        "SELECT decided_ms FROM partner_referral WHERE subscriber_id = :id", id=reader.id
    )
    assert decided == [(NOON_MS + DAY_MS,)]
    for move in (
        trade.confirm(reader.id),
        trade.change(reader.id, status="confirmed"),
        trade.erase(reader.id),
    ):
        with pytest.raises(Missing):
            await move
    for days in (1, 14, 15, 400):
        await trade.verify_due(NOON_MS + days * DAY_MS)
    assert await trade.outcome(reader.id) == ("rejected", None, None, None)
    assert await trade.rows("SELECT id FROM charge") == []
    account_id = trade.partners[0].account_id
    assert (
        await store.snapshot(
            lambda tx: partner_referrals.of_month(
                in_account(tx, account_id), {partner_referrals.PENDING}, NOVEMBER, most=9
            )
        )
        == []
    )
    (lost,) = await store.snapshot(
        lambda tx: partner_referrals.of_month(
            in_account(tx, account_id), {partner_referrals.REJECTED}, NOVEMBER, most=9
        )
    )
    assert (lost.state, lost.reason) == (partner_referrals.REJECTED, "left_during_hold")


async def test_a_fee_of_one_cent_is_charged_for_a_partner_older_than_the_owner(
    store: Store,
) -> None:
    older = await Trade.begin(store, partners=0)
    trade = await Trade.begin(store, partners=0, cpa=1)
    join = changing(network.join, SITE, older.owner, NOON_MS)
    joined, _ = await store.write(join, trade.program.id, None)
    assert joined.account_id < trade.owner.account_id
    trade.partners.append(joined)
    reader = await trade.arrive()
    assert await trade.outcome(reader.id) == ("verified", 1, NOVEMBER, None)


# -- after a change of address


async def test_a_changed_address_is_the_one_that_is_known_here(store: Store) -> None:
    """While the subscriber is here, another arrival under the new address is no new person; the old
    address is free again.
    """
    trade = await Trade.begin(store, partners=2, **HELD)
    reader = await trade.arrive(email="ada.lovelace@gmail.com")
    await trade.change(reader.id, email="Ada.King@gmail.com")
    twin = await trade.arrive(1, email="adaking+news@googlemail.com")
    assert (twin.referral_status, twin.referral_reason) == ("rejected", "already_subscribed")
    former = await trade.arrive(1, email="adalovelace@gmail.com")
    assert former.referral_status == "pending"


@pytest.mark.parametrize("when", ["before the charge", "after the charge"])
async def test_a_person_who_changed_their_address_is_charged_once_under_the_old_one(
    store: Store, when: str
) -> None:
    trade = await Trade.begin(store, partners=2, **HELD)
    reader = await trade.arrive(email="ada.lovelace@gmail.com")
    if when == "after the charge":
        await trade.confirm(reader.id)
    await trade.change(reader.id, email="ada.king@gmail.com")
    if when == "before the charge":
        await trade.confirm(reader.id)
    assert await trade.outcome(reader.id) == ("verified", 300, NOVEMBER, None)
    again = await trade.arrive(1, email="AdaLovelace+2@gmail.com")
    await trade.confirm(again.id)
    assert await trade.outcome(again.id) == ("verified", None, NOVEMBER, "already_charged")
    assert await trade.spent() == 300


@pytest.mark.parametrize("is_confirmed", [True, False])
async def test_a_new_address_is_theirs_once_they_confirmed_it(
    store: Store, is_confirmed: bool
) -> None:
    """The owner can change an address to anybody's, so that alone says nothing of who it is."""
    trade = await Trade.begin(store, partners=2)
    reader = await trade.arrive(email="ada.lovelace@gmail.com")
    changed = await trade.change(reader.id, email="ada.king@gmail.com")
    if is_confirmed:
        await store.write(changing(signups.confirm, SITE, trade.owner, NOON_MS), changed)
    else:
        await trade.change(reader.id, status="confirmed")
    await trade.erase(reader.id)
    again = await trade.arrive(1, email="AdaKing+x@gmail.com", now_ms=NOON_MS + DAY_MS)
    expected = (None, NOVEMBER, "already_charged") if is_confirmed else (300, NOVEMBER, None)
    assert await trade.outcome(again.id) == ("verified", *expected)
    assert await trade.spent() == (300 if is_confirmed else 600)


@pytest.mark.parametrize("who", ["the one who waits", "the one who was paid for"])
async def test_a_borrowed_address_makes_nobody_unpaid(store: Store, who: str) -> None:
    """The owner gives one of two people an alias of the other, and takes it back afterwards."""
    trade = await Trade.begin(store, partners=2, **HELD)
    paid = await trade.arrive(email="ada.king@gmail.com")
    await trade.confirm(paid.id)
    pending = await trade.arrive(1, email="grace.hopper@gmail.com")
    if who == "the one who waits":
        borrower, address = pending, "adaking+1@gmail.com"
    else:
        borrower, address = paid, "gracehopper+1@gmail.com"
    changed = await trade.change(borrower.id, email=address, status="confirmed")
    await store.write(changing(signups.confirm, SITE, trade.owner, NOON_MS), changed)
    await trade.verify_due(NOON_MS + 14 * DAY_MS)
    assert borrower.email is not None
    await trade.change(borrower.id, email=borrower.email)
    assert await trade.outcome(pending.id) == ("verified", 300, NOVEMBER, None)
    logged = await trade.rows(
        "SELECT subject_id, before, after FROM change_log WHERE action = 'subscriber.email_changed'"
    )
    assert logged == [(borrower.id, None, None)] * 2


async def test_somebody_who_was_paid_for_stays_so_whoever_confirms_their_address(
    store: Store,
) -> None:
    trade = await Trade.begin(store, partners=2, **HELD)
    paid = await trade.arrive(email="ada.king@gmail.com")
    await trade.confirm(paid.id)
    await trade.erase(paid.id)
    pending = await trade.arrive(1, email="grace.hopper@gmail.com")
    changed = await trade.change(pending.id, email="adaking+1@gmail.com")
    await store.write(changing(signups.confirm, SITE, trade.owner, NOON_MS), changed)
    await trade.erase(pending.id)
    again = await trade.arrive(1, email="ada.king@gmail.com")
    await trade.confirm(again.id)
    assert await trade.outcome(again.id) == ("verified", None, NOVEMBER, "already_charged")


async def test_the_same_address_again_is_no_change_of_it(store: Store) -> None:
    trade = await Trade.begin(store)
    reader = await trade.arrive(email="ada@example.org")
    await trade.change(reader.id, email="ada@example.org", name="Ada")
    assert await trade.rows("SELECT id FROM change_log WHERE subject_id = :id", id=reader.id) == []
