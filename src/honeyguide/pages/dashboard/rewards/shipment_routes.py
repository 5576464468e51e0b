"""The addresses of shipments, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.login.recent_login import does
from honeyguide.pages.dashboard.page_route import get, get_recent, post, post_recent
from honeyguide.pages.dashboard.rewards import sent_shipments, shipments, tracking_numbers
from honeyguide.pages.dashboard.route_rights import EXPORT, REWARDS, SEE
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES

SHIPMENTS = (
    get("/shipments", SEE, READS, shipments.show),
    post_recent(
        "/shipments",
        REWARDS,
        WRITES,
        sent_shipments.mark,
        shipments.show,
        shipments.FORM,
        proof_for=does("csv"),
    ),
    get_recent("/shipments/export.csv", EXPORT, SERVICES, shipments.export),
    post(
        "/shipments/note",
        REWARDS,
        WRITES,
        sent_shipments.change_note,
        shipments.show,
        shipments.FORM,
    ),
    get("/shipments/tracking", SEE, READS, tracking_numbers.show),
    post(
        "/shipments/tracking",
        REWARDS,
        SERVICES,
        tracking_numbers.upload,
        tracking_numbers.show,
        tracking_numbers.FORM,
    ),
)
