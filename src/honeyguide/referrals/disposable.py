"""Domains of disposable mailboxes, from a public list. A subdomain of a listed domain counts as
listed.
"""

from __future__ import annotations

from disposable_email_domains import blocklist

LISTED: frozenset[str] = frozenset(blocklist)


def is_disposable(domain: str) -> bool:
    """Whether a domain, in the form `emails.address` stores it, belongs to a throw-away service."""
    while domain:
        if domain in LISTED:
            return True
        domain = domain.partition(".")[2]
    return False
