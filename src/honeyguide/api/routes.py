"""Every API route, one row each: method, path, endpoint and the right that it needs. The endpoint
says the rest (`call.resource`). The handler serves the routes; the OpenAPI document lists them.
"""

from __future__ import annotations

from honeyguide.accounts.permissions import Right
from honeyguide.api import (
    codes,
    finding,
    link_hosts,
    partners,
    program_partners,
    publications,
    referrals,
    rewards,
    shipments,
    tags,
    v1,
    v2,
    webhooks,
)
from honeyguide.api.bodies import WebhookCreateV2, WebhookUpdateV2
from honeyguide.api.call import Route, in_v2, of_account, resource
from honeyguide.api.webhook_views import OneWebhookV2, WebhookListV2

_campaigns = resource("Campaigns")
_subscribers = resource("Subscribers")
_subscribers_v2 = resource("Subscribers", twin=in_v2)
# Not in the specification, but real clients call them: no campaign UUID in the path.
_own_subscribers = resource("Subscribers", twin=of_account, lead="Uses your account's campaign.")
_referrals = resource("Referrals")
_own_referrals = resource("Referrals", twin=of_account)
_rewards = resource("Rewards")
_shipments = resource("Shipments")
_hosts = resource("Link hosts")
_webhooks = resource("Webhooks")
_webhooks_v2 = resource("Webhooks", twin=in_v2)
_publications = resource("Publications")
_programs = resource("Partner programs")
_network = resource("Partner network")
_partner_campaigns = resource("Partner campaigns")
_earnings = resource("Earnings")
_payouts = resource("Payouts")

_C = "/v1/campaigns/{campaign_uuid}"
_S = _C + "/subscribers"
_EARNED = _S + "/{uuid}/rewards/{reward_uuid}"
_W = _C + "/webhooks"
_S2 = "/v2/campaigns/{campaign_uuid}/subscribers"
_OWN = "/v2/subscribers"
_W2 = "/v2/webhooks"
_PUBLICATIONS = "/v2/publications"
_P = "/v2/partner_programs"
_PARTNER = _P + "/{uuid}/partners/{partner_campaign_uuid}"
_N = "/v2/partner_network/partner_programs"
_ME = "/v2/partner_profile"

_FILTERS = ("search", "category", "min_cpa", "audience_gender", "income_level", "age_range", "sort")
_SAME = "Takes the UUID of the earned reward. Same as the endpoint under the subscriber."

ROUTES: tuple[Route, ...] = (
    _campaigns("GET", "/v1/campaigns", v1.list_campaigns, Right.READ),
    _campaigns("GET", _C, v1.get_campaign, Right.READ),
    _campaigns("PUT", _C, v1.update_campaign, Right.CAMPAIGN),
    _subscribers("POST", _S, v1.create_subscriber, Right.SUBSCRIBERS, status=201),
    _subscribers("GET", _S, v1.list_subscribers, Right.READ, query=("type",)),
    _subscribers("GET", _S + "/{uuid}", v1.get_subscriber, Right.READ),
    _subscribers("GET", _S + "/{uuid}/referrals", v1.list_subscriber_referrals, Right.READ),
    _subscribers("PUT", _S + "/{uuid}", v1.update_subscriber, Right.SUBSCRIBERS),
    _subscribers("DELETE", _S + "/{uuid}", v1.delete_subscriber, Right.SUBSCRIBERS),
    _subscribers_v2("GET", _S2, v2.list_subscribers, Right.READ, query=("type", "expand")),
    _subscribers_v2("GET", _S2 + "/{uuid}", v2.get_subscriber, Right.READ, query=("expand",)),
    _subscribers_v2("GET", _S2 + "/{uuid}/referrals", v2.list_subscriber_referrals, Right.READ, query=("expand",)),
    _own_subscribers("POST", _OWN, v1.create_subscriber, Right.SUBSCRIBERS, status=201),
    _own_subscribers("GET", _OWN, v2.list_subscribers, Right.READ, query=("type", "expand")),
    _own_subscribers("GET", _OWN + "/{uuid}", v2.get_subscriber, Right.READ, query=("expand",)),
    _own_subscribers("GET", _OWN + "/{uuid}/referrals", v2.list_subscriber_referrals, Right.READ, query=("expand",)),
    _own_subscribers("PUT", _OWN + "/{uuid}", v1.update_subscriber, Right.SUBSCRIBERS),
    _own_subscribers("DELETE", _OWN + "/{uuid}", v1.delete_subscriber, Right.SUBSCRIBERS),
    _subscribers("GET", _S + "/{uuid}/status", v1.get_subscriber_status, Right.READ),
    _subscribers("GET", _S + "/{uuid}/referral_page", v1.get_subscriber_referral_page, Right.SUBSCRIBERS),
    _referrals("GET", _S + "/{uuid}/referral", referrals.get_subscriber_referral, Right.READ, snapshot=True),
    _referrals("POST", _S + "/{uuid}/referral/verify", referrals.verify_subscriber_referral, Right.SUBSCRIBERS),
    _referrals("POST", _S + "/{uuid}/referral/reject", referrals.reject_subscriber_referral, Right.SUBSCRIBERS),
    _own_referrals("GET", _OWN + "/{uuid}/referral", referrals.get_subscriber_referral, Right.READ, snapshot=True),
    _own_referrals("POST", _OWN + "/{uuid}/referral/verify", referrals.verify_subscriber_referral, Right.SUBSCRIBERS),
    _own_referrals("POST", _OWN + "/{uuid}/referral/reject", referrals.reject_subscriber_referral, Right.SUBSCRIBERS),
    _referrals("POST", _C + "/referral_decisions", referrals.decide_referrals, Right.SUBSCRIBERS, in_parts=referrals.decide_in_parts),
    _subscribers("GET", _S + "/{uuid}/export", v1.export_subscriber, Right.READ, snapshot=True),
    _campaigns("GET", _C + "/settings", v1.get_campaign_settings, Right.READ),
    _campaigns("PUT", _C + "/settings", v1.update_campaign_settings, Right.CAMPAIGN),
    _referrals("POST", _C + "/referral_checks", referrals.check_referral, Right.READ, in_parts=referrals.check_and_take_back),
    _subscribers("GET", _C + "/subscriber_search", finding.search_subscribers, Right.READ, query=("q",), snapshot=True),
    _referrals("GET", _C + "/referrals_to_review", finding.list_referrals_to_review, Right.READ, snapshot=True),
    _subscribers("GET", _C + "/tags", tags.list_tags, Right.READ),
    _subscribers("GET", _S + "/{uuid}/tags", tags.get_subscriber_tags, Right.READ),
    _subscribers("PUT", _S + "/{uuid}/tags", tags.replace_subscriber_tags, Right.SUBSCRIBERS),
    _subscribers("POST", _S + "/{uuid}/tags/add", tags.add_subscriber_tags, Right.SUBSCRIBERS),
    _subscribers("POST", _S + "/{uuid}/tags/remove", tags.remove_subscriber_tags, Right.SUBSCRIBERS),
    _rewards("POST", _C + "/rewards", rewards.create_reward, Right.REWARDS, status=201),
    _rewards("GET", _C + "/rewards", rewards.list_rewards, Right.READ),
    _rewards("GET", _C + "/rewards/{uuid}", rewards.get_reward, Right.READ),
    _rewards("PUT", _C + "/rewards/{uuid}", rewards.update_reward, Right.REWARDS),
    _rewards("DELETE", _C + "/rewards/{uuid}", rewards.delete_reward, Right.REWARDS),
    _rewards("GET", _S + "/{uuid}/rewards", rewards.list_earned_rewards, Right.READ, query=("page",)),
    _rewards("GET", _S + "/{uuid}/adjustments", rewards.list_adjustments, Right.READ, snapshot=True),
    _rewards("POST", _S + "/{uuid}/adjustments", rewards.create_adjustment, Right.REWARDS, status=201),
    _rewards("POST", _EARNED + "/approve", rewards.approve_earned_reward, Right.REWARDS, operation_id="approveSubscriberReward"),
    _rewards("POST", _EARNED + "/redeem", rewards.redeem_earned_reward, Right.REWARDS, operation_id="redeemSubscriberReward"),
    _rewards("POST", _EARNED + "/decline", rewards.decline_claim, Right.REWARDS, operation_id="declineSubscriberClaim"),
    _rewards("POST", _C + "/rewards/{uuid}/approve", rewards.approve_earned_reward, Right.REWARDS, detail=_SAME),
    _rewards("POST", _C + "/rewards/{uuid}/redeem", rewards.redeem_earned_reward, Right.REWARDS, detail=_SAME),
    _rewards("POST", _C + "/rewards/{uuid}/decline", rewards.decline_claim, Right.REWARDS, detail=_SAME),
    _subscribers("GET", _S + "/{uuid}/codes", codes.list_subscriber_codes, Right.READ, snapshot=True),
    _subscribers("POST", _S + "/{uuid}/codes", codes.choose_subscriber_code, Right.SUBSCRIBERS, status=201),
    _shipments("GET", _C + "/shipments", shipments.list_shipments, Right.READ, query=("status",)),
    _shipments("POST", _C + "/shipments/{uuid}/sent", shipments.mark_shipment_sent, Right.REWARDS),
    _hosts("GET", "/v1/link_hosts", link_hosts.list_link_hosts, Right.READ),
    _hosts("POST", "/v1/link_hosts", link_hosts.add_link_host, Right.CAMPAIGN, status=201),
    _hosts("GET", "/v1/link_hosts/{uuid}", link_hosts.get_link_host, Right.READ),
    _hosts("DELETE", "/v1/link_hosts/{uuid}", link_hosts.remove_link_host, Right.CAMPAIGN),
    _webhooks("POST", _W, webhooks.create_webhook, Right.WEBHOOKS, status=201),
    _webhooks("GET", _W, webhooks.list_webhooks, Right.READ),
    _webhooks("GET", _W + "/{uuid}", webhooks.get_webhook, Right.READ),
    _webhooks("PUT", _W + "/{uuid}", webhooks.update_webhook, Right.WEBHOOKS),
    _webhooks("DELETE", _W + "/{uuid}", webhooks.delete_webhook, Right.WEBHOOKS),
    _webhooks("GET", _W + "/{uuid}/secret", webhooks.get_webhook_secret, Right.WEBHOOKS),
    _webhooks("POST", _W + "/{uuid}/rotate_secret", webhooks.rotate_webhook_secret, Right.WEBHOOKS),
    _webhooks("GET", _W + "/{uuid}/sparkloop_token", webhooks.get_sparkloop_token, Right.WEBHOOKS),
    _webhooks("PUT", _W + "/{uuid}/sparkloop_token", webhooks.set_sparkloop_token, Right.WEBHOOKS),
    _webhooks("POST", _W + "/{uuid}/test", webhooks.send_test_event, Right.WEBHOOKS),
    _webhooks("GET", _W + "/{uuid}/deliveries", webhooks.list_deliveries, Right.READ),
    _webhooks("POST", _W + "/{uuid}/deliveries/{delivery_uuid}/resend", webhooks.resend_delivery, Right.WEBHOOKS),
    _webhooks("POST", _W + "/{uuid}/replay", webhooks.replay_events, Right.WEBHOOKS),
    _webhooks_v2("POST", _W2, webhooks.create_webhook, Right.WEBHOOKS, status=201, body=WebhookCreateV2, answer=OneWebhookV2),
    _webhooks_v2("GET", _W2, webhooks.list_webhooks, Right.READ, answer=WebhookListV2),
    _webhooks_v2("GET", _W2 + "/{uuid}", webhooks.get_webhook, Right.READ, answer=OneWebhookV2),
    _webhooks_v2("PUT", _W2 + "/{uuid}", webhooks.update_webhook, Right.WEBHOOKS, body=WebhookUpdateV2, answer=OneWebhookV2),
    _webhooks_v2("DELETE", _W2 + "/{uuid}", webhooks.delete_webhook, Right.WEBHOOKS),
    _webhooks_v2("GET", _W2 + "/{uuid}/secret", webhooks.get_webhook_secret, Right.WEBHOOKS),
    _webhooks_v2("POST", _W2 + "/{uuid}/rotate_secret", webhooks.rotate_webhook_secret, Right.WEBHOOKS),
    _webhooks_v2("GET", _W2 + "/{uuid}/sparkloop_token", webhooks.get_sparkloop_token, Right.WEBHOOKS),
    _webhooks_v2("PUT", _W2 + "/{uuid}/sparkloop_token", webhooks.set_sparkloop_token, Right.WEBHOOKS),
    _webhooks_v2("POST", _W2 + "/{uuid}/test", webhooks.send_test_event, Right.WEBHOOKS),
    _webhooks_v2("GET", _W2 + "/{uuid}/deliveries", webhooks.list_deliveries, Right.READ),
    _webhooks_v2("POST", _W2 + "/{uuid}/deliveries/{delivery_uuid}/resend", webhooks.resend_delivery, Right.WEBHOOKS),
    _webhooks_v2("POST", _W2 + "/{uuid}/replay", webhooks.replay_events, Right.WEBHOOKS),
    _webhooks("GET", _W2 + "/{uuid}/more_events", webhooks.get_more_events, Right.READ),
    _webhooks("PUT", _W2 + "/{uuid}/more_events", webhooks.update_more_events, Right.WEBHOOKS),
    _publications("POST", _PUBLICATIONS, publications.create_publication, Right.PARTNERS, status=201, prepare=publications.prepare_create),
    _publications("GET", _PUBLICATIONS, publications.list_publications, Right.READ),
    _publications("GET", _PUBLICATIONS + "/{uuid}", publications.get_publication, Right.READ),
    _publications("PUT", _PUBLICATIONS + "/{uuid}", publications.update_publication, Right.PARTNERS, prepare=publications.prepare_update),
    _publications("DELETE", _PUBLICATIONS + "/{uuid}", publications.delete_publication, Right.PARTNERS),
    _programs("POST", _P, partners.create_partner_program, Right.PARTNERS, status=201),
    _programs("GET", _P, partners.list_partner_programs, Right.READ),
    _programs("GET", _P + "/{uuid}", partners.get_partner_program, Right.READ),
    _programs("PUT", _P + "/{uuid}", partners.update_partner_program, Right.PARTNERS),
    _programs("DELETE", _P + "/{uuid}", partners.delete_partner_program, Right.PARTNERS),
    _programs("GET", _P + "/{uuid}/referrals", partners.list_program_referrals, Right.READ),
    _programs("POST", _P + "/{uuid}/referrals/{referral_uuid}/reversal", partners.reverse_referral_charge, Right.MONEY, status=201),
    _programs("GET", _P + "/{uuid}/spend", partners.get_program_spend, Right.READ, query=("month",), snapshot=True),
    _network("GET", _N, partners.list_network_programs, Right.READ, query=_FILTERS),
    _network("GET", _N + "/{uuid}", partners.get_network_program, Right.READ),
    _network("POST", _N + "/{uuid}/join", partners.join_program, Right.PARTNERS, status=201),
    _partner_campaigns("GET", _ME + "/partner_campaigns", partners.list_partner_campaigns, Right.READ),
    _partner_campaigns("GET", _ME + "/partner_campaigns/{uuid}", partners.get_partner_campaign, Right.READ),
    _earnings("GET", _ME + "/earnings", partners.get_earnings, Right.READ, query=("month",), snapshot=True),
    _payouts("GET", _ME + "/payouts", partners.list_payouts, Right.READ),
    _payouts("GET", _ME + "/payouts/{uuid}", partners.get_payout, Right.READ),
    _programs("GET", _P + "/{uuid}/partners", program_partners.list_program_partners, Right.READ),
    _programs("GET", _PARTNER, program_partners.get_program_partner, Right.READ),
    _programs("DELETE", _PARTNER, program_partners.remove_program_partner, Right.PARTNERS, query=("end_pending", "reason")),
    _programs("POST", _PARTNER + "/allow", program_partners.allow_program_partner, Right.PARTNERS),
    _programs("POST", _PARTNER + "/block", program_partners.block_partner, Right.PARTNERS),
    _programs("POST", _PARTNER + "/unblock", program_partners.unblock_partner, Right.PARTNERS),
    _partner_campaigns("DELETE", _ME + "/partner_campaigns/{uuid}", program_partners.leave_program, Right.PARTNERS),
    _programs("GET", _P + "/{uuid}/verification", partners.get_program_verification, Right.READ),
    _programs("PUT", _P + "/{uuid}/verification", partners.update_program_verification, Right.PARTNERS),
)
