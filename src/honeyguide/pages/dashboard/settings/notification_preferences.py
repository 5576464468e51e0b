"""Which notifications an operator gets, and how: the form, the Slack webhook, and the page behind
the link in an email that turns one kind off.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide.accounts import accounts
from honeyguide.events.addresses import check_url
from honeyguide.integrations.encryption import EncryptionKeys, NoSecretKey
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import notification_choices, slack_messages
from honeyguide.mail.notification_choices import Choice, TurnOff
from honeyguide.mail.notification_kinds import (
    AT_ONCE,
    DAILY,
    DASHBOARD,
    NOTIFICATION_KINDS,
    OFF,
    WEEKLY,
    NotificationKind,
)
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

FORM = {"url": Field("Slack webhook URL")} | {
    kind.name: Field(kind.label) for kind in NOTIFICATION_KINDS
}
LABELS = {
    AT_ONCE: "Email immediately",
    DAILY: "Daily email",
    WEEKLY: "Weekly email",
    DASHBOARD: "Dashboard only",
    OFF: "Off",
}
TEST_SENTENCE = "This is a test message from Honeyguide."


def labels_of(kind: NotificationKind) -> list[tuple[str, str]]:
    """Each way to get it, with its name."""
    return [
        (delivery, (delivery == AT_ONCE and kind.at_once) or label)
        for delivery, label in LABELS.items()
        if delivery in kind.deliveries
    ]


async def show(at: Reading, request: PageRequest) -> PageView:
    account_id = request.who.account_id
    webhook = await slack_messages.webhook_of(at.tx, account_id)
    keys = EncryptionKeys(request.services.settings.secret_keys)
    chosen = await notification_choices.of_account(at)
    if request.errors:
        chosen = _typed(request)
    return request.view(
        "notification_preferences.html",
        rows=[(kind, chosen[kind.name], labels_of(kind)) for kind in NOTIFICATION_KINDS],
        webhook=webhook,
        is_lost=webhook is not None and keys.is_lost(webhook.encrypted_url),
        url=request.text("url"),
        email=request.who.email,
    )


def _typed(request: PageRequest) -> dict[str, Choice]:
    to_slack = request.several("slack")
    return {
        kind.name: Choice(request.text(kind.name) or AT_ONCE, kind.name in to_slack)
        for kind in NOTIFICATION_KINDS
    }


async def save(change: Change, request: PageRequest) -> Response:
    """An empty URL keeps the webhook: its URL is a secret, which the form does not show."""
    url = request.text("url")
    if url:
        await accounts.set_slack_webhook(
            change,
            encrypted_url=_encrypted(request, url),
            host=urlsplit(url).hostname or "",
        )
    elif request.text("remove"):
        await accounts.remove_slack_webhook(change)
    await accounts.choose_notifications(change, _typed(request))
    return request.go("/notices/preferences", "Changes saved.")


def _encrypted(request: PageRequest, url: str) -> str:
    check_url(url, request.services.policy)
    keys = EncryptionKeys(request.services.settings.secret_keys)
    try:
        return keys.encrypt(url, row_id=request.who.account_id)
    except NoSecretKey as problem:
        raise FormErrors({"url": problem.message}) from problem


async def send_test(change: Change, request: PageRequest) -> Response:
    account_id = request.who.account_id
    if await slack_messages.webhook_of(change.tx, account_id) is None:
        raise Invalid("Enter and save the Slack webhook URL first.")
    await slack_messages.enqueue(change.tx, account_id, TEST_SENTENCE, "/notices/preferences")
    return request.go(
        "/notices/preferences",
        "A test message is on its way. If it fails, you will see why below.",
    )


async def show_turn_off(tx: Tx, request: PageRequest) -> PageView:
    """Changes nothing: mail scanners open every link."""
    return _off_view(request, await _turn_off(tx, request), is_off=False)


async def turn_off(tx: Tx, request: PageRequest) -> PageView:
    asked = await _turn_off(tx, request)
    # Whoever has the link needs no session, so it could be any member, and no campaign is meant.
    tenant, actor = Tenant(asked.account_id, ""), actors.ANY_MEMBER
    change = Change(tx, request.services.site, tenant, actor, request.now_ms)
    await accounts.turn_notifications_off(change, asked.kind)
    return _off_view(request, asked, is_off=True)


async def _turn_off(tx: Tx, request: PageRequest) -> TurnOff:
    site, token, now_ms = request.services.site, request.at("token"), request.now_ms
    asked = notification_choices.read_token(site, token, now_ms=now_ms)
    if asked is None:
        raise HTTPException(404)
    account = await accounts.get(tx, asked.account_id)
    if account.link_version != asked.link_version:
        raise HTTPException(404)
    return asked


def _off_view(request: PageRequest, asked: TurnOff, *, is_off: bool) -> PageView:
    return request.view(
        "notification_off.html",
        label=asked.kind.label,
        address=f"/notices/off/{request.at('token')}",
        is_off=is_off,
    )
