"""What would happen to this address? A form, and below it the decision with its evidence."""

from __future__ import annotations

from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, require
from honeyguide.pages.services import PageServices
from honeyguide.signups import referral_checks
from honeyguide.signups.referral_checks import AskedSignup, ReferralCheck, TakenBack
from honeyguide.store.reading import Reading
from honeyguide.subscribers.origins import Origin

FIELDS = {
    "email": Field("Email address", ask="Enter an email address."),
    "referrer_code": Field("Referral code", ask="Enter a referral code."),
    "origin": Field("How they come"),
}
_ORIGINS = [
    ("", "With the link of the code"),
    *((origin, Origin(origin).label) for origin in referral_checks.ORIGINS),
]


async def show(at: Reading, request: PageRequest) -> PageView:
    return _view(request)


def _view(request: PageRequest, found: ReferralCheck | None = None) -> PageView:
    return request.view(
        "referral_check.html",
        found=found,
        given={name: request.text(name) for name in FIELDS},
        origins=_ORIGINS,
    )


async def check(services: PageServices, request: PageRequest) -> PageView:
    require(FIELDS, request.fields)
    asked = AskedSignup(
        request.text("email"), request.text("referrer_code"), request.text("origin") or None
    )
    try:
        await request.apply(referral_checks.try_out, asked)
    except TakenBack as done:
        return _view(request, done.found)
