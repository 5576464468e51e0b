"""Sample webhook bodies, one for each type of event."""

from __future__ import annotations

from honeyguide.events import samples
from honeyguide.pages import rendering

# The same as in docs/webhooks.md, where a test runs it.
VERIFY = '''from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def receive(secret: str, headers: dict[str, str], body: bytes) -> int:
    """Returns the HTTP status to respond with."""
    try:
        event = Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return 400
    print(event["type"], event["id"])  # put it in a queue and respond at once
    return 204
'''


def body(kind: str) -> str:
    """What a receiver gets, as the real thing looks."""
    return rendering.json_lines(samples.sample(kind))
