"""Subscribers and their referrals, as v1 and v2 return them."""

from __future__ import annotations

from functools import partial
from operator import is_not
from typing import Annotated, Any

import msgspec

from honeyguide.api.reward_views import EarnedRewardView
from honeyguide.api.views import META, PageMeta, Total, View, filler, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.screening.evidence import EvidenceItem
from honeyguide.screening.explanations import Explained
from honeyguide.signups import referral_checks
from honeyguide.signups.group_decisions import DecisionResult
from honeyguide.signups.referral_checks import ReferralCheck
from honeyguide.subscribers import origins
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscriber_filters import SUBSCRIBER_STATUSES
from honeyguide.subscribers.subscribers import Subscriber

RefCode = Annotated[str, doc("Their own referral code.", "k7m2x9pa")]
ReferralsCount = Annotated[int, doc("Number of verified referrals.", 3, minimum=0)]
Referred = Annotated[bool, doc("Whether they were referred.", True)]
ReferralStatus = Annotated[
    str,
    doc(
        "Whether their own referral counts. `verified` for subscribers who were not referred.",
        "verified",
        enum=[str(status) for status in Status],
    ),
]
Origin = Annotated[
    str,
    doc(
        "How they joined: through the API, the hosted signup page, a magic link, an import, an "
        "embed on your own website, or your email platform.",
        "api",
        enum=list(origins.Origin),
    ),
]
SignedUpAt = Annotated[public.Time, doc("When they subscribed.")]
# The example is the response to a request that sends only the required fields.
_NOT_SENT = doc(None, None)


class SavedSubscriber(View, frozen=True):
    """A subscriber as create and update return it."""

    uuid: public.Uuid
    email: public.Email
    name: public.SubscriberName | None
    ref_code: RefCode
    referrer_code: public.ReferrerCode | None
    referrals_count: Annotated[ReferralsCount, doc(None, 0)]
    ip_address: Annotated[public.IpAddress | None, _NOT_SENT]
    user_agent: Annotated[public.UserAgent | None, _NOT_SENT]
    origin: Origin
    utm_source: Annotated[public.UtmSource | None, _NOT_SENT]
    utm_campaign: Annotated[public.UtmCampaign | None, _NOT_SENT]
    created_at: SignedUpAt


class SubscriberView(View, frozen=True):
    """A subscriber as v1 returns it."""

    uuid: public.Uuid
    email: public.Email
    name: public.SubscriberName | None
    ref_code: RefCode
    referrer_code: public.ReferrerCode | None
    referrals_count: ReferralsCount
    referred: Referred
    referral_status: ReferralStatus
    ip_address: public.IpAddress | None
    user_agent: public.UserAgent | None
    origin: Origin
    utm_source: public.UtmSource | None
    utm_campaign: public.UtmCampaign | None
    created_at: SignedUpAt


class ReferralCounts(View, frozen=True):
    verified: Annotated[int, doc("Verified referrals.", 3, minimum=0)]
    pending: Annotated[int, doc("Pending referrals.", 1, minimum=0)]
    rejected: Annotated[int, doc("Rejected referrals.", 0, minimum=0)]


class ReferralProgram(View, frozen=True):
    uuid: public.CampaignUuid
    name: public.CampaignName
    ref_code: RefCode
    referral_link: public.ReferralLink
    referrals: ReferralCounts
    rewards: list[EarnedRewardView]
    status: Annotated[str, doc("Whether they left.", "active", enum=list(SUBSCRIBER_STATUSES))]
    codes: Annotated[list[str], doc("Further codes of theirs, which credit like the first.", [])]
    adjustments: Annotated[int, doc("What was added to their progress toward rewards.", 0)]
    tags: public.Tags


Programs = list[ReferralProgram] | msgspec.UnsetType
_EXPANDED = doc("Present only with `expand=campaigns`.")


class SubscriberViewV2(View, frozen=True, omit_defaults=True):
    """A subscriber as v2 returns it: no `referrals_count`; `referral_programs` only with
    `expand=campaigns`."""

    uuid: public.Uuid
    email: public.Email
    name: public.SubscriberName | None
    ref_code: RefCode
    referrer_code: public.ReferrerCode | None
    referred: Referred
    referral_status: ReferralStatus
    ip_address: public.IpAddress | None
    user_agent: public.UserAgent | None
    origin: Origin
    utm_source: public.UtmSource | None
    utm_campaign: public.UtmCampaign | None
    created_at: SignedUpAt
    referral_programs: Annotated[Programs, _EXPANDED] = msgspec.UNSET


class ReferredSubscriberV2(SubscriberView, frozen=True):
    """A subscriber in the v2 referrals list, with `referrals_count`."""

    referral_programs: Annotated[Programs, _EXPANDED] = msgspec.UNSET


class SubscriberMeta(PageMeta, frozen=True):
    total_subscribers: Total


class OneSavedSubscriber(View, frozen=True):
    subscriber: SavedSubscriber


class OneSubscriber(View, frozen=True):
    subscriber: SubscriberView


class OneSubscriberV2(View, frozen=True):
    subscriber: SubscriberViewV2


class SubscriberList(View, frozen=True):
    subscribers: list[SubscriberView]
    meta: Annotated[SubscriberMeta, META]


class SubscriberListV2(View, frozen=True):
    subscribers: list[SubscriberViewV2]
    meta: Annotated[SubscriberMeta, META]


class ReferredSubscriberListV2(View, frozen=True):
    subscribers: list[ReferredSubscriberV2]
    meta: Annotated[SubscriberMeta, META]


class SignalsView(View, frozen=True):
    """What screening saw when the subscriber joined."""

    own_address: Annotated[bool, doc("Same email address as the referrer.")]
    alias_of_referrer: Annotated[bool, doc("An alias of the referrer's email address.")]
    referral_loop: Annotated[bool, doc("They referred their referrer, directly or through others.")]
    disposable_domain: Annotated[bool, doc("A disposable email address.")]
    same_network_as_referrer: Annotated[bool, doc("Same IP network as the referrer, within a day.")]
    signups_from_network_that_day: Annotated[
        int, doc("Signups with this code from the same IP network that day, this one included.")
    ]
    signups_on_code_that_hour: Annotated[
        int, doc("Signups with this code that hour, this one included.")
    ]


class EvidenceView(View, frozen=True):
    """One thing that speaks for or against a referral. Partners never see it."""

    code: Annotated[str, doc("Which signal found it.", "rare_domain")]
    sentence: Annotated[
        str, doc("What was found.", "Email addresses on this link look generated: ann1 to ann9.")
    ]
    value: Annotated[str, doc("The part of the sentence that is deleted 90 days later.")] | None
    points: Annotated[int, doc("Against the referral; below zero: for it.", 3)]
    found_at: Annotated[public.Time, doc("When it was found first.")]


def evidence_view(item: EvidenceItem) -> EvidenceView:
    return EvidenceView(item.code, item.sentence, item.value, item.points, iso(item.found_ms))


class ReferralCheckView(View, frozen=True):
    decision: Annotated[
        str,
        doc(
            "What the referral would be. `rejected` also if there would be none.",
            "pending",
            enum=list(referral_checks.DECISIONS),
        ),
    ]
    reason: public.ReferralReason | None
    explanation: public.ReferralExplanation
    due_at: public.DueAt | None
    must_confirm: Annotated[bool, doc("Whether they would have to confirm their email address.")]
    evidence: Annotated[list[EvidenceView], doc("What would speak for and against it.")]


class OneReferralCheck(View, frozen=True):
    referral_check: ReferralCheckView


class SubscriberStatus(View, frozen=True):
    status: Annotated[
        str,
        doc(
            "`confirmed` means that they confirmed their email address.",
            "active",
            enum=list(SUBSCRIBER_STATUSES),
        ),
    ]
    is_subscribed: Annotated[
        bool, doc("Whether to send them the newsletter. False if they left or must confirm first.")
    ]
    is_confirmed: Annotated[bool, doc("Whether they confirmed their email address.", False)]
    must_confirm: Annotated[
        bool, doc("Whether they still have to confirm their email address.", False)
    ]
    unsubscribed_at: Annotated[
        public.Time | None, doc("When they left; null if they are subscribed.", None)
    ]


class SubscriberReferralPage(View, frozen=True):
    referral_page_url: Annotated[
        public.Url,
        doc(
            "The subscriber's own page: their link, their referrals and their rewards. Give it to "
            "nobody else, because it works without a login.",
            "https://go.example.org/hub/k7m2x9pa5f0c9b7d1e2a4c6f8b3d5a7e9c1f2b4d",
        ),
    ]


class ExplainedReferral(View, frozen=True):
    subscriber_uuid: Annotated[public.Uuid, doc("UUID of the subscriber.")]
    status: Annotated[str, doc("Whether it counts.", "pending", enum=list(Status))]
    reason: public.ReferralReason | None
    explanation: public.ReferralExplanation
    due_at: public.DueAt | None
    signals: SignalsView
    rule: Annotated[str, doc("The rule that decided.")]
    what_would_change_it: Annotated[str, doc("What would change the status.")]
    decided_by: Annotated[str, doc("Who decided it by hand, if anyone did.", "api")] | None
    decided_at: Annotated[public.Time, doc("When it was decided by hand.")] | None
    referrer_code: public.ReferrerCode
    referrer_uuid: Annotated[public.Uuid, doc("UUID of the referrer.")] | None
    partner_campaign_uuid: public.PartnerCampaignUuid | None
    evidence: Annotated[list[EvidenceView], doc("What speaks for and against it, oldest first.")]


class OneExplainedReferral(View, frozen=True):
    referral: ExplainedReferral


class DecidedReferral(View, frozen=True):
    """What became of one line of the request."""

    subscriber: Annotated[str, doc("The subscriber as you sent it.", "reader@example.com")]
    ok: Annotated[bool, doc("Whether the referral now has the status you asked for.", True)]
    status: (
        Annotated[str, doc("The status of the referral; null if it was refused.", "verified")]
        | None
    )
    code: Annotated[str, doc("Why it was refused, as a code.", None)] | None
    error: Annotated[str, doc("Why it was refused, as a sentence.", None)] | None


class DecidedReferralList(View, frozen=True):
    decisions: Annotated[list[DecidedReferral], doc("In the order you sent.")]


class TagList(View, frozen=True):
    tags: public.Tags


class SubscriberExport(View, frozen=True):
    """All data stored about one subscriber."""

    export: Annotated[dict[str, Any], doc("Tables and their rows.")]


def decided_view(result: DecisionResult) -> DecidedReferral:
    fault = result.fault
    return DecidedReferral(
        subscriber=result.given,
        ok=fault is None,
        status=result.status,
        code=fault.code if fault else None,
        error=fault.message if fault else None,
    )


_COUNT = "referrals_verified"
_REFERRED = ("referrer_code", partial(is_not, None))
written = filler(SavedSubscriber, Subscriber, referrals_count=_COUNT)
read = filler(SubscriberView, Subscriber, referrals_count=_COUNT, referred=_REFERRED)
plain = filler(SubscriberViewV2, Subscriber, referred=_REFERRED)
counted = filler(ReferredSubscriberV2, Subscriber, referrals_count=_COUNT, referred=_REFERRED)


def explained(found: Explained) -> OneExplainedReferral:
    s = found.subscriber
    return OneExplainedReferral(
        ExplainedReferral(
            subscriber_uuid=s.id,
            status=s.referral_status,
            reason=found.reason,
            explanation=found.explanation,
            due_at=iso_or_none(s.referral_due_ms),
            signals=SignalsView(**found.signals._asdict()),
            rule=found.rule,
            what_would_change_it=found.what_would_change_it,
            decided_by=s.decided_by,
            decided_at=iso_or_none(s.decided_ms),
            referrer_code=s.referrer_code or "",
            referrer_uuid=s.referrer_id,
            partner_campaign_uuid=s.partner_campaign_id,
            evidence=[evidence_view(each) for each in found.evidence],
        )
    )


_fill_check = filler(ReferralCheckView, ReferralCheck, given=["evidence"])


def check_view(check: ReferralCheck) -> ReferralCheckView:
    return _fill_check(check, evidence=[evidence_view(item) for item in check.evidence])
