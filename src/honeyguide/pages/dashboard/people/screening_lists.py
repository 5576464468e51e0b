"""The block list and the allow list: whom screening always rejects, and whom it trusts."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.site import Site
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.screening import screening_lists
from honeyguide.screening.screening_lists import NewEntry
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

HERE = "/settings/screening-lists"
FORM = {"entries": Field("Entries", "Enter an email address, a domain or an IP range.")}
MOST_AT_ONCE = 200
ENTRY_LABELS = {"email": "Email address", "domain": "Domain", "ip_range": "IP range"}


async def show(at: Reading, request: PageRequest) -> PageView:
    entries = await screening_lists.entries(at)
    return request.view(
        "screening_lists.html",
        blocked=[each for each in entries if each.is_blocked],
        allowed=[each for each in entries if not each.is_blocked],
        kinds=ENTRY_LABELS,
        entered=request.fields if request.errors else {},
    )


def _entry(site: Site, line: str) -> NewEntry:
    """Of many lines, the sentence names the one that is wrong."""
    try:
        return screening_lists.parse_entry(site, line, param="entries")
    except Required:
        raise
    except Invalid as wrong:
        sentence = wrong.message_for(f"“{line}”")
        if wrong.code == "invalid_email":
            sentence = f"“{line}” is not a valid email address."
        raise forms.FormErrors({"entries": sentence}) from None


async def change(change: Change, request: PageRequest) -> Response:
    action = request.text("do")
    if action == "remove":
        await screening_lists.remove(change, request.text("id"))
        return request.go(HERE, "Entry removed.")
    lines = request.text("entries").split()
    if len(lines) > MOST_AT_ONCE:
        raise Invalid(
            "{field} can have at most {most} lines at once.", param="entries", most=MOST_AT_ONCE
        )
    new = [_entry(request.services.site, line) for line in lines or [""]]
    if action == "allow":
        await screening_lists.add(change, new, is_blocked=False)
    else:
        await signups.block(change, new)
    name = "allow list" if action == "allow" else "block list"
    count = formats.plural(len(new), "entry", "entries")
    return request.go(HERE, f"{count} added to your {name}. New referrals follow it.")
