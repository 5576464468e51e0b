"""This installation, as far as a domain function may know it: its addresses and its secret."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    base_url: str
    signup_page_host: str
    secret: bytes

    def keyed_hash(self, purpose: str, text: str) -> str:
        """What remains of a text when the text must go: equal for equals, and meaningless without our secret."""
        return hmac.new(self.secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()

    def reader_link(self, code: str) -> str:
        return f"{self.base_url}/r/{code}"
