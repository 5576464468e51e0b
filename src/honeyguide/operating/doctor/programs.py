"""What the verification settings of partner programs mean for the installation."""

from __future__ import annotations

from honeyguide.operating.doctor.results import CheckResult, ok, problem, warning
from honeyguide.partners.held_referrals import HIGH_PERCENT, ProgramHealth
from honeyguide.settings import Settings


def programs(settings: Settings, found: ProgramHealth) -> CheckResult:
    if found.needing_email and not settings.smtp_url:
        asking = "program asks" if found.needing_email == 1 else "programs ask"
        return problem(
            "programs",
            f"{found.needing_email:,} partner {asking} for confirmations by email, and no mail "
            "server is set. None of their referrals will count.",
            "Set HONEYGUIDE_SMTP_URL to your mail server, or let the owners choose another rule.",
        )
    if found.holding_many:
        many = "program keeps" if found.holding_many == 1 else "programs keep"
        return warning(
            "programs",
            f"The screening of {found.holding_many:,} partner {many} more than "
            f"{HIGH_PERCENT}% of the referrals of 30 days from counting.",
            "Their owners see it on the program's page, and can review them or lower the level.",
        )
    return ok("programs", "Screening and confirmations work")
