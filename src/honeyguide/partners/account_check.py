"""Proves that every row belongs to the account of what it is part of. Most of these columns are no
foreign keys, because each insert would pay for them. The ledger check runs these checks with its
own.
"""

from __future__ import annotations

from honeyguide.store.statements import beside
from honeyguide.subscribers.subscriber_check import CheckGroup, checks_of

PROMISES = {
    "lists_astray": (
        "Every total, day, page index and count of a list belongs to the account of its campaign "
        "or subscriber."
    ),
    "rewards_astray": "Every reward, earned reward and coupon code belongs to one account.",
    "consents_astray": (
        "Every branding, consent, tag, note, decision, logged change, saved filter, block list "
        "entry and erasure belongs to the account of its campaign or subscriber."
    ),
    "links_astray": "Every slug and click belongs to the account of the page or link it is for.",
    "events_astray": "Every event, delivery and attempt belongs to the account of its webhook.",
    "emails_astray": (
        "Every email belongs to the account of its subscriber, and every email and idempotency key "
        "to an existing account."
    ),
    "integrations_astray": (
        "Every integration, with what it wrote, received and has to write, belongs to one account."
    ),
    "members_astray": (
        "Every account has an owner, every session is of a member of the account it is in, and "
        "every API key is replaced by one of its own account."
    ),
    "imports_astray": "Every import, with its rows and errors, belongs to one account.",
    "partners_astray": (
        "Every program, partner, partner referral and budget belongs to the accounts of its owner "
        "and its partner."
    ),
}

_sql = beside(__file__)
GROUPS = tuple(CheckGroup(None, checks_of(_sql, name)) for name in PROMISES)
