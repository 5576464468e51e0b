"""The addresses of Home and search, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import search
from honeyguide.pages.dashboard.home import checklist, home, overview_files
from honeyguide.pages.dashboard.page_route import (
    CAMPAIGN,
    READS,
    REPLICA_READS,
    SEE,
    WRITES,
    get,
    post,
)

HOME_PAGES = (
    get("/", SEE, REPLICA_READS, home.show),
    get("/search", SEE, READS, search.show),
    post("/checklist/dismiss", CAMPAIGN, WRITES, checklist.dismiss),
    get("/overview/new", SEE, REPLICA_READS, home.new),
    get("/overview/days.csv", SEE, REPLICA_READS, overview_files.days),
    get("/overview/sources.csv", SEE, REPLICA_READS, overview_files.sources),
    get("/overview/summary.csv", SEE, REPLICA_READS, overview_files.summary),
)
