"""What other tools write means: the status of somebody and of their referral, the code in a link,
the name of a file.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import import_columns
from honeyguide.moving.source_columns import plain
from honeyguide.referrals.codes import is_code

# Parameters in which tools put the code, with the incumbent's own first.
LINK_PARAMETERS = ("rh_ref", "ref", "grsf", "kid", "mwr", "referralCode", "referral")
_REFERRAL_WORDS = {
    "verified": ("verified", "confirmed", "yes", "true", "approved", "creditawarded", "converted"),
    "pending": ("pending", "unconfirmed", "waiting", "creditpending"),
    "rejected": ("rejected", "declined", "fraudulent", "creditexpired", "expired"),
    None: ("", "no", "false", "none", "null", "na", "notreferred"),
}
_REFERRAL_STATUS = {word: status for status, words in _REFERRAL_WORDS.items() for word in words}


_YES = frozenset(["yes", "true", "y", "t", "1"])


def status(cells: list[str], mapping: dict[str, int]) -> str:
    """The status of an imported line, as `import_columns.status` finds it, except that a second
    column can also say that they left."""
    given = import_columns.status(cells, mapping)
    if given == "unsubscribed" or "bounced" not in mapping:
        return given
    second = import_columns.status(cells, {"unsubscribed": mapping["bounced"]})
    return second if second == "unsubscribed" else given


def referral_status(cells: list[str], mapping: dict[str, int]) -> str | None:
    """`verified`, `pending` or `rejected`; None if nobody referred them or the file does not say.
    An unknown word is an error: a rejected referral must not count by a guess."""
    if plain(import_columns.cell(cells, mapping, "rejected") or "") in _YES:
        return "rejected"
    text = import_columns.cell(cells, mapping, "referral_status") or ""
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
    except ValueError:
        return None
    parameters = {name.casefold(): values for name, values in parse_qs(url.query).items()}
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
