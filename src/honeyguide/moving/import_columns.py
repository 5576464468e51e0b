"""The columns of an imported file: which column is which field, and how other platforms mark people
who left.

Every column is reported as used or ignored, so that nothing is dropped silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.moving.import_files import ImportLine
from honeyguide.referrals.rules import Status

FIELDS = {
    "email": "Email",
    "name": "Name",
    "last_name": "Last name (added to the name)",
    "ref_code": "Referral code (kept as ours if possible)",
    "code": "Other referral codes",
    "link": "Referral link",
    "own_id": "ID in the other tool",
    "referrer_code": "Referrer’s code",
    "referrer": "Referrer (code, email or ID)",
    "referral_status": "Status of the referral",
    "referral_reason": "Reason of that status",
    "referral_due_at": "When a pending referral is verified",
    "claimed_code": "Code that nobody had",
    "referrals_count": "Number of referrals",
    "adjustments": "Adjustments",
    "rewards_given": "Last reward given",
    "created_at": "Signup date",
    "status": "Status",
    "subscribed": "Subscribed (yes or no)",
    "unsubscribed": "Unsubscribed (a date, or yes)",
    "must_confirm": "Has to confirm (yes or no)",
    "utm_source": "Source",
    "utm_campaign": "Campaign",
    "ip_address": "IP address",
    "tags": "Tags",
}
# Column names without case, spaces and punctuation.
_GUESSES = {
    "email": ("email", "emailaddress", "mail", "subscriberemail", "address"),
    "name": ("name", "fullname", "firstname", "subscribername"),
    "last_name": ("lastname", "surname", "familyname"),
    "ref_code": ("refcode",),
    "code": (
        *("codes", "referralcode", "rhcode", "sharecode", "invitecode", "uniquecode"),
        *("socialid", "code"),
    ),
    "link": (
        *("referrallink", "reflink", "referralurl", "rhreflink", "sharelink", "shareurl"),
        *("invitelink", "uniquelink"),
    ),
    "referrer_code": ("referrercode",),
    "referrer": (
        *("referrer", "referredby", "referreremail", "referredbyemail", "ref", "referrerid"),
        *("referredbyid", "referringsubscriberid", "inviter", "invitedby", "inviteremail"),
        *("sharer", "rhsharer"),
    ),
    "referral_status": ("referralstatus",),
    "referral_reason": ("referralreason",),
    "referral_due_at": ("referraldueat",),
    "claimed_code": ("claimedcode",),
    "referrals_count": (
        *("referralsverified", "referrals", "referralscount", "referralcount", "totalreferrals"),
        *("referralstotal", "numberofreferrals", "verifiedreferrals", "rhtotref", "rhglobref"),
    ),
    "adjustments": ("adjustments",),
    "rewards_given": ("rhlastreward", "lastreward"),
    "created_at": (
        "createdat",
        "signedupat",
        "subscribedat",
        "date",
        "created",
        "optintime",
        "joined",
        "dateadded",
        *("signupdate", "signuptime", "registrationdate", "registeredat", "datecreated"),
        *("createdon", "subscriptiondate", "subscribedon", "joindate", "joinedat"),
    ),
    "status": ("status", "state", "subscriptionstatus"),
    # Ghost.
    "subscribed": ("subscribedtoemails", "subscribed"),
    # Mailchimp, Buttondown, Ghost, KickoffLabs, Substack.
    "unsubscribed": (
        *("unsubtime", "cleantime", "cleaned", "unsubscriptiondate", "deletedat", "optedout"),
        *("unsubscribedat", "unsubscribed", "emaildisabled"),
    ),
    "must_confirm": ("mustconfirm",),
    "utm_source": ("utmsource", "source"),
    "utm_campaign": ("utmcampaign",),
    "ip_address": ("ipaddress", "ip", "optinip"),
    "tags": ("tags", "tag", "labels"),
}
# What an import should take over if a file has it, by the fields for it.
_LOSSES = {
    "referral codes": ("ref_code", "code", "link"),
    "signup dates": ("created_at",),
    "referrers": ("referrer_code", "referrer"),
    "referral counts": ("referrals_count",),
}
_STATUSES = {
    **dict.fromkeys(
        ("active", "subscribed", "enabled", "pending", "unconfirmed", "validating"), "active"
    ),
    **dict.fromkeys(("free", "paid", "comped", "premium"), "active"),
    "confirmed": "confirmed",
    **dict.fromkeys(
        ("unsubscribed", "unsubscribe", "inactive", "cancelled", "canceled", "left"), "unsubscribed"
    ),
    **dict.fromkeys(
        ("bounced", "cleaned", "complained", "invalid", "blocklisted", "disabled"), "unsubscribed"
    ),
}
_REFERRAL_STATUSES = {
    **dict.fromkeys(
        ("verified", "confirmed", "approved", "qualified", "completed", "credited", "active"),
        Status.VERIFIED,
    ),
    **dict.fromkeys(
        ("creditawarded", "success", "successful", "true", "yes", "1"), Status.VERIFIED
    ),
    **dict.fromkeys(
        ("pending", "unconfirmed", "waiting", "held", "inreview", "creditpending"), Status.PENDING
    ),
    **dict.fromkeys(
        ("rejected", "invalid", "denied", "declined", "fraud", "spam", "unsubscribed"),
        Status.REJECTED,
    ),
    **dict.fromkeys(("creditexpired", "expired", "false", "no", "0"), Status.REJECTED),
}
_YES = frozenset({"true", "yes", "y", "t", "1"})
_NO = frozenset({"false", "no", "n", "f", "0"})
_NEVER = _NO | {"", "never", "none", "null", "na"}


Cell = Callable[[str], str | None]
"""What a line has for a field."""


class Column(NamedTuple):
    name: str
    used_as: str | None  # None when the column is ignored


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def guess(header: list[str], lines: Sequence[ImportLine]) -> dict[str, int]:
    """Which column holds which field, by its name."""
    names = [_plain(name) for name in header]
    found: dict[str, int] = {}
    for field, guesses in _GUESSES.items():
        place = next((names.index(each) for each in guesses if each in names), None)
        if place is not None and place not in found.values():
            found[field] = place
    return found


def losses(header: list[str], mapping: dict[str, int]) -> str:
    """What an import with these columns leaves out of the referrals in the file, as a sentence; ""
    if nothing."""
    lost = []
    for kind, fields in _LOSSES.items():
        if any(field in mapping for field in fields):
            continue
        guesses = {name for field in fields for name in _GUESSES[field]}
        names = [
            name
            for place, name in enumerate(header)
            if _plain(name) in guesses and place not in mapping.values()
        ]
        if names:
            lost.append(f"{kind} ({', '.join(names)})")
    return f"This import leaves out {'; '.join(lost)}." if lost else ""


def uses(header: list[str], mapping: dict[str, int]) -> list[Column]:
    """Every column of the file, in order, with the field it is used as."""
    return [
        Column(
            name or f"column {place + 1}",
            " and ".join(FIELDS[f] for f in FIELDS if mapping.get(f) == place) or None,
        )
        for place, name in enumerate(header)
    ]


def cell(cells: list[str], mapping: dict[str, int], field: str) -> str | None:
    place = mapping.get(field)
    return (cells[place] or None) if place is not None and place < len(cells) else None


def name(cells: list[str], mapping: dict[str, int]) -> str | None:
    """The name. Many tools keep the last name in a column of its own."""
    first, last = cell(cells, mapping, "name"), cell(cells, mapping, "last_name")
    if first is None or last is None:
        return first or last
    is_whole = first.casefold().endswith(last.casefold())
    return first if is_whole else f"{first} {last}"


def referral_status(word: str) -> Status | None:
    """What became of a referral, in whatever words the other tool has; None if they are unknown."""
    return _REFERRAL_STATUSES.get(_plain(word))


def says_yes(cells: list[str], mapping: dict[str, int], field: str) -> bool:
    return _plain(cell(cells, mapping, field) or "") in _YES


def status(cells: list[str], mapping: dict[str, int]) -> str:
    """The status of an imported line. One column that says they left is enough. An unknown word is
    an error, because somebody who left must not become active by a guess."""
    word = cell(cells, mapping, "status")
    given = _STATUSES.get(_plain(word)) if word else "active"
    if given is None:
        raise Invalid(
            "The status “{word}” is unknown. "
            "Use active, confirmed or unsubscribed, or ignore the column.",
            word=word,
        )
    answer = cell(cells, mapping, "subscribed")
    if answer and _plain(answer) not in _YES | _NO:
        raise Invalid("“{answer}” is neither yes nor no.", answer=answer)
    has_left = (answer and _plain(answer) in _NO) or _plain(
        cell(cells, mapping, "unsubscribed") or ""
    ) not in _NEVER
    return "unsubscribed" if has_left else given
