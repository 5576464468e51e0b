"""What domain functions know about this installation: its URLs and its secret."""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from pathlib import Path

from honeyguide.kernel.email_addresses import EmailAddress

_SEAL = 16


@dataclass(frozen=True, slots=True)
class Site:
    base_url: str
    signup_page_host: str
    secret: bytes
    # Where logos are kept as files; None keeps them in the database.
    logo_folder: Path | None = None
    # Whether emails go anywhere: HONEYGUIDE_SMTP_URL is set.
    has_mail_server: bool = True
    # Whether DNS is asked which server takes the mail of a domain: HONEYGUIDE_MAIL_HOSTS.
    asks_mail_hosts: bool = False

    def keyed_hash(self, purpose: str, text: str) -> str:
        """What we keep of a text that must not be kept: equal for equal texts, meaningless without
        our secret."""
        return hmac.digest(self.secret, f"{purpose}\0{text}".encode(), "sha256").hex()

    def person_key(self, email: EmailAddress) -> str:
        """What is kept of a person for good: the same for all spellings of one mailbox."""
        return self.keyed_hash("person", email.person)

    def person_keys(self, email: EmailAddress) -> list[str]:
        """The key of today, and before it was changed, if that was another one."""
        spellings = dict.fromkeys((email.person, email.earlier_person))
        return [self.keyed_hash("person", each) for each in spellings]

    def reader_link(self, code: str) -> str:
        return f"{self.base_url}/r/{code}"

    def campaign_link(self, slug: str, code: str) -> str:
        """For a further code of a subscriber, which only their campaign knows."""
        return f"{self.base_url}/r/{slug}/{code}"

    def partner_link(self, code: str) -> str:
        return f"{self.base_url}/p/{code}"

    def magic_link(self, code: str) -> str:
        """Subscribes with one button; the sender adds `?email=` with the reader's address."""
        return f"{self.base_url}/m/{code}"

    def page_link(self, slug: str) -> str:
        """The hosted signup page of a campaign or program."""
        return f"{self.signup_page_host}/{slug}"

    def seal(self, purpose: str, content: bytes) -> str:
        """Text for a URL. Anyone can read its content; only we can make it, for this purpose."""
        return base64.urlsafe_b64encode(content + self._mac(purpose, content)).rstrip(b"=").decode()

    def unseal(self, purpose: str, token: str) -> bytes | None:
        """What was sealed for this purpose, or None for what we never made."""
        try:
            whole = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        content, mac = whole[:-_SEAL], whole[-_SEAL:]
        return content if hmac.compare_digest(mac, self._mac(purpose, content)) else None

    def _mac(self, purpose: str, content: bytes) -> bytes:
        return hmac.digest(self.secret, b"seal " + purpose.encode() + b"\0" + content, "sha256")[
            :_SEAL
        ]
