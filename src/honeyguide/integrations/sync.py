"""One integration while its lease is held: applies webhooks that came, reads what changed there,
and writes what changed here. It opens a transaction for each part, and none while it talks to the
platform.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from honeyguide.integrations import adoption, incoming, integrations, outgoing, reading
from honeyguide.integrations.about import Limits
from honeyguide.integrations.contacts import PlannedWrite
from honeyguide.integrations.incoming import StoredHook
from honeyguide.integrations.leases import Lease, LeasedIntegration, LostLease
from honeyguide.integrations.platform import (
    Platform,
    PlatformAccess,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import (
    AudienceGone,
    FieldsGone,
    PlatformError,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from honeyguide.integrations.reading import MissingCount
from honeyguide.integrations.reports import FoundValues, PlatformChange
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.errors import Fault, Unavailable

log = logging.getLogger("honeyguide.integrations")

# How long a batch may take at the platform's pace.
BATCH_S = 20.0
# About the whole integration: there is no use in going on.
STOPS = (LostLease, Unavailable, TryLater, WrongCredentials, AudienceGone)
OUR_FAULT = "Something went wrong on our side. It has been logged."


class IntegrationSync:
    """One step of an integration's sync: `IntegrationSync(lease, access).step()`."""

    def __init__(self, lease: Lease, access: PlatformAccess) -> None:
        self._lease = lease
        self._integration = lease.integration
        self._access = access
        self._platform: Platform = integrations.platform_of(access.about.key)

    async def step(self) -> bool:
        """A bit of everything. Tells whether there may be more to do. A part that fails does not
        keep the others from their turn, unless the platform does not answer or asks us to wait."""
        has_more, failed = False, None
        for part in (self._apply_hooks, self._read, self._write):
            try:
                has_more |= await part()
            except STOPS:
                raise
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return has_more

    @property
    def _next_call_ms(self) -> int:
        return system_clock() + int(self._access.http.wait_s * 1000)

    async def _apply_hooks(self) -> bool:
        due = await self._lease.read(incoming.due_hooks)
        for stored in due:
            reason = await self._apply_hook(stored)
            if reason is None:
                await self._lease.change(incoming.finish_hook, stored)
            else:
                log.warning("A platform's webhook was not applied: %s", reason)
                await self._lease.change(incoming.delay_hook, stored, reason)
        return bool(due)

    async def _apply_hook(self, stored: StoredHook) -> str | None:
        """Why it has to be tried again, if it has to. Only what is about the whole integration is
        raised, so that no webhook is in the way of others, or of reading and writing."""
        try:
            changes = await self._platform.understand_hook(self._access, stored.hook)
        except (WrongCredentials, AudienceGone):
            raise
        except PlatformError as error:
            return error.reason
        is_done = await self._apply(changes, joined_ms=stored.received_ms)
        await self._note_found([FoundValues(c.email, c.fields) for c in changes if c.fields])
        return None if is_done else OUR_FAULT

    async def _note_found(self, found: Sequence[FoundValues]) -> None:
        """After the changes were applied, so that everybody is known here."""
        if found and self._integration.reads_fields:
            await self._lease.change(adoption.note_found, found)

    async def _apply(self, changes: Sequence[PlatformChange], *, joined_ms: int) -> bool:
        """Tells whether all of it was applied. A change that fails is in nobody's way."""
        is_done = True
        for change in changes:
            try:
                await self._lease.change(incoming.apply, change, joined_ms=joined_ms)
            except (LostLease, Unavailable):
                raise
            except Fault as error:  # such as an address that somebody else has here
                log.info("A platform's change was not applied: %s", error.code)
            except Exception:
                log.exception("A platform's change was not applied")
                is_done = False
        return is_done

    async def _read(self) -> bool:
        """One page of what changed there. One that makes no sense counts as a try."""
        integration, now_ms = self._integration, self._lease.clock()
        if not integration.is_reading:
            is_whole = integration.next_full_read_ms <= now_ms
            if not is_whole and not 0 < integration.next_read_ms <= now_ms:
                return False
            since_ms = None if is_whole else integration.read_began_ms - reading.OVERLAP_MS
            await self._lease.change(reading.begin, since_ms=since_ms)
            return True
        if integration.next_page_ms > now_ms:
            return False
        try:
            await self._read_page()
        except Unexpected as error:
            poll_every_s = self._access.about.poll_every_s
            await self._lease.change(reading.fail, error.reason, poll_every_s=poll_every_s)
            return False
        return True

    async def _read_page(self) -> None:
        integration, lease = self._integration, self._lease
        page = await self._platform.read_changes(
            self._access, since_ms=integration.read_since_ms, token=integration.read_token
        )
        changes = await lease.read(incoming.unknown_changes, page.changes)
        await self._apply(changes, joined_ms=incoming.ANY_TIME)
        await self._note_found(page.found)
        is_whole = integration.read_since_ms is None and self._access.about.has_list
        if is_whole and page.seen:
            await lease.change(reading.mark_seen, page.seen)
        if page.next_token is not None:
            next_call_ms = self._next_call_ms
            await lease.change(reading.move, page.next_token, next_call_ms=next_call_ms)
        else:
            counted = await lease.read(reading.count_missing) if is_whole else None
            await lease.change(self._end_read, counted)

    async def _end_read(self, leased: LeasedIntegration, counted: MissingCount | None) -> None:
        await reading.end(
            leased,
            counted=counted,
            poll_every_s=self._access.about.poll_every_s,
            next_call_ms=self._next_call_ms,
        )
        if leased.integration.read_since_ms is None:
            await adoption.conclude(leased)

    async def _write(self) -> bool:
        """One batch of what changed here; nothing while another tool's values might be lost."""
        integration, lease = self._integration, self._lease
        most = batch_size(self._access.about.limits)
        while await lease.change(outgoing.queue_changes):
            pass
        if integration.adoption != integrations.SETTLED:
            return False
        planned = await lease.read(outgoing.plan_writes, most=most)
        if len(planned) < most and integration.pass_list is not None:
            await lease.change(outgoing.queue_pass)
            return True  # fill the batch first
        if not planned:
            await lease.change(outgoing.finish_first_sync)
            return False
        needed = [each for each in planned if each.is_needed]
        try:
            outcomes = await self._send(needed)
        except Unexpected as error:
            # If it is because of one of them, that one is given up in the end.
            later = {each.contact.subscriber_id: _later(each, error.reason) for each in needed}
            await self._record(planned, later, is_garbled=True)
            raise
        await self._record(planned, outcomes)
        # Otherwise everything was written. Later changes are for the next round.
        return len(planned) == most

    async def _send(self, needed: Sequence[PlannedWrite]) -> dict[str, WriteOutcome]:
        if not needed:
            return {}
        first = [each for each in needed if each.is_first]
        if first:
            await self._lease.change(outgoing.begin_writes, first)
        contacts = [each.contact for each in needed]
        try:
            outcomes = await self._platform.write_many(self._access, contacts)
        except FieldsGone:
            await self._lease.change(outgoing.write_all_again)
            await self._platform.ensure_fields(self._access)
            outcomes = await self._platform.write_many(self._access, contacts)
        found = {outcome.subscriber_id: outcome for outcome in outcomes}
        nothing = f"{self._access.about.name} said nothing about them."
        return {
            each.contact.subscriber_id: found.get(each.contact.subscriber_id, _later(each, nothing))
            for each in needed
        }

    async def _record(
        self,
        planned: Sequence[PlannedWrite],
        outcomes: dict[str, WriteOutcome],
        *,
        is_garbled: bool = False,
    ) -> None:
        batch = outgoing.settle_batch(
            self._access.about, planned, outcomes, now_ms=self._lease.clock()
        )
        next_call_ms = self._next_call_ms
        await self._lease.change(
            outgoing.record, batch, is_garbled=is_garbled, next_call_ms=next_call_ms
        )


def _later(planned: PlannedWrite, reason: str) -> WriteOutcome:
    return WriteOutcome(
        subscriber_id=planned.contact.subscriber_id, result=WriteResult.LATER, reason=reason
    )


def batch_size(limits: Limits) -> int:
    """How many contacts to write at once, so that it takes seconds at the platform's pace."""
    per_contact_s = limits.interval_s * limits.requests_per_batch / limits.per_batch
    if per_contact_s * limits.per_batch <= BATCH_S or limits.requests_per_batch == 1:
        return limits.per_batch
    return max(1, int(BATCH_S / per_contact_s))
