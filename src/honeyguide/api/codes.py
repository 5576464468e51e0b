"""Endpoints for a subscriber's codes: ours, those of another tool, and chosen ones."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api import bodies
from honeyguide.api.call import Call
from honeyguide.api.views import View, filler
from honeyguide.kernel import public
from honeyguide.kernel.errors import Required
from honeyguide.kernel.public import doc
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, codes, subscribers
from honeyguide.subscribers.codes import SubscriberCode


class SubscriberCodeView(View, frozen=True):
    """A code that credits a subscriber."""

    code: Annotated[str, doc("The code as it was written; links work in any case.", "ann-lee")]
    source: Annotated[
        str,
        doc(
            "Where it is from. `assigned` is their `ref_code`.",
            codes.CodeSource.CHOSEN,
            enum=list(codes.CodeSource),
        ),
    ]
    created_at: public.CreatedAt
    link: Annotated[str, doc("A referral link with this code.", "https://go.example/r/wax/ann-lee")]


class OneSubscriberCode(View, frozen=True):
    code: SubscriberCodeView


class SubscriberCodeList(View, frozen=True):
    codes: list[SubscriberCodeView]


_fill_code = filler(SubscriberCodeView, SubscriberCode)


async def list_subscriber_codes(at: Reading, call: Call[None]) -> SubscriberCodeList:
    """List a subscriber's codes.

    Every code that credits them: chosen and imported ones, newest first, then their `ref_code`.
    """
    subscriber = await subscribers.get(at, call.path["uuid"])
    slug = (await campaigns.get(at)).slug
    found = await codes.all_of(at, subscriber)
    return SubscriberCodeList([_view(at, slug, each) for each in found])


async def choose_subscriber_code(
    change: Change, call: Call[bodies.SubscriberCodeCreate]
) -> OneSubscriberCode:
    """Choose a code for a subscriber.

    One that is easy to remember. All earlier codes go on working. A subscriber can get
    {codes.MOST_CHOSEN} new ones in 365 days; a code they have already changes nothing.
    """
    if call.body.code is None:
        raise Required("code")
    chosen = await codes.choose(change, call.path["uuid"], call.body.code)
    slug = (await campaigns.get(change)).slug
    return OneSubscriberCode(_view(change, slug, chosen))


def _view(at: Reading, slug: str, code: SubscriberCode) -> SubscriberCodeView:
    return _fill_code(code, link=codes.link(at.site, slug, code))
