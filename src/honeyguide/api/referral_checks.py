"""The endpoint that says what would happen to an address that came with a code."""

from __future__ import annotations

from typing import Annotated, NoReturn

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, resource
from honeyguide.api.subscriber_views import EvidenceView, evidence_view
from honeyguide.api.views import View, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.errors import Busy
from honeyguide.kernel.public import doc
from honeyguide.signups import referral_checks
from honeyguide.signups.referral_checks import AskedSignup, ReferralCheck, TakenBack
from honeyguide.store import Store
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx


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


async def check_and_take_back(store: Store, call: Call) -> ReferralCheck:
    asked = AskedSignup(**msgspec.structs.asdict(call.body))
    try:
        await store.write(_try_out, call, asked)
    except TakenBack as done:
        return done.found


async def _try_out(tx: Tx, call: Call, asked: AskedSignup) -> NoReturn:
    await referral_checks.try_out(call.change(tx), asked)


async def check_referral(at: Reading, call: Call) -> OneReferralCheck:
    """What `check_and_take_back` found."""
    if isinstance(call.body, bodies.ReferralCheckInput):
        # The answer to this Idempotency-Key expired while we looked for it.
        raise Busy("A request with this Idempotency-Key is still running; try again in a moment.")
    found: ReferralCheck = call.body
    return OneReferralCheck(
        ReferralCheckView(
            decision=found.decision,
            reason=found.reason,
            explanation=found.explanation,
            due_at=iso_or_none(found.due_ms),
            must_confirm=found.must_confirm,
            evidence=[evidence_view(each) for each in found.evidence],
        )
    )


_referrals = resource("Referrals", right=Right.READ)

ROUTES = (
    _referrals(
        "POST",
        "/v1/campaigns/{campaign_uuid}/referral_checks",
        check_referral,
        summary="Check what would happen to an address",
        detail="The decision that a signup with this code would get now, with its reason and the "
        "evidence. Nothing is stored, nothing is sent and nobody is notified. The address is taken "
        "as if an ordinary browser had followed the link. With an unknown code, or for somebody "
        "who is already subscribed, the decision is `rejected` and the explanation says so.",
        body=bodies.ReferralCheckInput,
        answer=OneReferralCheck,
        in_parts=check_and_take_back,
    ),
)
