"""Webhooks: where events go, the secret that signs them, every delivery with its attempts, and what events say."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.events import outbox, webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.store.tx import Tx

PER_PAGE = 25
FORM = {"url": Field("URL", "Enter a URL.")}
ACTIONS = {"since": Field("Replay events since", "Enter a date and time.")}
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
)


def _person(email: str, name: str, code: str, *, referred: bool, count: int) -> dict[str, Any]:
    return {
        "id": "019a8b1e-4c1d-7000-8000-0000000000aa",
        "email": email,
        "name": name,
        "first_name": name.split(maxsplit=1)[0],
        "referral_code": code,
        "referral_link": f"https://go.example.org/r/{code}",
        "referred": referred,
        "referral_status": "verified",
        "tot_referrals": count,
        "next_reward": None,
        "next_reward_details": None,
        "created_at": 1794700000,
    }


def _example(kind: str) -> str:
    """What a receiver gets, as the real thing looks."""
    ann = _person("ann@example.org", "Ann Lee", "ann4k2pq", referred=False, count=3)
    ben = _person("ben@example.org", "Ben Okafor", "ben7x2mz", referred=True, count=0)
    reward = {
        "id": "019a8b1e-4c1d-7000-8000-0000000000bb",
        "name": "Sticker pack",
        "referrals": 3,
        "recurring": False,
    }
    flash: dict[str, Any] = {
        "type": kind,
        "timestamp": iso(1_794_700_000_000),
        "id": "msg_019a8b1e-4c1d-7000-8000-0000000000cc",
    }
    if kind == "new_referral":
        flash |= {
            "campaign_id": "019a8b1e-4c1d-7000-8000-0000000000dd",
            "subscriber": ben,
            "referrer": ann,
        }
    elif kind == "new_partner_referral":
        flash |= {
            "campaign": {
                "id": "019a8b1e-4c1d-7000-8000-0000000000dd",
                "referral_code": "wax9k3hd",
                "type": "partner",
            },
            "partner": {"id": "019a8b1e-4c1d-7000-8000-0000000000ee", "name": "The Daily Bee"},
            "subscriber": ben,
        }
    else:
        flash |= {
            "campaign_id": "019a8b1e-4c1d-7000-8000-0000000000dd",
            "subscriber": ann,
            "reward": reward,
            "coupon_code": None,
        }
        flash |= {"shipping_details": None} if kind == "reward_redeemed" else {}
    return rendering.json_lines(flash)


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(request: PageRequest, status: int = 200, **values: Any) -> Response:
    async def look(tx: Tx) -> list[Webhook]:
        account_id, campaign_id = request.tenant
        return await webhooks.of_account(tx, account_id, "") + await webhooks.of_account(
            tx, account_id, campaign_id
        )

    hooks = await request.read(look)
    examples = [(kind, name, words, _example(kind)) for kind, name, words in EVENTS]
    shown = {"url": "", "wrong": {}, "flags": [kind for kind, _, _ in EVENTS], **values}
    return await request.page(
        "webhooks.html", status, hooks=hooks, events=EVENTS, examples=examples, **shown
    )


def _flags(request: PageRequest) -> Flags:
    chosen = request.several("event")
    return Flags(**{kind: kind in chosen for kind in outbox.TYPES})


async def create(request: PageRequest) -> Response:
    if wrong := forms.missing(FORM, request.fields):
        return await _page(request, 400, wrong=wrong, flags=request.several("event"))

    async def make(tx: Tx) -> Webhook:
        return await webhooks.create(
            tx,
            request.tenant.account_id,
            "",
            request.text("url"),
            _flags(request),
            policy=request.services.policy,
            now_ms=request.now_ms,
        )

    try:
        hook = await request.write(make)
    except Invalid as fault:
        return await _page(
            request,
            400,
            url=request.text("url"),
            wrong=forms.errors_of(fault, FORM),
            flags=request.several("event"),
        )
    return request.go(
        f"/webhooks/{hook.id}", "Webhook added. Send a test event to see whether it responds."
    )


async def _found(tx: Tx, request: PageRequest) -> tuple[Webhook, str]:
    """A webhook of the account or of its campaign, and which of the two."""
    account_id, campaign_id = request.tenant
    try:
        return await webhooks.get(tx, account_id, "", request.at("id")), ""
    except Missing:
        return await webhooks.get(tx, account_id, campaign_id, request.at("id")), campaign_id


async def one(request: PageRequest) -> Response:
    return await _one(request)


async def _one(request: PageRequest, status: int = 200, **values: Any) -> Response:
    asked = request.query.get("page", "1")
    page = Page(
        int(asked)
        if asked.isascii() and asked.isdigit() and 0 < len(asked) < 7 and int(asked)
        else 1,
        PER_PAGE,
    )

    async def look(tx: Tx) -> dict[str, Any]:
        hook, scope = await _found(tx, request)
        log, total = await webhooks.page_of_deliveries(
            tx, request.tenant.account_id, scope, hook.id, page
        )
        return {
            "hook": hook,
            "log": log,
            "total": total,
            "pages": page.total_pages(total),
            "scope": scope,
        }

    found = await request.read(look)
    hook: Webhook = found["hook"]
    chosen = [kind for kind, _, _ in EVENTS if getattr(hook, kind)]
    since = iso(request.now_ms - DAY_MS)[:16]
    shown = {"wrong": {}, "url": hook.url, "secret": "", **values}
    return await request.page(
        "webhook.html",
        status,
        **found,
        page=page.page,
        events=EVENTS,
        chosen=chosen,
        since=since,
        link=lambda number: f"/webhooks/{hook.id}?page={number}",
        **shown,
    )


async def update(request: PageRequest) -> Response:
    if wrong := forms.missing(FORM, request.fields):
        return await _one(request, 400, wrong=wrong, url="")

    async def change(tx: Tx) -> None:
        hook, scope = await _found(tx, request)
        await webhooks.update(
            tx,
            request.tenant.account_id,
            scope,
            hook.id,
            request.text("url"),
            _flags(request),
            policy=request.services.policy,
        )

    try:
        await request.write(change)
    except Invalid as fault:
        return await _one(request, 400, wrong=forms.errors_of(fault, FORM), url=request.text("url"))
    return request.go(f"/webhooks/{request.at('id')}", "Changes saved. The webhook is enabled.")


async def act(request: PageRequest) -> Response:
    """Test, resend, replay, rotate, reveal, delete: each names itself."""
    deed, account_id = request.text("do"), request.tenant.account_id
    flash = {
        "test": "Test event sent. It appears in the log below.",
        "resend": "Sending it again.",
        "delete": "Webhook deleted.",
    }

    async def work(tx: Tx) -> str:
        hook, scope = await _found(tx, request)
        if deed == "test":
            await webhooks.send_test(tx, account_id, scope, hook.id, now_ms=request.now_ms)
        elif deed == "resend":
            await webhooks.resend(
                tx, account_id, scope, hook.id, request.text("delivery"), now_ms=request.now_ms
            )
        elif deed == "replay":
            since = request.text("since")
            count = await webhooks.replay(
                tx,
                account_id,
                scope,
                hook.id,
                f"{since}:00Z" if len(since) == 16 else since,
                now_ms=request.now_ms,
            )
            return (
                f"Replaying {formats.plural(count, 'event')}."
                if count
                else "There are no events since then."
            )
        elif deed == "rotate":
            return await webhooks.rotate_secret(
                tx, account_id, scope, hook.id, now_ms=request.now_ms
            )
        elif deed == "reveal":
            return hook.secret
        elif deed == "delete":
            await webhooks.delete(tx, account_id, scope, hook.id)
        else:
            raise Missing("Page not found.")
        return flash[deed]

    try:
        answer = await request.write(work)
    except Invalid as fault:
        return await _one(request, 400, wrong=forms.errors_of(fault, ACTIONS))
    if deed in ("rotate", "reveal"):
        return await _one(request, secret=answer)
    return request.go("/webhooks" if deed == "delete" else f"/webhooks/{request.at('id')}", answer)
