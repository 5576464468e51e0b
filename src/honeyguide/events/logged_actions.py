"""What the change log is about: for the first part of each action, such as `reward` in
`reward.changed`, what it is called and which group of changes it belongs to.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ChangeGroup(StrEnum):
    TEAM = "team"
    KEYS = "keys"
    SETTINGS = "settings"
    SUBSCRIBERS = "subscribers"
    REWARDS = "rewards"
    PARTNERS = "partners"
    MONEY = "money"
    INSTALLATION = "installation"


GROUP_NAMES = {
    ChangeGroup.TEAM: "Team and logins",
    ChangeGroup.KEYS: "API keys and webhooks",
    ChangeGroup.SETTINGS: "Settings, pages and emails",
    ChangeGroup.SUBSCRIBERS: "Subscribers and referrals",
    ChangeGroup.REWARDS: "Rewards and shipments",
    ChangeGroup.PARTNERS: "Publications and partners",
    ChangeGroup.MONEY: "Payouts",
    ChangeGroup.INSTALLATION: "Installation",
}


class LoggedSubject(NamedTuple):
    noun: str
    group: ChangeGroup


_TEAM, _KEYS, _SETTINGS = ChangeGroup.TEAM, ChangeGroup.KEYS, ChangeGroup.SETTINGS
_PEOPLE, _REWARDS, _PARTNERS = (
    ChangeGroup.SUBSCRIBERS,
    ChangeGroup.REWARDS,
    ChangeGroup.PARTNERS,
)

SUBJECTS: dict[str, LoggedSubject] = {
    "account": LoggedSubject("the account", _TEAM),
    "member": LoggedSubject("the member", _TEAM),
    "invitation": LoggedSubject("an invitation", _TEAM),
    "login": LoggedSubject("the member", _TEAM),
    "session": LoggedSubject("a session", _TEAM),
    "second_factor": LoggedSubject("the member", _TEAM),
    "email_address": LoggedSubject("an email address", _TEAM),
    "api_key": LoggedSubject("the API key", _KEYS),
    "webhook": LoggedSubject("the webhook", _KEYS),
    "campaign": LoggedSubject("the newsletter", _SETTINGS),
    "emails": LoggedSubject("the emails to advocates", _SETTINGS),
    "embed": LoggedSubject("the form for your website", _SETTINGS),
    "newsletter_block": LoggedSubject("the newsletter block", _SETTINGS),
    "notifications": LoggedSubject("the notification choices", _SETTINGS),
    "slack_webhook": LoggedSubject("the Slack webhook", _SETTINGS),
    "link_host": LoggedSubject("the link host", _SETTINGS),
    "screening_entry": LoggedSubject("an entry of the screening lists", _SETTINGS),
    "integration": LoggedSubject("the email tool", _SETTINGS),
    "subscriber": LoggedSubject("the subscriber", _PEOPLE),
    "referral": LoggedSubject("the referral of", _PEOPLE),
    "referrer": LoggedSubject("the referrer of", _PEOPLE),
    "group": LoggedSubject("a group of referrals", _PEOPLE),
    "claimed_code": LoggedSubject("the unknown code of", _PEOPLE),
    "confirmations": LoggedSubject("confirmation emails", _PEOPLE),
    "note": LoggedSubject("a note", _PEOPLE),
    "saved_filter": LoggedSubject("a saved filter", _PEOPLE),
    "reward": LoggedSubject("the reward", _REWARDS),
    "earned_reward": LoggedSubject("the reward", _REWARDS),
    "shipment": LoggedSubject("the shipment", _REWARDS),
    "publication": LoggedSubject("the publication", _PARTNERS),
    "program": LoggedSubject("the program of", _PARTNERS),
    "partner": LoggedSubject("the partner", _PARTNERS),
    "partner_campaign": LoggedSubject("the program of", _PARTNERS),
    "payout": LoggedSubject("the payout", ChangeGroup.MONEY),
    "backup": LoggedSubject("a backup", ChangeGroup.INSTALLATION),
    "installation": LoggedSubject("the installation", ChangeGroup.INSTALLATION),
}


def subject_of(action: str) -> LoggedSubject | None:
    return SUBJECTS.get(action.partition(".")[0])


def prefixes_of(group: ChangeGroup) -> list[str]:
    return [name for name, subject in SUBJECTS.items() if subject.group is group]
