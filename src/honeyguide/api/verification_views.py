"""What a partner program asks of its referrals, for its owner and in the partner network."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api.views import View
from honeyguide.partners.verification import (
    FIRST_LOOK_FIELD,
    ORIGINS_FIELD,
    RULE,
    SCREENING,
    Verification,
)


class ProgramVerificationView(View, frozen=True):
    """What a program asks of its referrals."""

    rule: Annotated[str, RULE]
    screening: Annotated[str, SCREENING]
    origins: Annotated[str, ORIGINS_FIELD]
    first_look: Annotated[int | None, FIRST_LOOK_FIELD]


class OneProgramVerification(View, frozen=True):
    verification: ProgramVerificationView


def verification_view(v: Verification) -> ProgramVerificationView:
    return ProgramVerificationView(
        rule=v.rule, screening=v.screening, origins=v.origins, first_look=v.first_look
    )
