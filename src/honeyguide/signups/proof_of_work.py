"""The work that a browser does for a signup while its code is flooded, so that its confirmation
email goes before those of a robot. The protocol is ALTCHA's: the server derives a key with a number
that it keeps to itself, and the browser tries one number after the other until it has that key.

Nothing is stored. A challenge is signed with a secret of its form and code, so it fits no other. It
is used up with the form, which works once, and worth nothing an hour after the form was shown.
"""

from __future__ import annotations

import secrets
from typing import Any

import altcha

from honeyguide.kernel.clock import HOUR_MS
from honeyguide.kernel.site import Site

ALGORITHM = "PBKDF2/SHA-256"
# Of one try. A challenge costs us as much as one.
COST = 1_000
VALID_MS = HOUR_MS
# What a phone of some years tries in a second, with four workers.
TRIES_PER_S = 3_000
# From how many emails that wait, how many seconds a phone works at most. On average it is half.
SECONDS = ((0, 4), (500, 6), (1_000, 8), (2_000, 10))
# More need not be counted.
COUNTED = SECONDS[-1][0]


def most_tries(waiting: int) -> int:
    return TRIES_PER_S * max(seconds for since, seconds in SECONDS if waiting >= since)


def challenge(site: Site, form: str, code: str, *, waiting: int) -> dict[str, Any]:
    """For a form, known by the hash of its token. `waiting` is how many emails wait."""
    made = altcha.create_challenge(
        ALGORITHM,
        COST,
        counter=secrets.randbelow(most_tries(waiting)),
        **_secrets(site, form, code),
    )
    return made.to_dict()


def is_solved(
    site: Site, form: str, code: str, solution: str, *, shown_ms: int, now_ms: int
) -> bool:
    """Whether this is the work that the form asked for, in time."""
    if not solution or now_ms - shown_ms > VALID_MS:
        return False
    return altcha.verify_solution(solution, **_secrets(site, form, code)).verified


def _secrets(site: Site, form: str, code: str) -> dict[str, Any]:
    about = f"{form} {code}"
    return {
        "hmac_secret": site.keyed_hash("challenge", about),
        "hmac_key_secret": site.keyed_hash("solution", about),
    }
