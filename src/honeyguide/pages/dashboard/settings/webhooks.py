"""Webhooks: where events go, the secret that signs them, the delivery log and sample events."""

from __future__ import annotations

import json

from starlette.responses import Response

from honeyguide.events import outbox, samples, webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

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


def sample_body(kind: str) -> str:
    """What a receiver gets, as the real thing looks."""
    return rendering.json_lines(samples.sample(kind))


PER_PAGE = 25
# Larger counts are shown as "10,000+".
MOST_COUNTED = 10_000
FORM = {"url": Field("URL", "Enter a URL."), "event": Field("Events")}
ACTIONS = {
    "since": Field("Replay events since", "Enter a date and time."),
    "sparkloop_token": Field("Token"),
}
EVENTS = (
    ("new_referral", "New referral", "A subscriber referred someone (verified or pending)."),
    (
        "new_partner_referral",
        "New partner referral",
        "A partner's referral to your program was verified, or one of yours to another program.",
    ),
    ("reward_unlocked", "Reward unlocked", "A subscriber earned a reward."),
    (
        "reward_redeemed",
        "Reward redeemed",
        "A subscriber claimed a reward, or you marked it as redeemed.",
    ),
    (
        "new_subscriber",
        "New subscriber",
        "Somebody subscribed, with or without a referral. Imports do not send it.",
    ),
    ("subscriber_unsubscribed", "Subscriber unsubscribed", "A subscriber left your list."),
    ("referral_verified", "Referral verified", "A referral counts from now on."),
    ("referral_rejected", "Referral rejected", "A referral does not count."),
    (
        "partner_referral_reversed",
        "Partner referral reversed",
        "A fee for a partner's referral was taken back, in your program or from you.",
    ),
)


async def show(at: Reading, request: PageRequest) -> PageView:
    account_id, campaign_id = request.tenant
    hooks = [
        *await webhooks.of_account(at.of_account(account_id), ""),
        *await webhooks.of_account(at.of_account(account_id), campaign_id),
    ]
    return request.view(
        "webhooks.html",
        hooks=hooks,
        events=EVENTS,
        examples=[
            (kind, name, description, sample_body(kind)) for kind, name, description in EVENTS
        ],
        verify=VERIFY,
        url=request.text("url"),
        flags=request.several("event") if request.errors else outbox.TYPES,
    )


def _flags(request: PageRequest) -> Flags:
    chosen = request.several("event")
    if not any(kind in chosen for kind, _, _ in EVENTS):
        raise Invalid("Choose at least one event: without one, nothing is sent.", param="event")
    return Flags(**{kind: kind in chosen for kind, _, _ in EVENTS})


async def create(change: Change, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    hook = await webhooks.create(
        change, "", request.text("url"), _flags(request), policy=request.services.policy
    )
    return request.go(
        f"/webhooks/{hook.id}", "Webhook added. Send a test event to see whether it responds."
    )


async def _found(at: Reading, request: PageRequest) -> tuple[Webhook, str]:
    """A webhook of the account or of its campaign, and which of the two."""
    account_id, campaign_id = request.tenant
    try:
        return await webhooks.get(at.of_account(account_id), "", request.at("id")), ""
    except Missing:
        return await webhooks.get(
            at.of_account(account_id), campaign_id, request.at("id")
        ), campaign_id


async def one(at: Reading, request: PageRequest) -> PageView:
    return await _one(at, request)


async def _one(at: Reading, request: PageRequest, secret: str = "") -> PageView:
    hook, scope = await _found(at, request)
    only_failed = request.query.get("show") == "failed"
    page, log, total = await forms.nearest_page(
        request.query,
        PER_PAGE,
        lambda page: webhooks.page_of_deliveries(
            at, scope, hook.id, page, only_failed=only_failed, count_up_to=MOST_COUNTED + 1
        ),
    )
    is_cut = total > MOST_COUNTED
    here = f"/webhooks/{hook.id}?{'show=failed&' if only_failed else ''}page="
    sent = await webhooks.bodies_of(at, (delivery for delivery, _ in log))
    return request.view(
        "webhook.html",
        hook=hook,
        scope=scope,
        log=log,
        bodies={event: rendering.json_lines(json.loads(body)) for event, body in sent.items()},
        total=total,
        counted=formats.up_to(MOST_COUNTED, total),
        page=page.page,
        pages=max(page.total_pages(min(total, MOST_COUNTED)), page.page if is_cut else 0),
        has_more=is_cut and len(log) == PER_PAGE,
        events=EVENTS,
        chosen=request.several("event")
        if "url" in request.fields
        else [kind for kind, _, _ in EVENTS if getattr(hook, kind)],
        since=iso(request.now_ms - DAY_MS)[:16],
        link=lambda number: f"{here}{number}",
        only_failed=only_failed,
        url=request.text("url") if "url" in request.fields else hook.url,
        secret=secret,
    )


async def update(change: Change, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    hook, scope = await _found(change, request)
    await webhooks.update(
        change, scope, hook.id, request.text("url"), _flags(request), policy=request.services.policy
    )
    return request.go(f"/webhooks/{hook.id}", "Changes saved. The webhook is enabled.")


async def apply_button(change: Change, request: PageRequest) -> PageView | Response:
    """Enable, test, resend, replay, rotate, reveal, set a token or delete, as the button says."""
    action = request.text("do")
    hook, scope = await _found(change, request)
    here = f"/webhooks/{hook.id}"
    if action == "enable":
        same = Flags(**{kind: bool(getattr(hook, kind)) for kind, _, _ in EVENTS})
        policy = request.services.policy
        await webhooks.update(change, scope, hook.id, hook.url, same, policy=policy)
        return request.go(
            here, "The webhook is enabled. Send a test event to see whether it works."
        )
    if action == "test":
        await webhooks.send_test(change, scope, hook.id)
        return request.go(here, "Test event sent. It appears in the log below.")
    if action == "resend":
        delivery_id = request.text("delivery")
        await webhooks.resend(change, scope, hook.id, delivery_id)
        return request.go(here, "Sending it again.")
    if action == "replay":
        since = request.text("since")
        since = f"{since}:00Z" if len(since) == 16 else since
        count = await webhooks.replay(change, scope, hook.id, since)
        events = formats.plural(count, "event")
        return request.go(
            here, f"Replaying {events}." if count else "There are no events since then."
        )
    if action == "rotate":
        secret = await webhooks.rotate_secret(change, scope, hook.id)
        return await _one(change, request, secret)
    if action == "set_token":
        token = request.text("sparkloop_token") or None
        await webhooks.set_sparkloop_token(change, scope, hook.id, token)
        saved = "Token saved. It is sent with every event." if token else "Token removed."
        return request.go(here, f"{saved} The webhook is enabled.")
    if action == "reveal":
        return await _one(change, request, hook.secret)
    if action == "delete":
        await webhooks.delete(change, scope, hook.id)
        return request.go("/webhooks", "Webhook deleted.")
    raise Missing("Page not found.")
