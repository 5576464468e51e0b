"""The rights that rows of the route tables name, by short names."""

from __future__ import annotations

from honeyguide.accounts.permissions import Right

ANYONE = None
"""Also somebody who is not logged in."""
SEE = Right.READ
SUBSCRIBERS = Right.SUBSCRIBERS
REWARDS = Right.REWARDS
PARTNERS = Right.PARTNERS
MONEY = Right.MONEY
WEBHOOKS = Right.WEBHOOKS
CAMPAIGN = Right.CAMPAIGN
EXPORT = Right.EXPORT
UNDO = Right.UNDO
ACCOUNT = Right.ACCOUNT
OWN_LOGIN = Right.OWN_LOGIN
ADMINISTRATION = Right.ADMINISTRATION
ADMINISTRATION_MONEY = Right.ADMINISTRATION_MONEY
