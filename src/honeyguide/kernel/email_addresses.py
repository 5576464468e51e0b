"""Email addresses: `address` gives the one form we store, `key` decides whether two are the same, `person` whether two belong
to one human. Syntax only is judged, never DNS. The engines' own notions of case are not trusted, so all folding is done here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NoReturn

import email_validator

from honeyguide.kernel.errors import Invalid

LONGEST = 254
"""RFC 5321's limit on a whole address, counted in UTF-8 bytes."""

# The library refuses reserved names (.test, .local, .invalid) as undeliverable; we judge syntax only, and people try the
# service out with exactly such names. Emptying the list is the library's own documented switch.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()

# What nearly every signup looks like. Narrower than the standard on purpose: whatever matches, the library would return
# unchanged (tested against it), at a thirtieth of its cost. Anything else takes the long way, so this never decides a refusal.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_plain = re.compile(rf"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:{_LABEL}\.)+[a-z]{{2,63}}").fullmatch


def address(text: str) -> str:
    """The form we store and show, or `Invalid`.

    Surrounding spaces and tabs are trimmed; the local part keeps its case, in NFC; the domain is lower-case ASCII: an
    international one becomes punycode, the only spelling every mail server takes and no look-alike can imitate.
    """
    text = text.strip(" \t")
    # The length comes first: the library's own check is quadratic in it. "--" may open a reserved label or punycode.
    if len(text) > LONGEST:
        _refuse()
    if _plain(text) and "--" not in text:
        return text
    try:
        found = email_validator.validate_email(text, check_deliverability=False)
        stored = f"{found.local_part}@{found.ascii_domain}"
        if not stored.isascii():
            # A look-alike may hide an @, a dot or a space that comes out in the folding: then the key would be no address.
            email_validator.validate_email(key(stored), check_deliverability=False)
    except ValueError:  # the library's errors, and those of idna below it
        _refuse()
    return stored


def _refuse() -> NoReturn:
    raise Invalid("Email is invalid", param="email", code="invalid_email")


def key(address: str) -> str:
    """What makes an address unique in a campaign: the same for every spelling in case, width or composition.

    Takes what `address` returned, so the domain is already in its one form.
    """
    if address.isascii():
        return address.lower()
    # Twice, because folding case can undo the normal form and normalising can bring out new capitals.
    for _ in range(2):
        address = unicodedata.normalize("NFKC", address).casefold()
    return unicodedata.normalize("NFKC", address)


_GMAIL = frozenset({"gmail.com", "googlemail.com"})

# Where everything after a `+` reaches the same mailbox. Only shared providers known for it are listed: at a private domain a
# `+` may be part of a name, and guessing wrong would reject an honest reader. Yahoo is left out: its tags follow a hyphen and
# a made-up base name, which cannot be told from a real one.
_TAGGING = _GMAIL | {
    *(
        "outlook.com",
        "outlook.de",
        "outlook.es",
        "outlook.fr",
        "outlook.it",
        "outlook.jp",
        "outlook.com.br",
        "outlook.com.au",
    ),
    *(
        "hotmail.com",
        "hotmail.co.uk",
        "hotmail.de",
        "hotmail.es",
        "hotmail.fr",
        "hotmail.it",
        "hotmail.nl",
        "hotmail.se",
    ),
    *(
        "live.com",
        "live.co.uk",
        "live.ca",
        "live.de",
        "live.fr",
        "live.it",
        "live.nl",
        "live.se",
        "live.com.au",
        "msn.com",
    ),
    *("icloud.com", "me.com", "mac.com"),
    *("fastmail.com", "fastmail.fm"),
    *("proton.me", "protonmail.com", "protonmail.ch", "pm.me"),
    *("zoho.com", "zoho.eu", "zoho.in", "zohomail.com", "zohomail.eu", "zohomail.in"),
    *("yandex.com", "yandex.ru", "ya.ru"),
    *("mailbox.org", "posteo.de", "runbox.com", "hey.com"),
}


def person(address: str) -> str:
    """Who reads the mailbox, as far as the address tells. For comparing only: mail is never sent to it, nobody ever sees it."""
    local, _, domain = key(address).rpartition("@")
    if domain in _TAGGING:
        # An address that is all tag keeps it, else every such address would be one person.
        local = local.partition("+")[0] or local
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


def mask(address: str) -> str:
    """Enough for its owner to recognise, too little for a stranger to write to: `a…@example.org`."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}…@{domain}"
