"""Any tool: we post signed JSON to the operator's URL, and their tool posts signed JSON to ours.
Both directions are signed by the Standard Webhooks scheme with one secret, as our webhooks are.

We send, at most a hundred at a time:

    {"type": "subscribers.sync", "subscribers": [{"id": "…", "email": "a@example.org",
     "name": "Ada", "status": "active", "may_add": true, "old_email": null,
     "fields": {"code": "k3x9", …}}]}

`status` is `active`, `unsubscribed` or `erased` (then `email` is empty). Never make somebody active
who left your list; add them only if `may_add` is true. Any 2xx means that all were written. To
refuse some, answer `{"results": [{"id": "…", "result": "refused", "reason": "…"}]}`; `result` is
one of `written`, `refused`, `later`, `left` and `absent`.

You send one event, or a list of them under `events`:

    {"type": "joined", "email": "a@example.org", "name": "Ada", "code": "k3x9"}

`type` is `joined`, `confirmed`, `engaged` (they replied, bought or did something else that no mail
scanner does), `left`, `changed_address` (with `old_email`), `bounced`, `complained` (they reported
an email as spam) or `deleted`. The ID that we sent may come back as `id`, with or instead of the
address.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence

import msgspec

from honeyguide.events import signature
from honeyguide.integrations.about import About, Hooks, Input, Limits
from honeyguide.integrations.platform import (
    Audience,
    Contact,
    PlatformAccess,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.platform_hooks import TOLERANCE_S, hook_secret
from honeyguide.integrations.problems import (
    ForgedHook,
    Unexpected,
    WrongCredentials,
    understood,
)
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id

SECRET = "secret"


class _ToolResult(msgspec.Struct):
    id: str
    result: WriteResult
    reason: str = ""


class _ToolResults(msgspec.Struct):
    results: list[_ToolResult] = []


class _ToolEvent(msgspec.Struct):
    type: ChangeKind
    email: str = ""
    name: str | None = None
    id: str | None = None
    old_email: str | None = None
    code: str | None = None


class _ToolEvents(msgspec.Struct):
    events: list[_ToolEvent] | msgspec.UnsetType = msgspec.UNSET


class Generic:
    about = About(
        key="generic",
        name="Your own tool",
        initials="{ }",
        summary="We post to your URL, and you post to ours. You choose the field names.",
        audience="URL",
        inputs=(
            Input(
                name="url",
                label="Your URL",
                help="We post changed subscribers here, as signed JSON.",
                example="https://example.org/honeyguide",
                is_secret=False,
            ),
            Input(
                name=SECRET,
                label="Secret",
                help="Signs both directions. Copy it to your tool now; it is not shown again.",
                is_made=True,
            ),
        ),
        limits=Limits(requests_per_second=10, per_batch=100, requests_per_batch=1),
        hooks=Hooks.MANUAL,
        poll_every_s=0,
        has_list=False,
    )

    async def check(self, access: PlatformAccess) -> str:
        await self._post(access, {"type": "test"})
        return ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="url", name=access.credentials["url"])]

    async def has_fields(self, access: PlatformAccess) -> bool:
        """The tool keeps our fields for us, and cannot be asked for what is in them."""
        return False

    async def ensure_fields(self, access: PlatformAccess) -> int:
        return 0

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        body = {"type": "subscribers.sync", "subscribers": [_shown(access, c) for c in contacts]}
        answer = await self._post(access, body)
        results = {each.id: each for each in answer.results}
        return [_outcome(contact, results.get(contact.subscriber_id)) for contact in contacts]

    async def _post(self, access: PlatformAccess, content: object) -> _ToolResults:
        if not _is_usable(access.credentials[SECRET]):
            raise WrongCredentials(
                "This secret is empty or not base64. Use the one that the form suggests."
            )
        body = msgspec.json.encode(content)
        message_id, now_s = f"msg_{new_id()}", system_clock() // 1000
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(now_s),
            "webhook-signature": signature.sign(
                [access.credentials[SECRET]], message_id, now_s, body
            ),
        }
        reply = await access.http.call(
            "POST", access.credentials["url"], headers=headers, body=body
        )
        if reply.status in (403, 404, 410):
            raise WrongCredentials(f"Your URL answered with status {reply.status}.")
        if not reply.is_ok:
            raise Unexpected(f"Your URL answered with status {reply.status}.")
        if not reply.body.strip().startswith(b"{"):
            return _ToolResults()
        return reply.decode(_ToolResults)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        return ChangePage(changes=[], seen=[], next_token=None)

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        return {}

    async def remove_hook(self, access: PlatformAccess) -> None:
        return None

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        sent_s = hook.headers.get("webhook-timestamp", "")
        if not (sent_s.isascii() and sent_s.isdigit() and len(sent_s) < 12):
            raise ForgedHook("The header webhook-timestamp is missing.")
        if abs(now_s - int(sent_s)) > TOLERANCE_S:
            raise ForgedHook("The webhook is more than five minutes old.")
        message_id = hook.headers.get("webhook-id", "")
        secret = hook_secret(access, SECRET).decode()
        if not _is_usable(secret):
            raise ForgedHook("The secret of this integration is empty or not base64.")
        expected = signature.sign([secret], message_id, int(sent_s), hook.body)
        given = hook.headers.get("webhook-signature", "").split(" ")
        if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in given):
            raise ForgedHook("The signature is wrong.")
        return f"{message_id} {int(sent_s)}"

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        with understood(access.about.name, "a webhook"):
            many = msgspec.json.decode(hook.body, type=_ToolEvents).events
            events = (
                [msgspec.json.decode(hook.body, type=_ToolEvent)] if many is msgspec.UNSET else many
            )
        return [_change(event) for event in events]


def _is_usable(secret: str) -> bool:
    """Anybody can sign with an empty secret."""
    try:
        return bool(base64.b64decode(secret.removeprefix(signature.PREFIX)))
    except ValueError:
        return False


def _shown(access: PlatformAccess, contact: Contact) -> dict[str, object]:
    return {
        "id": contact.subscriber_id,
        "email": contact.email,
        "name": contact.name,
        "status": contact.status,
        "may_add": contact.may_add or contact.may_return,
        "old_email": contact.old_email,
        "fields": contact.fields(access),
    }


def _outcome(contact: Contact, answer: _ToolResult | None) -> WriteOutcome:
    return WriteOutcome(
        subscriber_id=contact.subscriber_id,
        result=answer.result if answer else WriteResult.WRITTEN,
        remote_id=contact.remote_id or contact.subscriber_id,
        reason=answer.reason if answer else "",
    )


def _change(event: _ToolEvent) -> PlatformChange:
    return PlatformChange(
        kind=event.type,
        email=event.email,
        remote_id=event.id,
        old_email=event.old_email,
        name=event.name,
        code=event.code,
    )
