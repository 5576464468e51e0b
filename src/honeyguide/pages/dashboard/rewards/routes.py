"""The addresses of Rewards and their shipments, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.login.recent_login import does
from honeyguide.pages.dashboard.page_route import (
    EXPORT,
    READS,
    REWARDS,
    SEE,
    SERVICES,
    WRITES,
    get,
    get_recent,
    post,
    post_recent,
)
from honeyguide.pages.dashboard.rewards import rewards, sent_shipments, shipments, tracking_numbers

REWARDS_PAGES = (
    get("/rewards", SEE, READS, rewards.show),
    post("/rewards", REWARDS, WRITES, rewards.create, rewards.show, rewards.FORM.fields),
    post("/rewards/preview", SEE, READS, rewards.show_preview),
    post("/rewards/hand-over", REWARDS, WRITES, rewards.hand_over),
    post("/rewards/earlier-claims", REWARDS, WRITES, rewards.forget_earlier),
    get("/rewards/{id}", SEE, READS, rewards.edit_form),
    post("/rewards/{id}", REWARDS, WRITES, rewards.edit, rewards.edit_form, rewards.FORM.fields),
    post("/rewards/{id}/delete", REWARDS, WRITES, rewards.delete),
    get("/shipments", SEE, READS, shipments.show),
    post_recent("/shipments", REWARDS, WRITES, sent_shipments.mark, shipments.show, shipments.FORM, proof_for=does("csv")),
    get_recent("/shipments/export.csv", EXPORT, SERVICES, shipments.export),
    post("/shipments/note", REWARDS, WRITES, sent_shipments.change_note, shipments.show, shipments.FORM),
    get("/shipments/tracking", SEE, READS, tracking_numbers.show),
    post("/shipments/tracking", REWARDS, SERVICES, tracking_numbers.upload, tracking_numbers.show, tracking_numbers.FORM),
)
