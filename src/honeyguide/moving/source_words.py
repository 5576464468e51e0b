"""What other tools write means: the status of somebody and of their referral, the code in a link,
the name of a file. `mapping` says in which place of a line each field is.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from honeyguide.kernel.errors import Invalid
from honeyguide.moving.source_columns import plain
from honeyguide.subscribers.codes import is_code
from honeyguide.subscribers.referral_states import Status

# Parameters in which tools put the code, with the incumbent's own first.
LINK_PARAMETERS = ("rh_ref", "ref", "grsf", "kid", "mwr", "referralCode", "referral")
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
_REFERRAL_WORDS = {
    Status.VERIFIED: (
        *("verified", "confirmed", "yes", "true", "1", "approved", "creditawarded", "converted"),
        *("qualified", "completed", "credited", "active", "success", "successful"),
    ),
    Status.PENDING: (*("pending", "unconfirmed", "waiting", "creditpending", "held", "inreview"),),
    Status.REJECTED: (
        *("rejected", "declined", "denied", "invalid", "fraudulent", "fraud", "spam"),
        *("creditexpired", "expired", "unsubscribed"),
    ),
    None: ("", "no", "false", "0", "none", "null", "na", "notreferred"),
}
_REFERRAL_STATUS = {word: status for status, words in _REFERRAL_WORDS.items() for word in words}
_YES = frozenset(["yes", "true", "y", "t", "1"])
_NO = frozenset(["no", "false", "n", "f", "0"])
_NEVER = _NO | {"", "never", "none", "null", "na"}


def cell(cells: list[str], mapping: dict[str, int], field: str) -> str | None:
    """What a line has for a field; None if it has nothing."""
    place = mapping.get(field)
    return (cells[place] or None) if place is not None and place < len(cells) else None


def full_name(cells: list[str], mapping: dict[str, int]) -> str | None:
    """Many tools keep the last name in a column of its own."""
    first, last = cell(cells, mapping, "name"), cell(cells, mapping, "last_name")
    if first is None or last is None:
        return first or last
    is_whole = first.casefold().endswith(last.casefold())
    return first if is_whole else f"{first} {last}"


def says_yes(cells: list[str], mapping: dict[str, int], field: str) -> bool:
    return plain(cell(cells, mapping, field) or "") in _YES


def status(cells: list[str], mapping: dict[str, int]) -> str:
    """The status of an imported line. One column that says they left is enough. An unknown word is
    an error, because somebody who left must not become active by a guess."""
    word = cell(cells, mapping, "status")
    given = _STATUSES.get(plain(word)) if word else "active"
    if given is None:
        raise Invalid(
            "The status “{word}” is unknown. "
            "Use active, confirmed or unsubscribed, or ignore the column.",
            word=word,
        )
    answer = cell(cells, mapping, "subscribed")
    if answer and plain(answer) not in _YES | _NO:
        raise Invalid("“{answer}” is neither yes nor no.", answer=answer)
    has_left = (answer and plain(answer) in _NO) or any(
        plain(cell(cells, mapping, field) or "") not in _NEVER
        for field in ("unsubscribed", "bounced")
    )
    return "unsubscribed" if has_left else given


def referral_status(cells: list[str], mapping: dict[str, int]) -> Status | None:
    """None if nobody referred them or the file does not say. An unknown word is an error: a
    rejected referral must not count by a guess."""
    if says_yes(cells, mapping, "rejected"):
        return Status.REJECTED
    text = cell(cells, mapping, "referral_status") or ""
    word = plain(text)
    if word not in _REFERRAL_STATUS:
        raise Invalid(
            "The referral status “{word}” is unknown. "
            "Use verified, pending or rejected, or ignore the column.",
            param="referral_status",
            word=text,
        )
    return _REFERRAL_STATUS[word]


def code_of_link(text: str) -> str | None:
    """The code in somebody's old link; None if there is none that we could keep."""
    text = text.strip()
    if is_code(text):
        return text
    try:
        url = urlsplit(text if "//" in text else f"//{text}")
        given = parse_qs(url.query, max_num_fields=100)
    except ValueError:
        return None
    parameters = {name.casefold(): values for name, values in given.items()}
    for name in LINK_PARAMETERS:
        for value in parameters.get(name.casefold(), ()):
            if is_code(value):
                return value
    last = unquote(url.path.rstrip("/").rpartition("/")[2])
    return last if is_code(last) else None


_FILE_STATUS = re.compile(r"(?:^|/)(subscribed|unsubscribed|nonsubscribed|cleaned)_[^/]*$")


def status_of_file(name: str) -> str | None:
    """What the name of a file in Mailchimp's archive says about everyone in it. "Nonsubscribed" are
    customers who never asked for the newsletter."""
    match = _FILE_STATUS.search(name.casefold())
    if match is None:
        return None
    return "active" if match[1] == "subscribed" else "unsubscribed"
