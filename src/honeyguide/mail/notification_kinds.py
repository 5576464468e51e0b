"""The kinds of notifications that an operator can choose to get, and how. This is the only list."""

from __future__ import annotations

from typing import Any, NamedTuple

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
    is_forgotten: bool
    """As in `email_kinds`: whether what their emails say is deleted once they are sent."""
    icon: str
    """On the dashboard."""
    deliveries: tuple[str, ...] = DELIVERIES
    covers: tuple[str, ...] = ()
    """The kinds of the notifications that this choice is about, if not just its own."""
    at_once: str = ""
    """When its email comes, if that is not at once."""
    named: tuple[str, ...] = ()
    """What the dashboard says of whom each of `notifications` is about, while they are known."""

    @property
    def notifications(self) -> tuple[str, ...]:
        return self.covers or (self.name,)


BY_NAME: dict[str, NotificationKind] = {}


def _declare(
    name: str, label: str, about: str, *, is_forgotten: bool, icon: str, **facts: Any
) -> NotificationKind:
    kind = BY_NAME[name] = NotificationKind(name, label, about, is_forgotten, icon, **facts)
    return kind


FIRST_REFERRAL = _declare(
    "first_referral", "First referral", "Somebody joined through a subscriber for the first time.", is_forgotten=False, icon="people"
)
CONFIRMATIONS_HELD = _declare(
    "confirmations_held",
    "Confirmation emails waiting",
    "Many people signed up through one link, and hardly anybody confirms.",
    is_forgotten=False,
    icon="email",
)
REWARD_TO_APPROVE = _declare(
    "reward_to_approve", "Reward to approve", "A subscriber earned a reward that needs your approval.", is_forgotten=False, icon="gift",
    named=("{who} earned {reward}, which waits for your approval",),
)
REWARD_CLAIMED = _declare(
    "reward_claimed", "Reward claimed", "A subscriber claimed a reward that you deliver yourself.", is_forgotten=False, icon="gift",
    named=("{who} claimed {reward}",),
)
ADDRESS_CORRECTED = "address_corrected"
ITEM_TO_SEND = _declare(
    "item_to_send",
    "Item to send",
    "A subscriber claimed a reward that you send by post, or corrected the address of one.",
    is_forgotten=False,
    icon="truck",
    covers=("item_to_send", ADDRESS_CORRECTED),
    named=("{who} claimed {reward}{to}", "{who} corrected the address for {reward}{to}"),
)
CODES_LOW = _declare(
    "codes_low",
    "Codes running low",
    "A reward has few coupon codes left, or none.",
    is_forgotten=False,
    icon="ticket",
    covers=("reward_low_stock", "reward_out_of_stock"),
)
PARTNER_JOINED = _declare(
    "partner_joined",
    "Partner joined or left",
    "A partner joined one of your programs, or left it.",
    is_forgotten=False,
    icon="link",
    covers=("partner_joined", "partner_left"),
)
GROUP_WAITS = "group_waits"
FIRST_LOOK = _declare(
    "first_look",
    "First look at a partner",
    "A new partner brought its first readers, readers that differ from those you looked at, or a group of readers that share a lot.",
    is_forgotten=False,
    icon="people",
    covers=("first_look", GROUP_WAITS),
)
BUDGET = _declare(
    "budget",
    "Budget at 80% and 100%",
    "A program has spent most of its monthly budget, or all of it.",
    is_forgotten=False,
    icon="money",
    covers=("budget_80", "budget_100"),
)
NO_CONFIRMATIONS = _declare(
    "no_confirmations",
    "Program without confirmations",
    "A new program cannot ask for confirmations by email, because no mail server is set.",
    is_forgotten=False,
    icon="email",
)
PAYOUT_DUE = _declare(
    "payout_due", "Payout due", "A month is closed, and partner fees are due to or from you.", is_forgotten=False, icon="bank"
)
CHARGE_REVERSED = _declare(
    "charge_reversed",
    "Charge reversed",
    "A program took back what it had paid for your referrals, or you did so in a program of yours.",
    is_forgotten=True,
    icon="undo",
)
WEBHOOK_FAILING = _declare(
    "webhook_failing",
    "Webhook failing",
    "Deliveries to a webhook have been failing for a day, or it was disabled.",
    is_forgotten=False,
    icon="code",
    covers=("webhook_failing", "webhook_disabled"),
)
KEY_EXPIRES = _declare(
    "key_expires", "API key expiring", "An API key that your tools use expires in a week.", is_forgotten=False, icon="key"
)
INTEGRATION_STOPPED = _declare(
    "integration_stopped",
    "Sync stopped or waiting",
    "Your email platform no longer accepts the key, or the list was deleted there, or its fields "
    "have values of another tool and we need your answer.",
    is_forgotten=False,
    icon="retry",
    covers=("integration_stopped", "integration_asks"),
)
FETCH_ENDED = _declare(
    "fetch_ended",
    "Fetch from another service ended",
    "What you fetch from another service’s API has arrived, or the fetch stopped and needs you.",
    is_forgotten=False,
    icon="download",
    covers=("fetch_done", "fetch_stopped"),
)
LINK_HOST_OFF = _declare(
    "link_host_off",
    "Link host failing or off",
    "The DNS record of a link host is gone: its links will stop working, or have.",
    is_forgotten=False,
    icon="globe",
    covers=("link_host_off", "link_host_failing"),
)
ACTION_DROPPED = _declare(
    "action_dropped", "Action not done", "What you did on the dashboard could not be done a minute later.", is_forgotten=False, icon="cross"
)
WEEKLY_SUMMARY = _declare(
    "weekly_summary",
    "Weekly summary",
    "Mondays at 8 AM: last week’s numbers, your top advocates and what is waiting for you.",
    is_forgotten=True,
    icon="calendar",
    deliveries=(AT_ONCE, DASHBOARD, OFF),
    at_once="Email on Mondays",
)

NOTIFICATION_KINDS = tuple(BY_NAME.values())


def named(notification: str) -> str:
    """How this notification names whom it is about; empty if it names nobody."""
    words = (
        pair for kind in NOTIFICATION_KINDS for pair in zip(kind.notifications, kind.named, strict=False)
    )
    return dict(words).get(notification, "")
