"""Text of the OpenAPI document that belongs to no single field: groups, query parameters, errors
and headers. Fields are described where they are declared, with `kernel.public.doc`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from honeyguide.accounts.admission import LACKS_SCOPE, NO_KEY
from honeyguide.kernel import checks, money, paging
from honeyguide.partners import rules
from honeyguide.partners.audience import AGE_RANGES, CATEGORIES, GENDERS, INCOME_LEVELS
from honeyguide.partners.network import SORTS
from honeyguide.rewards import shipments
from honeyguide.subscribers import subscribers

Schema = dict[str, Any]

TAGS: dict[str, str] = {
    "Campaigns": "Your account's referral program. Every account has exactly one, created with "
    "the account.",
    "Subscribers": "The people on a campaign's list. Each has a referral code to share, and may "
    "have been referred.",
    "Referrals": "Why a referral is verified, pending or rejected, and how to decide it yourself.",
    "Rewards": "What advocates earn for their referrals.",
    "Shipments": "Physical rewards that subscribers claimed with a postal address.",
    "Link hosts": "Host names of your own that serve your links.",
    "Webhooks": "URLs that receive signed events.",
    "Publications": "Your newsletters and their audiences.",
    "Partner programs": "The paid offers your publications make to partners.",
    "Partner network": "Partner programs that you can join.",
    "Partner campaigns": "The partner programs you have joined, with your links.",
    "Earnings": "What you earn as a partner each month.",
    "Payouts": "What you are owed as a partner: one payout for each closed month with earnings.",
}


def _choice(choices: Iterable[str], description: str, default: str | None = None) -> Schema:
    fallback = {} if default is None else {"default": default}
    schema = {"type": "string", "enum": list(choices), **fallback}
    return {"description": description, "schema": schema}


QUERY: dict[str, Schema] = {
    "type": _choice(
        subscribers.LIST_TYPES,
        "Everyone, referred subscribers, or advocates (subscribers with at least one verified "
        "referral).",
        "all",
    ),
    "status": _choice(
        shipments.SHIPMENT_STATUSES, "What is still to send, or what was sent.", "to_send"
    ),
    "expand": _choice(
        ["campaigns"],
        "`campaigns` adds `referral_programs`: each subscriber's link, referral counts, rewards "
        "(1,000 in an answer at most), status, further codes, adjustments, tags.",
    ),
    "page": {
        "description": "Page number. A page past the end is an empty list.",
        "schema": {"type": "integer", "minimum": 1, "maximum": paging.LAST_PAGE, "default": 1},
    },
    "per_page": {
        "description": f"Items per page. Values above {paging.MOST_PER_PAGE} are treated as "
        f"{paging.MOST_PER_PAGE}.",
        "schema": {"type": "integer", "minimum": 1, "default": paging.PER_PAGE},
    },
    "month": {
        "description": "A calendar month in UTC, as `YYYY-MM`. Default: the current month.",
        # Empty is the same as absent.
        "schema": {"type": "string", "pattern": f"^({rules.MONTH_PATTERN})?$"},
        "example": "2026-11",
    },
    "search": {
        "description": "Finds words that start with this text in the name, description or "
        "categories. In names, three or more letters also match inside a word.",
        "schema": {"type": "string"},
    },
    "q": {
        "description": "A part of a subscriber's name or email address. Without it, nobody is "
        "found.",
        "schema": {"type": "string", "maxLength": checks.STRING_LIMIT},
    },
    "category": _choice(CATEGORIES, "Only publications in this category."),
    "min_cpa": {
        "description": "Minimum fee per new subscriber, in US dollars.",
        "schema": {"type": "number", "minimum": 0, "maximum": money.MOST_CENTS // 100},
    },
    "audience_gender": _choice(GENDERS, "Only publications with this audience."),
    "income_level": _choice(INCOME_LEVELS, "Only publications that reach this income level."),
    "age_range": _choice(AGE_RANGES, "Only publications that reach this age range."),
    "end_pending": _choice(
        ["false", "true"],
        "Whether to reject the partner's pending referrals. They then count as rejected in the "
        "program's public figures.",
        "false",
    ),
    "reason": {
        "description": "Why. The partner sees it.",
        "schema": {"type": "string", "maxLength": checks.DESCRIPTION_LIMIT},
    },
    "sort": _choice(SORTS, "Sort order, highest or newest first.", "created_at"),
}

# Status, name of the shared response, its meaning, and an example of `code` and `error`, in which
# {base_url} is filled in.
ERRORS: tuple[tuple[int, str, str, str, str], ...] = (
    (
        400,
        "Invalid",
        "The request is invalid. `param` names the field or parameter that caused it.",
        "invalid_email",
        "Email is invalid",
    ),
    (
        401,
        "Unauthorized",
        "The API key is missing, invalid, expired or revoked.",
        "unauthorized",
        NO_KEY,
    ),
    (
        403,
        "Forbidden",
        "The API key does not have the scope that this needs.",
        "insufficient_scope",
        LACKS_SCOPE,
    ),
    (
        404,
        "Missing",
        "It does not exist or belongs to another account.",
        "not_found",
        "There is no such subscriber.",
    ),
    (
        408,
        "Slow",
        "The body took too long to arrive.",
        "timeout",
        "The body took too long to arrive.",
    ),
    (
        409,
        "Busy",
        "A request with the same Idempotency-Key is still running.",
        "conflict",
        "A request with this Idempotency-Key is still running; try again in a moment.",
    ),
    (
        413,
        "TooLarge",
        "The body is larger than 2 MB.",
        "too_large",
        "The body is larger than 2 MB.",
    ),
    (
        415,
        "NotJson",
        "The body is not JSON.",
        "unsupported_media_type",
        "Send the body as JSON with Content-Type: application/json; charset=utf-8.",
    ),
    (
        422,
        "Reused",
        "The Idempotency-Key was already used for a different request.",
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request; use a new key for a new request.",
    ),
    (
        429,
        "TooMany",
        "Too many requests. Wait for the number of seconds in `Retry-After`.",
        "rate_limited",
        "You have made 60 requests in the last 60 seconds; wait 12 s.",
    ),
    (
        500,
        "ServerError",
        "An error on the server. `overloaded` (too many requests at once) and `unavailable` (the "
        "database is locked, full or down) are temporary: retry after `Retry-After` seconds. "
        "`internal_error` is a bug: report it with the request ID.",
        "overloaded",
        "The service is overloaded; try again in a moment.",
    ),
)

HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Request-Id": (
        "Identifies this request in the server's log. If you send this header, your value is used.",
        {"type": "string"},
    ),
    "X-RateLimit-Limit": ("Requests allowed in 60 seconds.", {"type": "integer"}),
    "X-RateLimit-Remaining": ("Requests left in the current 60 seconds.", {"type": "integer"}),
    "X-RateLimit-Reset": (
        "When the oldest request leaves the 60-second window, in Unix seconds.",
        {"type": "integer"},
    ),
    "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "Link": (
        "URLs of the first, previous, next and last page (RFC 8288), where they exist.",
        {"type": "string"},
    ),
    "Idempotent-Replayed": (
        "`true` when this is the stored response to an earlier request.",
        {"type": "string"},
    ),
}
ERROR: Schema = {
    "type": "object",
    "description": "Every error has this form.",
    "properties": {
        "error": {"type": "string", "description": "What is wrong, in one sentence."},
        "code": {"type": "string", "description": "A stable error code. Use this in your program."},
        "param": {
            "type": "string",
            "description": "The field or parameter that caused the error, if there is one.",
        },
        "request_id": {"type": "string", "description": "Quote this when you ask about the error."},
    },
    "required": ["error", "code", "request_id"],
}
