"""What a member may change: how it is done over HTTP, and what the change log says afterwards."""

from collections.abc import Callable

from honeyguide.mail import notification_choices
from honeyguide.mail.notification_kinds import NOTIFICATION_KINDS
from tests.support import partner_network
from tests.support.belongings import (
    awaiting,
    blocked_partner,
    claiming,
    earned,
    email,
    link_host,
    paid_referral,
    partner_campaign,
    partner_in,
    pending,
    program,
    publication,
    removed_partner,
    reward,
    shipment,
    subscriber,
    their_program,
    unlocked,
    webhook,
)
from tests.support.claims import claimed
from tests.support.logged_case import Logged, Made
from tests.support.web import Operator


def subscribers_reward(approval: str) -> Callable[[Operator], Made]:
    return lambda owner: earned(owner, approval)


def v1_webhook(owner: Operator) -> str:
    made = owner.post(f"{owner.v1}/webhooks", {"url": "http://127.0.0.1:9/hook"})
    return str(made.json()["webhook"]["uuid"])


def off_link(owner: Operator) -> str:
    site = owner.service.services.site
    return notification_choices.turn_off_url(
        site,
        owner.account_id,
        NOTIFICATION_KINDS[0],
        link_version=0,
        now_ms=owner.service.now_ms(),
    ).rpartition("/")[2]


def someone_with_code(owner: Operator) -> tuple[str, str]:
    """Somebody who came with an unknown code, and who had referred them."""
    return claiming(owner), email(owner)


_PARTNER = "/v2/partner_programs/{uuid}/partners/{partner_campaign_uuid}"
_V1 = "/v1/campaigns/{campaign_uuid}"
HOOK = {"url": "http://127.0.0.1:9/other", "new_referral": True}
CARD = {
    "name": "The Wax",
    "audience_gender": "mixed",
    "categories": "tech",
    "income_levels": "$150k+",
    "age_ranges": "25 - 39",
}
TERMS = {
    "cpa": "3",
    "max_payout": "90",
    "total_budget": "300",
    "redirect_url": "https://wax.example/",
}
REWARD = {"name": "Mug", "referrals": 3}
WAITS, OPEN = {"status": "awaiting_approval"}, {"status": "unlocked"}
REDEEMED, SENT = {"status": "redeemed"}, {"status": "sent"}
PENDING = {"status": "pending"}

API = [
    Logged(f"PUT {_V1}", "campaign.changed", {"name": "Bee"}, {}, {"name": "Bee"}),
    Logged(
        f"PUT {_V1}/settings",
        "campaign.changed",
        {"hold_days": 3},
        {"hold_days": 0},
        {"hold_days": 3},
    ),
    *(
        Logged(f"DELETE {path}/{{uuid}}", "subscriber.erased", {}, None, None, subscriber)
        for path in (f"{_V1}/subscribers", "/v2/subscribers")
    ),
    *(
        Logged(
            f"PUT {path}/{{uuid}}",
            "subscriber.email_changed",
            {"email": "other@example.org"},
            None,
            None,
            subscriber,
        )
        for path in (f"{_V1}/subscribers", "/v2/subscribers")
    ),
    *(
        Logged(
            f"POST {path}/{{uuid}}/referral/{verb}",
            "referral.decided",
            {},
            PENDING,
            {"status": status},
            pending,
        )
        for path in (f"{_V1}/subscribers", "/v2/subscribers")
        for verb, status in (("verify", "verified"), ("reject", "rejected"))
    ),
    Logged(
        f"POST {_V1}/referral_decisions",
        "referral.decided",
        {"status": "rejected", "reason": "Secret reason", "subscribers": [...]},
        PENDING,
        {"status": "rejected"},
        pending,
    ),
    Logged(
        f"POST {_V1}/subscribers/{{uuid}}/adjustments",
        "subscriber.adjusted",
        {"amount": 2, "reason": "Secret reason"},
        {"adjustments": 0},
        {"adjustments": 2},
        subscriber,
        is_idempotent=False,
    ),
    Logged(
        f"POST {_V1}/subscribers/{{uuid}}/codes",
        "subscriber.code_chosen",
        {"code": "ann-lee"},
        None,
        {"code": "ann-lee"},
        subscriber,
    ),
    Logged(
        f"POST {_V1}/rewards",
        "reward.created",
        REWARD,
        None,
        REWARD,
        is_idempotent=False,
    ),
    Logged(
        f"PUT {_V1}/rewards/{{uuid}}",
        "reward.changed",
        {"name": "Mug"},
        {"name": "Secret pen"},
        {"name": "Mug"},
        reward,
    ),
    Logged(
        f"DELETE {_V1}/rewards/{{uuid}}",
        "reward.deleted",
        {},
        {"name": "Secret pen"},
        None,
        reward,
    ),
    Logged(
        f"POST {_V1}/subscribers/{{uuid}}/rewards/{{reward_uuid}}/approve",
        "earned_reward.approved",
        {},
        WAITS,
        OPEN,
        subscribers_reward("manual"),
    ),
    Logged(
        f"POST {_V1}/subscribers/{{uuid}}/rewards/{{reward_uuid}}/redeem",
        "earned_reward.redeemed",
        {},
        OPEN,
        REDEEMED,
        subscribers_reward("automatic"),
    ),
    Logged(
        f"POST {_V1}/subscribers/{{uuid}}/rewards/{{reward_uuid}}/decline",
        "earned_reward.declined",
        {"reason": "Secret"},
        {"claimed": True},
        {"claimed": False},
        lambda owner: claimed(owner)[::-1],
    ),
    Logged(
        f"POST {_V1}/rewards/{{uuid}}/decline",
        "earned_reward.declined",
        {"reason": "Secret"},
        {"claimed": True},
        {"claimed": False},
        lambda owner: claimed(owner)[0],
    ),
    Logged(
        f"POST {_V1}/rewards/{{uuid}}/approve",
        "earned_reward.approved",
        {},
        WAITS,
        OPEN,
        awaiting,
    ),
    Logged(
        f"POST {_V1}/rewards/{{uuid}}/redeem",
        "earned_reward.redeemed",
        {},
        OPEN,
        REDEEMED,
        unlocked,
    ),
    Logged(
        f"POST {_V1}/shipments/{{uuid}}/sent",
        "shipment.sent",
        {"tracking_note": "Secret note"},
        {"status": "to_send"},
        SENT,
        shipment,
    ),
    Logged(
        "POST /v1/link_hosts",
        "link_host.added",
        {"host": "go.secret.example"},
        None,
        {"host": "go.secret.example"},
    ),
    Logged("DELETE /v1/link_hosts/{uuid}", "link_host.removed", {}, {}, None, link_host, False),
    *(
        each
        for path, make in ((f"{_V1}/webhooks", v1_webhook), ("/v2/webhooks", webhook))
        for each in (
            Logged(
                f"POST {path}",
                "webhook.created",
                HOOK,
                None,
                {**HOOK, "new_referral": 1},
                is_idempotent=False,
            ),
            Logged(
                f"PUT {path}/{{uuid}}",
                "webhook.changed",
                {"url": HOOK["url"]},
                {},
                {"url": HOOK["url"]},
                make,
            ),
            Logged(f"DELETE {path}/{{uuid}}", "webhook.deleted", {}, {}, None, make),
            Logged(
                f"POST {path}/{{uuid}}/rotate_secret",
                "webhook.secret_rotated",
                {},
                None,
                None,
                make,
                is_idempotent=False,
            ),
            Logged(
                f"PUT {path}/{{uuid}}/sparkloop_token",
                "webhook.sparkloop_token_changed",
                {"sparkloop_token": "sparkloop-secret"},
                None,
                None,
                make,
            ),
        )
    ),
    Logged(
        "PUT /v2/webhooks/{uuid}/more_events",
        "webhook.changed",
        {"new_subscriber": True},
        {"new_subscriber": None},
        {"new_subscriber": 1},
        webhook,
    ),
    Logged(
        "POST /v2/publications",
        "publication.created",
        partner_network.publication_fields(name="The Wax"),
        None,
        {"name": "The Wax", "status": "active"},
        is_idempotent=False,
    ),
    Logged(
        "PUT /v2/publications/{uuid}",
        "publication.changed",
        {"name": "The Wax"},
        {"name": "Secret gazette"},
        {"name": "The Wax"},
        publication,
    ),
    Logged(
        "DELETE /v2/publications/{uuid}",
        "publication.deleted",
        {},
        {"name": "Secret gazette"},
        None,
        publication,
    ),
    Logged(
        "POST /v2/partner_programs",
        "program.created",
        {
            "publication_uuid": ...,
            "cpa": 3,
            "max_payout": 90,
            "total_budget": 300,
            "redirect_url": "https://wax.example/",
        },
        None,
        {"cpa_cents": 300, "total_budget_cents": 30_000},
        publication,
    ),
    Logged(
        "PUT /v2/partner_programs/{uuid}",
        "program.changed",
        {"total_budget": 500},
        {"total_budget_cents": 30_000},
        {"total_budget_cents": 50_000},
        program,
    ),
    Logged("DELETE /v2/partner_programs/{uuid}", "program.deleted", {}, {}, None, program),
    Logged(
        "PUT /v2/partner_programs/{uuid}/verification",
        "program.verification_changed",
        {"screening": "strict"},
        {"screening": "strong", "is_verification_chosen": 0},
        {"screening": "strict", "is_verification_chosen": 1},
        program,
    ),
    Logged(
        "POST /v2/partner_programs/{uuid}/referrals/{referral_uuid}/reversal",
        "referral.decided",
        {"reason": "robot"},
        {"status": "verified"},
        {"status": "rejected", "reason": "reversed"},
        paid_referral,
    ),
    Logged(
        "POST /v2/partner_network/partner_programs/{uuid}/join",
        "partner_campaign.joined",
        {},
        None,
        {"reason": None},
        their_program,
    ),
    Logged(
        f"DELETE {_PARTNER}",
        "partner_campaign.removed",
        {},
        {"is_removed": False},
        {"is_removed": True, "ends_pending": False},
        partner_in,
    ),
    Logged(
        f"POST {_PARTNER}/allow",
        "partner_campaign.allowed",
        {},
        {"is_removed": True},
        {"is_removed": False},
        removed_partner,
    ),
    Logged(
        f"POST {_PARTNER}/block",
        "partner.blocked",
        {"reason": "Robots.", "end_pending": True},
        {"is_blocked": False},
        {"is_blocked": True, "reason": "Robots.", "ends_pending": True},
        partner_in,
    ),
    Logged(
        f"POST {_PARTNER}/unblock",
        "partner.unblocked",
        {},
        {"is_blocked": True},
        {"is_blocked": False},
        blocked_partner,
    ),
    Logged(
        "DELETE /v2/partner_profile/partner_campaigns/{uuid}",
        "partner_campaign.left",
        {},
        {"has_left": False},
        {"has_left": True},
        partner_campaign,
    ),
]
