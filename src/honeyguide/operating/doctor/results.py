"""The result of one check."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class HealthLevel(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class CheckResult(NamedTuple):
    name: str  # stable, for `doctor --json`
    level: HealthLevel
    message: str
    remedy: str = ""


# In the order in which they are shown.
TITLES = {
    "base_url": "Base URL",
    "proxies": "Proxy",
    "secret_key": "Secret key",
    "database": "Database",
    "pgbouncer": "PgBouncer",
    "replica": "Read replica",
    "schema": "Schema",
    "clock": "Clock",
    "disk": "Disk space",
    "mail": "Mail server",
    "emails": "Emails",
    "webhooks": "Webhooks",
    "link_hosts": "Link hosts",
    "link_host_answers": "Link host answers",
    "jobs": "Background jobs",
    "ledger": "Ledger",
    "programs": "Partner programs",
    "logins": "Logins",
    "backups": "Backups",
}


def ok(name: str, message: str) -> CheckResult:
    return CheckResult(name, HealthLevel.OK, message)


def warning(name: str, message: str, remedy: str) -> CheckResult:
    return CheckResult(name, HealthLevel.WARNING, message, remedy)


def problem(name: str, message: str, remedy: str = "") -> CheckResult:
    return CheckResult(name, HealthLevel.PROBLEM, message, remedy)


def in_order(found: Iterable[CheckResult]) -> list[CheckResult]:
    names = list(TITLES)
    return sorted(found, key=lambda result: names.index(result.name))


def is_healthy(found: Iterable[CheckResult]) -> bool:
    """Warnings are for later; only a problem makes it unhealthy."""
    return all(result.level is not HealthLevel.PROBLEM for result in found)
