"""The demo's physical rewards: where they go, when they are sent, and which have arrived."""

from __future__ import annotations

import random
import re

from honeyguide.demo.setup import DemoAccount, DemoState
from honeyguide.kernel.clock import DAY_MS
from honeyguide.rewards import shipment_emails, shipments
from honeyguide.rewards.shipments import UNDO_MS, PostalAddress
from honeyguide.store import Tx
from honeyguide.store.reading import Reading
from honeyguide.subscribers.subscribers import Subscriber

# A street, which takes a number, with its own town.
PLACES = (
    ("{number} Linden Street, Apt 3B", "Brooklyn", "NY", "11215", "United States"),
    ("{number} E Cesar Chavez Street", "Austin", "TX", "78702", "United States"),
    ("{number} NW Hoyt Street", "Portland", "OR", "97209", "United States"),
    ("{number} Queen Street W", "Toronto", "ON", "M5H 2M9", "Canada"),
    ("{number} Mill Lane", "Leeds", None, "LS1 4DY", "United Kingdom"),
    ("Kastanienallee {number}", "Berlin", None, "10435", "Germany"),
    ("Sporgasse {number}", "Graz", None, "8010", "Austria"),
    ("Veldstraat {number}", "Ghent", None, "9000", "Belgium"),
    ("Via Garibaldi {number}", "Milano", "MI", "20121", "Italy"),
    ("{number} rue des Tilleuls", "Lyon", None, "69003", "France"),
    ("Vestergade {number}", "Aarhus", None, "8000", "Denmark"),
)
NOTES = (
    "USPS 9400 1000 0000 {0} {1} 17",
    "PostNord RR {2} {3} 785 SE",
    None,
    "DHL {0} {1} {2}",
    None,
)
ARRIVES_MS = 6 * DAY_MS


def address_of(subscriber: Subscriber) -> PostalAddress:
    """The same for all that one subscriber gets."""
    rng = random.Random(subscriber.email)
    street, city, region, postcode, country = rng.choice(PLACES)
    return PostalAddress(
        name=subscriber.name or _name_in(subscriber.email),
        line1=street.format(number=rng.randrange(1, 90)),
        city=city,
        region=region,
        postcode=postcode,
        country=country,
    )


def _name_in(email: str) -> str:
    """As in "Ben Okafor" of ben.okafor17@example.com."""
    words = re.findall(r"[a-z]+", email.partition("@")[0])
    return " ".join(word.capitalize() for word in words)


async def ship(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    """Sends what was claimed, tells the subscribers, and marks what has arrived."""
    change, by = state.change(tx, account, at_ms), account.newsletter.email
    for number, each in enumerate(
        await shipments.to_send(Reading(tx, state.site, account.tenant, at_ms), most=50)
    ):
        note = NOTES[number % len(NOTES)]
        rng = random.Random(each.id)
        digits = [f"{rng.randrange(1000):03d}" for _ in range(4)]
        tracking_note = note and note.format(f"0{digits[0]}", f"0{digits[1]}", *digits[2:])
        await shipments.mark_sent(change, each.id, by=by, tracking_note=tracking_note)
    later_ms = at_ms + UNDO_MS
    for recipient in await shipment_emails.due(tx.at(later_ms), most=500):
        if recipient.tenant == account.tenant:
            later = state.change(tx, account, later_ms)
            await shipment_emails.announce(later, recipient.subscriber_id)
    for number, each in enumerate(
        await shipments.sent(Reading(tx, state.site, account.tenant, at_ms), most=50)
    ):
        is_there = (each.sent_ms or at_ms) <= at_ms - ARRIVES_MS and number % 5
        if is_there and each.delivered_ms is None:
            await shipments.mark_delivered(change, each.id)
