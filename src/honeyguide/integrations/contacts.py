"""Subscribers as a platform should know them, and whether it does already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from honeyguide.integrations import adoption
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.adoption import AdoptionValue
from honeyguide.integrations.integrations import ADOPT, Integration
from honeyguide.integrations.platform import Contact, ContactStatus
from honeyguide.kernel.site import Site
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import hub, referral_states
from honeyguide.subscribers.origins import FROM_OWN_LIST

UNSUBSCRIBED = "unsubscribed"
REWARD_FIELDS = (SyncField.LAST_REWARD, SyncField.LAST_REWARD_ID, SyncField.COUPON)


class WrittenState(msgspec.Struct, frozen=True):
    """What was last written, or is being written for the first time (then `synced_ms` is null). A
    trigger removes it when the subscriber is erased."""

    email: str
    status: ContactStatus
    fields: dict[str, str]


class QueuedWrite(NamedTuple):
    """A subscriber in the queue, with what is known of them here and there."""

    subscriber_id: str
    remote_id: str | None
    written: str | None
    synced_ms: int | None
    seen_ms: int | None
    tries: int
    email: str | None
    name: str | None
    ref_code: str
    status: str
    origin: str
    referrer_code: str | None
    referral_status: str
    referrals_verified: int
    received_ms: int
    erased_ms: int | None
    must_confirm: bool
    removed_ms: int | None
    adjustments: int
    link_version: int

    @property
    def toward_rewards(self) -> int:
        return referral_states.toward_rewards(self.referrals_verified, self.adjustments)

    @property
    def is_removed(self) -> bool:
        """Whether the operator had them removed because they have not confirmed."""
        return self.removed_ms is not None and self.must_confirm

    @property
    def was_written(self) -> bool:
        """Whether something may have been written. A state that a platform reported by
        itself has no fields."""
        before = self.last_written
        return self.synced_ms is not None or (before is not None and bool(before.fields))

    @property
    def last_written(self) -> WrittenState | None:
        return msgspec.json.decode(self.written, type=WrittenState) if self.written else None


class EarnedLast(NamedTuple):
    subscriber_id: str
    reward_id: str
    name: str
    coupon_code: str | None


class PlannedWrite(NamedTuple):
    """A contact to write, and the state to remember once it is written."""

    queued: QueuedWrite
    contact: Contact
    state: WrittenState
    is_lost: bool
    """Whether what was written before may be gone: a field of ours was deleted there, or their
    whole list was read since then and did not show this subscriber."""

    @property
    def is_first(self) -> bool:
        """Whether they may become known there by this write."""
        return self.contact.status == ContactStatus.ACTIVE and self.queued.written is None

    @property
    def is_needed(self) -> bool:
        """Whether the platform has to be told. Nothing is written about those who were not active
        there: a platform that says otherwise heard it from them."""
        before = self.queued.last_written
        if not may_write(
            self.contact.status,
            must_confirm=self.queued.must_confirm,
            was_written=self.queued.was_written,
        ):
            return False
        if self.contact.status == ContactStatus.ERASED:
            return self.contact.remote_id is not None
        if self.contact.status == ContactStatus.UNSUBSCRIBED:
            return before is not None and before.status == ContactStatus.ACTIVE
        return self.is_lost or self.queued.synced_ms is None or before != self.state


_sql = beside(__file__)
_EARNED = _sql.query("earned", EarnedLast)


def may_write(status: ContactStatus, *, must_confirm: bool, was_written: bool) -> bool:
    """Nothing about somebody who still has to confirm their address goes to a platform. Only if
    something did before, as it could in older versions, the platform is told that they left, were
    erased or are to be removed. The queue leaves them out too (`may_be_queued` in outgoing.sql);
    this is what decides.
    """
    if not must_confirm:
        return True
    return was_written and status != ContactStatus.ACTIVE


async def plan(
    at: Reading, integration: Integration, queue: Sequence[QueuedWrite]
) -> list[PlannedWrite]:
    ids = [each.subscriber_id for each in queue]
    all_rewards = await rewards.of_campaign(at)
    # The newest comes last.
    last = {each.subscriber_id: each for each in await at.all(_EARNED, ids=ids)}
    found = await adoption.of_contacts(at, integration, ids)
    return [
        _planned(
            integration,
            each,
            _values(at.site, integration, each, all_rewards, last.get(each.subscriber_id)),
            found.get(each.subscriber_id),
        )
        for each in queue
    ]


def _planned(
    integration: Integration,
    queued: QueuedWrite,
    values: Mapping[SyncField, str],
    found: AdoptionValue | None,
) -> PlannedWrite:
    is_emptied = queued.erased_ms is not None or queued.is_removed
    has_lost_fields = (queued.synced_ms or 0) < integration.fields_ms
    kept: frozenset[SyncField] = frozenset()
    if found is not None and not is_emptied:
        values = adopted_values(values, found)
        kept = kept_fields(integration, queued, values, found) if not has_lost_fields else kept
    email, before = queued.email or "", queued.last_written
    contact = Contact(
        subscriber_id=queued.subscriber_id,
        email=email,
        name=queued.name,
        status=_status(queued),
        may_add=_may_add(integration, queued),
        may_return=queued.removed_ms is not None and _status(queued) == ContactStatus.ACTIVE,
        remote_id=queued.remote_id,
        old_email=before.email if before is not None and before.email != email else None,
        values={} if is_emptied else values,
        kept=kept,
    )
    names = integration.field_names or {field: str(field) for field in contact.values}
    return PlannedWrite(
        queued=queued,
        contact=contact,
        state=WrittenState(email, contact.status, contact.named(names)),
        is_lost=has_lost_fields or _is_missing(integration, queued),
    )


def adopted_values(
    values: Mapping[SyncField, str], found: AdoptionValue
) -> Mapping[SyncField, str]:
    """With the code and the link that another tool gave them."""
    adopted = {SyncField.CODE: found.code, SyncField.LINK: found.link}
    return {**values, **{field: text for field, text in adopted.items() if text is not None}}


def kept_fields(
    integration: Integration,
    queued: QueuedWrite,
    values: Mapping[SyncField, str],
    found: AdoptionValue,
) -> frozenset[SyncField]:
    """What is not written, so that it stays byte for byte: code and link where they were found,
    unless we emptied or wrote these fields since; the reward until they earn one here; the
    number of referrals until it is carried over; and whether they were referred, as long as we
    know of no referrer: the other tool may know of one."""
    before = queued.last_written
    ours = before.fields if before is not None else {}
    stays = {
        SyncField.CODE: found.code_field if found.code is not None else "",
        SyncField.LINK: found.link_field if found.link is not None else "",
    }
    kept = {
        field
        for field, name in integration.field_names.items()
        if stays.get(field) == name and name not in ours
    }
    if found.reward is not None or found.coupon is not None:
        kept |= {field for field in REWARD_FIELDS if not values.get(field)}
    if found.is_waiting:
        kept.add(SyncField.REFERRALS)
    if (
        queued.referrer_code is None
        and integration.field_names.get(SyncField.IS_REFERRED) not in ours
    ):
        kept.add(SyncField.IS_REFERRED)
    return frozenset(kept)


def _is_missing(integration: Integration, queued: QueuedWrite) -> bool:
    known_ms = max(queued.synced_ms or 0, queued.seen_ms or 0)
    return queued.remote_id is not None and known_ms < integration.list_read_ms


def _status(queued: QueuedWrite) -> ContactStatus:
    if queued.erased_ms is not None:
        return ContactStatus.ERASED
    if queued.status == UNSUBSCRIBED or queued.is_removed:
        return ContactStatus.UNSUBSCRIBED
    return ContactStatus.ACTIVE


def _may_add(integration: Integration, queued: QueuedWrite) -> bool:
    """Those who signed up here since the platform was connected, and with the operator's consent
    also everybody else; but nobody whom the platform knew already, or who left."""
    before = queued.last_written
    if _status(queued) != ContactStatus.ACTIVE or queued.remote_id is not None:
        return False
    has_left = before is not None and before.status != ContactStatus.ACTIVE
    if has_left and queued.removed_ms is None:
        return False
    joined_here = (
        queued.origin not in FROM_OWN_LIST and queued.received_ms >= integration.created_ms
    )
    return joined_here or integration.adds_existing


def _values(
    site: Site,
    integration: Integration,
    queued: QueuedWrite,
    all_rewards: Sequence[Reward],
    last: EarnedLast | None,
) -> Mapping[SyncField, str]:
    # What another tool counted is an adjustment here, and must not vanish from the field.
    is_adopted = integration.adoption_answer == ADOPT
    referrals = queued.toward_rewards if is_adopted else queued.referrals_verified
    token = hub.token(site, queued.subscriber_id, queued.ref_code, queued.link_version)
    ahead = rewards.next_reward(all_rewards, queued.toward_rewards)
    return {
        SyncField.CODE: queued.ref_code,
        SyncField.LINK: site.reader_link(queued.ref_code),
        SyncField.HUB_LINK: f"{site.base_url}/hub/{token}",
        SyncField.REFERRALS: str(referrals),
        SyncField.NEXT_REWARD: ahead[0].name if ahead else "",
        SyncField.REFERRALS_MISSING: str(ahead[1]) if ahead else "",
        SyncField.LAST_REWARD: last.name if last else "",
        SyncField.LAST_REWARD_ID: last.reward_id if last else "",
        SyncField.COUPON: (last.coupon_code if last else None) or "",
        SyncField.IS_REFERRED: _referred(queued),
        SyncField.SUBSCRIBER_ID: queued.subscriber_id,
    }


def _referred(queued: QueuedWrite) -> str:
    if queued.referrer_code is None:
        return "NO"
    return "REJECTED" if queued.referral_status == "rejected" else "YES"
