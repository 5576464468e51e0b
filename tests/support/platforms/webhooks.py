"""Webhooks as each platform sends them: what says that somebody left, and how it is signed."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from standardwebhooks import Webhook

from honeyguide.events import signature
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms import ghost

Credentials = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class WebhookCase:
    left: Callable[[Any], Any]
    """What says that this person left; `leave` makes it true there."""
    leave: Callable[[Any, Any], Any]
    sign: Callable[[Credentials, bytes, int], IncomingHook]
    """As the platform sends this body at this second, with what is kept of the webhook."""
    secret: str
    """The name of the credential that proves where a webhook is from."""
    encode: Callable[[Any], bytes] = lambda said: json.dumps(said).encode()

    def body(self, person: Any) -> bytes:
        return self.encode(self.left(person))


def _by_key(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    return IncomingHook(headers={}, body=body, query={"hook_key": kept.get("hook_key", "")})


def _ghost(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    at = f"{now_s}000"
    mac = _mac(kept.get("hook_secret", ""), body + at.encode())
    return IncomingHook(headers={"x-ghost-signature": f"sha256={mac}, t={at}"}, body=body)


def _kit(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    mac = _mac(kept.get("hook_secret", ""), f"{now_s}.".encode() + body)
    return IncomingHook(headers={"x-kit-signature": f"t={now_s},v1={mac}"}, body=body)


def _buttondown(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    mac = _mac(kept.get("hook_secret", ""), body)
    return IncomingHook(headers={"x-buttondown-signature": f"sha256={mac}"}, body=body)


def _mailerlite(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    return IncomingHook(headers={"signature": _mac(kept.get("hook_secret", ""), body)}, body=body)


def _generic(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(now_s)}
    if kept.get("secret", "") in ("", signature.PREFIX):  # the library refuses these
        signed = signature.sign([""], "msg_1", now_s, body)
    else:
        at = dt.datetime.fromtimestamp(now_s, dt.UTC)
        signed = Webhook(kept["secret"]).sign("msg_1", at, body.decode())
    return IncomingHook(headers={**headers, "webhook-signature": signed}, body=body)


def _mac(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


WEBHOOKS: dict[str, WebhookCase] = {
    "ghost": WebhookCase(
        left=lambda member: {"member": {"current": member, "previous": {}}},
        leave=lambda server, member: server.change(member, newsletters=[ghost.OTHER]),
        sign=_ghost,
        secret="hook_secret",
    ),
    "mailchimp": WebhookCase(
        left=lambda member: {"type": "unsubscribe", "data[email]": member.email},
        leave=lambda server, member: setattr(member, "status", "unsubscribed"),
        sign=_by_key,
        secret="hook_key",
        encode=lambda said: urlencode(said).encode(),
    ),
    "kit": WebhookCase(
        left=lambda person: {
            "events": [{"type": "subscriber.unsubscribed", "data": {"subscriber": person}}]
        },
        leave=lambda server, person: person.update(state="cancelled"),
        sign=_kit,
        secret="hook_secret",
    ),
    "beehiiv": WebhookCase(
        left=lambda person: {
            "event_type": "subscription.deleted",
            "data": {"email": person["email"]},
        },
        leave=lambda server, person: person.update(status="inactive"),
        sign=_by_key,
        secret="hook_key",
    ),
    "buttondown": WebhookCase(
        left=lambda person: {
            "event_type": "subscriber.unsubscribed",
            "data": {"subscriber": person["id"]},
        },
        leave=lambda server, person: person.update(type="unsubscribed"),
        sign=_buttondown,
        secret="hook_secret",
    ),
    "mailerlite": WebhookCase(
        left=lambda person: {"events": [{**person, "event": "subscriber.unsubscribed"}]},
        leave=lambda server, person: person.update(status="unsubscribed"),
        sign=_mailerlite,
        secret="hook_secret",
    ),
    "brevo": WebhookCase(
        left=lambda person: {"event": "unsubscribed", "email": person["email"]},
        leave=lambda server, person: person.update(emailBlacklisted=True),
        sign=_by_key,
        secret="hook_key",
    ),
    "generic": WebhookCase(
        left=lambda person: {"type": "left", "email": person["email"]},
        leave=lambda server, person: None,
        sign=_generic,
        secret="secret",
    ),
}
