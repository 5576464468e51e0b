"""Ghost: labels of members, because Ghost has no custom fields.

We set `Advocate`, `Referred` and `Reward: …`; all other labels stay. A member is on the list if
they get the chosen newsletter. Ghost reports every change, also our own label writes; those change
nothing here. The Admin API takes a token that we sign ourselves, good for five minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations.answers import (
    answer_of,
    first_lists,
    outcome,
    refused,
    time_ms,
    write_in_turn,
    written,
)
from honeyguide.integrations.hook_keys import hook_secret
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import (
    About,
    Audience,
    ChangeKind,
    ChangePage,
    Contact,
    ContactStatus,
    Hooks,
    IncomingHook,
    Input,
    Limits,
    PlatformAccess,
    PlatformChange,
    SyncField,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import (
    ForgedHook,
    Unexpected,
    WrongCredentials,
)
from honeyguide.kernel.clock import MINUTE_MS, system_clock

URL, KEY, HOOK_SECRET, HOOK_IDS = "url", "admin_api_key", "hook_secret", "hook_ids"
EVENTS = ("member.added", "member.edited", "member.deleted")
PER_PAGE = 100
TOKEN_S = 300
TOLERANCE_MS = 5 * MINUTE_MS
ADVOCATE, REFERRED, REWARD = "Advocate", "Referred", "Reward: "
_ADMIN_KEY = re.compile("[0-9a-f]{24}:(?:[0-9a-f]{2}){32}")
_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64}), t=([0-9]{13})")


class _Named(msgspec.Struct):
    id: str = ""
    name: str = ""
    status: str = "active"


class _Suppression(msgspec.Struct):
    suppressed: bool = False


class _GhostMember(msgspec.Struct):
    id: str = ""
    email: str = ""
    name: str | None = None
    labels: list[_Named] = []
    newsletters: list[_Named] | None = None
    email_suppression: _Suppression | None = None
    created_at: str | None = None


class _GhostPage(msgspec.Struct):
    next: int | None = None


class _Meta(msgspec.Struct):
    pagination: _GhostPage


class _GhostMembers(msgspec.Struct):
    members: list[_GhostMember]
    meta: _Meta | None = None


class _Newsletters(msgspec.Struct):
    newsletters: list[msgspec.Raw]


class _GhostHooks(msgspec.Struct):
    webhooks: list[_Named]


class _Site(msgspec.Struct):
    title: str = ""


class _SiteAnswer(msgspec.Struct):
    site: _Site


class _Versions(msgspec.Struct):
    current: _GhostMember
    previous: _GhostMember = msgspec.field(default_factory=_GhostMember)


class _GhostEvent(msgspec.Struct):
    member: _Versions


class Ghost:
    about = About(
        key="ghost",
        name="Ghost",
        initials="G",
        summary="No custom fields: we set labels, and subscribers find their link on their own "
        "page. Reports changes at once.",
        audience="newsletter",
        inputs=(
            Input(
                name=URL,
                label="API URL",
                help="In Ghost: Settings → Integrations → Add custom integration. It shows both.",
                example="https://example.ghost.io",
                is_secret=False,
            ),
            Input(name=KEY, label="Admin API key", example="64f…:9c1…"),
        ),
        limits=Limits(requests_per_second=10, per_batch=20, requests_per_batch=40),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=0,
        field_pattern=None,
    )

    async def check(self, access: PlatformAccess) -> str:
        await self._call(access, "GET", "/members/?limit=1&fields=id")
        return answer_of(await self._call(access, "GET", "/site/"), _SiteAnswer).site.title

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        reply = await self._call(access, "GET", "/newsletters/?limit=100")
        found = first_lists(reply, answer_of(reply, _Newsletters).newsletters, _Named)
        return [Audience(id=each.id, name=each.name) for each in found if each.status == "active"]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        return 0  # a label is created when it is first used

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        member = await self._find(access, contact)
        if member is None:
            if not contact.may_add:
                return outcome(contact, WriteResult.ABSENT)
            return await self._add(access, contact)
        is_on_list = _is_on_list(access, member)
        if contact.status == ContactStatus.ACTIVE and not is_on_list and not contact.may_return:
            return outcome(contact, WriteResult.LEFT, remote_id=member.id)
        changes: dict[str, Any] = {}
        labels = _labels(member, contact)
        if sorted(labels) != sorted(label.name for label in member.labels):
            changes["labels"] = [{"name": name} for name in labels]
        if contact.status == ContactStatus.UNSUBSCRIBED and is_on_list:
            kept = [each.id for each in member.newsletters or () if each.id != access.audience_id]
            changes["newsletters"] = [{"id": each} for each in kept]
        elif contact.may_return and not is_on_list:
            others = [{"id": each.id} for each in member.newsletters or ()]
            changes["newsletters"] = [*others, {"id": access.audience_id}]
        if contact.old_email and contact.email and member.email != contact.email:
            changes["email"] = contact.email
        if changes:
            body = {"members": [changes]}
            reply = await self._call(access, "PUT", f"/members/{member.id}/", json=body)
            if not reply.is_ok:
                return _refused(contact, reply)
        return written(contact, member.id)

    async def _add(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        body = {
            "email": contact.email,
            "name": contact.name or "",  # Ghost refuses null
            "labels": [{"name": name} for name in _labels(_GhostMember(), contact)],
            "newsletters": [{"id": access.audience_id}],
        }
        reply = await self._call(access, "POST", "/members/", json={"members": [body]})
        if not reply.is_ok:
            return _refused(contact, reply)
        return written(contact, reply.decode(_GhostMembers).members[0].id)

    async def _find(self, access: PlatformAccess, contact: Contact) -> _GhostMember | None:
        if contact.remote_id is not None:
            path = f"/members/{contact.remote_id}/?include=newsletters,labels"
            reply = await self._call(access, "GET", path)
            return None if reply.status == 404 else answer_of(reply, _GhostMembers).members[0]
        email = (contact.old_email or contact.email).replace("\\", "\\\\").replace("'", "\\'")
        asked = urlencode({"filter": f"email:'{email}'", "include": "newsletters,labels"})
        found = answer_of(
            await self._call(access, "GET", f"/members/?{asked}"), _GhostMembers
        ).members
        return found[0] if found else None

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked = {
            "limit": PER_PAGE,
            "page": token or "1",
            "include": "newsletters,labels",
            "order": "created_at asc",
        }
        if since_ms is not None:
            since = datetime.fromtimestamp(since_ms / 1000, UTC)
            asked["filter"] = f"updated_at:>='{since:%Y-%m-%d %H:%M:%S}'"
        reply = await self._call(access, "GET", f"/members/?{urlencode(asked)}")
        answer = answer_of(reply, _GhostMembers)
        following = answer.meta.pagination.next if answer.meta else None
        return ChangePage(
            changes=[_change(access, member) for member in answer.members],
            seen=[member.id for member in answer.members],
            next_token=str(following) if following else None,
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        secret, ids = secrets.token_hex(32), []
        for event in EVENTS:
            hook = {
                "event": event,
                "target_url": url,
                "name": f"Honeyguide {event}",
                "secret": secret,
            }
            reply = await self._call(access, "POST", "/webhooks/", json={"webhooks": [hook]})
            ids.append(answer_of(reply, _GhostHooks).webhooks[0].id)
        return {HOOK_SECRET: secret, HOOK_IDS: " ".join(ids)}

    async def remove_hook(self, access: PlatformAccess) -> None:
        for hook_id in access.credentials.get(HOOK_IDS, "").split():
            await self._call(access, "DELETE", f"/webhooks/{hook_id}/")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        signed = _SIGNATURE.fullmatch(hook.headers.get("x-ghost-signature", ""))
        if signed is None:
            raise ForgedHook("The header X-Ghost-Signature is missing.")
        if abs(now_s * 1000 - int(signed[2])) > TOLERANCE_MS:
            raise ForgedHook("The webhook is more than five minutes old.")
        key = hook_secret(access, HOOK_SECRET)
        expected = hmac.new(key, hook.body + signed[2].encode(), hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, signed[1]):
            raise ForgedHook("The signature is wrong.")
        return signed[2]

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        event = hook.decode(access.about.name, _GhostEvent).member
        if not event.current.id:  # what was deleted is in `previous` only
            gone = event.previous
            if not gone.id and not gone.email:
                raise Unexpected("A webhook from Ghost names nobody.")
            deleted = ChangeKind.DELETED
            return [PlatformChange(kind=deleted, email=gone.email, remote_id=gone.id or None)]
        return [_change(access, event.current, event.previous.email)]

    async def _call(
        self, access: PlatformAccess, method: str, path: str, *, json: Any = None
    ) -> PlatformReply:
        url = access.credentials[URL].rstrip("/")
        headers = {
            "Authorization": f"Ghost {_token(access.credentials[KEY], system_clock() // 1000)}",
            "Accept-Version": "v5.0",
        }
        reply = await access.http.call(
            method, f"{url}/ghost/api/admin{path}", headers=headers, json=json
        )
        if reply.status == 403:
            raise WrongCredentials("The key may not do this. Use the key of a custom integration.")
        if 300 <= reply.status < 400:
            raise WrongCredentials(
                "This is not Ghost's API URL. Enter the one that Ghost shows beside the key."
            )
        return reply


def _token(key: str, now_s: int) -> str:
    """A token for the Admin API, which the key signs."""
    if not _ADMIN_KEY.fullmatch(key):
        raise WrongCredentials("This is no Admin API key: it has 24 digits, a colon and 64 digits.")
    key_id, secret = key.split(":")
    head = {"alg": "HS256", "typ": "JWT", "kid": key_id}
    claims = {"iat": now_s, "exp": now_s + TOKEN_S, "aud": "/admin/"}
    signed = f"{_base64(msgspec.json.encode(head))}.{_base64(msgspec.json.encode(claims))}"
    mac = hmac.digest(bytes.fromhex(secret), signed.encode(), "sha256")
    return f"{signed}.{_base64(mac)}"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _is_on_list(access: PlatformAccess, member: _GhostMember) -> bool:
    return any(each.id == access.audience_id for each in member.newsletters or ())


def _labels(member: _GhostMember, contact: Contact) -> list[str]:
    """The member's labels with ours as they should be."""
    values = contact.values
    ours = []
    if values.get(SyncField.REFERRALS, "0") not in ("", "0"):
        ours.append(ADVOCATE)
    if values.get(SyncField.IS_REFERRED) == "YES":
        ours.append(REFERRED)
    if values.get(SyncField.LAST_REWARD):
        ours.append(f"{REWARD}{values[SyncField.LAST_REWARD]}")
    names = [label.name for label in member.labels]
    others = [n for n in names if n not in (ADVOCATE, REFERRED) and not n.startswith(REWARD)]
    return [*others, *ours]


def _refused(contact: Contact, reply: PlatformReply) -> WriteOutcome:
    if reply.status == 404:
        return outcome(contact, WriteResult.ABSENT)
    reason = "Ghost does not accept this address, or another member has it."
    return refused(contact, reply, reason)


def _change(access: PlatformAccess, member: _GhostMember, old_email: str = "") -> PlatformChange:
    kind = ChangeKind.JOINED
    if member.email_suppression is not None and member.email_suppression.suppressed:
        kind = ChangeKind.BOUNCED
    elif member.newsletters is not None and not _is_on_list(access, member):
        kind = ChangeKind.LEFT
    elif old_email and old_email != member.email:
        kind = ChangeKind.CHANGED_ADDRESS
    return PlatformChange(
        kind=kind,
        email=member.email,
        remote_id=member.id,
        old_email=old_email or None,
        name=member.name,
        created_ms=time_ms(member.created_at),
    )
