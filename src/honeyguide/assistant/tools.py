"""The table of tools. Each says what it is for, what it takes, and which calls of the API it makes.

What a tool returns is short: a model reads all of it. Postal addresses and IP addresses are left
out, because no answer needs them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from honeyguide.assistant.account_api import AccountApi, segment

Arguments = Mapping[str, Any]
Schema = dict[str, Any]
Run = Callable[[AccountApi, Arguments], Awaitable[dict[str, Any]]]

PER_PAGE = 20
# Webhooks whose deliveries are looked through, and how many of the newest of each.
MOST_WEBHOOKS = 10
NEWEST_DELIVERIES = 50
MOST_FAILED = 20
_PRIVATE = frozenset({"ip_address", "user_agent", "shipping_details", "logo_url"})


@dataclass(frozen=True)
class AssistantTool:
    name: str
    title: str
    about: str
    run: Run
    parameters: dict[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    is_write: bool = False

    @property
    def input_schema(self) -> Schema:
        return {
            "type": "object",
            "properties": self.parameters,
            "required": list(self.required),
            "additionalProperties": False,
        }


def _text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


_SUBSCRIBER = _text("UUID or email address of the subscriber.")
_MONTH = _text("A calendar month in UTC, as YYYY-MM. Default: the current month.")
_PAGE = {"type": "integer", "minimum": 1, "description": f"Page of {PER_PAGE}. Default: 1."}


def public_part(value: Any) -> Any:
    """Without what an assistant has no use for."""
    if isinstance(value, dict):
        return {name: public_part(of) for name, of in value.items() if name not in _PRIVATE}
    return [public_part(each) for each in value] if isinstance(value, list) else value


async def overview(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = await api.campaign()
    campaign = (await api.get(path))["campaign"]

    async def count(kind: str) -> int:
        listed = await api.get(f"{path}/subscribers", type=kind, per_page=1)
        return int(listed["meta"]["total_subscribers"])

    shipments = await api.get(f"{path}/shipments", per_page=1)
    waiting = await api.get(f"{path}/referrals_to_review")
    programs = await api.get("/v2/partner_programs", per_page=1)
    earnings = (await api.get("/v2/partner_profile/earnings"))["earnings"]
    return {
        "newsletter": campaign["name"],
        "subscribers": await count("all"),
        "referred_subscribers": await count("referrals"),
        "advocates": await count("advocates"),
        "referrals_to_review": len(waiting["referrals"]),
        "rewards_to_send": shipments["meta"]["total_shipments"],
        "own_partner_programs": programs["meta"]["total_partner_programs"],
        "earnings_this_month": {
            name: of for name, of in earnings.items() if not isinstance(of, list)
        },
    }


async def find_subscribers(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get(f"{await api.campaign()}/subscriber_search", q=given["text"])


async def get_subscriber(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = f"/v2/subscribers/{segment(given['subscriber'])}"
    return await api.get(path, expand="campaigns")


async def explain_referral(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get(f"/v2/subscribers/{segment(given['subscriber'])}/referral")


async def referrals_to_review(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get(f"{await api.campaign()}/referrals_to_review")


async def decide_referrals(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.post(f"{await api.campaign()}/referral_decisions", dict(given))


async def rewards_to_send(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = f"{await api.campaign()}/shipments"
    return await api.get(path, page=given.get("page"), per_page=PER_PAGE)


async def mark_reward_sent(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = f"{await api.campaign()}/shipments/{segment(given['shipment'])}/sent"
    return await api.post(path, {"tracking_note": given.get("tracking_note")})


async def partner_programs(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get("/v2/partner_programs", page=given.get("page"), per_page=PER_PAGE)


async def program_spend(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = f"/v2/partner_programs/{segment(given['program'])}/spend"
    return await api.get(path, month=given.get("month"))


async def search_network(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get("/v2/partner_network/partner_programs", **given, per_page=PER_PAGE)


async def earnings(api: AccountApi, given: Arguments) -> dict[str, Any]:
    return await api.get("/v2/partner_profile/earnings", month=given.get("month"))


async def payouts(api: AccountApi, given: Arguments) -> dict[str, Any]:
    path = "/v2/partner_profile/payouts"
    return await api.get(path, page=given.get("page"), per_page=PER_PAGE)


async def failed_deliveries(api: AccountApi, given: Arguments) -> dict[str, Any]:
    webhooks = (await api.get("/v2/webhooks"))["webhooks"]
    failed, disabled = [], []
    for webhook in webhooks[:MOST_WEBHOOKS]:
        path = f"/v2/webhooks/{webhook['uuid']}/deliveries"
        listed = await api.get(path, per_page=NEWEST_DELIVERIES)
        if listed["disabled_at"] is not None:
            disabled.append({"webhook_uuid": webhook["uuid"], "at": listed["disabled_at"]})
        failed += [
            {"webhook_uuid": webhook["uuid"], "url": webhook["url"], **_shortened(delivery)}
            for delivery in listed["deliveries"]
            if delivery["status"] == "failed"
            or (delivery["status"] == "pending" and delivery["attempts"])
        ]
    return {
        "failed_deliveries": failed[:MOST_FAILED],
        "disabled_webhooks": disabled,
        "webhooks": len(webhooks),
    }


def _shortened(delivery: dict[str, Any]) -> dict[str, Any]:
    attempts = delivery.pop("attempts")
    return {**delivery, "attempts": len(attempts), "last_attempt": attempts[-1]}


async def resend_delivery(api: AccountApi, given: Arguments) -> dict[str, Any]:
    webhook, delivery = segment(given["webhook"]), segment(given["delivery"])
    return await api.post(f"/v2/webhooks/{webhook}/deliveries/{delivery}/resend", {})


TOOLS: tuple[AssistantTool, ...] = (
    AssistantTool(
        "overview",
        "Overview",
        "How the newsletter's referral program stands: subscribers, advocates, what waits for the "
        "operator, and this month's earnings as a partner. Start here.",
        overview,
    ),
    AssistantTool(
        "find_subscribers",
        "Find subscribers",
        "Finds up to 20 subscribers by a part of their name or email address.",
        find_subscribers,
        {"text": _text("A part of the name or email address.")},
        ("text",),
    ),
    AssistantTool(
        "get_subscriber",
        "Get a subscriber",
        "One subscriber: referral link and code, who referred them, referral counts, earned "
        "rewards, whether they unsubscribed, and tags.",
        get_subscriber,
        {"subscriber": _SUBSCRIBER},
        ("subscriber",),
    ),
    AssistantTool(
        "explain_referral",
        "Explain a referral",
        "Why the referral of a subscriber is verified, pending or rejected: the rule, the evidence "
        "for and against it, and what would change it. Fails if nobody referred them.",
        explain_referral,
        {"subscriber": _SUBSCRIBER},
        ("subscriber",),
    ),
    AssistantTool(
        "referrals_to_review",
        "Referrals to review",
        "Suspicious referrals that wait for the operator's decision, newest first, at most 100, "
        "each with the reason.",
        referrals_to_review,
    ),
    AssistantTool(
        "rewards_to_send",
        "Rewards to send",
        "Physical rewards that were claimed and are not sent yet. Postal addresses are left out; "
        "the operator finds them on the dashboard's page Shipments.",
        rewards_to_send,
        {"page": _PAGE},
    ),
    AssistantTool(
        "partner_programs",
        "Own partner programs",
        "The paid programs that this newsletter offers to partners: fee, cap, monthly budget.",
        partner_programs,
        {"page": _PAGE},
    ),
    AssistantTool(
        "program_spend",
        "Program spend",
        "What one of the newsletter's own programs has spent in a month, what is left of its "
        "budget, and the spending by partner.",
        program_spend,
        {"program": _text("UUID of the partner program."), "month": _MONTH},
        ("program",),
    ),
    AssistantTool(
        "search_network",
        "Search the partner network",
        "Programs of other newsletters that can be joined, with fee and confirmation rate.",
        search_network,
        {
            "search": _text("Words of the name, description or categories."),
            "category": _text("One category, such as technology."),
            "min_cpa": {"type": "number", "minimum": 0, "description": "Least fee, in US dollars."},
            "sort": _text("Highest or newest first; default: created_at."),
            "page": _PAGE,
        },
    ),
    AssistantTool(
        "earnings",
        "Earnings",
        "What this newsletter earns as a partner of others in a month, by program.",
        earnings,
        {"month": _MONTH},
    ),
    AssistantTool(
        "payouts",
        "Payouts",
        "What this newsletter is owed as a partner, one payout per closed month, and whether it "
        "was paid.",
        payouts,
        {"page": _PAGE},
    ),
    AssistantTool(
        "failed_deliveries",
        "Failed webhook deliveries",
        "Webhook deliveries that failed or are being retried, among the newest of each webhook, "
        "with the last attempt; and which webhooks were disabled.",
        failed_deliveries,
    ),
    AssistantTool(
        "decide_referrals",
        "Verify or reject referrals",
        "Verifies or rejects referrals. It takes effect at once, and a verified referral cannot be "
        "rejected again: ask the operator first.",
        decide_referrals,
        {
            "status": _text("What the referrals become.", enum=["verified", "rejected"]),
            "subscribers": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "UUIDs or email addresses of those who were referred.",
            },
            "reason": _text("Why, for the operator's records."),
        },
        ("status", "subscribers"),
        is_write=True,
    ),
    AssistantTool(
        "mark_reward_sent",
        "Mark a reward as sent",
        "Marks a claimed reward as sent. The subscriber gets an email a minute later.",
        mark_reward_sent,
        {
            "shipment": _text("UUID of the shipment, as in rewards_to_send."),
            "tracking_note": _text("Shown to the subscriber, such as a tracking number."),
        },
        ("shipment",),
        is_write=True,
    ),
    AssistantTool(
        "resend_delivery",
        "Resend a webhook delivery",
        "Sends one webhook delivery again.",
        resend_delivery,
        {
            "webhook": _text("UUID of the webhook, as in failed_deliveries."),
            "delivery": _text("UUID of the delivery, as in failed_deliveries."),
        },
        ("webhook", "delivery"),
        is_write=True,
    ),
)


def tools_for(*, may_write: bool) -> dict[str, AssistantTool]:
    return {tool.name: tool for tool in TOOLS if may_write or not tool.is_write}
