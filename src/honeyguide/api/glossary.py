"""The words of the API: what each parameter, field and group means, said once, for the OpenAPI document and the reference.

A new query parameter needs an entry in `QUERY`. A new field needs none, but reads better with one: look here by
`Schema.field` first, then by `field`, then by the end of its name.
"""

from __future__ import annotations

from typing import Any

from honeyguide.kernel import checks, emails, paging
from honeyguide.partners import programs
from honeyguide.partners.catalogue import AGE_RANGES, CATEGORIES, GENDERS, INCOME_LEVELS
from honeyguide.partners.directory import SORTS
from honeyguide.referrals import people, subscribers
from honeyguide.referrals.rules import Status

Schema = dict[str, Any]

CAMPAIGN = "019a86f0-2c1e-7d35-8a44-91b7c6e05f12"
PERSON = "019a8c3e-5b7d-7c41-9f02-6d1e8a4b2c57"
MOMENT = "2026-11-15T01:30:01.123Z"

TAGS: dict[str, str] = {
    "Campaigns": "The referral program of your account. There is exactly one; it was made with the account.",
    "Subscribers": "The people in a campaign. Each has a code of their own to share, and may have come by somebody else's.",
    "Rewards": "What an advocate earns for the readers they bring.",
    "Webhooks": "Addresses of yours that are told when something happens.",
    "Publications": "Your newsletters, and whom they reach.",
    "Partner programs": "The paid offers your publications make to partners.",
    "Partner network": "Programs of others that you can join.",
    "Partner campaigns": "The programs you have joined, with your links.",
    "Earnings": "What you earn as a partner, month by month.",
    "Payouts": "What you are owed as a partner, one for each closed month.",
}

QUERY: dict[str, Schema] = {
    "type": {
        "description": "Which of them: everybody, those who were referred, or those who brought at least one verified reader.",
        "schema": {"type": "string", "enum": list(people.KINDS), "default": "all"},
    },
    "expand": {
        "description": "`campaigns` adds `referral_programs`: link, counts and rewards of each subscriber.",
        "schema": {"type": "string", "enum": ["campaigns"]},
    },
    "page": {
        "description": "Which page. One past the end is an empty list.",
        "schema": {"type": "integer", "minimum": 1, "maximum": paging.LAST_PAGE, "default": 1},
    },
    "per_page": {
        "description": f"How many on a page. More than {paging.MOST_PER_PAGE} is served as {paging.MOST_PER_PAGE}.",
        "schema": {"type": "integer", "minimum": 1, "default": paging.PER_PAGE},
    },
    "month": {
        "description": "A UTC calendar month, `YYYY-MM`; default is the present one.",
        "schema": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
    },
    "search": {
        "description": "Words of a publication's name, text or categories, by how they begin; a name by any three letters.",
        "schema": {"type": "string"},
    },
    "category": {"description": "One of the publication's categories.", "schema": {"type": "string", "enum": list(CATEGORIES)}},
    "min_cpa": {"description": "The least fee per new subscriber, in US dollars.", "schema": {"type": "number", "minimum": 0}},
    "audience_gender": {"description": "The publication's audience.", "schema": {"type": "string", "enum": list(GENDERS)}},
    "income_level": {
        "description": "One of the audience's income levels.",
        "schema": {"type": "string", "enum": list(INCOME_LEVELS)},
    },
    "age_range": {"description": "One of the audience's age ranges.", "schema": {"type": "string", "enum": list(AGE_RANGES)}},
    "sort": {
        "description": "What to order by, highest or newest first.",
        "schema": {"type": "string", "enum": list(SORTS), "default": "created_at"},
    },
}

_URL_LIMIT = {"maxLength": checks.URL_LIMIT}
_MONEY = "In US dollars, with at most two decimals."

FIELDS: dict[str, Schema] = {
    "Campaign.uuid": {"description": "Identifies the campaign.", "examples": [CAMPAIGN]},
    "Campaign.name": {"description": "What the campaign is called.", "examples": ["The Morning Wax"]},
    "CampaignUpdate.name": {"description": "What the campaign is called.", "examples": ["The Morning Wax"]},
    "ReferralProgram.uuid": {"description": "Identifies the campaign.", "examples": [CAMPAIGN]},
    "ReferralProgram.name": {"description": "What the campaign is called.", "examples": ["The Morning Wax"]},
    "WonReward.name": {"description": "What the reward is called.", "examples": ["The mug"]},
    "SubscriberCreate.created_at": {
        "description": "When they subscribed, if not now; it may lie in the past. For display and order only.",
        "examples": ["2026-11-14T18:05:00Z"],
    },
    "SubscriberCreate.referrer_code": {
        "description": "Code of the subscriber or partner who brought them. An unknown code is taken as none.",
    },
    "SubscriberCreate.status": {
        "description": "`active` by default. An `unsubscribed` person never counts as a referral and gets no email.",
        "enum": list(subscribers.FIRST_STATUSES),
        "examples": ["active"],
    },
    "SubscriberUpdate.status": {
        "description": "`unsubscribed` says that they left, `confirmed` that they confirmed their address.",
        "enum": list(subscribers.STATUSES),
        "examples": ["confirmed"],
    },
    "SubscriberUpdate.name": {"description": "Their name; null clears it."},
    # What a request that names nothing else comes back with.
    "WrittenSubscriber.referrals_count": {"examples": [0]},
    "WrittenSubscriber.ip_address": {"examples": [None]},
    "WrittenSubscriber.user_agent": {"examples": [None]},
    "WrittenSubscriber.utm_source": {"examples": [None]},
    "WrittenSubscriber.utm_campaign": {"examples": [None]},
    "Delivery.type": {"description": "What happened.", "examples": ["new_referral"]},
    "Delivery.status": {
        "enum": ["pending", "delivered", "failed", "cancelled"],
        "examples": ["delivered"],
    },
    "Attempt.at": {"format": "date-time", "examples": [MOMENT]},
    "Attempt.error": {"description": "Why no answer came, if none did.", "examples": [None]},
    "Attempt.response": {"description": "The beginning of what your server answered.", "examples": ["ok"]},
    "Replay.since": {"description": "From when on.", "format": "date-time", "examples": ["2026-11-14T18:05:00Z"]},
    "message": {"description": "What was done.", "examples": ["Done."]},
    "email": {
        "description": "One per campaign, whatever its case.",
        "format": "email",
        "maxLength": emails.LONGEST,
        "examples": ["ana@example.org"],
    },
    "name": {"maxLength": checks.NAME_LIMIT, "examples": ["Ana Lopes"]},
    "ref_code": {"description": "Their own referral code.", "examples": ["k7m2x9pa"]},
    "referrer_code": {"description": "Code of whoever referred them.", "examples": ["ben4k2pq"]},
    "referrals_count": {"description": "How many verified readers they brought.", "minimum": 0, "examples": [3]},
    "referred": {"description": "Whether somebody referred them.", "examples": [True]},
    "referral_status": {
        "description": "Whether their own referral counts. Somebody nobody referred reads `verified`.",
        "enum": [str(status) for status in Status],
        "examples": ["verified"],
    },
    "ip_address": {"description": "Address they signed up from, as you gave it.", "examples": ["203.0.113.24"]},
    "user_agent": {
        "description": "Browser they signed up with, as you gave it.",
        "maxLength": checks.USER_AGENT_LIMIT,
        "examples": ["Mozilla/5.0 (iPhone)"],
    },
    "origin": {
        "description": "How they joined: the API, the hosted signup page, a magic link or an import.",
        "enum": list(subscribers.ORIGINS),
        "examples": ["api"],
    },
    "referral_pending_duration": {
        "description": "Days a referral must stay subscribed before it is verified.",
        "minimum": 0,
        "maximum": programs.LONGEST_HOLD_DAYS,
        "examples": [14],
    },
    "utm_source": {"examples": ["instagram"]},
    "utm_campaign": {"examples": ["spring"]},
    "referral_link": {"description": "The link to share.", "format": "uri", "examples": ["https://go.example.org/r/k7m2x9pa"]},
    "referral_programs": {"description": "Only with `expand=campaigns`."},
    "coupon_code": {"examples": ["WAX-7Q2M"]},
    "meta": {"description": "Where this page stands in the whole list."},
    "page": {"minimum": 1, "examples": [1]},
    "per_page": {"minimum": 1, "maximum": paging.MOST_PER_PAGE, "examples": [50]},
    "total_pages": {"minimum": 0, "examples": [1]},
    "verified": {"minimum": 0, "examples": [3]},
    "pending": {"minimum": 0, "examples": [1]},
    "rejected": {"minimum": 0, "examples": [0]},
    "description": {"maxLength": checks.DESCRIPTION_LIMIT, "examples": ["Bees, honey and the people who keep them."]},
    "terms": {
        "description": "Conditions of your own.",
        "maxLength": checks.TERMS_LIMIT,
        "examples": ["No paid search on our name."],
    },
    "slug": {
        "description": "Last part of the signup page's address.",
        "maxLength": checks.SLUG_LIMIT,
        "examples": ["morning-wax"],
    },
    "cpa": {"description": f"Fee per new subscriber. {_MONEY}", "examples": [2.5]},
    "max_payout": {"description": f"Most one partner can earn in a month. {_MONEY}", "examples": [250]},
    "total_budget": {"description": f"Most the program spends in a month, over all partners. {_MONEY}", "examples": [1000]},
    "reached": {
        "description": "Whether the month's budget is reached: nothing more is charged until it is raised above what is spent.",
    },
    "amount_in_dollars": {"description": "Amount owed, in US dollars.", "examples": [412.5]},
    "paid": {"description": "Whether it has been paid out."},
    "categories": {"examples": [["food & drink", "lifestyle"]]},
    "income_levels": {"examples": [["$50k - $75k"]]},
    "age_ranges": {"examples": [["25 - 39", "40 - 59"]]},
    "audience_gender": {"examples": ["mixed"]},
    "url": {"description": "Where to send the events.", "examples": ["https://hooks.example.org/honeyguide"]},
    "events": {"description": "Which events are sent; null is unset. In a request, the same flags in another place."},
    "new_referral": {"description": "Somebody was referred, and not rejected.", "examples": [True]},
    "new_partner_referral": {
        "description": "A partner's referral was verified, in your program or by your link.",
        "examples": [True],
    },
    "reward_unlocked": {"description": "An advocate reached a reward.", "examples": [True]},
    "reward_redeemed": {"description": "An advocate claimed a reward.", "examples": [None]},
    "event_id": {"description": "The same in every attempt; use it to spot repeats.", "examples": [f"msg_{PERSON}"]},
    "next_attempt_at": {"description": "When we try again; null once it is settled.", "examples": [None]},
    "status_code": {"description": "What your server answered with.", "examples": [200]},
    "latency_ms": {"description": "How long your server took, in milliseconds.", "examples": [84]},
    "replayed": {"description": "How many deliveries are sent again.", "minimum": 0, "examples": [12]},
    "secret": {"description": "Signs what we send to this address.", "examples": ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]},
}

# By the end of the name, for fields that have no entry of their own or none of these words in it.
ENDINGS: dict[str, Schema] = {
    "uuid": {"format": "uuid", "examples": [PERSON]},
    "_at": {"format": "date-time", "examples": [MOMENT]},
    "_period": {"format": "date-time", "examples": ["2026-11-01T00:00:00.000Z"]},
    "url": {"format": "uri", **_URL_LIMIT, "examples": ["https://wax.example.org/welcome"]},
    "link": {"format": "uri", **_URL_LIMIT, "examples": ["https://wax.example.org/recipes"]},
}


def of_field(schema: str, field: str) -> Schema:
    """What is known about a field beyond its type; the most particular words win."""
    words: Schema = {}
    if field.startswith("total_") and field != "total_budget":
        words |= {"minimum": 0, "examples": [1]}
    for ending, known in ENDINGS.items():
        if field.endswith(ending):
            words |= known
    return words | FIELDS.get(field, {}) | FIELDS.get(f"{schema}.{field}", {})
