"""Types of public fields: what each means, with an example and limits, for the OpenAPI document;
the label of its input on a page, and the rule that a value must keep. `fields` reads the last two.

How a value is decoded does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any

from msgspec import Meta

from honeyguide.kernel import checks, email_addresses, money

CAMPAIGN_UUID = "019a86f0-2c1e-7d35-8a44-91b7c6e05f12"
SUBSCRIBER_UUID = "019a8c3e-5b7d-7c41-9f02-6d1e8a4b2c57"


# The UUID of each kind of thing in the examples. The reference replaces them by those of the
# account that is signed in, so no two kinds share one, except where it is the same thing.
_EARNED = "019a8c3e-6a10-7e02-8b4d-2f9c1d7a5e34"
EXAMPLE_IDS: dict[str, str] = {
    "campaign": CAMPAIGN_UUID,
    "subscriber": SUBSCRIBER_UUID,
    "reward": "019a8c3e-60c4-7a1b-9d27-8e5f3a6b1c02",
    "earned_reward": _EARNED,
    "shipment": _EARNED,
    "adjustment": "019a8c3e-61d8-7c55-a0f3-4b7e9d2c6a18",
    "link_host": "019a8c3e-62ea-7f30-8c91-5d0a7b3e4f26",
    "webhook": "019a8c3e-63fc-7b84-9e62-6c1f8a5d3b70",
    "webhook_v2": "019a8c3e-6510-7d19-a7b3-7e2a9c6f4d81",
    "delivery": "019a8c3e-6622-7a6e-8f04-8b3c1d7e5a92",
    "publication": "019a8c3e-6734-7c03-9015-9a4d2e8f6ba3",
    "partner_program": "019a8c3e-6846-7e58-a126-0b5e3f9a7cb4",
    "network_program": "019a8c3e-6958-7b2d-8237-1c6f4a0b8dc5",
    "partner_campaign": "019a8c3e-6b7c-7d92-9348-2d7a5b1c9ed6",
    "program_partner": "019a8c3e-6c8e-7f47-a459-3e8b6c2d0fe7",
    "partner_referral": "019a8c3e-6da0-7a1c-856a-4f9c7d3e1af8",
    "payout": "019a8c3e-6eb2-7c61-967b-5a0d8e4f2ba9",
}


def doc(
    description: str | None = None,
    *examples: Any,
    label: str = "",
    rule: Callable[..., Any] | None = None,
    unit: str = "",
    default: Any = None,
    allowed: Collection[str] = (),
    **schema: Any,
) -> Meta:
    """The description and examples of a field, and further keywords of its JSON Schema.

    `each` has the keywords of a list's items. `label` is what a page calls it. `rule` is called as
    `rule(value, param=name)` and returns what is stored; null needs no rule. `unit` ends the name
    of its column, as in `fee_cents`. `default` is what a new row gets if the field is not set.
    `allowed` are the words that a page offers.
    """
    about = {"label": label, "rule": rule, "unit": unit, "default": default}
    about["allowed"] = tuple(allowed) or None
    return Meta(
        description=description,
        examples=list(examples) or None,
        extra_json_schema=schema or None,
        extra={name: value for name, value in about.items() if value not in ("", None)} or None,
    )


def choice(description: str, *examples: Any, allowed: Collection[str], **more: Any) -> Meta:
    """A field that is one of the allowed words: the document lists them, and its rule asks for
    one of them."""
    rule = partial(checks.one_of, allowed=tuple(allowed))
    enum = [str(word) for word in allowed]
    return doc(description, *examples, rule=rule, allowed=allowed, enum=enum, **more)


def choices(
    description: str,
    *examples: Any,
    allowed: Collection[str],
    least: int = 1,
    most: int | None = None,
    **more: Any,
) -> Meta:
    """A field that is a list of allowed words, at least `least` and at most `most` of them."""
    rule = partial(checks.some_of, allowed=tuple(allowed), least=least, most=most)
    item = {"enum": [str(word) for word in allowed]}
    sizes: dict[str, Any] = {"minItems": least} | ({} if most is None else {"maxItems": most})
    return doc(description, *examples, rule=rule, allowed=allowed, each=item, **sizes, **more)


def _text(limit: int, *, blank_ok: bool = True) -> Callable[..., str]:
    return partial(checks.text, limit=limit, blank_ok=blank_ok)


Uuid = Annotated[str, doc("Unique identifier.", SUBSCRIBER_UUID, format="uuid")]
Time = Annotated[str, doc(None, "2026-11-15T01:30:01.123Z", format="date-time")]
Url = Annotated[
    str,
    doc(
        None,
        "https://wax.example.org/welcome",
        rule=checks.http_url,
        format="uri",
        maxLength=checks.URL_LIMIT,
    ),
]
# A JSON number that must not pass through a binary float. The domain checks what was sent.
Amount = Annotated[
    Any,
    doc(rule=money.cents, unit="cents", type="number", minimum=0, maximum=money.MOST_CENTS // 100),
]

CampaignUuid = Annotated[Uuid, doc("UUID of the campaign.", CAMPAIGN_UUID)]
CampaignName = Annotated[
    str,
    doc(
        "Name of the campaign.",
        "The Morning Wax",
        label="Name",
        rule=checks.name,
        maxLength=checks.NAME_LIMIT,
    ),
]
NeedsConfirmation = Annotated[
    bool, doc("Whether new subscribers must confirm their email address (double opt-in).")
]
DestinationUrl = Annotated[
    Url,
    doc("Page that referral links lead to. Null: the hosted signup page.", label="Landing page"),
]
Slug = Annotated[
    str,
    doc(
        "Last part of the signup page's URL.",
        "morning-wax",
        label="Signup page URL",
        # Whether it is reserved or taken is decided when it changes.
        rule=checks.slug_text,
        maxLength=checks.SLUG_LIMIT,
    ),
]

Email = Annotated[
    str,
    doc(
        "Email address. Unique in a campaign; upper and lower case are the same. The domain comes "
        "back in lower case, an international one in Punycode.",
        "ana@example.org",
        format="email",
        maxLength=email_addresses.LONGEST,
    ),
]
SubscriberName = Annotated[
    str, doc("Name of the subscriber.", "Ana Lopes", maxLength=checks.NAME_LIMIT)
]
ChangedName = Annotated[SubscriberName, doc("Name of the subscriber. Null removes it.")]
ReferrerCode = Annotated[
    str, doc("Code of the subscriber or partner who referred them.", "ben4k2pq")
]
ClaimedCode = Annotated[
    ReferrerCode,
    doc("Code of the subscriber or partner who referred them. An unknown code is ignored."),
]
SubscribedAt = Annotated[
    Time,
    doc(
        "When they subscribed, if not now. Used only for display and sorting.",
        "2026-11-14T18:05:00Z",
    ),
]
IpAddress = Annotated[str, doc("IP address they signed up from, as you sent it.", "203.0.113.24")]
UserAgent = Annotated[
    str,
    doc(
        "Browser they signed up with, as you sent it.",
        "Mozilla/5.0 (iPhone)",
        maxLength=checks.USER_AGENT_LIMIT,
    ),
]
UtmSource = Annotated[str, doc("Source of the signup, from the link.", "instagram")]
UtmCampaign = Annotated[str, doc("Campaign of the signup, from the link.", "spring")]

Tags = Annotated[
    list[str],
    doc("Tags: lower-case text of 1 to 50 characters, without commas.", ["podcast", "vip"]),
]

RewardName = Annotated[
    str,
    doc(
        "Name of the reward.",
        "The mug",
        label="Reward name",
        rule=_text(checks.NAME_LIMIT, blank_ok=False),
        maxLength=checks.NAME_LIMIT,
    ),
]
ReferralsNeeded = Annotated[int, doc("Verified referrals needed to unlock it.", 5)]
Recurring = Annotated[
    bool, doc("Whether it is earned again at every multiple of `referrals`.", False, default=False)
]
RewardDescription = Annotated[
    str,
    doc(
        "Text shown with it.",
        "Holds 400 ml. Dishwasher safe.",
        label="Description",
        rule=_text(checks.DESCRIPTION_LIMIT),
        maxLength=checks.DESCRIPTION_LIMIT,
    ),
]
RewardLink = Annotated[Url, doc("Page that a `link` reward leads to.", None, label="Link")]
CouponCode = Annotated[
    str,
    doc(
        "Coupon code, for rewards that have one.",
        None,
        label="Shared code",
        rule=_text(checks.STRING_LIMIT, blank_ok=False),
    ),
]

PublicationName = Annotated[
    str,
    doc(
        "Name of the publication.",
        "The Morning Wax",
        label="Name",
        rule=checks.name,
        maxLength=checks.NAME_LIMIT,
    ),
]
PublicationDescription = Annotated[
    str,
    doc(
        "What the publication is about.",
        "Bees, honey and the people who keep them.",
        label="Description",
        rule=_text(checks.DESCRIPTION_LIMIT),
        maxLength=checks.DESCRIPTION_LIMIT,
    ),
]
ListId = Annotated[
    str,
    doc(
        "ID of the list at your email service provider.",
        "8f1c2d",
        label="List ID",
        rule=_text(checks.STRING_LIMIT),
    ),
]
EnabledPartnerProgram = Annotated[
    bool,
    doc(
        "Whether the publication's partner program is on. True turns it on and false turns it off, "
        "as Resume and Pause on the dashboard do; while it is off, new referrals are rejected. "
        "It can be set before there is a program; creating one sets it to true."
    ),
]

# Amounts and days are numbers of different types in requests and responses.
CPA = doc(
    "Fee per new subscriber. In US dollars, with at most two decimals.",
    2.5,
    label="Fee per new subscriber",
)
MAX_PAYOUT = doc(
    "Cap per partner: the most one partner can earn in a month. "
    "In US dollars, with at most two decimals. A lower one is for referrals that come later.",
    250,
    label="Monthly cap per partner",
)
TOTAL_BUDGET = doc(
    "Monthly budget: the most the program spends in a month on all partners. "
    "In US dollars, with at most two decimals. A lower one is for referrals that come later.",
    1000,
    label="Monthly budget",
)
RedirectUrl = Annotated[Url, doc("Page that partner links lead to.", label="Landing page URL")]
ThankYouPageUrl = Annotated[
    Url,
    doc(
        "Page shown after a magic-link signup. Null: the default page.", label="Thank-you page URL"
    ),
]
Terms = Annotated[
    str,
    doc(
        "Conditions for partners.",
        "No paid search on our name.",
        label="Terms",
        rule=_text(checks.TERMS_LIMIT),
        maxLength=checks.TERMS_LIMIT,
    ),
]
ResourcesUrl = Annotated[
    Url, doc("Page with promotional material for partners.", label="Promo material URL")
]
ShowInDirectory = Annotated[
    bool, doc("Whether the program is listed in the partner network.", default=False)
]
HoldingPeriodEnabled = Annotated[
    bool, doc("Whether referrals have a holding period.", default=False)
]

NewReferral = Annotated[
    bool, doc("A subscriber was referred, and the referral was not rejected.", True)
]
NewPartnerReferral = Annotated[
    bool,
    doc(
        "A partner's referral was verified: one to your program, or one of yours to another "
        "program.",
        True,
    ),
]
RewardUnlocked = Annotated[bool, doc("A subscriber unlocked a reward.", True)]
RewardRedeemed = Annotated[bool, doc("A reward was claimed or marked as redeemed.", None)]
WebhookUrl = Annotated[
    Url, doc("URL that receives the events.", "https://hooks.example.org/honeyguide")
]
SparkLoopToken = Annotated[
    str,
    doc(
        "Sent with each event in the header `SparkLoop-Token`, for receivers written for "
        "SparkLoop. Null: the header is not sent.",
        "8d1f0c52a7",
    ),
]
NewSubscriberEvent = Annotated[
    bool,
    doc(
        "Somebody subscribed, or came back after unsubscribing. If the campaign requires "
        "confirmation, it is sent when they confirm.",
        True,
    ),
]
SubscriberUnsubscribed = Annotated[bool, doc("A subscriber unsubscribed.", True)]
ReferralVerified = Annotated[
    bool, doc("A referral was verified, at the signup or later, also a partner's.", True)
]
ReferralRejected = Annotated[
    bool, doc("A referral was rejected, at the signup or later, also a partner's.", True)
]
PartnerReferralReversed = Annotated[
    bool,
    doc(
        "The charge for a partner's referral was taken back: one to your program, or one of yours "
        "to another program.",
        True,
    ),
]
EVENTS = doc(
    "Which events are sent; null means not set. "
    "Requests can have the flags here or in the body itself."
)
# A whole image, so that a request with the examples is accepted.
_ONE_DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4/58BAAT/Af9jgNErAAAAAElFTkSuQmCC"
)
LOGO = doc(
    "PNG or JPEG under 1 MB, as base64 or a data URI. In responses, its URL.",
    f"data:image/png;base64,{_ONE_DOT}",
    maxLength=1_500_000,  # 1 MB as base64, with line breaks
)
LOGO_EXAMPLE = "https://go.example.org/logos/019a8c3e-7d20-7b1f-9a55-3c0e8f71d2a6"
CreatedAt = Annotated[Time, doc("When it was created.")]
DueAt = Annotated[Time, doc("When the holding period ends.")]
ReferralLink = Annotated[Url, doc("The link to share.", "https://go.example.org/r/k7m2x9pa")]
ReferralReason = Annotated[
    str, doc("Why the referral is pending or rejected, as a stable code.", "same_network")
]
ReferralExplanation = Annotated[
    str, doc("The reason as a sentence.", "Same IP network as the referrer within a day.")
]
PartnerCampaignUuid = Annotated[Uuid, doc("UUID of the partner campaign.")]
