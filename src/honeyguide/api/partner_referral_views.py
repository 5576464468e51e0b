"""Referrals by partners, as the owner of the program sees them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from honeyguide.api.partner_views import PartnerName
from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.partners.reversal_reasons import ReversalReason
from honeyguide.signups.departures import ReturnedReader
from honeyguide.signups.paid_referrals import ListedReferral
from honeyguide.subscribers.reasons import Reason, explain
from honeyguide.subscribers.referral_states import Status


class ReversalView(View, frozen=True):
    reason: Annotated[
        str, doc("Why the charge was taken back.", "robot", enum=list(ReversalReason))
    ]
    text: Annotated[str | None, doc("What the owner wrote to the partner about it.", None)]
    reversed_at: Annotated[public.Time, doc("When the charge was taken back.")]


class PartnerReferralView(View, frozen=True):
    uuid: public.Uuid
    subscriber_uuid: Annotated[public.Uuid, doc("UUID of the subscriber.")]
    email: public.Email | None
    partner_campaign_uuid: public.PartnerCampaignUuid
    partner_name: PartnerName
    status: Annotated[str, doc("Whether it counts.", "verified", enum=list(Status))]
    reason: Annotated[public.ReferralReason | None, doc(None, None)]
    explanation: Annotated[public.ReferralExplanation | None, doc(None, None)]
    due_at: Annotated[public.DueAt | None, doc(None, None)]
    fee: Annotated[Decimal, doc("Fee for this referral, set when it arrived, in US dollars.", 2.5)]
    charged: Annotated[
        Decimal | None, doc("Amount charged, in US dollars; null if nothing was charged.", 2.5)
    ]
    uncharged_reason: Annotated[str | None, doc("Why a verified referral was not charged.", None)]
    reversal: Annotated[
        ReversalView | None, doc("Why the charge was taken back; null if it was not.", None)
    ]
    returned: Annotated[
        str | None,
        doc(
            "Whether an email bounced or they complained after the charge, while you can take it "
            "back.",
            None,
            enum=[each for each in Reason if each.facts.is_after_fee],
        ),
    ]
    arrived_at: Annotated[public.Time, doc("When the subscriber joined.")]


class OnePartnerReferral(View, frozen=True):
    referral: PartnerReferralView


class PartnerReferralMeta(PageMeta, frozen=True):
    total_referrals: Total


class PartnerReferralList(View, frozen=True):
    referrals: list[PartnerReferralView]
    meta: Annotated[PartnerReferralMeta, META]


_fill_referral = filler(PartnerReferralView, ListedReferral, given=["due_at", "returned"])


def referral_view(
    r: ListedReferral, returned: Sequence[ReturnedReader] = ()
) -> PartnerReferralView:
    reversal = None
    if r.reversal_reason is not None and r.decided_ms is not None:
        reversal = ReversalView(r.reversal_reason, r.reversal_note, iso(r.decided_ms))
    return _fill_referral(
        r,
        explanation=explain(r.reason, r.due_ms) if r.reason else None,
        due_at=iso(r.due_ms) if r.due_ms and r.status == "pending" else None,
        reversal=reversal,
        returned=next((each.how.value for each in returned if each.id == r.id), None),
    )
