"""The addresses of Earn: the programs that one has joined, and the network, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.earn import earnings, network
from honeyguide.pages.dashboard.page_route import PARTNERS, READS, SEE, WRITES, get, post

EARN_PAGES = (
    get("/network", SEE, READS, network.show),
    get("/network/{id}", SEE, READS, network.one),
    post("/network/{id}/join", PARTNERS, WRITES, network.join, network.one, network.FIELDS),
    get("/earnings", SEE, READS, earnings.show),
    get("/earnings/{id}", SEE, READS, earnings.one),
    post("/earnings/{id}/leave", PARTNERS, WRITES, earnings.leave),
)
