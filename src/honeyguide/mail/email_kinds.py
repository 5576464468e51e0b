"""The kinds of emails that we send. This is the only list: an email of another kind cannot be
queued. One row has all that is said about a kind, also what it says unless the operator changes it.

Each kind says whether its text is forgotten once it is sent or given up. It must be if the text
contains a link that works without a login (`tests/mail/test_email_kinds.py` looks for them), a
coupon code or the name of a subscriber. Links that only stop emails count too: whoever reads one in
a copy of the database could use it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.languages.language import translatable, translatable_forms
from honeyguide.mail import notification_kinds
from honeyguide.mail.notification_kinds import NotificationKind


class EmailKind(NamedTuple):
    name: str
    is_forgotten: bool
    """Its text and its links are deleted once it is sent or given up."""
    is_waited_for: bool = False
    """Somebody is waiting for it, so it is sent before any notification."""
    is_for_subscribers: bool = False
    """It is not sent to a mailbox at which an email of the account bounced."""
    can_be_stopped: bool = False
    """By the subscriber, and by the operator for all of them: nobody asked for it."""
    most_a_day: int = 0
    """To one mailbox, over the whole service, of those that anybody can ask for with a form."""
    most_a_day_here: int = 0
    """The same of one newsletter."""
    choice: NotificationKind | None = None
    """What the operator chooses for such notifications. Those to partners always come."""
    # Of those whose subject and text the operator can change:
    label: str = ""
    about: str = ""
    placeholders: tuple[str, ...] = ()
    subject: str = ""
    text: tuple[str, ...] = ()
    """With a second one, the forms for one and for many."""
    is_for_partners: bool = False
    """They use the dashboard, so it is in English like that."""


_by_name: dict[str, EmailKind] = {}


def _declare(name: str, *, is_forgotten: bool, **facts: Any) -> EmailKind:
    assert name not in _by_name, name
    kind = _by_name[name] = EmailKind(name, is_forgotten, **facts)
    return kind


# To users of the dashboard, and to those who want to become one.
PASSWORD_RESET = _declare("password_reset", is_forgotten=True, is_waited_for=True)
OPEN_ACCOUNT = _declare("open_account", is_forgotten=True, is_waited_for=True)
ACCOUNT_EXISTS = _declare("account_exists", is_forgotten=False, is_waited_for=True)
INVITATION = _declare("invitation", is_forgotten=True)
MEMBER_INVITATION = _declare("member_invitation", is_forgotten=True)
EMAIL_CHANGE = _declare("email_change", is_forgotten=True, is_waited_for=True)
EMAIL_CODE = _declare("email_code", is_forgotten=True, is_waited_for=True)
SECOND_FACTOR_OFF = _declare("second_factor_off", is_forgotten=False)
LOGIN_CHANGED = _declare("login_changed", is_forgotten=False)
NEW_BROWSER = _declare("new_browser", is_forgotten=False)
API_KEY_CHANGED = _declare("api_key_changed", is_forgotten=False)
ACCOUNT_PAUSED = _declare("account_paused", is_forgotten=False)
ACCOUNT_RESUMED = _declare("account_resumed", is_forgotten=False)
ACCOUNT_CLOSING = _declare("account_closing", is_forgotten=False)
ACCOUNT_KEPT = _declare("account_kept", is_forgotten=False)
ACCOUNT_CLOSED = _declare("account_closed", is_forgotten=False)
# The newsletter block in it has the links of a real subscriber.
TEST_EMAIL = _declare("test_email", is_forgotten=True)

# To subscribers.
CONFIRM = _declare(
    "confirm",
    is_forgotten=True,
    is_for_subscribers=True,
    is_waited_for=True,
    most_a_day=6,  # it may go to somebody who never asked for it
    most_a_day_here=2,
    label="Confirmation",
    about="Sent when somebody signs up and must confirm their email address.",
    placeholders=("newsletter", "link"),
    subject=translatable("Confirm your subscription to {newsletter}"),
    text=(
        translatable("Someone, probably you, signed up for {newsletter} with this email address."),
    ),
)
HUB_LINK = _declare(
    "hub_link",
    is_forgotten=True,
    is_for_subscribers=True,
    is_waited_for=True,
    most_a_day=10,
    most_a_day_here=10,
    label="Referral page link",
    about="Sent to new subscribers, and to those who ask for the link to their referral page.",
    placeholders=("newsletter", "link"),
    subject=translatable("Your referral page for {newsletter}"),
    text=(
        translatable(
            "Your link to share, your progress and your rewards are on your referral page."
        ),
    ),
)
FRIEND_JOINED = _declare(
    "friend_joined",
    is_forgotten=True,
    is_for_subscribers=True,
    can_be_stopped=True,
    label="Friend joined",
    about="Sent when a friend joined through a subscriber’s link and counts.",
    placeholders=("newsletter", "first_name", "count", "link"),
    subject=translatable("A friend joined {newsletter} through you"),
    text=translatable_forms(
        "Thank you! A friend joined {newsletter} through you. It’s your first.",
        "Thank you! A friend joined {newsletter} through you. That makes {count} friends.",
    ),
)
ONE_MORE = _declare(
    "one_more",
    is_forgotten=True,
    is_for_subscribers=True,
    can_be_stopped=True,
    label="One more to go",
    about="Sent when a friend joined and one more friend earns the subscriber a reward.",
    placeholders=("newsletter", "reward", "first_name", "link"),
    subject=translatable("One more friend and you’ve earned “{reward}”"),
    text=(
        translatable(
            "You’re almost there: when one more friend joins {newsletter} through you, "
            "you’ve earned “{reward}”."
        ),
    ),
)
REWARD_UNLOCKED = _declare(
    "reward_unlocked",
    is_forgotten=True,
    is_for_subscribers=True,
    can_be_stopped=True,
    label="Reward earned",
    about="Sent when a subscriber earns a reward.",
    placeholders=("newsletter", "reward", "first_name", "count", "link"),
    subject=translatable("You’ve earned “{reward}”"),
    text=translatable_forms(
        "Thank you! A friend joined {newsletter} through you, so you’ve earned “{reward}”.",
        "Thank you! {count} friends joined {newsletter} through you, so you’ve earned “{reward}”.",
    ),
)
SHIPMENT_SENT = _declare(
    "shipment_sent",
    is_forgotten=True,
    is_for_subscribers=True,
    can_be_stopped=True,
    label="On its way",
    about="Sent a minute after you mark physical rewards as sent. What a subscriber gets in one "
    "package is one email.",
    placeholders=("newsletter", "reward", "first_name", "count", "link"),
    subject=translatable("On its way to you: {reward}"),
    text=translatable_forms(
        "We’ve sent you “{reward}”. A friend reads {newsletter} because of you. Thank you!",
        "We’ve sent you “{reward}”. {count} friends read {newsletter} because of you. Thank you!",
    ),
)

# To the partners of a program.
BUDGET_REACHED = _declare(
    "budget_reached",
    is_forgotten=False,
    is_for_partners=True,
    label="Budget reached",
    about="Sent to the partners of a program when it has spent its monthly budget.",
    placeholders=("newsletter", "month", "date", "link"),
    subject="{newsletter} has reached its budget for {month}",
    text=(
        "{newsletter} has reached its budget for {month}. New referrals earn you nothing until "
        "{date}, unless the owner raises the budget sooner. If that happens, we will let you "
        "know.\n\nYou keep everything you have earned so far.",
    ),
)
BUDGET_REOPENED = _declare(
    "budget_reopened",
    is_forgotten=False,
    is_for_partners=True,
    label="Budget raised",
    about="Sent to the partners of a program when you raise a budget that was spent.",
    placeholders=("newsletter", "month", "link"),
    subject="{newsletter} is paying for referrals again",
    text=(
        "{newsletter} raised its budget for {month}, so new referrals earn you fees again.\n\n"
        "Referrals that were verified while the budget was used up are not paid for afterwards.",
    ),
)
PARTNER_REMOVED = _declare("partner_removed", is_forgotten=False)
PARTNER_ALLOWED = _declare("partner_allowed", is_forgotten=False)
TERMS_CHANGED = _declare("terms_changed", is_forgotten=False)
LOOK_AWAITED = _declare("look_awaited", is_forgotten=False)

# To a program's owner or to a partner, whose member joined the other side.
SHARED_MEMBER = _declare("shared_member", is_forgotten=False)

# Notifications, as the operator chose. The dashboard shows the texts of those that are kept.
DIGEST = _declare("digest", is_forgotten=False)
for _choice in notification_kinds.NOTIFICATION_KINDS:
    for _name in _choice.notifications:
        _declare(_name, is_forgotten=_choice.is_forgotten, choice=_choice)

EMAIL_KINDS = tuple(_by_name.values())
TO_SUBSCRIBERS = [kind.name for kind in EMAIL_KINDS if kind.is_for_subscribers]


def declared(name: str) -> EmailKind:
    kind = _by_name.get(name)
    if kind is None:
        raise ValueError(f"There is no kind of email called {name!r}. Declare it in email_kinds.")
    return kind


def is_forgotten(name: str) -> bool:
    """Also for a kind that another version queued: what it contains is not known here."""
    kind = _by_name.get(name)
    return kind is None or kind.is_forgotten


def is_for_subscribers(name: str) -> bool:
    kind = _by_name.get(name)
    return kind is not None and kind.is_for_subscribers


def icon_of(name: str) -> str:
    """Of a notification on the dashboard. Those to partners and those of another version have the
    general one."""
    kind = _by_name.get(name)
    return kind.choice.icon if kind and kind.choice else "notification"
