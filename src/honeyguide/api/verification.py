"""v2 endpoints for what a partner program asks of its referrals."""

from __future__ import annotations

from msgspec import UnsetType

from honeyguide.api import bodies
from honeyguide.api.call import Call
from honeyguide.api.verification_views import OneProgramVerification, verification_view
from honeyguide.partners import term_changes, verification
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


async def get_program_verification(at: Reading, call: Call[None]) -> OneProgramVerification:
    """Get what a partner program asks of its referrals.

    A program that was made before programs had a screening level of their own shows the campaign's.
    """
    found = await verification.get(at.tx, at.tenant.account_id, call.path["uuid"])
    return OneProgramVerification(verification_view(found))


async def update_program_verification(
    change: Change, call: Call[bodies.ProgramVerificationUpdate]
) -> OneProgramVerification:
    """Change what a partner program asks of its referrals.

    What you leave out stays as it is. From then on the rule and the level hold for every new
    referral, also for those by API and import; before, they hold for signups with magic links, on
    hosted pages and with embedded forms. Partners see both. A rule that needs email is a 400
    `no_mail_server` while no mail server is set.
    """
    nested = call.body.verification
    fields = call.body if isinstance(nested, UnsetType) else nested
    program_id = call.path["uuid"]
    await term_changes.change_now(change, program_id, chosen=fields)
    changed = await verification.get(change.tx, change.tenant.account_id, program_id)
    return OneProgramVerification(verification_view(changed))
