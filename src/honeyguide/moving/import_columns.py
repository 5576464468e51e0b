"""The columns of an imported file: which column is which field, and how other platforms mark people
who left.

Every column is reported as used or ignored, so that nothing is dropped silently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.moving.import_files import ImportLine

FIELDS = {
    "email": "Email",
    "name": "Name",
    "last_name": "Last name (added to the name)",
    "referrer_code": "Referrer’s code",
    "created_at": "Signup date",
    "status": "Status",
    "subscribed": "Subscribed (yes or no)",
    "unsubscribed": "Unsubscribed (a date, or yes)",
    "utm_source": "Source",
    "utm_campaign": "Campaign",
    "tags": "Tags",
}
# Column names without case, spaces and punctuation.
_GUESSES = {
    "email": ("email", "emailaddress", "mail", "subscriberemail", "address"),
    "name": ("name", "fullname", "firstname", "subscribername"),
    "last_name": ("lastname", "surname", "familyname"),
    "referrer_code": ("referrercode", "referrer", "referredby", "ref"),
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
    "utm_source": ("utmsource", "source"),
    "utm_campaign": ("utmcampaign",),
    "tags": ("tags", "tag", "labels"),
}
# What a file from another referral tool has and an import does not take, by column names.
_LOSSES = {
    "referral codes": (
        *("refcode", "referralcode", "rhcode", "sharecode", "invitecode", "uniquecode"),
        *("reflink", "referrallink", "referralurl", "rhreflink", "sharelink", "shareurl"),
        *("invitelink", "uniquelink"),
    ),
    "signup dates": _GUESSES["created_at"],
    "referrers": (
        *("referrercode", "referrer", "referredby", "referreremail", "referredbyemail"),
        *("referrerid", "referreruuid", "referredbyid", "referringsubscriberid", "referrername"),
        *("inviter", "invitedby", "inviteremail", "sharer", "rhsharer"),
    ),
    "referral counts": (
        *("referrals", "referralscount", "referralcount", "totalreferrals", "referralstotal"),
        *("numberofreferrals", "verifiedreferrals", "rhtotref", "rhglobref"),
    ),
}
# How many lines tell whether a column has codes or email addresses.
_LOOKED_AT = 200
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
_YES = frozenset({"true", "yes", "y", "t", "1"})
_NO = frozenset({"false", "no", "n", "f", "0"})
_NEVER = _NO | {"", "never", "none", "null", "na"}


class Column(NamedTuple):
    name: str
    used_as: str | None  # None when the column is ignored


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def guess(header: list[str], lines: Sequence[ImportLine]) -> dict[str, int]:
    """Which column holds which field, by its name. A referrer's email address is no code."""
    names = [_plain(name) for name in header]
    found: dict[str, int] = {}
    for field, guesses in _GUESSES.items():
        place = next((names.index(each) for each in guesses if each in names), None)
        if place is not None and place not in found.values():
            found[field] = place
    looked_at = lines[:_LOOKED_AT]
    if any("@" in (cell(line.cells, found, "referrer_code") or "") for line in looked_at):
        del found["referrer_code"]
    return found


def losses(header: list[str], mapping: dict[str, int]) -> str:
    """What an import with these columns leaves out of the referrals in the file, as a sentence; ""
    if nothing."""
    lost = []
    for kind, guesses in _LOSSES.items():
        if kind == "signup dates" and "created_at" in mapping:
            continue
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
