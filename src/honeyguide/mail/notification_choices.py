"""How an account wants to get each kind of notification. Only what differs from the default is
stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.mail.notification_kinds import (
    AT_ONCE,
    BY_NAME,
    DAILY,
    NOTIFICATION_KINDS,
    OFF,
    WEEKLY,
    NotificationKind,
)
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Choice(NamedTuple):
    delivery: str
    """One of the kind's `deliveries`."""
    to_slack: bool = True
    """At once, if the account has a Slack webhook and the kind is not off."""


DEFAULT = Choice(AT_ONCE)


class _Stored(NamedTuple):
    kind: str
    delivery: str
    to_slack: bool


class _StoredDelivery(NamedTuple):
    delivery: str | None
    to_slack: bool | None
    time_zone: str
    has_slack: bool


class NotificationDelivery(NamedTuple):
    """How one notification reaches its account."""

    delivery: str
    to_slack: bool
    time_zone: str


_sql = beside(__file__)
_OF_ACCOUNT = _sql.query("of_account", _Stored)
_DELIVERY = _sql.query("delivery", _StoredDelivery)
_SET = _sql.command("set")
_RESET = _sql.command("reset")
_CANCEL_DIGEST = _sql.command("cancel_digest")


async def of_account(at: AccountReading) -> dict[str, Choice]:
    """The choice for every kind, by its name."""
    chosen = {kind.name: DEFAULT for kind in NOTIFICATION_KINDS}
    for row in await at.all(_OF_ACCOUNT):
        if row.kind in chosen:
            chosen[row.kind] = Choice(row.delivery, row.to_slack)
    return chosen


async def delivery_of(
    tx: Tx, account_id: str, kind: NotificationKind | None
) -> NotificationDelivery:
    """`kind` is None for notifications that always come."""
    found = await tx.one(_DELIVERY, account_id=account_id, kind=kind.name if kind else "")
    if found is None:
        return NotificationDelivery(DEFAULT.delivery, False, "UTC")
    to_slack = DEFAULT.to_slack if found.to_slack is None else found.to_slack
    return NotificationDelivery(
        found.delivery or DEFAULT.delivery,
        to_slack and found.has_slack,
        found.time_zone,
    )


async def save(change: Change, chosen: Mapping[str, Choice]) -> None:
    """By the names of kinds; others stay as they are. What waits for a digest leaves it if the new
    choice is no digest."""
    for name, choice in sorted(chosen.items()):
        kind = BY_NAME[checks.one_of(name, tuple(BY_NAME), param="kind")]
        checks.one_of(choice.delivery, kind.deliveries, param=name)
        if choice == DEFAULT:
            await change.run(_RESET, kind=name)
        else:
            await change.run(_SET, kind=name, delivery=choice.delivery, to_slack=choice.to_slack)
        if choice.delivery not in (DAILY, WEEKLY):
            for covered in kind.notifications:
                await change.run(_CANCEL_DIGEST, kind=covered)


async def turn_off(change: Change, kind: NotificationKind) -> None:
    """One kind, as the link in its email does."""
    old = (await of_account(change))[kind.name]
    await save(change, {kind.name: old._replace(delivery=OFF)})


_PURPOSE = "turn off notifications"
WORKS_MS = 30 * DAY_MS


class TurnOff(NamedTuple):
    account_id: str
    kind: NotificationKind
    link_version: int
    """It works while this is the account's."""


def turn_off_url(
    site: Site, account_id: str, kind: NotificationKind, *, link_version: int, now_ms: int
) -> str:
    """Needs no login: whoever has the email may turn such emails off."""
    content = f"{account_id} {kind.name} {link_version} {now_ms + WORKS_MS}"
    return f"{site.base_url}/notices/off/{site.seal(_PURPOSE, content.encode())}"


def read_token(site: Site, token: str, *, now_ms: int) -> TurnOff | None:
    """None for a token that we never made, and for one that has expired."""
    content = site.unseal(_PURPOSE, token)
    if content is None:
        return None
    # Those of earlier versions say neither version nor time.
    account_id, name, *rest = [*content.decode().split(" "), "0", str(now_ms)][:4]
    version, until_ms = map(int, rest)
    kind = BY_NAME.get(name)
    return TurnOff(account_id, kind, version) if kind and now_ms <= until_ms else None
