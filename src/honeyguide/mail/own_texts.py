"""The emails whose subject and text the operator can change, and how placeholders are filled in.

An operator's text replaces the first paragraphs. The button and the notes after it stay, so that
no text can lose the link. Placeholders are replaced once, as plain text: a text is never a
template, and a value is never searched for placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.languages.language import Language, translatable

SUBJECT_LIMIT = 150
TEXT_LIMIT = 1_500
SUBJECT, TEXT = FIELDS = ("subject", "text")
# Chooses the plural form of a default text that is shown to the operator.
SAMPLE_COUNT = 5
_BRACES = re.compile(r"\{[^{}]*\}?|\}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}", re.ASCII)


class EditableEmail(NamedTuple):
    kind: str
    label: str
    about: str
    placeholders: tuple[str, ...]
    subject: str
    text: str = ""
    """Of an email to partners. They use the dashboard, so it is in English like that."""

    @property
    def is_for_partners(self) -> bool:
        return bool(self.text)


CONFIRM = EditableEmail(
    "confirm",
    "Confirmation",
    "Sent when somebody signs up and must confirm their email address.",
    ("newsletter", "link"),
    translatable("Confirm your subscription to {newsletter}"),
)
HUB_LINK = EditableEmail(
    "hub_link",
    "Referral page link",
    "Sent to new subscribers, and to those who ask for the link to their referral page.",
    ("newsletter", "link"),
    translatable("Your referral page for {newsletter}"),
)
REWARD_UNLOCKED = EditableEmail(
    "reward_unlocked",
    "Reward earned",
    "Sent when a subscriber earns a reward.",
    ("newsletter", "reward", "first_name", "count", "link"),
    translatable("You’ve earned {reward}"),
)
FRIEND_JOINED = EditableEmail(
    "friend_joined",
    "Friend joined",
    "Sent when a friend joined through a subscriber’s link and counts.",
    ("newsletter", "first_name", "count", "link"),
    translatable("A friend joined {newsletter} through you"),
)
ONE_MORE = EditableEmail(
    "one_more",
    "One more to go",
    "Sent when a friend joined and one more friend earns the subscriber a reward.",
    ("newsletter", "reward", "first_name", "link"),
    translatable("One more friend and you’ve earned {reward}"),
)
BUDGET_REACHED = EditableEmail(
    "budget_reached",
    "Budget reached",
    "Sent to the partners of a program when it has spent its monthly budget.",
    ("newsletter", "month", "date", "link"),
    "{newsletter} has reached its budget for {month}",
    "{newsletter} has reached its budget for {month}. New referrals earn you nothing until {date}, "
    "unless the owner raises the budget sooner. If that happens, we will let you know.\n\n"
    "You keep everything you have earned so far.",
)
BUDGET_REOPENED = EditableEmail(
    "budget_reopened",
    "Budget raised",
    "Sent to the partners of a program when you raise a budget that was spent.",
    ("newsletter", "month", "link"),
    "{newsletter} is paying for referrals again",
    "{newsletter} raised its budget for {month}, so new referrals earn you fees again.\n\n"
    "Referrals that were verified while the budget was used up are not paid for afterwards.",
)
EDITABLE = {
    email.kind: email
    for email in (
        CONFIRM,
        HUB_LINK,
        FRIEND_JOINED,
        ONE_MORE,
        REWARD_UNLOCKED,
        BUDGET_REACHED,
        BUDGET_REOPENED,
    )
}


class Written(NamedTuple):
    subject: str
    paragraphs: tuple[str, ...]


def key_of(kind: str, field: str) -> str:
    """Under which a text is kept with the campaign's other texts."""
    return f"{kind}_{field}"


def default(email: EditableEmail, field: str, language: Language, count: int = SAMPLE_COUNT) -> str:
    """Our text, with its placeholders."""
    if email.is_for_partners:
        return email.subject if field == SUBJECT else email.text
    gettext = language.translations.gettext
    if field == SUBJECT:
        return gettext(email.subject)
    if email is CONFIRM:
        return gettext(
            translatable(
                "Someone, probably you, signed up for {newsletter} with this email address."
            )
        )
    if email is HUB_LINK:
        return gettext(
            translatable(
                "Your link to share, your progress and your rewards are on your referral page."
            )
        )
    if email is FRIEND_JOINED:
        return language.translations.ngettext(
            "Thank you! A friend joined {newsletter} through you. It’s your first.",
            "Thank you! A friend joined {newsletter} through you. That makes {count} friends.",
            count,
        )
    if email is ONE_MORE:
        return gettext(
            translatable(
                "You’re almost there: when one more friend joins {newsletter} through you, "
                "you’ve earned {reward}."
            )
        )
    return language.translations.ngettext(
        "Thank you! A friend joined {newsletter} through you, so you’ve earned {reward}.",
        "Thank you! {count} friends joined {newsletter} through you, so you’ve earned {reward}.",
        count,
    )


def write(
    email: EditableEmail,
    language: Language,
    own: Mapping[str, str],
    values: Mapping[str, str],
    *,
    count: int = SAMPLE_COUNT,
) -> Written:
    """The operator's subject and text, or ours, with the values filled in."""
    subject, text = (
        fill(
            language.own_text(own, key_of(email.kind, field))
            or default(email, field, language, count),
            values,
        )
        for field in FIELDS
    )
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", text))
    return Written(subject, tuple(paragraph for paragraph in paragraphs if paragraph))


def fill(text: str, values: Mapping[str, str]) -> str:
    """What is no known placeholder stays as it is. Without a value, the space before goes too:
    "Hi {first_name}," becomes "Hi,"."""
    for name, value in values.items():
        if not value:
            text = text.replace(f" {{{name}}}", "")
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def check(email: EditableEmail, field: str, text: str) -> None:
    """Refuses what could not be filled in, and says what can."""
    limit = SUBJECT_LIMIT if field == SUBJECT else TEXT_LIMIT
    checks.text(text, param=field, limit=limit, blank_ok=False)
    # A line break would end the header and start another one.
    if field == SUBJECT and not text.isprintable():
        raise Invalid("{field} must not contain line breaks or control characters.", param=field)
    known = {f"{{{name}}}" for name in email.placeholders}
    unknown = [found for found in _BRACES.findall(text) if found not in known]
    if unknown:
        raise Invalid(
            "{field} contains {unknown}, which stands for nothing here. You can use {known}.",
            param=field,
            unknown=unknown[0],
            known=", ".join(f"{{{name}}}" for name in email.placeholders),
        )
