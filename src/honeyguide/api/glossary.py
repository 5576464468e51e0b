"""Descriptions and examples of every parameter, field and group, for the OpenAPI document and the reference page.

A new query parameter needs an entry in `QUERY`. A new field should have one in `FIELDS`. Entries are looked up as
`Schema.field` first, then as `field`, then by the end of the name.
"""

from __future__ import annotations

from typing import Any

from honeyguide.kernel import checks, email_addresses, paging
from honeyguide.partners import programs
from honeyguide.partners.audience import AGE_RANGES, CATEGORIES, GENDERS, INCOME_LEVELS
from honeyguide.partners.directory import SORTS
from honeyguide.referrals import lifecycle, subscribers
from honeyguide.referrals.rules import Status

Schema = dict[str, Any]

CAMPAIGN = "019a86f0-2c1e-7d35-8a44-91b7c6e05f12"
PERSON = "019a8c3e-5b7d-7c41-9f02-6d1e8a4b2c57"
MOMENT = "2026-11-15T01:30:01.123Z"

TAGS: dict[str, str] = {
    "Campaigns": "Your account's referral program. Every account has exactly one, created with the account.",
    "Subscribers": "The people on a campaign's list. Each has a referral code to share, and may have been referred.",
    "Referrals": "Why a referral is verified, pending or rejected, and how to decide it yourself.",
    "Rewards": "What advocates earn for their referrals.",
    "Webhooks": "URLs that receive signed events.",
    "Publications": "Your newsletters and their audiences.",
    "Partner programs": "The paid offers your publications make to partners.",
    "Partner network": "Partner programs that you can join.",
    "Partner campaigns": "The partner programs you have joined, with your links.",
    "Earnings": "What you earn as a partner each month.",
    "Payouts": "What you are owed as a partner: one payout for each closed month with earnings.",
}

QUERY: dict[str, Schema] = {
    "type": {
        "description": "Everyone, referred subscribers, or advocates (subscribers with at least one verified referral).",
        "schema": {"type": "string", "enum": list(subscribers.KINDS), "default": "all"},
    },
    "expand": {
        "description": "`campaigns` adds `referral_programs`: each subscriber's link, referral counts and rewards.",
        "schema": {"type": "string", "enum": ["campaigns"]},
    },
    "page": {
        "description": "Page number. A page past the end is an empty list.",
        "schema": {"type": "integer", "minimum": 1, "maximum": paging.LAST_PAGE, "default": 1},
    },
    "per_page": {
        "description": f"Items per page. Values above {paging.MOST_PER_PAGE} are treated as {paging.MOST_PER_PAGE}.",
        "schema": {"type": "integer", "minimum": 1, "default": paging.PER_PAGE},
    },
    "month": {
        "description": "A calendar month in UTC, as `YYYY-MM`. Default: the current month.",
        "schema": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
    },
    "search": {
        "description": "Finds words that start with this text in the name, description or categories. In names, three or more "
        "letters also match inside a word.",
        "schema": {"type": "string"},
    },
    "category": {
        "description": "Only publications in this category.",
        "schema": {"type": "string", "enum": list(CATEGORIES)},
    },
    "min_cpa": {
        "description": "Minimum fee per new subscriber, in US dollars.",
        "schema": {"type": "number", "minimum": 0},
    },
    "audience_gender": {
        "description": "Only publications with this audience.",
        "schema": {"type": "string", "enum": list(GENDERS)},
    },
    "income_level": {
        "description": "Only publications that reach this income level.",
        "schema": {"type": "string", "enum": list(INCOME_LEVELS)},
    },
    "age_range": {
        "description": "Only publications that reach this age range.",
        "schema": {"type": "string", "enum": list(AGE_RANGES)},
    },
    "sort": {
        "description": "Sort order, highest or newest first.",
        "schema": {"type": "string", "enum": list(SORTS), "default": "created_at"},
    },
}

_URL_LIMIT = {"maxLength": checks.URL_LIMIT}
_MONEY = "In US dollars, with at most two decimals."

FIELDS: dict[str, Schema] = {
    "Campaign.uuid": {"description": "UUID of the campaign.", "examples": [CAMPAIGN]},
    "Campaign.name": {"description": "Name of the campaign.", "examples": ["The Morning Wax"]},
    "CampaignUpdate.name": {
        "description": "Name of the campaign.",
        "examples": ["The Morning Wax"],
    },
    "ReferralProgram.uuid": {"description": "UUID of the campaign.", "examples": [CAMPAIGN]},
    "ReferralProgram.name": {
        "description": "Name of the campaign.",
        "examples": ["The Morning Wax"],
    },
    "EarnedRewardView.name": {"description": "Name of the reward.", "examples": ["The mug"]},
    "SubscriberCreate.created_at": {
        "description": "When they subscribed, if not now. Used only for display and sorting.",
        "examples": ["2026-11-14T18:05:00Z"],
    },
    "SubscriberCreate.referrer_code": {
        "description": "Code of the subscriber or partner who referred them. An unknown code is ignored.",
    },
    "SubscriberCreate.status": {
        "description": "`active` by default. An `unsubscribed` person never counts as a referral and gets no email.",
        "enum": list(lifecycle.FIRST_STATUSES),
        "examples": ["active"],
    },
    "SubscriberUpdate.status": {
        "description": "`unsubscribed` if they left, `confirmed` if they confirmed their email address.",
        "enum": list(lifecycle.STATUSES),
        "examples": ["confirmed"],
    },
    "SubscriberUpdate.name": {"description": "Name of the subscriber. Null removes it."},
    # The response to a request that sends only the required fields.
    "WrittenSubscriber.referrals_count": {"examples": [0]},
    "WrittenSubscriber.ip_address": {"examples": [None]},
    "WrittenSubscriber.user_agent": {"examples": [None]},
    "WrittenSubscriber.utm_source": {"examples": [None]},
    "WrittenSubscriber.utm_campaign": {"examples": [None]},
    "Delivery.type": {"description": "Event type.", "examples": ["new_referral"]},
    "Delivery.status": {
        "enum": ["pending", "delivered", "failed", "cancelled"],
        "examples": ["delivered"],
    },
    "Attempt.at": {
        "description": "When we called your server.",
        "format": "date-time",
        "examples": [MOMENT],
    },
    "Attempt.error": {
        "description": "Why there was no response, if there was none.",
        "examples": [None],
    },
    "Attempt.response": {
        "description": "The beginning of your server's response.",
        "examples": ["ok"],
    },
    "Replay.since": {
        "description": "Send events from this time on.",
        "format": "date-time",
        "examples": ["2026-11-14T18:05:00Z"],
    },
    "message": {"description": "What was done.", "examples": ["Done."]},
    "email": {
        "description": "Email address. Unique in a campaign; upper and lower case are the same.",
        "format": "email",
        "maxLength": email_addresses.LONGEST,
        "examples": ["ana@example.org"],
    },
    "name": {"maxLength": checks.NAME_LIMIT, "examples": ["Ana Lopes"]},
    "ref_code": {"description": "Their own referral code.", "examples": ["k7m2x9pa"]},
    "referrer_code": {
        "description": "Code of the subscriber or partner who referred them.",
        "examples": ["ben4k2pq"],
    },
    "referrals_count": {
        "description": "Number of verified referrals.",
        "minimum": 0,
        "examples": [3],
    },
    "referred": {"description": "Whether they were referred.", "examples": [True]},
    "referral_status": {
        "description": "Whether their own referral counts. `verified` for subscribers who were not referred.",
        "enum": [str(status) for status in Status],
        "examples": ["verified"],
    },
    "ip_address": {
        "description": "IP address they signed up from, as you sent it.",
        "examples": ["203.0.113.24"],
    },
    "user_agent": {
        "description": "Browser they signed up with, as you sent it.",
        "maxLength": checks.USER_AGENT_LIMIT,
        "examples": ["Mozilla/5.0 (iPhone)"],
    },
    "origin": {
        "description": "How they joined: through the API, the hosted signup page, a magic link or an import.",
        "enum": list(lifecycle.ORIGINS),
        "examples": ["api"],
    },
    "referral_pending_duration": {
        "description": "Days a referral must stay subscribed before it is verified.",
        "minimum": 0,
        "maximum": programs.LONGEST_HOLD_DAYS,
        "examples": [14],
    },
    "utm_source": {
        "description": "Source of the signup, from the link.",
        "examples": ["instagram"],
    },
    "utm_campaign": {
        "description": "Campaign of the signup, from the link.",
        "examples": ["spring"],
    },
    "referral_link": {
        "description": "The link to share.",
        "format": "uri",
        "examples": ["https://go.example.org/r/k7m2x9pa"],
    },
    "referral_programs": {"description": "Present only with `expand=campaigns`."},
    "coupon_code": {
        "description": "Coupon code, for rewards that have one.",
        "examples": ["WAX-7Q2M"],
    },
    "uuid": {"description": "Unique identifier."},
    "meta": {"description": "Page number and totals."},
    "page": {"description": "Page number.", "minimum": 1, "examples": [1]},
    "per_page": {
        "description": "Items per page.",
        "minimum": 1,
        "maximum": paging.MOST_PER_PAGE,
        "examples": [50],
    },
    "total_pages": {"description": "Number of pages.", "minimum": 0, "examples": [1]},
    "verified": {"description": "Verified referrals.", "minimum": 0, "examples": [3]},
    "ReferralCounts.pending": {"description": "Pending referrals.", "examples": [1]},
    "pending": {"minimum": 0, "examples": [1]},
    "rejected": {"description": "Rejected referrals.", "minimum": 0, "examples": [0]},
    "description": {
        "maxLength": checks.DESCRIPTION_LIMIT,
        "examples": ["Bees, honey and the people who keep them."],
    },
    "terms": {
        "description": "Conditions for partners.",
        "maxLength": checks.TERMS_LIMIT,
        "examples": ["No paid search on our name."],
    },
    "slug": {
        "description": "Last part of the signup page's URL.",
        "maxLength": checks.SLUG_LIMIT,
        "examples": ["morning-wax"],
    },
    "cpa": {"description": f"Fee per new subscriber. {_MONEY}", "examples": [2.5]},
    "max_payout": {
        "description": f"Cap per partner: the most one partner can earn in a month. {_MONEY}",
        "examples": [250],
    },
    "total_budget": {
        "description": f"Monthly budget: the most the program spends in a month on all partners. {_MONEY}",
        "examples": [1000],
    },
    "amount_in_dollars": {"description": "Amount owed, in US dollars.", "examples": [412.5]},
    "paid": {"description": "Whether it has been paid."},
    "categories": {
        "description": "1 to 3 categories.",
        "examples": [["food & drink", "lifestyle"]],
    },
    "income_levels": {
        "description": "Income levels of the audience, at least one.",
        "examples": [["$50k - $75k"]],
    },
    "age_ranges": {
        "description": "Age ranges of the audience, at least one.",
        "examples": [["25 - 39", "40 - 59"]],
    },
    "audience_gender": {"description": "Gender of the audience.", "examples": ["mixed"]},
    "url": {
        "description": "URL that receives the events.",
        "examples": ["https://hooks.example.org/honeyguide"],
    },
    "events": {
        "description": "Which events are sent; null means not set. Requests can have the flags here or in the body itself."
    },
    "new_referral": {
        "description": "A subscriber was referred, and the referral was not rejected.",
        "examples": [True],
    },
    "new_partner_referral": {
        "description": "A partner's referral was verified: one to your program, or one of yours to another program.",
        "examples": [True],
    },
    "reward_unlocked": {"description": "A subscriber unlocked a reward.", "examples": [True]},
    "reward_redeemed": {
        "description": "A reward was claimed or marked as redeemed.",
        "examples": [None],
    },
    "event_id": {
        "description": "The same for every attempt. Use it to detect duplicates.",
        "examples": [f"msg_{PERSON}"],
    },
    "next_attempt_at": {
        "description": "When we try again; null if no further attempt is planned.",
        "examples": [None],
    },
    "status_code": {"description": "HTTP status of your server's response.", "examples": [200]},
    "latency_ms": {
        "description": "Response time of your server, in milliseconds.",
        "examples": [84],
    },
    "replayed": {
        "description": "Number of deliveries that are sent again.",
        "minimum": 0,
        "examples": [12],
    },
    "screening": {
        "description": "How strictly new referrals are screened: `flexible`, `strong` or `strict`.",
        "examples": ["strong"],
    },
    "hold_days": {
        "description": "Holding period in days before a new referral counts, 0 to 30.",
        "examples": [3],
    },
    "needs_confirmation": {
        "description": "Whether new subscribers must confirm their email address (double opt-in)."
    },
    "destination_url": {
        "description": "Page that referral links lead to. Null: the hosted signup page."
    },
    "signup_page_url": {"description": "URL of the hosted signup page."},
    "RewardCreate.referrals": {
        "description": "Verified referrals needed to unlock it.",
        "minimum": 1,
        "examples": [5],
    },
    "RewardUpdate.referrals": {
        "description": "Verified referrals needed to unlock it.",
        "minimum": 1,
        "examples": [5],
    },
    "Reward.referrals": {"description": "Verified referrals needed to unlock it.", "examples": [5]},
    "kind": {"description": "`manual`, `link`, `coupon` or `physical`.", "examples": ["physical"]},
    "recurring": {"description": "Whether it is earned again at every multiple of `referrals`."},
    "approval": {
        "description": "`automatic`, or `manual` if you approve each one.",
        "examples": ["automatic"],
    },
    "coupon_codes": {
        "description": "Unique codes to add to the pool.",
        "examples": [["WAX-7Q2M", "WAX-9KD4"]],
    },
    "coupon_codes_total": {"description": "Codes added to the pool; null without a pool."},
    "coupon_codes_left": {"description": "Codes left in the pool; null without a pool."},
    "shipping_details": {"description": "Postal address for a physical reward."},
    "reason": {
        "description": "Why the referral is pending or rejected, as a stable code.",
        "examples": ["same_network"],
    },
    "explanation": {
        "description": "The reason as a sentence.",
        "examples": ["Same IP network as the referrer within a day."],
    },
    "due_at": {"description": "When the holding period ends."},
    "rule": {"description": "The rule that decided."},
    "what_would_change_it": {"description": "What would change the status."},
    "decided_by": {"description": "Who decided it by hand, if anyone did.", "examples": ["api"]},
    "list_id": {
        "description": "ID of the list at your email service provider.",
        "examples": ["8f1c2d"],
    },
    "logo": {
        "description": "PNG or JPEG under 1 MB, as base64 or a data URI. In responses, its URL."
    },
    "enabled_partner_program": {
        "description": "Whether the publication's partner program is enabled."
    },
    "redirect_url": {"description": "Page that partner links lead to."},
    "thankyou_page_url": {
        "description": "Page shown after a magic-link signup. Null: the default page."
    },
    "resources_url": {"description": "Page with promotional material for partners."},
    "show_in_directory": {"description": "Whether the program is listed in the partner network."},
    "referral_pending_duration_enabled": {
        "description": "Whether referrals have a holding period."
    },
    "reason_for_recommending": {"description": "Why you want to recommend this publication."},
    "fee": {
        "description": "Fee for this referral, set when it arrived, in US dollars.",
        "examples": [2.5],
    },
    "charged": {
        "description": "Amount charged, in US dollars; null if nothing was charged.",
        "examples": [2.5],
    },
    "uncharged_reason": {
        "description": "Why a verified referral was not charged.",
        "examples": [None],
    },
    "spent": {"description": "Charged in this month, in US dollars.", "examples": [412.5]},
    "left": {"description": "Left of the monthly budget, in US dollars.", "examples": [587.5]},
    "reached": {
        "description": "Whether the monthly budget is reached. Nothing more is charged until it is raised above what is spent."
    },
    "confirmed": {"description": "Earned in this month, in US dollars.", "examples": [412.5]},
    "remaining_payout": {
        "description": "What you can still earn this month, in US dollars.",
        "examples": [87.5],
    },
    "confirmation_rate_30d": {
        "description": "Share of referrals decided in the last 30 days that were verified; null if none.",
        "examples": [0.86],
    },
    "budget_left": {"description": "`plenty`, `low` or `none`.", "examples": ["plenty"]},
    "own": {"description": "Whether the program is yours."},
    "joined": {"description": "Whether you have joined it."},
    "magic_link": {
        "description": "Link for your emails. It opens a page where readers subscribe with one click."
    },
    "secret": {
        "description": "Signing secret for everything we send to this webhook.",
        "examples": ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    },
}

# Defaults by the end of a field's name. An entry in FIELDS overrides them.
ENDINGS: dict[str, Schema] = {
    "uuid": {"format": "uuid", "examples": [PERSON]},
    "_at": {"format": "date-time", "examples": [MOMENT]},
    "_period": {"format": "date-time", "examples": ["2026-11-01T00:00:00.000Z"]},
    "url": {"format": "uri", **_URL_LIMIT, "examples": ["https://wax.example.org/welcome"]},
    "link": {"format": "uri", **_URL_LIMIT, "examples": ["https://wax.example.org/recipes"]},
}


def of_field(schema: str, field: str) -> Schema:
    """Description, examples and limits of a field. The most specific entry wins."""
    words: Schema = {}
    if field.startswith("total_") and field != "total_budget":
        words |= {"description": "Items in the whole list.", "minimum": 0, "examples": [1]}
    for ending, known in ENDINGS.items():
        if field.endswith(ending):
            words |= known
    return words | FIELDS.get(field, {}) | FIELDS.get(f"{schema}.{field}", {})
