"""Proves what is kept about subscribers: counts, states, the page index, and references that are no
foreign keys because a signup would pay for them. The ledger check runs these checks with its own.
"""

from __future__ import annotations

from honeyguide.store.statements import beside
from honeyguide.subscribers.check_slices import CheckGroup, checks_of

PROMISES = {
    "subscribers_astray": (
        "Every subscriber belongs to a campaign of its account, and its referrer and partner exist."
    ),
    "states_off": "Every subscriber's status and referral state are valid.",
    "counts_off": "Every subscriber's referral counts equal the referrals there are.",
    "adjustments_off": "What is kept as every subscriber's adjustments is what they add up to.",
    "advocates_off": "Every advocate is listed as one, with their verified referrals.",
    "totals_off": "The total of every list equals the subscribers on it.",
    "blocks_off": "Every block of the page index holds as many subscribers as it says.",
    "days_off": "Every day's totals equal the signups and referrals of that day.",
}

_sql = beside(__file__)
GROUPS = (
    CheckGroup(
        _sql.value("subscriber_slice", str),
        checks_of(
            _sql,
            "subscribers_astray",
            "states_off",
            "counts_off",
            "adjustments_off",
            "advocates_off",
        ),
    ),
    CheckGroup(
        _sql.value("campaign_slice", str),
        (
            ("totals_off", _sql.value("totals_off", int)),
            ("days_off", _sql.value("day_sums_off", int)),
        ),
    ),
    CheckGroup(_sql.value("day_slice", str), checks_of(_sql, "days_off")),
    CheckGroup(
        _sql.value("list_slice", str),
        (
            ("totals_off", _sql.value("star_totals_off", int)),
            ("blocks_off", _sql.value("block_sums_off", int)),
            ("blocks_off", _sql.value("all_blocks_off", int)),
            ("blocks_off", _sql.value("referral_blocks_off", int)),
            ("blocks_off", _sql.value("advocate_blocks_off", int)),
            ("blocks_off", _sql.value("star_blocks_off", int)),
        ),
    ),
)
