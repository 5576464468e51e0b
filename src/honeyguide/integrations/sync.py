"""One integration while its lease is held: applies webhooks that came, reads what changed there,
and writes what changed here. It opens a transaction for each part, and none while it talks to the
platform.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from honeyguide.integrations import adoption, incoming, integrations, outgoing, reading
from honeyguide.integrations.about import Limits
from honeyguide.integrations.contacts import PlannedWrite
from honeyguide.integrations.incoming import StoredHook
from honeyguide.integrations.integrations import Integration
from honeyguide.integrations.leases import LostLease
from honeyguide.integrations.platform import (
    ContactStatus,
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
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.integrations")

# How long a batch may take at the platform's pace.
BATCH_S = 20.0
# About the whole integration: there is no use in going on.
STOPS = (LostLease, Unavailable, TryLater, WrongCredentials, AudienceGone)
OUR_FAULT = "Something went wrong on our side. It has been logged."


class IntegrationSync:
    def __init__(
        self, store: Store, clock: Clock, site: Site, access: PlatformAccess, token: str
    ) -> None:
        self._store = store
        self._clock = clock
        self._site = site
        self._access = access
        self._platform: Platform = integrations.platform_of(access.about.key)
        self._token = token

    async def step(self, integration: Integration) -> bool:
        """A bit of everything. Tells whether there may be more to do. A part that fails does not
        keep the others from their turn, unless the platform does not answer or asks us to wait."""
        parts: tuple[Callable[[Integration], Awaitable[bool]], ...] = (
            self._apply_hooks,
            self._read,
            self._write,
        )
        has_more, failed = False, None
        for part in parts:
            try:
                has_more |= await part(integration)
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

    async def _apply_hooks(self, integration: Integration) -> bool:
        due = await self._store.read(incoming.due_hooks, integration, now_ms=self._clock())
        for stored in due:
            reason = await self._apply_hook(integration, stored)
            if reason is None:
                await self._store.write(incoming.finish_hook, integration, stored)
            else:
                log.warning("A platform's webhook was not applied: %s", reason)
                await self._store.write(
                    incoming.delay_hook, integration, stored, reason, now_ms=self._clock()
                )
        return bool(due)

    async def _apply_hook(self, integration: Integration, stored: StoredHook) -> str | None:
        """Why it has to be tried again, if it has to. Only what is about the whole integration is
        raised, so that no webhook is in the way of others, or of reading and writing."""
        try:
            changes = await self._platform.understand_hook(self._access, stored.hook)
        except (WrongCredentials, AudienceGone):
            raise
        except PlatformError as error:
            return error.reason
        is_done = await self._apply(integration, changes, received_ms=stored.received_ms)
        await self._note_found(
            integration, [FoundValues(c.email, c.fields) for c in changes if c.fields]
        )
        return None if is_done else OUR_FAULT

    async def _note_found(self, integration: Integration, found: Sequence[FoundValues]) -> None:
        """After the changes were applied, so that everybody is known here."""
        if found and integration.reads_fields:
            await self._store.write(
                adoption.note_found, self._site, integration, self._token, found
            )

    async def _apply(
        self, integration: Integration, changes: Sequence[PlatformChange], *, received_ms: int
    ) -> bool:
        """Tells whether all of it was applied. A change that fails is in nobody's way."""
        is_done = True
        for change in changes:
            try:
                await self._store.write(
                    incoming.apply,
                    self._site,
                    integration,
                    change,
                    received_ms=received_ms,
                    now_ms=self._clock(),
                )
            except (LostLease, Unavailable):
                raise
            except Fault as error:  # such as an address that somebody else has here
                log.info("A platform's change was not applied: %s", error.code)
            except Exception:
                log.exception("A platform's change was not applied")
                is_done = False
        return is_done

    async def _read(self, integration: Integration) -> bool:
        """One page of what changed there. One that makes no sense counts as a try."""
        now_ms = self._clock()
        if not integration.is_reading:
            is_whole = integration.next_full_read_ms <= now_ms
            if not is_whole and not 0 < integration.next_read_ms <= now_ms:
                return False
            since_ms = None if is_whole else integration.read_began_ms - reading.OVERLAP_MS
            await self._store.write(
                reading.begin, integration, self._token, since_ms=since_ms, now_ms=now_ms
            )
            return True
        if integration.next_page_ms > now_ms:
            return False
        try:
            await self._read_page(integration)
        except Unexpected as error:
            await self._store.write(
                reading.fail,
                integration,
                self._token,
                error.reason,
                poll_every_s=self._access.about.poll_every_s,
                now_ms=now_ms,
            )
            return False
        return True

    async def _read_page(self, integration: Integration) -> None:
        page = await self._platform.read_changes(
            self._access, since_ms=integration.read_since_ms, token=integration.read_token
        )
        changes = await self._store.read(incoming.unknown_changes, integration, page.changes)
        await self._apply(integration, changes, received_ms=integration.read_began_ms)
        await self._note_found(integration, page.found)
        is_whole = integration.read_since_ms is None and self._access.about.has_list
        if is_whole and page.seen:
            await self._store.write(reading.mark_seen, integration, page.seen)
        if page.next_token is not None:
            await self._store.write(
                reading.move,
                integration,
                self._token,
                page.next_token,
                next_call_ms=self._next_call_ms,
            )
        else:
            counted = (
                await self._store.read(reading.count_missing, integration) if is_whole else None
            )
            await self._store.write(self._end_read, integration, counted)

    async def _end_read(
        self, tx: Tx, integration: Integration, counted: MissingCount | None
    ) -> None:
        await reading.end(
            tx,
            integration,
            self._token,
            counted=counted,
            poll_every_s=self._access.about.poll_every_s,
            next_call_ms=self._next_call_ms,
        )
        if integration.read_since_ms is None:
            await adoption.conclude(tx, self._site, integration, self._token, now_ms=self._clock())

    async def _write(self, integration: Integration) -> bool:
        """One batch of what changed here; nothing while another tool's values might be lost."""
        most = batch_size(self._access.about.limits)
        while await self._store.write(
            outgoing.queue_changes, integration, self._token, now_ms=self._clock()
        ):
            pass
        if integration.adoption != integrations.SETTLED:
            return False
        planned = await self._plan(integration, most)
        if len(planned) < most and integration.pass_list is not None:
            await self._store.write(
                outgoing.queue_pass, integration, self._token, now_ms=self._clock()
            )
            return True  # fill the batch first
        if not planned:
            await self._store.write(
                outgoing.finish_first_sync, integration, self._token, now_ms=self._clock()
            )
            return False
        needed = [each for each in planned if each.is_needed]
        try:
            outcomes = await self._send(integration, needed)
        except Unexpected as error:
            # If it is because of one of them, that one is given up in the end.
            later = {each.contact.subscriber_id: _later(each, error.reason) for each in needed}
            await self._record(integration, planned, later, is_garbled=True)
            raise
        await self._record(integration, planned, outcomes)
        # Otherwise everything was written. Later changes are for the next round.
        return len(planned) == most

    async def _plan(self, integration: Integration, most: int) -> list[PlannedWrite]:
        return await self._store.read(
            outgoing.plan_writes, self._site, integration, most=most, now_ms=self._clock()
        )

    async def _send(
        self, integration: Integration, needed: Sequence[PlannedWrite]
    ) -> dict[str, WriteOutcome]:
        if not needed:
            return {}
        first = [each for each in needed if each.is_first]
        if first:
            await self._store.write(outgoing.begin_writes, integration, self._token, first)
        contacts = [each.contact for each in needed]
        try:
            outcomes = await self._platform.write_many(self._access, contacts)
        except FieldsGone:
            await self._store.write(
                outgoing.write_all_again, integration, self._token, now_ms=self._clock()
            )
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
        integration: Integration,
        planned: Sequence[PlannedWrite],
        outcomes: dict[str, WriteOutcome],
        *,
        is_garbled: bool = False,
    ) -> None:
        now_ms = self._clock()
        settled, erased, left = [], [], []
        newly = written = 0
        for each in planned:
            subscriber_id = each.contact.subscriber_id
            outcome = outcomes.get(subscriber_id)
            row = (
                outgoing.unchanged(each)
                if outcome is None
                else outgoing.settle(self._access.about, each, outcome, now_ms=now_ms)
            )
            is_written = outcome is not None and row.failed_ms is None and row.due_ms is None
            written += int(is_written)
            if each.contact.status == ContactStatus.ERASED and row.due_ms is None:
                erased.append(subscriber_id)
                newly -= int(each.queued.synced_ms is not None)
                continue
            settled.append(row)
            newly += int(is_written and each.queued.synced_ms is None)
            if outcome is not None and outgoing.has_left(each, outcome):
                left.append(subscriber_id)
        await self._store.write(
            outgoing.record,
            self._site,
            integration,
            self._token,
            settled,
            erased=erased,
            left=left,
            newly=newly,
            written=written,
            is_garbled=is_garbled,
            next_call_ms=self._next_call_ms,
            now_ms=now_ms,
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
