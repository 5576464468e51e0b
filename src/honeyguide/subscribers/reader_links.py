"""Links that act as a reader without a login: to their referral page, to confirm, to stop emails.

They are of a version, which is the reader's until their email address changes (a trigger sees to
that) or somebody asks for new links. From then on nothing that was sent before works. Links that
say no version are of version 0, as all of them were before there were versions.

One exception: whoever was asked to confirm can do so with the link that they were sent, as long as
they have the address that it was sent to. Else an owner could end it, and the referral with it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from honeyguide.events import change_log, changes
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import CODE_LENGTH
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub, links, subscribers
from honeyguide.subscribers.subscribers import Subscriber

HUB, STOP, CONFIRM = "hub", "stop", "confirm"
"""What their paths begin with."""
NOBODY = "-"
"""In a link to confirm: the signup came without a code."""
_STOP_PURPOSE, _CONFIRM_PURPOSE = "stop emails", "confirm"
_TIME = 6
_MAILBOX = 16
# No part of the pages' own addresses below /hub is as long.
_LINK = re.compile(rf"/({HUB}|{STOP}|{CONFIRM})/([\w-]{{20,}})", re.ASCII)

_sql = beside(__file__)
_END = _sql.command("end")


class SignedCode(NamedTuple):
    """What a link that we made says."""

    code: str
    link_version: int
    until_ms: int = 0
    mailbox: str = ""
    """Of the email in which a link to confirm is, as a keyed hash."""
    via: str = ""
    """Whose code the signup came with that it confirms. Empty in links of earlier versions."""

    @property
    def content(self) -> bytes:
        version = f" {self.link_version}" if self.link_version or self.mailbox else ""
        mailbox = f" {self.mailbox}" if self.mailbox else ""
        via = f" {self.via}" if self.via else ""
        return f"{self.code}{version}{mailbox}{via}".encode()


def _read(content: bytes, until_ms: int = 0) -> SignedCode:
    code, version, mailbox, via = [*content.decode().split(" "), "", "", ""][:4]
    return SignedCode(code, int(version or 0), until_ms, mailbox, via)


def stop_token(site: Site, ref_code: str, link_version: int = 0) -> str:
    return site.seal(_STOP_PURPOSE, SignedCode(ref_code, link_version).content)


def read_stop_token(site: Site, token: str) -> SignedCode | None:
    """None for a token that we never made."""
    content = site.unseal(_STOP_PURPOSE, token)
    return None if content is None else _read(content)


def confirm_token(site: Site, person: Subscriber, until_ms: int, via: str = "") -> str:
    """Of the signup with this code, or of the one that is shown."""
    mailbox = _mailbox(site, person)
    via = via or person.referrer_code or NOBODY
    signed = SignedCode(person.ref_code, person.link_version, mailbox=mailbox, via=via)
    return site.seal(_CONFIRM_PURPOSE, until_ms.to_bytes(_TIME, "big") + signed.content)


def _mailbox(site: Site, person: Subscriber) -> str:
    return site.keyed_hash(_CONFIRM_PURPOSE, EmailAddress(person.email).key)[:_MAILBOX]


def read_confirm_token(site: Site, token: str) -> SignedCode | None:
    """Also one that has expired: `until_ms` says so. None for a token that we never made."""
    content = site.unseal(_CONFIRM_PURPOSE, token)
    if content is None:
        return None
    return _read(content[_TIME:], int.from_bytes(content[:_TIME], "big"))


def code_in(site: Site, first: str, token: str) -> str | None:
    """A subscriber's code in one of these links, whatever is wrong with the rest of it: also of one
    who was erased."""
    if first == HUB:
        return token[:CODE_LENGTH]
    read = {STOP: read_stop_token, CONFIRM: read_confirm_token}.get(first)
    signed = read(site, token) if read else None
    return signed.code if signed else None


def without_keys(text: str) -> str:
    """For those who may read about subscribers and not act as them."""
    return _LINK.sub(r"/\1/…", text)


async def find(tx: Tx, site: Site, signed: SignedCode | None) -> tuple[Tenant, Subscriber] | None:
    """None for an erased subscriber, and for one who has other links by now."""
    found = await links.lookup(tx, signed.code) if signed else None
    if signed is None or found is None:
        return None
    tenant = Tenant(found.account_id, found.campaign_id)
    subscriber = await subscribers.find(Reading(tx, site, tenant, tx.now_ms), found.subscriber_id)
    if subscriber is None:
        return None
    is_asked = subscriber.must_confirm and subscriber.status == "active"
    if subscriber.link_version == signed.link_version or (
        is_asked and signed.mailbox == _mailbox(site, subscriber)
    ):
        return tenant, subscriber
    return None


async def renew(change: Change, id_or_email: str) -> Subscriber:
    """Ends every link that was sent to a subscriber."""
    person = await subscribers.get_locked(change, id_or_email)
    await change.run(_END, id=person.id)
    await changes.record(change, person.id)  # platforms show the link
    await change_log.record(change, "subscriber.links_renewed", person.id)
    person = await subscribers.get(change, person.id)
    await rewrite_unsent(change, person)
    return person


async def rewrite_unsent(change: Change, person: Subscriber) -> None:
    """Emails that have not left go to the address that they have now, with the links of now."""
    site = change.site

    def renewed(link: re.Match[str]) -> str:
        first, token = link.groups()
        if code_in(site, first, token) != person.ref_code:
            return link[0]
        if first == HUB:
            return f"/{HUB}/{hub.token(site, person.id, person.ref_code, person.link_version)}"
        if first == STOP:
            return f"/{STOP}/{stop_token(site, person.ref_code, person.link_version)}"
        signed = read_confirm_token(site, token)
        assert signed is not None  # its code was read
        return f"/{CONFIRM}/{confirm_token(site, person, signed.until_ms, signed.via)}"

    await emails.rewrite_unsent(
        change, person.id, EmailAddress(person.email), lambda text: _LINK.sub(renewed, text)
    )
