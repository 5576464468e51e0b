"""The kinds of emails that we send. This is the only list: an email of another kind cannot be
queued.

Each kind says whether its text is forgotten once it is sent or given up. It must be if the text
contains a link that works without a login (`tests/test_email_kinds.py` looks for them), a coupon
code or the name of a subscriber. Links that only stop emails count too: whoever reads one in a copy
of the database could use it.
"""

from __future__ import annotations

from typing import NamedTuple


class EmailKind(NamedTuple):
    name: str
    is_forgotten: bool
    """Its text and its links are deleted once it is sent or given up."""
    is_waited_for: bool
    """Somebody is waiting for it, so it is sent before any notification."""


_by_name: dict[str, EmailKind] = {}


def _declare(name: str, *, is_forgotten: bool, is_waited_for: bool) -> EmailKind:
    assert name not in _by_name, name
    kind = _by_name[name] = EmailKind(name, is_forgotten, is_waited_for)
    return kind


# To users of the dashboard, and to those who want to become one.
PASSWORD_RESET = _declare("password_reset", is_forgotten=True, is_waited_for=True)
OPEN_ACCOUNT = _declare("open_account", is_forgotten=True, is_waited_for=True)
ACCOUNT_EXISTS = _declare("account_exists", is_forgotten=False, is_waited_for=True)
INVITATION = _declare("invitation", is_forgotten=True, is_waited_for=False)
# The newsletter block in it has the links of a real subscriber.
TEST_EMAIL = _declare("test_email", is_forgotten=True, is_waited_for=False)

# To subscribers.
CONFIRM = _declare("confirm", is_forgotten=True, is_waited_for=True)
HUB_LINK = _declare("hub_link", is_forgotten=True, is_waited_for=True)
FRIEND_JOINED = _declare("friend_joined", is_forgotten=True, is_waited_for=False)
ONE_MORE = _declare("one_more", is_forgotten=True, is_waited_for=False)
REWARD_UNLOCKED = _declare("reward_unlocked", is_forgotten=True, is_waited_for=False)

# Notifications. The dashboard shows the texts of those that are kept.
DIGEST = _declare("digest", is_forgotten=False, is_waited_for=False)
WEEKLY_SUMMARY = _declare("weekly_summary", is_forgotten=True, is_waited_for=False)
FIRST_REFERRAL = _declare("first_referral", is_forgotten=False, is_waited_for=False)
REWARD_TO_APPROVE = _declare("reward_to_approve", is_forgotten=False, is_waited_for=False)
ITEM_TO_SEND = _declare("item_to_send", is_forgotten=False, is_waited_for=False)
REWARD_LOW_STOCK = _declare("reward_low_stock", is_forgotten=False, is_waited_for=False)
REWARD_OUT_OF_STOCK = _declare("reward_out_of_stock", is_forgotten=False, is_waited_for=False)
PARTNER_JOINED = _declare("partner_joined", is_forgotten=False, is_waited_for=False)
BUDGET_80 = _declare("budget_80", is_forgotten=False, is_waited_for=False)
BUDGET_100 = _declare("budget_100", is_forgotten=False, is_waited_for=False)
BUDGET_REACHED = _declare("budget_reached", is_forgotten=False, is_waited_for=False)
BUDGET_REOPENED = _declare("budget_reopened", is_forgotten=False, is_waited_for=False)
PAYOUT_DUE = _declare("payout_due", is_forgotten=False, is_waited_for=False)
WEBHOOK_FAILING = _declare("webhook_failing", is_forgotten=False, is_waited_for=False)
WEBHOOK_DISABLED = _declare("webhook_disabled", is_forgotten=False, is_waited_for=False)
INTEGRATION_STOPPED = _declare("integration_stopped", is_forgotten=False, is_waited_for=False)

KINDS = tuple(_by_name.values())


def declared(name: str) -> EmailKind:
    kind = _by_name.get(name)
    if kind is None:
        raise ValueError(f"There is no kind of email called {name!r}. Declare it in email_kinds.")
    return kind


def is_forgotten(name: str) -> bool:
    """Also for a kind that another version queued: what it contains is not known here."""
    kind = _by_name.get(name)
    return kind is None or kind.is_forgotten
