"""Who may do what: a right for every route, and the rights of each role and API key.

Each row of the route tables of API and dashboard names one right. Handlers, menus, pages and tests
all ask this module, so there is no second list. `docs/team.md` is made from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid


class Right(StrEnum):
    """The first six are the scopes of API keys too, so their names are public."""

    READ = "read"
    SUBSCRIBERS = "subscribers"
    REWARDS = "rewards"
    PARTNERS = "partners"
    MONEY = "money"
    WEBHOOKS = "webhooks"
    CAMPAIGN = "campaign"
    EXPORT = "export"
    UNDO = "undo"
    ACCOUNT = "account"
    OWN_LOGIN = "own_login"
    ADMINISTRATION = "administration"
    ADMINISTRATION_MONEY = "administration_money"


class Role(StrEnum):
    OWNER = "owner"
    EDITOR = "editor"
    FINANCE = "finance"
    ANALYST = "analyst"


# What a key with this scope may do.
SCOPES: dict[Right, str] = {
    Right.READ: "Read everything except secrets of webhooks and links to referral pages.",
    Right.SUBSCRIBERS: "Add, change and erase subscribers, decide on their referrals and get links "
    "to referral pages.",
    Right.REWARDS: "Change rewards, approve and redeem them, and mark shipments as sent.",
    Right.PARTNERS: "Change publications, programs and their partners; join and leave programs.",
    Right.MONEY: "Take back charges for referrals.",
    Right.WEBHOOKS: "Change, test and replay webhooks, and read their secrets.",
}
# What lists of scopes say for a key that may do everything.
ALL_SCOPES = "all"


class RightFacts(NamedTuple):
    about: str
    roles: frozenset[Role]
    """The roles that have it, besides owners, who have all."""


_EDITOR, _FINANCE, _ANALYST = (
    frozenset({Role.EDITOR}),
    frozenset({Role.FINANCE}),
    frozenset({Role.ANALYST}),
)
_EVERYBODY = _EDITOR | _FINANCE | _ANALYST

RIGHTS: dict[Right, RightFacts] = {
    Right.READ: RightFacts("See every page of the newsletter and its figures", _EVERYBODY),
    Right.SUBSCRIBERS: RightFacts(
        "Add, import, change, review and erase single subscribers", _EDITOR
    ),
    Right.REWARDS: RightFacts("Set up rewards, approve them and ship them", _EDITOR),
    Right.CAMPAIGN: RightFacts("Change pages, emails, settings and the email tool", _EDITOR),
    Right.PARTNERS: RightFacts("Run publications and programs, join and leave programs", _EDITOR),
    Right.WEBHOOKS: RightFacts("Set up webhooks", _EDITOR),
    Right.EXPORT: RightFacts("Download the list of all subscribers", _EDITOR),
    Right.UNDO: RightFacts("Undo what was done a moment ago", _EDITOR),
    Right.MONEY: RightFacts("Take back fees and see to payouts", _FINANCE),
    Right.ACCOUNT: RightFacts("Manage members, API keys and the account itself", frozenset()),
    Right.OWN_LOGIN: RightFacts("Change one’s own login", _EVERYBODY),
    Right.ADMINISTRATION: RightFacts(
        "Run the installation (in the administrators’ account only)", frozenset()
    ),
    Right.ADMINISTRATION_MONEY: RightFacts(
        "Pay partners (in the administrators’ account only)", _FINANCE
    ),
}
# Everybody else does not learn that these pages exist.
OF_ADMINISTRATORS = frozenset({Right.ADMINISTRATION, Right.ADMINISTRATION_MONEY})


def scope_of(right: Right) -> str:
    """The scope that a key needs for a route with this right. What is no scope itself is only for
    keys that have all."""
    return right if right in SCOPES else ALL_SCOPES


def role_may(role: str, right: Right, *, is_admin: bool) -> bool:
    """`is_admin` says whether the account runs the installation."""
    if right in OF_ADMINISTRATORS and not is_admin:
        return False
    return role == Role.OWNER or role in RIGHTS[right].roles


def roles_with(right: Right) -> list[Role]:
    return [role for role in Role if role_may(role, right, is_admin=True)]


def parse_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Invalid(
            "{field} must be one of: {allowed}.", param="role", allowed=", ".join(Role)
        ) from None


def parse_scopes(names: Iterable[str]) -> tuple[Right, ...] | None:
    """In the order of SCOPES; None for all of them."""
    given = set(names)
    if unknown := sorted(given - set(SCOPES)):
        raise Invalid(
            "{unknown} is not a scope. Scopes are: {allowed}.",
            param="scopes",
            unknown=unknown[0],
            allowed=", ".join(SCOPES),
        )
    chosen = tuple(scope for scope in SCOPES if scope in given)
    if not chosen:
        raise Invalid("Choose at least one scope.", param="scopes")
    return None if len(chosen) == len(SCOPES) else chosen
