"""The administrator's section about backups, and its button."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from honeyguide.events import change_log
from honeyguide.kernel.backup_urls import parse_backup_url
from honeyguide.kernel.clock import system_clock
from honeyguide.operating.backups import records
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.store import job_runs
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

SHOWN = 10


@dataclass(frozen=True)
class BackupsView:
    # Empty if there are no automatic backups.
    place: str
    every_hours: int
    keep_days: int
    is_encrypted: bool
    is_waiting: bool
    is_running: bool
    newest: list[BackupRecord]

    @property
    def has_failed(self) -> bool:
        """Whether the newest one did. While the next is made, the one before counts."""
        done = [row for row in self.newest if row.result is not None or not self.is_running]
        return bool(done) and done[0].result in (records.FAILED, records.BROKEN, None)


async def find_backups(at: Reading, request: PageRequest) -> BackupsView:
    settings = request.services.settings
    run = await job_runs.find(at.tx, records.JOB)
    return BackupsView(
        place=str(parse_backup_url(settings.backup_url)) if settings.backup_url else "",
        every_hours=settings.backup_interval,
        keep_days=settings.backup_keep_days,
        is_encrypted=bool(settings.backup_age_recipient),
        is_waiting=await records.is_requested(at.tx),
        is_running=run is not None and run.leased_until_ms > system_clock(),
        newest=await records.newest(at.tx, SHOWN),
    )


async def back_up_now(change: Change, request: PageRequest) -> Response:
    if not request.services.settings.backup_url:
        return request.go("/administration", "Set HONEYGUIDE_BACKUP_URL first.")
    await records.request(change.tx)
    await change_log.record(change, "backup.requested", "backups")
    return request.go("/administration#h-backups", "The backup starts now.")
