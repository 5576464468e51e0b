"""What each fact means: fine, a warning or a problem, in a sentence, and what to do about it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from honeyguide.accounts.accounts import Proof
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.mail.transports import server_of
from honeyguide.operating.backups.records import BROKEN, FAILED, UNCHECKED, BackupRecord
from honeyguide.operating.doctor.records import Records
from honeyguide.operating.doctor.results import CheckResult, ok, problem, warning
from honeyguide.operating.doctor.secret_keys import secret_key
from honeyguide.settings import Settings
from honeyguide.store import DatabaseFacts, PgBouncerFacts, ReplicaFacts
from honeyguide.store.failing_loops import FailingLoop
from honeyguide.store.job_failures import JobFailure
from honeyguide.store.job_runs import OK, JobRun

# Month ends and holding periods follow a process's own clock. Processes whose clocks differ by more
# could disagree.
CLOCK_SKEW_MS = 2_000
# The most frequent jobs that always run do so every ten minutes.
JOBS_LATE_MS = 30 * MINUTE_MS
STUCK_MS = HOUR_MS
BACKUP_OLD_MS = 7 * DAY_MS
UP_TO_DATE = ok("schema", "Up to date")
# About four million subscribers: one core is not enough for their searches.
LARGE_FILE = 5_000_000_000
DISK_LOW = 1_000_000_000
DISK_FULL = 200_000_000


class SeenRequest(NamedTuple):
    """Where a request came from, after trusted proxies were taken into account."""

    peer: str
    forwarded_for: str  # the header as it came, or ""


class DiskSpace(NamedTuple):
    folder: Path
    free: int


def base_url(settings: Settings) -> CheckResult:
    url = settings.base_url
    if settings.on_loopback:
        judge = problem if _reaches_others(settings) else warning
        return judge(
            "base_url",
            f"The base URL {url} works only on this machine, also in emails and referral links.",
            "Set HONEYGUIDE_BASE_URL to the public URL.",
        )
    if url.startswith("http:"):
        judge = warning if _is_private(urlsplit(url).hostname or "") else problem
        return judge(
            "base_url",
            f"The base URL {url} is not encrypted: passwords and sessions can be read on the way.",
            "Put a proxy with a certificate in front, and set HONEYGUIDE_BASE_URL to https://….",
        )
    return ok("base_url", f"{url}")


def _reaches_others(settings: Settings) -> bool:
    """Whether people elsewhere get links: by email, or because other machines can connect."""
    sends = settings.has_mail_server and not server_of(settings.smtp_url).is_here
    try:
        return sends or not ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        return sends or settings.host != "localhost"


def _is_private(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def proxies(settings: Settings, seen: SeenRequest | None) -> CheckResult:
    trusted, is_https = settings.trusted_proxies, settings.base_url.startswith("https:")
    if seen and seen.forwarded_for:
        claimed = {part.strip() for part in seen.forwarded_for.split(",")}
        if seen.peer not in claimed:
            return problem(
                "proxies",
                f"The proxy at {seen.peer} is not trusted, so all visitors seem to have its "
                "address: they share one limit, and screening takes them for one household.",
                f"Add {seen.peer} to HONEYGUIDE_TRUSTED_PROXIES.",
            )
    elif seen and trusted and is_https:
        return problem(
            "proxies",
            "Your request came without X-Forwarded-For, so all visitors seem to have the address "
            "of the proxy.",
            "Let the proxy send X-Forwarded-For, as in the examples for Caddy and nginx.",
        )
    if is_https and not trusted:
        return warning(
            "proxies",
            "The base URL is https://, but no proxy is trusted: all visitors seem to have the "
            "address of the proxy.",
            "Set HONEYGUIDE_TRUSTED_PROXIES to the address of the proxy, such as 127.0.0.1.",
        )
    if trusted == "*" and not settings.on_loopback:
        return warning(
            "proxies",
            "Every address is trusted as a proxy, so whoever reaches the port directly can claim "
            "any address.",
            "Set HONEYGUIDE_TRUSTED_PROXIES to the addresses of your proxies.",
        )
    return ok("proxies", f"Trusted: {trusted}" if trusted else "No proxy")


def database(facts: DatabaseFacts) -> CheckResult:
    if not facts.is_supported:
        return problem(
            "database", f"{facts.product} is too old.", "Upgrade to PostgreSQL 15 or later."
        )
    if facts.refusal:
        return problem(
            "database",
            f"{facts.product} answers, but tables cannot be created: {facts.refusal}.",
            "Give the user of the service the right to write to it.",
        )
    if facts.file_bytes >= LARGE_FILE:
        return warning(
            "database",
            f"{facts.product}, with {_size(facts.file_bytes)} in its file: searches and exports "
            "take long, and only one process can serve it.",
            "Move to PostgreSQL: honeyguide copy --to postgresql://…",
        )
    return ok("database", f"{facts.product}")


def pgbouncer(facts: PgBouncerFacts | None) -> CheckResult:
    if facts is None:
        return ok("pgbouncer", "Not used")
    if not facts.tracks_statements:
        return problem(
            "pgbouncer",
            "PgBouncer does not keep track of prepared statements.",
            "Use PgBouncer 1.21 or later with max_prepared_statements = 1000.",
        )
    if facts.wrong_settings:
        lines = (
            f"ALTER ROLE {facts.user} SET {name} = '{value}';"
            for name, value in facts.wrong_settings.items()
        )
        return problem(
            "pgbouncer",
            f"{', '.join(facts.wrong_settings)} cannot be set through PgBouncer, and the database "
            "user has other values.",
            f"Run this, and then RECONNECT on PgBouncer's console: {' '.join(lines)}",
        )
    return ok("pgbouncer", "Prepared statements and settings are as needed")


def replica(facts: ReplicaFacts | None) -> CheckResult:
    if facts is None:
        return ok("replica", "Not used")
    if not facts.is_standby:
        return problem(
            "replica",
            "The server at HONEYGUIDE_REPLICA_URL is not a replica. Slow pages read the primary.",
            "Set HONEYGUIDE_REPLICA_URL to a streaming replica, or remove it.",
        )
    if not facts.is_of_primary:
        return problem(
            "replica",
            "The server at HONEYGUIDE_REPLICA_URL is a replica of another database.",
            "Set HONEYGUIDE_REPLICA_URL to a replica of the server at HONEYGUIDE_DATABASE_URL, "
            "with the same database name.",
        )
    if facts.behind_bytes:
        return warning(
            "replica",
            f"It is {_size(facts.behind_bytes)} behind, so slow pages read the primary.",
            "Look at pg_stat_replication on the primary.",
        )
    return ok("replica", "Has everything that the primary has")


def schema(pending: int, *, is_new: bool) -> CheckResult:
    if is_new:
        return warning(
            "schema", "The database is empty.", "Run `honeyguide init` or `honeyguide serve`."
        )
    if pending:
        return warning(
            "schema",
            f"{_count(pending, 'migration has', 'migrations have')} not been applied.",
            "Restart the service, or run `honeyguide migrate`.",
        )
    return UP_TO_DATE


def clock(skew_ms: int | None, *, is_moved: bool) -> CheckResult:
    if is_moved:
        return warning(
            "clock", "HONEYGUIDE_TEST_CLOCK moves the clock.", "Unset it before real use."
        )
    if skew_ms is None:
        return ok("clock", "Not compared: the database uses this machine's clock")
    if abs(skew_ms) > CLOCK_SKEW_MS:
        return problem(
            "clock",
            f"The clocks of this machine and its database differ by {abs(skew_ms) / 1000:.1f} "
            "seconds.",
            "Synchronize both with NTP.",
        )
    return ok("clock", f"{abs(skew_ms)} ms from the database's")


def disk(space: DiskSpace | None) -> CheckResult:
    if space is None:
        return ok("disk", "All data is in PostgreSQL; check the disk of its server")
    message = f"{_size(space.free)} free in {space.folder}"
    remedy = "Delete what is not needed, or use a larger disk."
    if space.free < DISK_FULL:
        return problem("disk", f"Only {message}.", remedy)
    if space.free < DISK_LOW:
        return warning("disk", f"Only {message}.", remedy)
    return ok("disk", message)


def mail(settings: Settings, trouble: str | None) -> CheckResult:
    """`trouble` is what the mail server, or the folder, objected to."""
    if trouble is not None:
        return problem("mail", trouble, "Check HONEYGUIDE_SMTP_URL and HONEYGUIDE_MAIL_FROM.")
    if not settings.has_mail_server:
        where = "written to a folder" if settings.smtp_url else "printed in the log"
        return warning(
            "mail",
            f"Emails are not sent, only {where}.",
            "Set HONEYGUIDE_SMTP_URL to your mail server.",
        )
    return ok("mail", f"{server_of(settings.smtp_url).host} accepts emails from us")


def of_records(settings: Settings, records: Records, *, now_ms: int) -> list[CheckResult]:
    """`now_ms` is the installation's time; that of jobs is the real time, as `jobs` takes it."""
    return [
        secret_key(
            settings,
            records.stored_secret,
            records.encrypted,
            records.encrypted_slack_urls,
            records.encrypted_signing_keys,
            records.encrypted_second_factors,
        ),
        emails(records.unsent_email_ms, now_ms=now_ms),
        webhooks(records.due_delivery_ms, records.failing_webhooks, now_ms=now_ms),
        ledger(records.proof),
        backups(records.backup_ms, records.backup, now_ms=now_ms),
        logins(settings, records.unproven_logins),
    ]


def emails(unsent_ms: int | None, *, now_ms: int) -> CheckResult:
    if unsent_ms is not None and unsent_ms < now_ms - STUCK_MS:
        return problem(
            "emails",
            f"Emails have been waiting to be sent since {_moment(unsent_ms)}.",
            "Check the mail server and the background jobs.",
        )
    return ok("emails", "None is waiting for long")


def webhooks(due_ms: int | None, failing: int, *, now_ms: int) -> CheckResult:
    if due_ms is not None and due_ms < now_ms - STUCK_MS:
        return problem(
            "webhooks",
            f"Webhook deliveries have been due since {_moment(due_ms)}, and nothing sends them.",
            "Run `honeyguide serve` with its jobs, or `honeyguide work`.",
        )
    if failing:
        return warning(
            "webhooks",
            f"{_count(failing, 'webhook is', 'webhooks are')} failing.",
            "Their accounts see why on the Webhooks page, and were notified.",
        )
    return ok("webhooks", "No delivery is overdue")


def jobs(
    runs: Sequence[JobRun],
    skipped: Sequence[JobFailure] = (),
    failing: Sequence[FailingLoop] = (),
    *,
    now_ms: int,
) -> CheckResult:
    start = "Run `honeyguide serve` with its jobs, or `honeyguide work`."
    if failing:
        names = ", ".join(f"{loop.name} ({loop.error})" for loop in failing)
        message = f"Background work keeps failing: {names}."
        return problem("jobs", message, "It is tried again. The log of the service says why.")
    last_ms = max((max(run.started_ms, run.looked_ms) for run in runs), default=None)
    if last_ms is None:
        return warning("jobs", "They have not run yet.", start)
    if last_ms < now_ms - JOBS_LATE_MS:
        return problem("jobs", f"They have not run since {_moment(last_ms)}.", start)
    failed = [run.name for run in runs if run.result not in (None, OK)]
    if failed:
        return warning(
            "jobs",
            f"At its last run, {_count(len(failed), 'job', 'jobs')} failed: {', '.join(failed)}.",
            "The log of the service says why.",
        )
    if skipped:
        names = ", ".join(sorted({failure.job for failure in skipped}))
        return warning(
            "jobs",
            f"{_count(len(skipped), 'item is', 'items are')} skipped because they failed: {names}.",
            "They are tried again later. `honeyguide jobs` lists them, and the log says why.",
        )
    return ok("jobs", f"Last run {_moment(last_ms)}")


def ledger(proof: Proof | None) -> CheckResult:
    if proof is None:
        return ok("ledger", "Not checked yet; it is checked once a day")
    if proof.broken:
        return problem(
            "ledger",
            f"The check of {_moment(proof.at_ms)} found {_count(proof.broken, 'error', 'errors')}.",
            "Run `honeyguide verify`, and restore a backup if it finds errors too.",
        )
    return ok("ledger", f"No errors at {_moment(proof.at_ms)}")


def backups(last_ms: int | None, automatic: BackupRecord | None, *, now_ms: int) -> CheckResult:
    """`automatic` is the last one that was made, or failed, at HONEYGUIDE_BACKUP_URL."""
    if automatic is not None and automatic.result in (FAILED, BROKEN):
        return problem(
            "backups",
            f"The last backup failed. {automatic.message}",
            "Fix this, then run `honeyguide backup`.",
        )
    if automatic is not None and automatic.result == UNCHECKED:
        message = f"The last backup was not checked. {automatic.message}"
        return warning("backups", message, "Then run `honeyguide backup`.")
    remedy = "Set HONEYGUIDE_BACKUP_URL to a folder of another machine, or to a bucket."
    if last_ms is None:
        return warning("backups", "No backup has been made.", remedy)
    if last_ms < now_ms - BACKUP_OLD_MS:
        return warning("backups", f"The last backup was made at {_moment(last_ms)}.", remedy)
    return ok("backups", f"Last one {_moment(last_ms)}")


def logins(settings: Settings, unproven: int) -> CheckResult:
    """`unproven` are those that were made through a link which others were shown."""
    if settings.smtp_url:
        return ok("logins", "Who is invited proves their address with a code by email")
    if not unproven:
        return ok("logins", "No mail server, so the link of an invitation proves the address")
    many = _count(unproven, "login was made", "logins were made")
    return warning(
        "logins",
        f"{many} through the link of an invitation, which others were shown, and without a mail "
        "server nobody proves their address.",
        "Set HONEYGUIDE_SMTP_URL to your mail server. The next login asks for a code by email.",
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _size(size: int) -> str:
    if size < 1e6:
        return f"{size / 1e3:,.0f} KB"
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def _moment(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%d %b %Y, %H:%M UTC}"
