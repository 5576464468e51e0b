"""What platform modules share when they read answers and report what became of a contact."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Contact, ContactStatus, WriteOutcome, WriteResult
from honeyguide.integrations.problems import TryLater, Unexpected

T = TypeVar("T")
REFUSALS = (400, 409, 422)


def answer_of(reply: PlatformReply, kind: type[T]) -> T:
    """What a successful answer says."""
    if not reply.is_ok:
        raise Unexpected(f"{reply.platform} answered with status {reply.status}.")
    return reply.decode(kind)


def outcome(
    contact: Contact, result: WriteResult, *, remote_id: str | None = None, reason: str = ""
) -> WriteOutcome:
    return WriteOutcome(
        subscriber_id=contact.subscriber_id,
        result=result,
        remote_id=remote_id or contact.remote_id,
        reason=reason,
    )


def written(contact: Contact, remote_id: str, *, has_left: bool = False) -> WriteOutcome:
    """Written; but somebody who should be active may have left there."""
    is_gone = has_left and contact.status == ContactStatus.ACTIVE
    return outcome(
        contact, WriteResult.LEFT if is_gone else WriteResult.WRITTEN, remote_id=remote_id
    )


def refused(contact: Contact, reply: PlatformReply, reason: str) -> WriteOutcome:
    """The platform does not take this contact. Another status is about us."""
    if reply.status not in REFUSALS:
        raise Unexpected(f"{reply.platform} answered with status {reply.status}.")
    return outcome(contact, WriteResult.REFUSED, reason=reason)


async def write_in_turn(
    contacts: Sequence[Contact], write: Callable[[Contact], Awaitable[WriteOutcome]]
) -> list[WriteOutcome]:
    """Writes one contact after the other, until the platform asks us to wait. What was written
    stays written; the rest keeps its turn."""
    outcomes: list[WriteOutcome] = []
    for contact in contacts:
        try:
            outcomes.append(await write(contact))
        except TryLater as error:
            if not outcomes:
                raise
            rest = contacts[len(outcomes) :]
            later = [outcome(each, WriteResult.LATER, reason=error.reason) for each in rest]
            return outcomes + later
    return outcomes


def time_ms(text: str | None) -> int | None:
    """A platform's timestamp, or None if it is missing or odd."""
    try:
        return int(datetime.fromisoformat(text or "").timestamp() * 1000)
    except ValueError:
        return None
