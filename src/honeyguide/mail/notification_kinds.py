"""The kinds of notifications that an operator can choose to get, and how. This is the only list."""

from __future__ import annotations

from typing import NamedTuple

# On the dashboard only; there and by email; there and in a digest by email; not at all.
DASHBOARD, AT_ONCE, DAILY, WEEKLY, OFF = DELIVERIES = (
    "dashboard",
    "at_once",
    "daily",
    "weekly",
    "off",
)


class NotificationKind(NamedTuple):
    name: str
    label: str
    about: str
    default: str = AT_ONCE
    deliveries: tuple[str, ...] = DELIVERIES
    covers: tuple[str, ...] = ()
    """The kinds of the notifications that this choice is about, if not just its own."""


FIRST_REFERRAL = NotificationKind(
    "first_referral", "First referral", "Somebody joined through a subscriber for the first time."
)
REWARD_TO_APPROVE = NotificationKind(
    "reward_to_approve", "Reward to approve", "A subscriber earned a reward that needs your yes."
)
ITEM_TO_SEND = NotificationKind(
    "item_to_send", "Item to send", "A subscriber claimed a reward that you send by post."
)
CODES_LOW = NotificationKind(
    "codes_low",
    "Codes running low",
    "A reward has few coupon codes left, or none.",
    covers=("reward_low_stock", "reward_out_of_stock"),
)
PARTNER_JOINED = NotificationKind(
    "partner_joined", "Partner joined", "A partner joined one of your programs."
)
BUDGET = NotificationKind(
    "budget",
    "Budget at 80% and 100%",
    "A program has spent most of its monthly budget, or all of it.",
    covers=("budget_80", "budget_100"),
)
PAYOUT_DUE = NotificationKind(
    "payout_due", "Payout due", "A month is closed, and there are partner fees to pay or to get."
)
WEBHOOK_FAILING = NotificationKind(
    "webhook_failing",
    "Webhook failing",
    "Deliveries to a webhook have been failing for a day, or it was disabled.",
    covers=("webhook_failing", "webhook_disabled"),
)
INTEGRATION_STOPPED = NotificationKind(
    "integration_stopped",
    "Sync stopped",
    "Your email platform no longer accepts the key, or the list was deleted there.",
)
WEEKLY_SUMMARY = NotificationKind(
    "weekly_summary",
    "Weekly summary",
    "Mondays at 8 AM: last week’s numbers, your top advocates and what is waiting for you.",
    deliveries=(AT_ONCE, DASHBOARD, OFF),
)

KINDS = (
    FIRST_REFERRAL,
    REWARD_TO_APPROVE,
    ITEM_TO_SEND,
    CODES_LOW,
    PARTNER_JOINED,
    BUDGET,
    PAYOUT_DUE,
    WEBHOOK_FAILING,
    INTEGRATION_STOPPED,
    WEEKLY_SUMMARY,
)
BY_NAME = {kind.name: kind for kind in KINDS}
_BY_NOTIFICATION = {covered: kind for kind in KINDS for covered in kind.covers or (kind.name,)}


def choice_about(kind: str) -> NotificationKind | None:
    """What the operator chooses for such notifications. None if they always come: those to the
    partners of a program."""
    return _BY_NOTIFICATION.get(kind)
