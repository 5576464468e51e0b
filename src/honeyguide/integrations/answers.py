"""How platform modules read answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import msgspec

from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import MOST_AUDIENCES
from honeyguide.integrations.problems import Unexpected

T = TypeVar("T")
# Of lists and fields, whatever number of pages a platform claims to have.
MOST_PAGES = 20


class Data(msgspec.Struct, Generic[T]):
    """Many platforms wrap what they say. A subclass may give the field another name."""

    data: T


def unwrapped(answer: Any) -> Any:
    return answer.data if isinstance(answer, Data) else answer


class NewHook(msgspec.Struct):
    """A webhook that was created there."""

    id: int | str
    secret: str = ""


def answer_of(reply: PlatformReply, kind: type[T]) -> T:
    """What a successful answer says."""
    if not reply.is_ok:
        raise Unexpected(f"{reply.platform} answered with status {reply.status}.")
    return reply.decode(kind)


def first_lists(reply: PlatformReply, found: Sequence[msgspec.Raw], kind: type[T]) -> list[T]:
    """As many as an operator is shown, and one more if there are more. The rest is not decoded:
    that would stop the event loop."""
    return [reply._replace(body=bytes(each)).decode(kind) for each in found[: MOST_AUDIENCES + 1]]


def time_ms(text: str | None) -> int | None:
    """A platform's timestamp, or None if it is missing or odd."""
    try:
        return int(datetime.fromisoformat(text or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def time_of(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
