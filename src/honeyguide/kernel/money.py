"""US dollars at the edges, integer cents inside; nothing here uses a binary float.

JSON must be decoded with `parse_float=Decimal`, so that an amount arrives as an int or a Decimal,
exactly as it was written.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact
from functools import lru_cache

from honeyguide.kernel.errors import Invalid

MOST_CENTS = 100_000_000
"""$1,000,000.00, the largest amount a request may name."""

_CENT = Decimal("0.01")
_EXACT = Context(traps=[Inexact])
"""Refuses to drop a digit that matters; the default context would silently round 1.001 to 1.00."""


def cents(value: object, *, param: str) -> int:
    """Read a decoded JSON number of dollars. "At most two decimals" goes by value: 1.100 is $1.10,
    1.001 is refused."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _refusal(param)
    # A comparison looks at the magnitude first, so 1e999999999 is refused without being written
    # out.
    if (
        isinstance(value, Decimal) and not value.is_finite()
    ) or not 0 <= value <= MOST_CENTS // 100:
        raise _refusal(param)
    if isinstance(value, int):
        return value * 100
    try:
        return int(value.quantize(_CENT, context=_EXACT) * 100)
    except Inexact:
        raise _refusal(param) from None


def _refusal(param: str) -> Invalid:
    return Invalid(
        "{field} must be a number of US dollars from 0 to 1,000,000 with at most two decimals.",
        param=param,
        code="invalid_amount",
    )


@lru_cache(maxsize=4096)
def dollars(amount_cents: int) -> Decimal:
    """The exact amount with as few decimals as it needs (12.5, 300), which `str` turns into a JSON
    number. Cached, because a list repeats the same few amounts and making one is the most expensive
    part of a row."""
    sign = "-" if amount_cents < 0 else ""
    whole, rest = divmod(abs(amount_cents), 100)
    return Decimal(f"{sign}{whole}.{rest:02d}".rstrip("0").rstrip("."))


def show(amount_cents: int) -> str:
    """The amount as people read it: $1,234.50."""
    sign = "-" if amount_cents < 0 else ""
    whole, rest = divmod(abs(amount_cents), 100)
    return f"{sign}${whole:,}.{rest:02d}"
