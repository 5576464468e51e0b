"""/subscribers/new: adds one subscriber by hand, as the API does."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people.subscriber_filters import CHOICES
from honeyguide.pages.forms import Field
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

FORM = {
    "email": Field("Email address", "Enter an email address."),
    "name": Field("Name"),
    "referrer_code": Field("Referrer’s code"),
    "status": Field("Status"),
}


async def show(at: Reading, request: PageRequest) -> PageView:
    return request.view(
        "new_subscriber.html",
        given={"status": "active", **request.fields},
        statuses=CHOICES["status"],
    )


async def create(change: Change, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    given: dict[str, Any] = {name: request.text(name) for name in FORM if request.text(name)}
    # The origin is the API's: in both cases the owner added them, so the same rules hold.
    made = await signups.sign_up(change, NewSubscriber(**given))
    flash = f"{made.email} was added."
    if "referrer_code" in given and made.referrer_code is None:
        flash += " Nobody here has that referral code, so no referral was counted."
    is_last = request.text("do") != "another"
    return request.go(f"/subscribers/{made.id}" if is_last else "/subscribers/new", flash)
