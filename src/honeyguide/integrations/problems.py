"""What can go wrong with a platform. Each text is one sentence that the operator reads on the
dashboard: no secrets, no email addresses.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

log = logging.getLogger("honeyguide.integrations")

_NONSENSE = (ValueError, RecursionError)  # what parsers raise
_QUOTED = re.compile(r" '.*'", re.DOTALL)


class PlatformError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TryLater(PlatformError):
    """Passes by itself: too many requests, overload, no answer. `after_s` if the platform said."""

    def __init__(self, reason: str, *, after_s: int | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class TooLong(TryLater):
    """More than we read. It passes only once there is less to send."""


class WrongCredentials(PlatformError):
    """The key is wrong, was revoked or lacks a permission. Nothing works until it is replaced."""


class AudienceGone(PlatformError):
    """The chosen list was deleted there. Nothing works until another one is chosen."""


class FieldsGone(PlatformError):
    """A field of ours was deleted there. `ensure_fields` creates it again."""


class Unexpected(PlatformError):
    """An answer or a webhook that makes no sense."""


class ForgedHook(PlatformError):
    """A webhook without a valid signature, or one that is too old. It is not stored."""


@contextmanager
def understood(platform: str, what: str = "an answer") -> Iterator[None]:
    """Whatever goes wrong while we read what a platform sent is the platform's fault, in words:
    nobody can foresee everything that may be sent. Unexpected errors are logged as well."""
    try:
        yield
    except PlatformError:
        raise
    except Exception as error:
        if not isinstance(error, _NONSENSE):
            log.exception("A platform sent what nobody expected")
        reason = f"{platform} sent {what} that we do not understand: {_problem(error)}."
        raise Unexpected(reason) from None


def _problem(error: Exception) -> str:
    """What is wrong with it, without quoting it: it may contain somebody's address."""
    match error:
        case msgspec.ValidationError():
            return _QUOTED.sub("", str(error))
        case msgspec.DecodeError():
            return "it is not JSON"
        case UnicodeError():
            return "it is not in UTF-8"
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return "something in it is missing or out of range"
