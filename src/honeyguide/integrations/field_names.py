"""What our values are called on a platform: two sets of names to start from, and the check of what
the operator chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from honeyguide.integrations.about import About, SyncField
from honeyguide.kernel.errors import Invalid
from honeyguide.mail import newsletter_tools

# As the newsletter block has them. At most ten characters each, which is Mailchimp's limit.
USUAL: Mapping[SyncField, str] = {
    SyncField.CODE: "HG_CODE",
    SyncField.LINK: newsletter_tools.LINK,
    SyncField.HUB_LINK: newsletter_tools.HUB,
    SyncField.REFERRALS: newsletter_tools.COUNT,
    SyncField.NEXT_REWARD: newsletter_tools.NEXT,
    SyncField.REFERRALS_MISSING: newsletter_tools.TO_GO,
    SyncField.LAST_REWARD: "HG_REWARD",
    SyncField.COUPON: "HG_COUPON",
    SyncField.IS_REFERRED: "HG_ISREF",
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


PRESETS = {"usual": USUAL, "sparkloop": SPARKLOOP}


def preset(about: About, name: str) -> dict[SyncField, str]:
    """A set of names, as far as the platform can have them; some have shorter ones of their own."""
    if about.field_pattern is None:
        return {}
    names = {}
    for field, usual in PRESETS.get(name, USUAL).items():
        for candidate in (usual, about.default_names.get(field, "")):
            if re.fullmatch(about.field_pattern, candidate):
                names[field] = candidate
                break
    return names


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
