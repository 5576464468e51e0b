"""v2 endpoints for what a partner program asks of its referrals."""

from __future__ import annotations

from msgspec import UnsetType

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, resource
from honeyguide.api.verification_views import OneProgramVerification, verification_view
from honeyguide.partners import term_changes, verification
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


async def get_program_verification(at: Reading, call: Call) -> OneProgramVerification:
    found = await verification.get(at, call.path["uuid"])
    return OneProgramVerification(verification_view(found))


async def update_program_verification(change: Change, call: Call) -> OneProgramVerification:
    nested = call.body.verification
    fields = call.body if isinstance(nested, UnsetType) else nested
    program_id = call.path["uuid"]
    await term_changes.change_now(change, program_id, chosen=fields)
    changed = await verification.get(change, program_id)
    return OneProgramVerification(verification_view(changed))


_PATH = "/v2/partner_programs/{uuid}/verification"

_programs = resource("Partner programs", right=Right.PARTNERS)

ROUTES = (
    _programs(
        "GET",
        _PATH,
        get_program_verification,
        summary="Get what a partner program asks of its referrals",
        detail="A program that was made before programs had a screening level of their own shows "
        "the campaign's.",
        answer=OneProgramVerification,
    ),
    _programs(
        "PUT",
        _PATH,
        update_program_verification,
        summary="Change what a partner program asks of its referrals",
        detail="What you leave out stays as it is, with one exception: a rule or a level without "
        "`origins` sets `all`. A change holds for referrals that come later. Partners see all of "
        "it. A rule that needs email is a 400 `no_mail_server` while no mail server is set.",
        body=bodies.ProgramVerificationUpdate,
        answer=OneProgramVerification,
    ),
)
