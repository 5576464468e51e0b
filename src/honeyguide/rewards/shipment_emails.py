"""Tells subscribers that their rewards are on the way, a minute after they were marked as sent.

Until then marking can be undone. What one subscriber gets with the same tracking note to the same
town is one package, and one email. The email is written when it is due, so it has the note as it is
then.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.languages.language import Language
from honeyguide.mail import emails, shipment_texts
from honeyguide.mail.email_kinds import SHIPMENT_SENT
from honeyguide.mail.shipment_texts import Sending
from honeyguide.rewards.carriers import find_tracking
from honeyguide.rewards.shipments import UNDO_MS, PostalAddress, read_address
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, reader_emails, subscribers

# The job.
ANNOUNCING = "tell subscribers what was sent"
# After so many days somebody should write to the newsletter.
EXPECTED_DAYS = 14
TOWN_LIMIT = 80


class Recipient(NamedTuple):
    """A subscriber who is to be told."""

    account_id: str
    campaign_id: str
    subscriber_id: str

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


class SentReward(NamedTuple):
    name: str
    earned_ms: int
    sent_ms: int
    shipping: str | None
    tracking_note: str | None

    @property
    def town(self) -> str:
        return town_of(read_address(self.shipping))


_sql = beside(__file__)
_DUE = _sql.query("due", Recipient)
_LOCK = _sql.value("lock", str)
_TO_ANNOUNCE = _sql.query("to_announce", SentReward)
_MARK_ANNOUNCED = _sql.command("mark_announced")


async def due(tx: Tx, *, most: int) -> list[Recipient]:
    """Of all accounts."""
    return await tx.all(_DUE, ahead_ms=tx.now_ms + 2 * UNDO_MS, most=most)


async def announce(change: Change, subscriber_id: str) -> None:
    """One email for each package, unless the operator sends none or the subscriber left."""
    # Nobody marks these as not sent until the email is queued.
    if not await change.lock(_LOCK, subscriber_id=subscriber_id):
        return
    sent = await change.all(_TO_ANNOUNCE, subscriber_id=subscriber_id)
    await change.run(_MARK_ANNOUNCED, subscriber_id=subscriber_id)
    brand = await change.fact(branding.of)
    reader = await change.fact(subscribers.find, subscriber_id)
    if reader is None or reader.status == "unsubscribed" or not brand.sends_shipment_sent:
        return
    email_branding = brand.email_branding(change.site, reader.language)
    advocate = reader_emails.facts_of(change.site, reader)
    for package in packages(sent):
        sending = sending_of(email_branding.language, package)
        message = shipment_texts.shipment_sent(email_branding, advocate, sending)
        email = reader_emails.email_to(change, reader, SHIPMENT_SENT, message, email_branding)
        await emails.send(change.tx, email)


def packages(sent: list[SentReward]) -> list[list[SentReward]]:
    """What was sent together."""
    found: dict[tuple[str | None, str], list[SentReward]] = {}
    for each in sent:
        found.setdefault((each.tracking_note, each.town), []).append(each)
    return list(found.values())


def sending_of(language: Language, package: list[SentReward]) -> Sending:
    """What the email says about a package."""
    first = package[0]
    sent_ms = max(each.sent_ms for each in package)
    tracking = find_tracking(first.tracking_note)
    return Sending(
        rewards=language.enumeration(
            [
                name if n == 1 else f"{language.number(n)} × {name}"
                for name, n in Counter(each.name for each in package).items()
            ]
        ),
        earned=language.day(min(each.earned_ms for each in package)),
        sent=language.day(sent_ms),
        expected=language.day(sent_ms + EXPECTED_DAYS * DAY_MS),
        town=first.town,
        carrier=tracking.carrier if tracking else "",
        number=tracking.number if tracking else first.tracking_note or "",
        tracking_url=tracking.url if tracking else "",
    )


def town_of(address: PostalAddress | None) -> str:
    """As in "Brooklyn, NY"; empty once the address is removed."""
    if address is None:
        return ""
    return ", ".join(part for part in (address.city, address.region) if part)[:TOWN_LIMIT]
