"""What callers get, as types with exactly the keys of the specification. v1 and v2 differ here and in `bodies` only."""

from __future__ import annotations

import msgspec

from honeyguide.kernel.clock import iso
from honeyguide.kernel.paging import Page
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.subscribers import Subscriber


class View(msgspec.Struct, frozen=True, omit_defaults=False):
    """Encoded as it is declared, key by key."""


class Message(View, frozen=True):
    message: str


class CampaignView(View, frozen=True):
    uuid: str
    name: str


class OneCampaign(View, frozen=True):
    campaign: CampaignView


class Campaigns(View, frozen=True):
    campaigns: list[CampaignView]


def campaign_view(campaign: Campaign) -> CampaignView:
    return CampaignView(campaign.id, campaign.name)


class WrittenSubscriber(View, frozen=True):
    """A subscriber as create and update return it."""

    uuid: str
    email: str
    name: str | None
    ref_code: str
    referrer_code: str | None
    referrals_count: int
    ip_address: str | None
    user_agent: str | None
    origin: str
    utm_source: str | None
    utm_campaign: str | None
    created_at: str


class ReadSubscriber(View, frozen=True):
    """A subscriber as v1 returns it."""

    uuid: str
    email: str
    name: str | None
    ref_code: str
    referrer_code: str | None
    referrals_count: int
    referred: bool
    referral_status: str
    ip_address: str | None
    user_agent: str | None
    origin: str
    utm_source: str | None
    utm_campaign: str | None
    created_at: str


class ReferralCounts(View, frozen=True):
    verified: int
    pending: int
    rejected: int


class EarnedRewardView(View, frozen=True):
    uuid: str
    reward_uuid: str
    name: str
    status: str
    coupon_code: str | None
    unlocked_at: str | None
    redeemed_at: str | None


class ReferralProgram(View, frozen=True):
    uuid: str
    name: str
    ref_code: str
    referral_link: str
    referrals: ReferralCounts
    rewards: list[EarnedRewardView]


class PlainSubscriber(View, frozen=True, omit_defaults=True):
    """A subscriber as v2 returns it: no `referrals_count`; `referral_programs` only with `expand=campaigns`."""

    uuid: str
    email: str
    name: str | None
    ref_code: str
    referrer_code: str | None
    referred: bool
    referral_status: str
    ip_address: str | None
    user_agent: str | None
    origin: str
    utm_source: str | None
    utm_campaign: str | None
    created_at: str
    referral_programs: list[ReferralProgram] | msgspec.UnsetType = msgspec.UNSET


class CountedSubscriber(View, frozen=True):
    """A subscriber in the v2 referrals list, with `referrals_count`."""

    uuid: str
    email: str
    name: str | None
    ref_code: str
    referrer_code: str | None
    referrals_count: int
    referred: bool
    referral_status: str
    ip_address: str | None
    user_agent: str | None
    origin: str
    utm_source: str | None
    utm_campaign: str | None
    created_at: str
    referral_programs: list[ReferralProgram] | msgspec.UnsetType = msgspec.UNSET


class SubscriberMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_subscribers: int


class OneWritten(View, frozen=True):
    subscriber: WrittenSubscriber


class OneRead(View, frozen=True):
    subscriber: ReadSubscriber


class OnePlain(View, frozen=True):
    subscriber: PlainSubscriber


class ReadList(View, frozen=True):
    subscribers: list[ReadSubscriber]
    meta: SubscriberMeta


class PlainList(View, frozen=True):
    subscribers: list[PlainSubscriber]
    meta: SubscriberMeta


class CountedList(View, frozen=True):
    subscribers: list[CountedSubscriber]
    meta: SubscriberMeta


def written(s: Subscriber) -> WrittenSubscriber:
    return WrittenSubscriber(
        s.id,
        s.email,
        s.name,
        s.ref_code,
        s.referrer_code,
        s.referrals_verified,
        s.ip_address,
        s.user_agent,
        s.origin,
        s.utm_source,
        s.utm_campaign,
        iso(s.created_ms),
    )


def read(s: Subscriber) -> ReadSubscriber:
    return ReadSubscriber(
        s.id,
        s.email,
        s.name,
        s.ref_code,
        s.referrer_code,
        s.referrals_verified,
        s.referrer_code is not None,
        s.referral_status,
        s.ip_address,
        s.user_agent,
        s.origin,
        s.utm_source,
        s.utm_campaign,
        iso(s.created_ms),
    )


Programs = list[ReferralProgram] | msgspec.UnsetType


def plain(s: Subscriber, programs: Programs = msgspec.UNSET) -> PlainSubscriber:
    return PlainSubscriber(
        s.id,
        s.email,
        s.name,
        s.ref_code,
        s.referrer_code,
        s.referrer_code is not None,
        s.referral_status,
        s.ip_address,
        s.user_agent,
        s.origin,
        s.utm_source,
        s.utm_campaign,
        iso(s.created_ms),
        programs,
    )


def counted(s: Subscriber, programs: Programs = msgspec.UNSET) -> CountedSubscriber:
    return CountedSubscriber(
        s.id,
        s.email,
        s.name,
        s.ref_code,
        s.referrer_code,
        s.referrals_verified,
        s.referrer_code is not None,
        s.referral_status,
        s.ip_address,
        s.user_agent,
        s.origin,
        s.utm_source,
        s.utm_campaign,
        iso(s.created_ms),
        programs,
    )


def subscriber_meta(page: Page, total: int) -> SubscriberMeta:
    return SubscriberMeta(page.per_page, page.page, page.total_pages(total), total)
