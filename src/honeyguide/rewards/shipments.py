"""Physical rewards to send and sent.

A shipment is an earned reward that was redeemed with a postal address, and has the same id. It is
to send until somebody marks it as sent; until then the subscriber can correct the address. A minute
later the subscriber is told (`shipment_emails`), and 90 days later the postal address is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log, outbox
from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.languages import countries
from honeyguide.rewards import earned_states
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import Statement, beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.page_index import TOP

UNKNOWN = "There is no such shipment."
TO_SEND, SENT, DELIVERED = earned_states.SHIPMENTS
SHIPMENT_STATUSES = earned_states.LISTED_SHIPMENTS
ADDRESS_KEPT_MS = 90 * DAY_MS
# How long marking as sent can be undone before anybody is told.
UNDO_MS = MINUTE_MS
ALREADY_SENT = "already_sent"
REMOVAL_BATCH = 100
# A limit for counts that need not be exact; no campaign has as many shipments.
NO_LIMIT = 1_000_000_000

Cursor = tuple[int, str]
_START: Cursor = (-1, "")


# "Brooklyn, NY 11215", and "Leeds" with the postcode below it. Elsewhere "10435 Berlin".
_TOWN_FIRST, _POSTCODE_LAST = ("US", "CA", "AU"), ("GB", "IE")


class PostalAddress(msgspec.Struct, frozen=True):
    """Where a physical reward goes."""

    name: str
    line1: str
    city: str
    postcode: str
    country: str
    line2: str | None = None
    region: str | None = None
    phone: str | None = None

    @property
    def lines(self) -> list[str]:
        """As on a label, without the name: the town is written as its country writes it."""
        code, town = countries.code_of(self.country), [f"{self.postcode} {self.city}", self.region]
        if code in _TOWN_FIRST:
            place = f"{self.city}, {self.region}" if self.region else self.city
            town = [f"{place} {self.postcode}"]
        elif code in _POSTCODE_LAST:
            town = [self.city, self.region, self.postcode]
        elif code == "IT" and self.region:
            town = [f"{self.postcode} {self.city} {self.region}"]
        written = (self.line1, self.line2, *town, self.country, self.phone)
        return [line for line in written if line]

    def checked(self) -> PostalAddress:
        for field in self.__struct_fields__:
            value = getattr(self, field)
            needed = field not in ("line2", "region", "phone")
            if value is not None or needed:
                checks.text(
                    value or "", param=field, limit=checks.STRING_LIMIT, blank_ok=not needed
                )
        return self


def read_address(shipping: str | None) -> PostalAddress | None:
    """The postal address as it is stored; None if there is none, or none any more."""
    return msgspec.json.decode(shipping, type=PostalAddress) if shipping else None


class Shipment(NamedTuple):
    id: str
    reward_id: str
    subscriber_id: str
    name: str  # of the reward
    variant: str | None
    shipping: str | None  # null once the postal address is removed
    claimed_ms: int
    sent_ms: int | None
    sent_by: str | None
    tracking_note: str | None
    announce_ms: int | None  # null once the subscriber was told
    delivered_ms: int | None
    address_changed_ms: int | None  # by the subscriber
    email: str | None  # null after an erasure
    subscriber_name: str | None

    @property
    def status(self) -> str:
        return TO_SEND if self.sent_ms is None else SENT

    @property
    def address(self) -> PostalAddress | None:
        return read_address(self.shipping)

    @property
    def address_kept_until_ms(self) -> int | None:
        return None if self.sent_ms is None else self.sent_ms + ADDRESS_KEPT_MS


class RewardToSend(NamedTuple):
    """How many of one reward are to send."""

    id: str
    name: str
    to_send: int


class Unclaimed(NamedTuple):
    """A physical reward that somebody earned and has given no address for."""

    id: str  # of the subscriber
    email: str
    name: str | None
    reward: str
    earned_ms: int


class OldAddress(NamedTuple):
    id: str
    account_id: str
    subscriber_id: str
    redeemed_ms: int


_sql = beside(__file__)
_CREATE = _sql.command("create")
_BY_ID = _sql.query("by_id", Shipment)
_BY_IDS = _sql.query("by_ids", Shipment)
_TO_SEND = _sql.query("to_send", Shipment)
_TO_SEND_OF_REWARD = _sql.query("to_send_of_reward", Shipment)
_SENT = _sql.query("sent", Shipment)
_NEWEST_FIRST = {
    str(status): _sql.query(f"{status}_newest_first", Shipment) for status in SHIPMENT_STATUSES
}
_COUNTS = {str(status): _sql.value(f"count_{status}", int) for status in SHIPMENT_STATUSES}
_UNCLAIMED_OF_REWARD = _sql.query("unclaimed_of_reward", Unclaimed)
_PHYSICAL_REWARDS = _sql.value("physical_rewards", str)
_COUNT_TO_SEND_BY_REWARD = _sql.query("count_to_send_by_reward", RewardToSend)
_MARK_SENT = _sql.command("mark_sent")
_MARK_UNSENT = _sql.command("mark_unsent")
_NOT_ANNOUNCED = _sql.value("not_announced", str)
_CHANGE_NOTE = _sql.command("change_note")
_MARK_DELIVERED = _sql.command("mark_delivered")
_MARK_UNDELIVERED = _sql.command("mark_undelivered")
_CORRECT_ADDRESS = _sql.command("correct_address")
_WITH_OLD_ADDRESS = _sql.query("with_old_address", OldAddress)
_REMOVE_ADDRESS = _sql.command("remove_address")
_ERASE = _sql.command("erase")


async def create(
    change: Change, earned_id: str, address: PostalAddress, variant: str | None
) -> None:
    """Every new shipment is made here, by the claim of a physical reward, in its transaction."""
    text = _stored(address)
    await change.run(_CREATE, id=earned_id, address=text, variant=variant)


def _stored(address: PostalAddress) -> str:
    return msgspec.json.encode(address).decode()


async def get(at: Reading, shipment_id: str) -> Shipment:
    found = await at.one(_BY_ID, id=shipment_id) if is_id(shipment_id) else None
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def find_many(at: Reading, ids: Sequence[str]) -> dict[str, Shipment]:
    """Those of these that there are, by id."""
    found = await at.all(_BY_IDS, ids=list(ids))
    return {each.id: each for each in found}


async def count(at: Reading, status: str, *, most: int = NO_LIMIT) -> int:
    """How many there are, counted up to `most`."""
    return await at.one(_COUNTS[status], most=most) or 0


async def count_open(at: Reading, *, most: int = NO_LIMIT) -> int:
    return await count(at, TO_SEND, most=most)


async def count_open_by_reward(at: Reading, *, most: int) -> list[RewardToSend]:
    """Every physical reward of which something is to send."""
    counts = await at.all(_COUNT_TO_SEND_BY_REWARD, most=most)
    return [each for each in counts if each.to_send]


async def unclaimed(at: Reading, *, most: int) -> list[Unclaimed]:
    """Those who have waited longest. Each reward is asked for alone, as the index is by reward;
    nobody offers many physical ones."""
    found = [
        each
        for reward_id in await at.all(_PHYSICAL_REWARDS)
        for each in await at.all(_UNCLAIMED_OF_REWARD, reward_id=reward_id, most=most)
    ]
    return sorted(found, key=lambda each: each.earned_ms)[:most]


async def page_newest_first(at: Reading, status: str, page: Page) -> tuple[list[Shipment], int]:
    """By the time of the claim, as every list of the API is ordered."""
    rows = await at.all(_NEWEST_FIRST[status], most=page.per_page, skip=page.skip)
    return rows, await count(at, status)


async def to_send(
    at: Reading,
    *,
    reward_id: str | None = None,
    after: Cursor | None = None,
    most: int,
    skip: int = 0,
) -> list[Shipment]:
    """Oldest claim first; of one reward, or of all. `after` is the last row that was read."""
    after_ms, after_id = after or _START
    where: dict[str, Any] = {"after_ms": after_ms, "after_id": after_id, "most": most, "skip": skip}
    if reward_id is None:
        return await at.all(_TO_SEND, **where)
    return await at.all(_TO_SEND_OF_REWARD, reward_id=reward_id, **where)


async def sent(
    at: Reading, *, after: Cursor | None = None, most: int, skip: int = 0
) -> list[Shipment]:
    """Sent last comes first."""
    after_ms, after_id = after or TOP
    return await at.all(_SENT, after_ms=after_ms, after_id=after_id, most=most, skip=skip)


def clean_note(tracking_note: str | None) -> str | None:
    """As it is stored; None if it says nothing."""
    if tracking_note is not None:
        checks.text(tracking_note, param="tracking_note", limit=checks.STRING_LIMIT)
    return (tracking_note or "").strip() or None


async def mark_sent(
    change: Change,
    shipment_id: str,
    *,
    by: str,
    tracking_note: str | None,
    batch: str | None = None,
) -> tuple[Shipment, bool]:
    """The shipment, and whether this call marked it. If somebody else did before, it stays as it
    is, and says who and when. `batch` is the id that undoes all that were marked together."""
    note = clean_note(tracking_note)
    found = await get(change, shipment_id)
    marked = await change.run(
        _MARK_SENT,
        id=found.id,
        by=by,
        tracking_note=note,
        announce_ms=change.now_ms + UNDO_MS,
        batch=batch,
    )
    if marked:
        # Without the note: an erasure removes it from the shipment.
        await _log_status(change, "shipment.sent", found.id, TO_SEND, SENT)
    return await get(change, found.id), marked == 1


async def _log_status(change: Change, action: str, shipment_id: str, old: str, new: str) -> None:
    await change_log.record(change, action, shipment_id, {"status": old}, {"status": new})


async def _move(
    change: Change,
    shipment_id: str,
    command: Statement[None],
    action: str,
    *,
    before: str,
    after: str,
) -> bool:
    """Returns whether it was in the state before."""
    found = await get(change, shipment_id)
    moved = await change.run(command, id=found.id)
    if moved:
        await _log_status(change, action, found.id, before, after)
    return moved == 1


async def mark_unsent(change: Change, shipment_id: str) -> bool:
    """Takes `mark_sent` back while there is an address. Returns whether it had been sent."""
    return await _move(
        change, shipment_id, _MARK_UNSENT, "shipment.unsent", before=SENT, after=TO_SEND
    )


async def undo_sent(change: Change, batch: str) -> int:
    """Takes back what was marked as sent together and nobody was told about. Returns how many."""
    ids = await change.lock(_NOT_ANNOUNCED, batch=batch)
    return sum([await mark_unsent(change, each) for each in ids])


async def change_note(
    change: Change, shipment_id: str, tracking_note: str | None, *, tell: bool
) -> bool:
    """Changes the note of what was sent. With `tell`, the subscriber gets another email, a minute
    later. Returns whether anything changed."""
    note = clean_note(tracking_note)
    found = await get(change, shipment_id)
    if found.sent_ms is None or (note == found.tracking_note and not tell):
        return False
    announce_ms = change.now_ms + UNDO_MS if tell else None
    await change.run(_CHANGE_NOTE, id=found.id, tracking_note=note, announce_ms=announce_ms)
    after = {"has_tracking_note": note is not None}
    await change_log.record(change, "shipment.note_changed", found.id, None, after)
    return True


async def mark_delivered(change: Change, shipment_id: str) -> bool:
    """Returns whether this call marked it: it must have been sent."""
    return await _move(
        change, shipment_id, _MARK_DELIVERED, "shipment.delivered", before=SENT, after=DELIVERED
    )


async def mark_undelivered(change: Change, shipment_id: str) -> bool:
    return await _move(
        change, shipment_id, _MARK_UNDELIVERED, "shipment.undelivered", before=DELIVERED, after=SENT
    )


async def correct_address(
    change: Change,
    shipment_id: str,
    subscriber_id: str,
    address: PostalAddress,
    variant: str | None,
) -> None:
    """By the subscriber, until somebody marks it as sent."""
    text = _stored(address.checked())
    if not await change.run(
        _CORRECT_ADDRESS,
        id=shipment_id,
        subscriber_id=subscriber_id,
        address=text,
        variant=variant,
    ):
        raise Invalid("This shipment was sent already.", code=ALREADY_SENT)
    # Without the address: the log is kept longer.
    after = {"is_corrected": True}
    await change_log.record(change, "shipment.address_corrected", shipment_id, None, after)


async def with_old_address(tx: Tx, *, most: int) -> list[OldAddress]:
    """What was sent 90 days ago."""
    return await tx.all(_WITH_OLD_ADDRESS, before_ms=tx.now_ms - ADDRESS_KEPT_MS, batch=most)


async def remove_addresses(tx: Tx, old: Sequence[OldAddress]) -> None:
    """Their postal addresses, also from stored events."""
    for each in old:
        await tx.run(_REMOVE_ADDRESS, account_id=each.account_id, id=each.id)
        await outbox.remove_shipping_details(
            tx, each.account_id, each.subscriber_id, created_ms=each.redeemed_ms
        )
    tx.scrub()


async def erase(change: Change, subscriber_id: str) -> None:
    """What is to send leaves the list with its address; what was sent stays, without the note."""
    await change.run(_ERASE, subscriber_id=subscriber_id)
