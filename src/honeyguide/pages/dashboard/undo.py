"""Actions that wait a minute: how the dashboard asks for them and undoes them. What was marked as
sent is undone here too, until its subscriber is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from starlette.responses import Response

from honeyguide.accounts.permissions import Right
from honeyguide.pages import redirects
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.rewards import shipments
from honeyguide.signups import delayed_actions
from honeyguide.signups.delayed_actions import Delayed
from honeyguide.signups.delayed_kinds import DelayedKind
from honeyguide.store.change import Change

NOTHING_LEFT = "There was nothing left to undo: it was already done, or already undone."


async def delay(
    change: Change,
    request: PageRequest,
    kind: DelayedKind,
    ids: Sequence[str],
    where: str,
    *,
    more: str = "",
    **arguments: str | None,
) -> Response:
    """Goes on to `where`, which says what will happen and offers to undo it."""
    delayed = await delayed_actions.delay(change, kind, ids, **arguments)
    flash = " ".join([_outcome(kind, delayed), more]).strip()
    return request.go(where, flash, undo=delayed.batch_id)


def _outcome(kind: DelayedKind, delayed: Delayed) -> str:
    """ "2 referrals will be verified in a minute.", and why others will not."""
    refused = refusals(delayed.waiting, delayed.refused)
    if delayed.waiting:
        subjects = formats.plural(delayed.waiting, kind.noun)
        refused.insert(0, f"{subjects} will be {kind.done} in a minute.")
    elif delayed.refused.total() > 1:
        refused.insert(0, "Nothing changed.")
    return " ".join(refused)


def refusals(done: int, refused: Counter[str]) -> list[str]:
    """Why some were refused, and how many if it was not about just one."""
    if done + refused.total() == 1:
        return list(refused)
    return [f"{formats.number(n)} refused: {why}" for why, n in refused.most_common()]


async def undo(change: Change, request: PageRequest) -> Response:
    """One action, or all that were asked for together."""
    action, may = request.text("action"), request.who.may
    undone = await delayed_actions.undo_by_member(change, action, may)
    where = redirects.local_path(request.text("back"))
    if not undone:
        unsent = await shipments.undo_sent(change, action) if may(Right.REWARDS) else 0
        return request.go(where, _to_send_again(unsent) if unsent else NOTHING_LEFT)
    count = f"{formats.number(undone)} actions were undone" if undone > 1 else "Undone"
    return request.go(where, f"{count}. Nothing was changed.")


def _to_send_again(unsent: int) -> str:
    which = "1 shipment is" if unsent == 1 else f"{formats.number(unsent)} shipments are"
    return f"Undone. {which} under “To send” again, and nobody was emailed."
