"""Errors, each a sentence that the caller can act on, with the HTTP status by which it is answered:
the same from the API, pages, embeds and the addresses for webhooks of email platforms.
"""

from __future__ import annotations

from typing import Any


class Fault(Exception):
    """A refusal: one clear sentence, a stable code and, where one input is to blame, its parameter.

    The sentence is a template. `{field}` stands for that input: the API fills in the parameter's
    name, a page fills in its label. Everything else that varies is passed by keyword and never
    formatted into the template, because it may contain braces.
    """

    code = "fault"
    status = 500
    retry_after_s = 0
    """When to try again; 0 if that would not help."""

    def __init__(
        self, template: str, *, param: str | None = None, code: str | None = None, **values: Any
    ) -> None:
        super().__init__(template)
        self.template = template
        self.param = param
        self.values = values
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """The sentence as the API says it."""
        return self.message_for(self.param)

    def message_for(self, field: str | None) -> str:
        """The sentence for a reader who knows the input as `field`."""
        return self.template.format(field=field, **self.values)

    def __str__(self) -> str:
        return self.message


class Invalid(Fault):
    """The input breaks a rule; the sentence says which one and how to fix it."""

    code = "invalid"
    status = 400


class Required(Invalid):
    """The input is missing or blank. A page says what to enter instead."""

    def __init__(self, param: str, template: str = "{field} is required.") -> None:
        super().__init__(template, param=param)


class Missing(Fault):
    """It does not exist, or belongs to someone else; the answer is the same."""

    code = "not_found"
    status = 404


class Busy(Fault):
    """The same request is still running."""

    code = "conflict"
    status = 409


class Reused(Fault):
    """An idempotency key was sent again with another body."""

    code = "idempotency_key_reused"
    status = 422


class Unauthorized(Fault):
    code = "unauthorized"
    status = 401


class Forbidden(Fault):
    """The caller is known but may not do this; the sentence says who may."""

    code = "forbidden"
    status = 403


class TooMany(Fault):
    """Over a limit."""

    code = "rate_limited"
    status = 429

    def __init__(self, template: str, *, retry_after_s: int, **values: Any) -> None:
        super().__init__(template, **values)
        self.retry_after_s = retry_after_s


class Unavailable(Fault):
    """A fault of ours that passes by itself: the store is down, locked or full."""

    code = "unavailable"
    status = 503
    retry_after_s = 1
