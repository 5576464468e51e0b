"""What platform modules share when they read answers and report what became of a contact."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import (
    MOST_AUDIENCES,
    Contact,
    ContactStatus,
    PlatformAccess,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import PlatformError, TryLater, Unexpected, understood

T = TypeVar("T")
REFUSALS = (400, 409, 422)
# So many answers in a row that make no sense are not about single contacts.
MOST_NONSENSE = 3
# Of lists and fields, whatever number of pages a platform claims to have.
MOST_PAGES = 20
Write = Callable[[Contact], Awaitable[WriteOutcome]]


def answer_of(reply: PlatformReply, kind: type[T]) -> T:
    """What a successful answer says."""
    if not reply.is_ok:
        raise Unexpected(f"{reply.platform} answered with status {reply.status}.")
    return reply.decode(kind)


def first_lists(reply: PlatformReply, found: Sequence[msgspec.Raw], kind: type[T]) -> list[T]:
    """As many as an operator is shown, and one more if there are more. The rest is not decoded:
    that would stop the event loop."""
    return [reply._replace(body=bytes(each)).decode(kind) for each in found[: MOST_AUDIENCES + 1]]


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
    access: PlatformAccess, contacts: Sequence[Contact], write: Write
) -> list[WriteOutcome]:
    """Writes one contact after the other. What was written stays written. An answer that makes no
    sense is about that contact only; if there are several in a row, or the platform asks us to
    wait, the rest keeps its turn."""
    done: list[WriteOutcome | PlatformError] = []
    for contact in contacts:
        done.append(await _tried(access, contact, write))
        last = done[-MOST_NONSENSE:]
        is_lost = len(last) == MOST_NONSENSE and all(isinstance(each, Unexpected) for each in last)
        if is_lost or isinstance(done[-1], TryLater):
            done += [done[-1]] * (len(contacts) - len(done))
            break
    return _settled(contacts, done)


async def write_at_once(
    access: PlatformAccess, contacts: Sequence[Contact], write: Write, *, at_once: int
) -> list[WriteOutcome]:
    """As `write_in_turn`, with so many requests at a time. It returns when all have ended, so that
    no request is still under way."""
    gate = asyncio.Semaphore(at_once)

    async def tried(contact: Contact) -> WriteOutcome | PlatformError:
        async with gate:
            return await _tried(access, contact, write)

    tasks = [asyncio.ensure_future(tried(each)) for each in contacts]
    await asyncio.gather(*tasks, return_exceptions=True)
    return _settled(contacts, [task.result() for task in tasks])


async def _tried(
    access: PlatformAccess, contact: Contact, write: Write
) -> WriteOutcome | PlatformError:
    """What became of the contact, or why nobody knows. Other errors are about all contacts."""
    try:
        with understood(access.about.name):
            return await write(contact)
    except (TryLater, Unexpected) as error:
        return error


def _settled(
    contacts: Sequence[Contact], done: Sequence[WriteOutcome | PlatformError]
) -> list[WriteOutcome]:
    """The outcomes, unless there is not a single one: then it is about the platform."""
    if done and all(isinstance(each, PlatformError) for each in done):
        raise next(each for each in done if isinstance(each, PlatformError))
    return [
        outcome(contact, WriteResult.LATER, reason=each.reason)
        if isinstance(each, PlatformError)
        else each
        for contact, each in zip(contacts, done, strict=True)
    ]


def time_ms(text: str | None) -> int | None:
    """A platform's timestamp, or None if it is missing or odd."""
    try:
        return int(datetime.fromisoformat(text or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
