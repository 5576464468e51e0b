"""What a subscriber chose on their referral page: who may see their name, and whether they take
part in the referral program at all. They stay subscribed whatever they choose.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.mail import stops
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import codes, names, subscribers

LEADERBOARD_PLACES = 10


class HubChoices(NamedTuple):
    shows_name: bool = False
    """People they invite see their first name."""
    on_leaderboard: bool = False
    left_program_ms: int | None = None
    stopped_ms: int | None = None
    """Since when they get no emails that they did not ask for."""


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


async def of_subscriber(at: Reading, subscriber_id: str) -> HubChoices:
    found = await at.one(_OF_SUBSCRIBER, id=subscriber_id)
    return found or HubChoices()


async def save(
    change: Change, subscriber_id: str, *, shows_name: bool, on_leaderboard: bool
) -> None:
    # Locked, so that an erasure at the same moment waits and takes back what is chosen here.
    if await subscribers.lock(change, subscriber_id):
        await _save(change, subscriber_id, shows_name, on_leaderboard)


async def _save(change: Change, subscriber_id: str, shows_name: bool, on_leaderboard: bool) -> None:
    who = {**change.tenant._asdict(), "id": subscriber_id}
    await change.run(_SET_SHOWS_NAME, **who, shows_name=int(shows_name))
    await change.run(_JOIN_LEADERBOARD if on_leaderboard else _QUIT_LEADERBOARD, **who)


async def leave_program(change: Change, subscriber_id: str) -> None:
    """From now on nobody who uses their link is their referral, nobody sees their name, and they
    get no email that they did not ask for. What they earned stays theirs."""
    if not await subscribers.lock(change, subscriber_id):
        return
    await _save(change, subscriber_id, shows_name=False, on_leaderboard=False)
    await change.run(_SET_LEFT_PROGRAM, id=subscriber_id, left_program_ms=change.now_ms)
    await stops.stop(change, subscriber_id)


async def join_program_again(change: Change, subscriber_id: str) -> None:
    """Their link counts again. Emails and names stay off until they ask for them."""
    await change.run(_SET_LEFT_PROGRAM, id=subscriber_id, left_program_ms=None)


async def leaders(at: Reading) -> list[Leader]:
    """Those who agreed to be named, most verified referrals first."""
    found = await at.all(_LEADERS, most=LEADERBOARD_PLACES)
    return [leader for leader in found if leader.short_name]


async def inviter_name(at: Reading, code: str) -> str:
    """The first name of the subscriber with this code, if they agreed to show it, else empty."""
    found = await at.one(_INVITER_NAME, code=code.lower())
    if found is None and (own := await codes.find_ref_code(at, code)) is not None:
        found = await at.one(_INVITER_NAME, code=own)
    return names.first_name(found)
