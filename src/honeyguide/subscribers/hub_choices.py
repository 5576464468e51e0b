"""What a subscriber chose on their referral page: who may see their name, and whether they take
part in the referral program at all. They stay subscribed whatever they choose.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import stops
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes, names, subscribers

LEADERBOARD_PLACES = 10


class HubChoices(NamedTuple):
    shows_name: bool = False
    """People they invite see their first name."""
    on_leaderboard: bool = False
    left_program_ms: int | None = None


class Leader(NamedTuple):
    subscriber_id: str
    name: str | None
    verified: int

    @property
    def short_name(self) -> str:
        return names.short_name(self.name)


_sql = beside(__file__)
_OF_SUBSCRIBER = _sql.query("of_subscriber", HubChoices)
_SET_SHOWS_NAME = _sql.command("set_shows_name")
_JOIN_LEADERBOARD = _sql.command("join_leaderboard")
_QUIT_LEADERBOARD = _sql.command("quit_leaderboard")
_SET_LEFT_PROGRAM = _sql.command("set_left_program")
_LEADERS = _sql.query("leaders", Leader)
_INVITER_NAME = _sql.value("inviter_name", str)


async def of_subscriber(tx: Tx, tenant: Tenant, subscriber_id: str) -> HubChoices:
    found = await tx.one(_OF_SUBSCRIBER, **tenant._asdict(), id=subscriber_id)
    return found or HubChoices()


async def save(
    tx: Tx, tenant: Tenant, subscriber_id: str, *, shows_name: bool, on_leaderboard: bool
) -> None:
    # Locked, so that an erasure at the same moment waits and takes back what is chosen here.
    if await subscribers.lock(tx, tenant, subscriber_id):
        await _save(tx, tenant, subscriber_id, shows_name, on_leaderboard)


async def _save(
    tx: Tx, tenant: Tenant, subscriber_id: str, shows_name: bool, on_leaderboard: bool
) -> None:
    who = {**tenant._asdict(), "id": subscriber_id}
    await tx.run(_SET_SHOWS_NAME, **who, shows_name=int(shows_name))
    await tx.run(_JOIN_LEADERBOARD if on_leaderboard else _QUIT_LEADERBOARD, **who)


async def leave_program(tx: Tx, tenant: Tenant, subscriber_id: str, *, now_ms: int) -> None:
    """From now on nobody who uses their link is their referral, nobody sees their name, and they
    get no email that they did not ask for. What they earned stays theirs."""
    if not await subscribers.lock(tx, tenant, subscriber_id):
        return
    await _save(tx, tenant, subscriber_id, shows_name=False, on_leaderboard=False)
    await tx.run(_SET_LEFT_PROGRAM, **tenant._asdict(), id=subscriber_id, left_program_ms=now_ms)
    await stops.stop(tx, tenant.account_id, subscriber_id, now_ms=now_ms)


async def join_program_again(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
    """Their link counts again. Emails and names stay off until they ask for them."""
    await tx.run(_SET_LEFT_PROGRAM, **tenant._asdict(), id=subscriber_id, left_program_ms=None)


async def leaders(tx: Tx, tenant: Tenant) -> list[Leader]:
    """Those who agreed to be named, most verified referrals first."""
    found = await tx.all(_LEADERS, **tenant._asdict(), most=LEADERBOARD_PLACES)
    return [leader for leader in found if leader.short_name]


async def inviter_name(tx: Tx, tenant: Tenant, code: str) -> str:
    """The first name of the subscriber with this code, if they agreed to show it, else empty."""
    found = await tx.one(_INVITER_NAME, **tenant._asdict(), code=code.lower())
    if found is None and (own := await codes.find_ref_code(tx, tenant, code)) is not None:
        found = await tx.one(_INVITER_NAME, **tenant._asdict(), code=own)
    return names.first_name(found)
