"""Ghost: labels of members, because Ghost has no custom fields.

We set `Advocate`, `Referred` and `Reward: …`; all other labels stay. A member is on the list if
they get the chosen newsletter. Ghost reports every change, also our own label writes; those change
nothing here. The Admin API takes a token that we sign ourselves, good for five minutes.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import About, Input, Limits, SyncField
from honeyguide.integrations.answers import answer_of, first_lists, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, PlatformAccess
from honeyguide.integrations.platform_api import PlatformApi, quoted
from honeyguide.integrations.platform_hooks import HOOK_SECRET, PlatformWebhook, SignedTime
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import Unexpected, WrongCredentials
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange
from honeyguide.kernel.clock import system_clock

URL, KEY, HOOK_IDS = "url", "admin_api_key", "hook_ids"
EVENTS = ("member.added", "member.edited", "member.deleted")
PER_PAGE = 100
TOKEN_S = 300
TAKEN = "Ghost does not accept this address, or another member has it."
ADVOCATE, REFERRED, REWARD = "Advocate", "Referred", "Reward: "
_ADMIN_KEY = re.compile("[0-9a-f]{24}:(?:[0-9a-f]{2}){32}")


class _Named(msgspec.Struct):
    id: str = ""
    name: str = ""
    status: str = "active"


class _Cause(msgspec.Struct):
    reason: str = ""


class _Suppression(msgspec.Struct):
    suppressed: bool = False
    info: _Cause | None = None


class _GhostMember(msgspec.Struct):
    id: str = ""
    email: str = ""
    name: str | None = None
    labels: list[_Named] = []
    newsletters: list[_Named] | None = None
    """Some webhooks do not say: then a member counts as one who is on the list."""
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


class _AdminToken:
    """A token for the Admin API, which the key signs."""

    def headers(self, credentials: Mapping[str, str]) -> dict[str, str]:
        return {"Authorization": f"Ghost {self._token(credentials[KEY], system_clock() // 1000)}"}

    def _token(self, key: str, now_s: int) -> str:
        if not _ADMIN_KEY.fullmatch(key):
            raise WrongCredentials(
                "This is no Admin API key: it has 24 digits, a colon and 64 digits."
            )
        key_id, secret = key.split(":")
        head = {"alg": "HS256", "typ": "JWT", "kid": key_id}
        claims = {"iat": now_s, "exp": now_s + TOKEN_S, "aud": "/admin/"}
        signed = f"{_base64(msgspec.json.encode(head))}.{_base64(msgspec.json.encode(claims))}"
        mac = hmac.digest(bytes.fromhex(secret), signed.encode(), "sha256")
        return f"{signed}.{_base64(mac)}"


class Ghost(Connector):
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
        poll_every_s=0,
        field_pattern=None,
    )
    api = PlatformApi(
        auth=_AdminToken(),
        headers={"Accept-Version": "v5.0"},
        forbidden="The key may not do this. Use the key of a custom integration.",
        own_statuses=range(300, 400),
    )
    webhook = PlatformWebhook(
        path="/webhooks/",
        content={},  # see `add_hook`
        proof=SignedTime(
            header="x-ghost-signature",
            mac="sha256",
            per_second=1000,
            content=lambda at, body: body + at,
        ),
    )

    def base_url(self, credentials: Mapping[str, str]) -> str:
        return f"{credentials[URL].rstrip('/')}/ghost/api/admin"

    def judge(self, reply: PlatformReply) -> None:
        raise WrongCredentials(
            "This is not Ghost's API URL. Enter the one that Ghost shows beside the key."
        )

    async def check(self, access: PlatformAccess) -> str:
        await self.call(access, "GET", "/members/?limit=1&fields=id")
        return answer_of(await self.call(access, "GET", "/site/"), _SiteAnswer).site.title

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        reply = await self.call(access, "GET", "/newsletters/?limit=100")
        found = first_lists(reply, answer_of(reply, _Newsletters).newsletters, _Named)
        return [Audience(id=each.id, name=each.name) for each in found if each.status == "active"]

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        path = f"/members/{quoted(key)}/?include=newsletters,labels"
        if "@" in key:
            email = key.replace("\\", "\\\\").replace("'", "\\'")
            asked = {"filter": f"email:'{email}'", "include": "newsletters,labels"}
            path = f"/members/?{urlencode(asked)}"
        reply = await self.call(access, "GET", path)
        members = [] if reply.status == 404 else answer_of(reply, _GhostMembers).members
        return self.remote(access, members[0]) if members else None

    async def add(self, write: ContactWrite) -> Remote | None:
        body = {
            "email": write.contact.email,
            "name": write.contact.name or "",  # Ghost refuses null
            "labels": [{"name": name} for name in _labels(_GhostMember(), write.contact)],
            "newsletters": [{"id": write.access.audience_id}],
        }
        reply = await self.call(write.access, "POST", "/members/", {"members": [body]})
        if not reply.is_ok:
            self.refuse(write.contact, reply, TAKEN)
        made = reply.decode(_GhostMembers).members[0]
        return Remote(id=made.id, email=made.email, kind=ChangeKind.JOINED)

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        """Only what differs, so that most writes end with the look."""
        member, ours = remote.record, write.access.audience_id
        body: dict[str, Any] = {"email": change.email} if change.email else {}
        labels = _labels(member, write.contact)
        if sorted(labels) != sorted(label.name for label in member.labels):
            body["labels"] = [{"name": name} for name in labels]
        if change.unsubscribes or change.returns:
            others = [each.id for each in member.newsletters if each.id != ours]
            lists = [*others, ours] if change.returns else others
            body["newsletters"] = [{"id": each} for each in lists]
        if body:
            path = f"/members/{quoted(remote.id)}/"
            reply = await self.call(write.access, "PUT", path, {"members": [body]})
            if reply.status == 404:
                return None
            if not reply.is_ok:
                self.refuse(write.contact, reply, TAKEN)
        return policy.as_asked(remote, change)

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
            asked["filter"] = f"updated_at:>='{time_of(since_ms):%Y-%m-%d %H:%M:%S}'"
        reply = await self.call(access, "GET", f"/members/?{urlencode(asked)}")
        answer = answer_of(reply, _GhostMembers)
        following = answer.meta.pagination.next if answer.meta else None
        return self.page(access, answer.members, str(following) if following else None)

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        """One for each event."""
        secret, ids = secrets.token_hex(32), []
        for event in EVENTS:
            hook = {
                "event": event,
                "target_url": url,
                "name": f"Honeyguide {event}",
                "secret": secret,
            }
            reply = await self.call(access, "POST", "/webhooks/", {"webhooks": [hook]})
            ids.append(answer_of(reply, _GhostHooks).webhooks[0].id)
        return {HOOK_SECRET: secret, HOOK_IDS: " ".join(ids)}

    async def remove_hook(self, access: PlatformAccess) -> None:
        for hook_id in access.credentials.get(HOOK_IDS, "").split():
            await self.call(access, "DELETE", f"/webhooks/{hook_id}/")

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
        change = self.change(self.remote(access, event.current), event.previous.email)
        return [change] if change else []

    def remote(self, access: PlatformAccess, member: _GhostMember) -> Remote:
        kind, lists = ChangeKind.JOINED, member.newsletters
        suppression = member.email_suppression
        if suppression is not None and suppression.suppressed:
            is_spam = suppression.info is not None and suppression.info.reason == "spam"
            kind = ChangeKind.COMPLAINED if is_spam else ChangeKind.BOUNCED
        elif lists is not None and all(each.id != access.audience_id for each in lists):
            kind = ChangeKind.LEFT
        return Remote(
            id=member.id,
            email=member.email,
            kind=kind,
            can_return=kind == ChangeKind.LEFT,
            name=member.name,
            created_ms=time_ms(member.created_at),
            record=member,
        )


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


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
