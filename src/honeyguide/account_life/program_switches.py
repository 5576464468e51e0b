"""The partner programs of an account that is paused or is being closed are off, and come on again
when both are over. What the operator had switched off stays off.
"""

from __future__ import annotations

from honeyguide.accounts.accounts import Account
from honeyguide.partners import program_stops
from honeyguide.signups import undone_stops
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

_sql = beside(__file__)
_REMEMBER = _sql.command("remember")
_SWITCH_OFF = _sql.command("switch_off")
_SWITCH_ON_AGAIN = _sql.command("switch_on_again")
_FORGET = _sql.command("forget")


async def switch_off(change: Change) -> None:
    before = await program_stops.states(change)
    await change.run(_REMEMBER)
    await change.run(_SWITCH_OFF)
    await program_stops.follow(change, before)


async def switch_on_again(change: Change, account: Account) -> None:
    """`account` as it is after the change."""
    if account.paused_ms is None and account.closes_ms is None:
        before = await program_stops.states(change)
        await change.run(_SWITCH_ON_AGAIN)
        await change.run(_FORGET)
        await program_stops.follow(change, before)
        await undone_stops.of_programs(change)
