"""What our values are called on a platform: two sets of names to start from, and the check of what
the operator chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from honeyguide.integrations.platform import About, SyncField
from honeyguide.kernel.errors import Invalid

USUAL: Mapping[SyncField, str] = {
    SyncField.CODE: "referral_code",
    SyncField.LINK: "referral_link",
    SyncField.HUB_LINK: "referral_page",
    SyncField.REFERRALS: "referrals",
    SyncField.NEXT_REWARD: "next_reward",
    SyncField.REFERRALS_MISSING: "referrals_missing",
    SyncField.LAST_REWARD: "last_reward",
    SyncField.COUPON: "coupon_code",
    SyncField.IS_REFERRED: "is_referred",
}
# What SparkLoop writes, so that automations and newsletters that use its names go on working.
SPARKLOOP: Mapping[SyncField, str] = {
    SyncField.SUBSCRIBER_ID: "RH_SUBID",
    SyncField.CODE: "RH_CODE",
    SyncField.LINK: "RH_REFLINK",
    SyncField.HUB_LINK: "RH_HUBLINK",
    SyncField.REFERRALS: "RH_TOTREF",
    SyncField.NEXT_REWARD: "RH_NEXTREW",
    SyncField.REFERRALS_MISSING: "RH_MISSING",
    SyncField.LAST_REWARD_ID: "RH_LASTREWARD",
    SyncField.COUPON: "RH_COUPON",
    SyncField.IS_REFERRED: "RH_ISREF",
}
LABELS: Mapping[SyncField, str] = {
    SyncField.CODE: "Referral code",
    SyncField.LINK: "Referral link",
    SyncField.HUB_LINK: "Link to their referral page",
    SyncField.REFERRALS: "Verified referrals",
    SyncField.NEXT_REWARD: "Next reward",
    SyncField.REFERRALS_MISSING: "Referrals missing to the next reward",
    SyncField.LAST_REWARD: "Last reward",
    SyncField.LAST_REWARD_ID: "ID of the last reward",
    SyncField.COUPON: "Coupon code of the last reward",
    SyncField.IS_REFERRED: "Whether somebody referred them (YES, NO or REJECTED)",
    SyncField.SUBSCRIBER_ID: "Subscriber ID",
}


def usual_names(about: About) -> dict[SyncField, str]:
    return {} if about.field_pattern is None else {**USUAL, **about.default_names}


def checked(about: About, chosen: Mapping[str, str]) -> dict[SyncField, str]:
    """The names that the operator chose; an empty one leaves the value out."""
    if about.field_pattern is None:
        return {}
    names: dict[SyncField, str] = {}
    for field in SyncField:
        name = chosen.get(field, "").strip()
        if not name:
            continue
        if not re.fullmatch(about.field_pattern, name):
            raise Invalid(
                "{field} cannot be called {name} in {platform}: names have {rule}.",
                param=field,
                name=name,
                platform=about.name,
                rule=about.field_rule,
            )
        if name.lower() in {other.lower() for other in names.values()}:
            raise Invalid("{field} has the same name as another field.", param=field)
        names[field] = name
    return names
