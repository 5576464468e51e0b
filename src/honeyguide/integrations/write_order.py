"""In what order the contacts of a batch are written, and what becomes of the rest if one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from honeyguide.integrations.platform import Contact, PlatformAccess, WriteOutcome, WriteResult
from honeyguide.integrations.problems import PlatformError, TryLater, Unexpected, understood
from honeyguide.integrations.reports import ChangeKind

# So many answers in a row that make no sense are not about single contacts.
MOST_NONSENSE = 3
Write = Callable[[Contact], Awaitable[WriteOutcome]]


def outcome(
    contact: Contact,
    result: WriteResult,
    *,
    remote_id: str | None = None,
    reason: str = "",
    gone: ChangeKind | None = None,
) -> WriteOutcome:
    return WriteOutcome(
        subscriber_id=contact.subscriber_id,
        result=result,
        remote_id=remote_id or contact.remote_id,
        reason=reason,
        gone=gone,
    )


async def write_in_turn(
    access: PlatformAccess, contacts: Sequence[Contact], write: Write
) -> list[WriteOutcome]:
    """Writes one contact after the other. Contacts that were written stay written. An answer
    that makes no sense is about that contact only; if there are several in a row, or the platform
    asks us to wait, the rest keeps its turn."""
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
