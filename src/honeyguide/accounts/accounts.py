"""Accounts, each created with its one campaign and its first owner, and the secret of this
installation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.events import change_log
from honeyguide.kernel import checks, periods
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden, Invalid, Missing
from honeyguide.kernel.ids import is_id, new_code, new_id
from honeyguide.mail import notification_choices, notifications, slack_messages
from honeyguide.mail.content import EmailText
from honeyguide.mail.notification_choices import Choice
from honeyguide.mail.notification_kinds import NotificationKind
from honeyguide.mail.notifications import Notification
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_SHORTENED = checks.SLUG_LIMIT - 9  # leaves room for a hyphen and a code


class Account(NamedTuple):
    id: str
    email: str
    """Where its notifications go."""
    name: str | None
    is_admin: bool
    created_ms: int
    time_zone: str
    needs_second_factor: bool
    """Asked of all its members."""
    paused_ms: int | None
    closes_ms: int | None
    """When it is closed, or was, since an owner asked for it."""
    closed_ms: int | None
    link_version: int
    """Of the links in its notifications that work without a login."""


class Proof(NamedTuple):
    at_ms: int
    broken: int


TIME_ZONE = "time zone"
PAUSED = (
    "This account is paused by an administrator. You can read everything, but change nothing; "
    "write to the administrator of this installation."
)

OWNS_PAUSED = (
    "An account of yours is paused by an administrator, so you cannot open another one; write to "
    "the administrator of this installation."
)

_sql = beside(__file__)
_INSERT = _sql.command("insert")
_INSERT_CAMPAIGN = _sql.command("insert_campaign")
_SLUG_TAKEN = _sql.value("slug_taken", str)
_OF_OWNER = _sql.query("of_owner", Account)
_BY_ID = _sql.query("by_id", Account)
_PAUSED_OWNERS = _sql.query("paused_owners", lambda user_id, email: (user_id, email))
_ALL = _sql.query("all", Account)
_RENAME = _sql.command("rename")
_DISMISS_CHECKLIST = _sql.command("dismiss_checklist")
_SET_TIME_ZONE = _sql.command("set_time_zone")
_SET_NEEDS_SECOND_FACTOR = _sql.command("set_needs_second_factor")
_INSTANCE_VALUE = _sql.value("instance_value", str)
_SET_INSTANCE_VALUE = _sql.command("set_instance_value")
_KEEP_INSTANCE_VALUE = _sql.command("keep_instance_value")


class Created(NamedTuple):
    account_id: str
    campaign_id: str


async def create(
    tx: Tx, email: EmailAddress, *, name: str | None, is_admin: bool = False
) -> Created:
    """An account for a new user, who owns it."""
    user_id = await users.create(tx, email)
    return await open_another(tx, user_id, email, name=name, is_admin=is_admin)


async def open_another(
    tx: Tx,
    user_id: str,
    email: EmailAddress,
    *,
    name: str | None,
    is_admin: bool = False,
) -> Created:
    """An account and its campaign, named after it until the operator names it. The user owns it and
    gets its notifications at this address.
    """
    if name is not None:
        checks.name(name, param="name")
    for owner_id, owner_email in await tx.all(_PAUSED_OWNERS):
        if owner_id == user_id or EmailAddress(owner_email).person == email.person:
            raise Forbidden(OWNS_PAUSED)
    made = Created(new_id(), new_id())
    # The first account runs the installation. One row names it, so that only one of two at once can
    # be it.
    is_first = await tx.run(_SET_INSTANCE_VALUE, name="first_account", value=made.account_id)
    await tx.put(
        _INSERT,
        id=made.account_id,
        email=email.text,
        name=name,
        is_admin=is_admin or is_first,
        created_ms=tx.now_ms,
    )
    await tx.put(
        _INSERT_CAMPAIGN,
        id=made.campaign_id,
        account_id=made.account_id,
        name=name or "My newsletter",
        slug=await _free_slug(tx, name or ""),
        created_ms=tx.now_ms,
        # Somebody took the slug at the same moment: choose another.
        taken={"slug_pkey": Again, "slug.slug": Again},
    )
    await members.add(tx, made.account_id, user_id, Role.OWNER)
    return made


async def _free_slug(tx: Tx, name: str) -> str:
    """Made from the name, so that people can read the URL of the signup page."""
    slug = checks.slug_from(name)
    if slug and await tx.one(_SLUG_TAKEN, slug=slug) is None:
        return slug
    return f"{slug[:_SHORTENED].strip('-') or 'c'}-{new_code()}"


async def find_by_email(tx: Tx, email: EmailAddress) -> Account | None:
    """The first account that somebody with this address owns."""
    owned = await tx.all(_OF_OWNER, email_key=email.key)
    return owned[0] if owned else None


async def get_named(tx: Tx, given: str) -> Account:
    """The account that a command names: by the address of an owner who has no other, or by id."""
    if is_id(given) and (account := await tx.one(_BY_ID, id=given)) is not None:
        return account
    owned = await tx.all(_OF_OWNER, email_key=EmailAddress.parse(given).key)
    if not owned:
        raise Missing(
            "There is no account {email}. Create one with `honeyguide account create {email}`.",
            email=given,
        )
    if len(owned) > 1:
        raise Invalid(
            "{email} owns {many} accounts. Name one by its id: {ids}.",
            email=given,
            many=len(owned),
            ids=", ".join(f"{account.id} ({account.name})" for account in owned),
        )
    return owned[0]


async def get(tx: Tx, account_id: str) -> Account:
    account = await tx.one(_BY_ID, id=account_id)
    if account is None:
        raise Missing("There is no such account.")
    return account


async def _own(at: AccountReading) -> Account:
    account = await at.one(_BY_ID, id=at.account_id)
    assert account is not None
    return account


async def notify_owner(
    change: Change, kind: str, cause: str, message: EmailText, *, link: str
) -> None:
    """Of what followed from a change to their campaign, once for each cause of this kind."""
    own = await change.fact(_own)
    notification = Notification(own.id, own.email, kind, f"{kind}:{cause}", message, link)
    await notifications.notify(change.tx, change.site.base_url, notification)


# In the change log, for whatever an operator sets about the account.
CHANGED = "account.changed"


async def rename(change: Change, name: str) -> None:
    checks.name(name, param="name")
    old = await get(change.tx, change.tenant.account_id)
    await change.run(_RENAME, name=name)
    await change_log.record(change, CHANGED, old.id, {"name": old.name}, {"name": name})


async def dismiss_checklist(tx: Tx, account_id: str) -> None:
    """The set-up checklist is not shown again."""
    await tx.run(_DISMISS_CHECKLIST, account_id=account_id)


async def set_time_zone(change: Change, time_zone: str) -> None:
    """Days are cut in this zone from now on, past ones too."""
    periods.check_zone(time_zone, param="time_zone")
    old = await get(change.tx, change.tenant.account_id)
    await change.run(_SET_TIME_ZONE, time_zone=time_zone)
    change.tx.wake(TIME_ZONE)
    before, after = {"time_zone": old.time_zone}, {"time_zone": time_zone}
    await change_log.record(change, CHANGED, old.id, before, after)


async def set_needs_second_factor(change: Change, is_needed: bool) -> None:
    old = await get(change.tx, change.tenant.account_id)
    await change.run(_SET_NEEDS_SECOND_FACTOR, is_needed=is_needed)
    before = {"needs_second_factor": old.needs_second_factor}
    after = {"needs_second_factor": is_needed}
    await change_log.record(change, CHANGED, old.id, before, after)


async def instance_secret(tx: Tx) -> bytes:
    """Made once and kept in the database, so that all machines that share the database share the
    secret."""
    await tx.run(_SET_INSTANCE_VALUE, name="secret_key", value=os.urandom(32).hex())
    kept = await tx.one(_INSTANCE_VALUE, name="secret_key")
    return bytes.fromhex(kept or "")


async def find_stored_secret(tx: Tx) -> bytes | None:
    """The secret, if it is kept in the database."""
    kept = await tx.one(_INSTANCE_VALUE, name="secret_key")
    return bytes.fromhex(kept) if kept else None


async def note_backup(tx: Tx) -> None:
    """When the last whole copy was made, for the administrator to see."""
    await tx.run(_KEEP_INSTANCE_VALUE, name="last_backup_ms", value=str(tx.now_ms))


async def last_backup_ms(tx: Tx) -> int | None:
    kept = await tx.one(_INSTANCE_VALUE, name="last_backup_ms")
    return int(kept) if kept else None


async def note_proof(tx: Tx, *, broken: int) -> None:
    """When the books were last proved, and in how many places they were wrong."""
    await tx.run(_KEEP_INSTANCE_VALUE, name="last_proof", value=f"{tx.now_ms} {broken}")


async def last_proof(tx: Tx) -> Proof | None:
    kept = await tx.one(_INSTANCE_VALUE, name="last_proof")
    return Proof(*map(int, kept.split())) if kept else None


async def note_check_results(tx: Tx, text: str) -> None:
    """What the last checks of the mail server and the database found."""
    await tx.run(_KEEP_INSTANCE_VALUE, name="check_results", value=text)


async def last_check_results(tx: Tx) -> str | None:
    return await tx.one(_INSTANCE_VALUE, name="check_results")


async def unsubscribes_recorded_since_ms(tx: Tx) -> int:
    """Since when this installation records when somebody unsubscribes; 0 if it always did."""
    return int(await tx.one(_INSTANCE_VALUE, name="unsubscribes_recorded_since_ms") or 0)


async def note_unsubscribes_recorded_since(tx: Tx, since_ms: int) -> None:
    """For data that was recorded elsewhere, such as the demo's past."""
    name = "unsubscribes_recorded_since_ms"
    await tx.run(_KEEP_INSTANCE_VALUE, name=name, value=str(since_ms))


async def note_setup_code(tx: Tx, digest: str) -> None:
    """Instead of the one before."""
    await tx.run(_KEEP_INSTANCE_VALUE, name="setup_code", value=digest)


async def setup_code_digest(tx: Tx) -> str | None:
    return await tx.one(_INSTANCE_VALUE, name="setup_code")


async def list_all(tx: Tx) -> list[Account]:
    """For the administrator: every account, newest first, and no more than anybody reads."""
    return await tx.all(_ALL)


async def choose_notifications(change: Change, chosen: Mapping[str, Choice]) -> None:
    """By the names of kinds; others stay as they are."""
    before = await notification_choices.of_account(change)
    await notification_choices.save(change, chosen)
    await _record_choices(change, before)


async def turn_notifications_off(change: Change, kind: NotificationKind) -> None:
    """One kind, as the link in its email does."""
    before = await notification_choices.of_account(change)
    await notification_choices.turn_off(change, kind)
    await _record_choices(change, before)


async def _record_choices(change: Change, before: Mapping[str, Choice]) -> None:
    account_id = change.tenant.account_id
    after = await notification_choices.of_account(change)
    old, new = (
        {name: choice._asdict() for name, choice in choices.items()} for choices in (before, after)
    )
    await change_log.record(change, "notifications.changed", account_id, old, new)


async def set_slack_webhook(change: Change, *, encrypted_url: str, host: str) -> None:
    """The caller has checked the URL. Whoever knows it can post, so it is not logged."""
    account_id = change.tenant.account_id
    await slack_messages.set_webhook(change, encrypted_url=encrypted_url, host=host)
    await change_log.record(change, "slack_webhook.set", account_id)


async def remove_slack_webhook(change: Change) -> None:
    account_id = change.tenant.account_id
    is_set = await slack_messages.webhook_of(change.tx, account_id) is not None
    await slack_messages.delete_webhook(change)
    if is_set:
        await change_log.record(change, "slack_webhook.removed", account_id)
