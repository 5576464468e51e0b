"""A believable newsletter to try everything on: The Morning Wax, its readers and who brought whom."""

from __future__ import annotations

import random
from typing import NamedTuple

from honeyguide.accounts import accounts, keys, passwords
from honeyguide.app import House
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.site import Site
from honeyguide.referrals import campaigns, subscribers
from honeyguide.referrals.campaigns import Owner
from honeyguide.store import Tx

OWNER = "demo@honeyguide.example"
EMPTY = "empty@honeyguide.example"
_FIRST = (
    "Ann Ben Chiara Dana Emil Fay Goran Hana Ivo Jun Kira Leo Mina Noor Olga Pia Quinn Rosa Sami Tove Uma Vera Wim Yara Zoe"
)
_LAST = "Lee Okafor Rossi Novak Berg Silva Haddad Kim Lund Mori Patel Reyes Sato Weber"
READERS = 240


class Seat(NamedTuple):
    campaign_id: str
    key: str


class Demo(NamedTuple):
    demo: Seat
    empty: Seat
    password: str


async def prepare(house: House) -> Demo:
    """The demo and the empty account, made once; each time a fresh key for both."""
    seats = []
    for email, name in ((OWNER, "The Morning Wax"), (EMPTY, "Empty")):

        async def seat(tx: Tx, email: str = email, name: str = name) -> tuple[Seat, Owner, bool]:
            now_ms = house.clock()
            account = await accounts.find_by_email(tx, email)
            if account is None:
                made = await accounts.create(tx, email, name=name, now_ms=now_ms)
                owner = Owner(made.account_id, made.campaign_id)
            else:
                owner = await campaigns.owner_of(tx, account.id)
            key = await keys.create(tx, owner.account_id, name="make run", now_ms=now_ms)
            return Seat(owner.campaign_id, key), owner, account is None

        found, owner, is_new = await house.store.write(seat)
        if is_new and email == OWNER:
            await _fill(house, owner)
        seats.append(found)
    return Demo(*seats, await _new_password(house))


async def _new_password(house: House) -> str:
    """A fresh one at every start, so that no installation has a password that stands in a manual."""
    password = "-".join(new_code(4) for _ in range(3))
    password_hash = await passwords.hashed(password)

    async def change(tx: Tx) -> None:
        account = await accounts.get_by_email(tx, OWNER)
        await passwords.set_hash(tx, account.id, password_hash)

    await house.store.write(change)
    return password


async def _fill(house: House, owner: Owner) -> None:
    dice = random.Random(7)
    now_ms = house.clock()

    async def readers(tx: Tx) -> None:
        codes: list[str] = []
        for number in range(READERS):
            # Readers come over four months, more and more of them; a third through a friend, and a few friends bring many.
            ago_ms = int(120 * DAY_MS * (1 - (number / READERS) ** 0.6)) + dice.randrange(DAY_MS // 4)
            friend = codes[int(len(codes) * dice.random() ** 3)] if codes and dice.random() < 0.35 else None
            codes.append(await _reader(tx, house.site, owner, dice, number, friend, now_ms - ago_ms, now_ms))

    await house.store.write(readers)


async def _reader(
    tx: Tx, site: Site, owner: Owner, dice: random.Random, number: int, friend: str | None, at_ms: int, now_ms: int
) -> str:
    first, last = dice.choice(_FIRST.split()), dice.choice(_LAST.split())
    new = subscribers.NewSubscriber(
        email=f"{first}.{last}{number}@example.org".lower(), name=f"{first} {last}", referrer_code=friend,
        utm_source=dice.choice(["newsletter", "twitter", "podcast", None]), created_at=iso(at_ms),
        origin="signup" if dice.random() < 0.6 else "api",
    )  # fmt: skip
    return (await subscribers.sign_up(tx, site, owner, new, now_ms=now_ms)).ref_code
