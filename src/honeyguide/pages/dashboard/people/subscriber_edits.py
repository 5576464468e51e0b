"""What an operator changes about one subscriber: name and email address, status, tags, notes,
progress toward rewards, and whether screening blocks or trusts them.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.errors import Required
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, undo
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.rewards import adjustments
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.screening import screening_lists
from honeyguide.signups import delayed_kinds, signups
from honeyguide.signups.lifecycle import SubscriberChanges
from honeyguide.store.change import Change
from honeyguide.subscribers import codes, notes, reader_links, subscribers, tags
from honeyguide.subscribers.reasons import Reason

PERSON = {"name": Field("Name"), "email": Field("Email address", "Enter an email address.")}
TAGS = {"tag": Field("Tag", "Enter a tag.")}
ADJUSTMENT = {
    "amount": Field("Amount", "Enter a whole number, such as 2 or -1."),
    "reason": Field("Reason", "Say why."),
}
CODE = {"code": Field("Code", "Enter a code.")}
NOTE = {"note": Field("Note", "Write a note.")}


async def save(change: Change, request: PageRequest) -> Response:
    forms.require(PERSON, request.fields)
    changes = SubscriberChanges(name=request.text("name") or None, email=request.text("email"))
    changed = await signups.update(change, request.at("id"), changes)
    return request.go(f"/subscribers/{changed.id}", "Changes saved.")


async def change_status(change: Change, request: PageRequest) -> Response:
    """Unsubscribes or confirms, as the API does."""
    changes = SubscriberChanges(status=request.text("status"))
    changed = await signups.update(change, request.at("id"), changes)
    flash = f"{changed.email} is {changed.status}."
    if changed.referral_reason == Reason.ENDED_BY_TEAM:
        flash += " The partner’s fee waits for your decision in Review."
    return request.go(f"/subscribers/{changed.id}", flash)


async def change_tags(change: Change, request: PageRequest) -> Response:
    person = await subscribers.get(change, request.at("id"))
    given = tags.split_tags(request.text("tag"), param="tag")
    if not given:
        raise Required("tag")
    if request.text("do") == "remove":
        await tags.remove(change, [person.id], given)
    else:
        await tags.add(change, [person.id], given)
    return request.go(f"/subscribers/{person.id}#h-tags")


async def change_notes(change: Change, request: PageRequest) -> Response:
    person = await subscribers.get(change, request.at("id"))
    if request.text("do") == "delete":
        where, ids = f"/subscribers/{person.id}#h-notes", [request.text("note_id")]
        return await undo.delay(change, request, delayed_kinds.DELETE_NOTE, ids, where)
    await notes.add(change, person.id, request.text("note"))
    return request.go(f"/subscribers/{person.id}#h-notes", "Note saved.")


async def adjust(change: Change, request: PageRequest) -> Response:
    """Adds to what they have toward rewards, or takes off."""
    wrong = forms.missing(ADJUSTMENT, request.fields)
    amount = forms.signed_number(request.text("amount"))
    if amount is None:
        wrong.setdefault("amount", "Amount must be a whole number, such as 2 or -1.")
    if amount is None or wrong:
        raise forms.FormErrors(wrong)
    fields = AdjustmentFields(amount=amount, reason=request.text("reason"))
    person = await subscribers.get(change, request.at("id"))
    await adjustments.add(change, person.id, fields)
    flash = f"Progress adjusted by {formats.signed(amount)}."
    return request.go(f"/subscribers/{person.id}#h-adjustments", flash)


async def choose_code(change: Change, request: PageRequest) -> Response:
    forms.require(CODE, request.fields)
    person = await subscribers.get(change, request.at("id"))
    chosen = await codes.choose(change, person.id, request.text("code"))
    return request.go(f"/subscribers/{person.id}#h-codes", f"Their code is {chosen.code}.")


async def renew_links(change: Change, request: PageRequest) -> Response:
    """Ends every link that they were sent, for one that somebody else got hold of."""
    person = await reader_links.renew(change, request.at("id"))
    return request.go(
        f"/subscribers/{person.id}",
        "Their referral page has a new link. The links they were sent before no longer work.",
    )


async def change_list(change: Change, request: PageRequest) -> Response:
    """Puts the email address on the block list or the allow list, or takes it off."""
    person = await subscribers.get(change, request.at("id"))
    action, undo = request.text("do"), ""
    if action in ("block", "allow"):
        entry = screening_lists.parse_entry(request.services.site, person.email, param="email")
        if action == "block":
            await signups.block(change, [entry])
        else:
            await screening_lists.add(change, [entry], is_blocked=False)
        flash, undo = f"Their email address is on your {action} list.", f"remove.{person.id}"
    else:
        listed = await screening_lists.of_subscriber(change, person.id)
        if listed is not None:
            await screening_lists.remove(change, listed.id)
        flash = "Their email address is on neither list."
    return request.go(f"/subscribers/{person.id}", flash, undo=undo)
