"""Clicks made by SQL: a year of them, from six sites in every hour."""

from __future__ import annotations

from bench import shipments
from bench.people import Campaign
from honeyguide.kernel.clock import HOUR_MS, system_clock

HOURS = 365 * 24
_MADE = """
WITH RECURSIVE hours (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM hours WHERE n < {hours}),
    sites (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM sites WHERE n < 5)
INSERT INTO click_source (account_id, quarter_ms, host, n)
    SELECT '{account}', {last_ms} - CAST({hour_ms} AS BIGINT) * h.n, 'site' || s.n || '.example',
    1 + s.n
    FROM hours AS h CROSS JOIN sites AS s;
"""


def add(url: str, campaign: Campaign) -> None:
    last_ms = system_clock() // HOUR_MS * HOUR_MS
    sql = _MADE.format(hours=HOURS, account=campaign.account_id, last_ms=last_ms, hour_ms=HOUR_MS)
    shipments.execute(url, sql)
