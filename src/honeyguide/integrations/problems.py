"""What can go wrong with a platform. Each text is one sentence that the operator reads on the
dashboard: no secrets, no email addresses.
"""

from __future__ import annotations


class PlatformError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TryLater(PlatformError):
    """Passes by itself: too many requests, overload, no answer. `after_s` if the platform said."""

    def __init__(self, reason: str, *, after_s: int | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


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
