"""What can go wrong, said so that the caller can mend it. The edges give each kind its HTTP status; nobody else knows one."""

from __future__ import annotations


class Fault(Exception):
    """A refusal with one clear sentence, a stable code word and, where one input is to blame, its name."""

    code = "fault"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        if code is not None:
            self.code = code


class Invalid(Fault):
    """The input breaks a rule; the sentence says which and how to mend it."""

    code = "invalid"


class Missing(Fault):
    """Not there, or not yours: the two are never told apart."""

    code = "not_found"


class Busy(Fault):
    """A twin of this request is still running."""

    code = "conflict"


class Reused(Fault):
    """An idempotency key came back with another body."""

    code = "idempotency_key_reused"


class Unauthorized(Fault):
    code = "unauthorized"


class TooMany(Fault):
    """Over a limit; `retry_after_s` says when to come back."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(Fault):
    """A fault of ours that passes by itself: the store is down, locked or full."""

    code = "unavailable"
