"""Whether a mail server's refusal says that there is no such mailbox."""

from __future__ import annotations

import re

_NO_MAILBOX = (550, 551, 553)
# A bad mailbox, host or syntax; moved without a new address; a domain that takes no email; a
# mailbox that was closed.
_NO_MAILBOX_ENHANCED = frozenset({"1.0", "1.1", "1.2", "1.3", "1.6", "1.10", "2.1"})
_ENHANCED = re.compile(r"5\.([0-9]{1,3}\.[0-9]{1,3})\b")


def is_bounce(code: int, message: str, *, of_recipient: bool) -> bool:
    """Rather than that the server does not want this email. Most say so in an enhanced status code
    (RFC 3463); of the others, only a plain refusal of the recipient counts."""
    enhanced = _ENHANCED.match(message)
    if enhanced is None:
        return of_recipient and code in _NO_MAILBOX
    return enhanced[1] in _NO_MAILBOX_ENHANCED
