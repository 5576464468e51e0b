"""Email addresses. Only syntax is checked, never DNS. The engines disagree about case, so all
folding is done here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import email_validator

from honeyguide.kernel import mailboxes
from honeyguide.kernel.errors import Invalid

LONGEST = 254
"""RFC 5321's limit on a whole address, counted in UTF-8 bytes."""

# The library refuses reserved names (.test, .local, .invalid) as undeliverable. We check syntax
# only, and people try the service out with such names. Clearing the list is the library's
# documented way.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()

# What nearly every signup looks like. Whatever matches, the library would return unchanged (a test
# compares them), at thirty times the cost. Everything else goes to the library, so this pattern
# never decides a refusal.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_plain = re.compile(rf"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:{_LABEL}\.)+[a-z]{{2,63}}").fullmatch


@dataclass(frozen=True, slots=True)
class EmailAddress:
    """An email address, parsed once. `EmailAddress(row.email)` trusts text that we stored."""

    text: str
    """The form we store and show."""

    @classmethod
    def parse(cls, text: str) -> EmailAddress:
        """The address that somebody typed, or `Invalid`.

        Surrounding spaces and tabs are trimmed. The local part keeps its case, in NFC. The domain
        is lower-case ASCII: an international one becomes punycode, which every mail server takes
        and no look-alike can imitate.
        """
        text = text.strip(" \t")
        # The length comes first, because the library's own check is quadratic in it. "--" may open
        # a reserved label or punycode, which only the library can judge.
        if len(text) <= LONGEST:
            if _plain(text) and "--" not in text:
                return cls(text)
            try:
                found = email_validator.validate_email(text, check_deliverability=False)
                address = cls(f"{found.local_part}@{found.ascii_domain}")
                if not address.text.isascii():
                    # Folding may turn a look-alike into an @, a dot or a space: check the key too.
                    email_validator.validate_email(address.key, check_deliverability=False)
                return address
            except ValueError:  # the library's errors, and those of idna below it
                pass
        raise Invalid("Email is invalid", param="email", code="invalid_email")

    @property
    def key(self) -> str:
        """Unique in a campaign: the same for every spelling in case, width or composition."""
        text = self.text
        if text.isascii():
            return text.lower()
        # Twice: folding case can undo the normal form, and normalizing can bring out new capitals.
        for _ in range(2):
            text = unicodedata.normalize("NFKC", text).casefold()
        return unicodedata.normalize("NFKC", text)

    @property
    def person(self) -> str:
        """The same for all spellings of one mailbox. Only for comparing: it is never shown, and
        nothing is sent to it."""
        return mailboxes.one_spelling(self.key)

    @property
    def earlier_person(self) -> str:
        """What `person` was in earlier versions."""
        return mailboxes.earlier_spelling(self.key)

    @property
    def domain(self) -> str:
        return self.text.rpartition("@")[2]
