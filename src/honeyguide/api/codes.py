"""Endpoints for a subscriber's codes: ours, those of another tool, and chosen ones."""

from __future__ import annotations

from typing import Annotated

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, resource
from honeyguide.api.views import View
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
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


async def list_subscriber_codes(at: Reading, call: Call) -> SubscriberCodeList:
    subscriber = await subscribers.get(at, call.path["uuid"])
    slug = (await campaigns.get(at)).slug
    found = await codes.all_of(at, subscriber)
    return SubscriberCodeList([_view(call, slug, each) for each in found])


async def choose_subscriber_code(change: Change, call: Call) -> OneSubscriberCode:
    body: bodies.SubscriberCodeCreate = call.body
    if body.code is None:
        raise Required("code")
    chosen = await codes.choose(change, call.path["uuid"], body.code)
    slug = (await campaigns.get(change)).slug
    return OneSubscriberCode(_view(call, slug, chosen))


def _view(call: Call, slug: str, each: SubscriberCode) -> SubscriberCodeView:
    return SubscriberCodeView(
        code=each.code,
        source=each.source,
        created_at=iso(each.created_ms),
        link=codes.link(call.site, slug, each),
    )


_PATH = "/v1/campaigns/{campaign_uuid}/subscribers/{uuid}/codes"

_subscribers = resource("Subscribers", right=Right.SUBSCRIBERS)

ROUTES = (
    _subscribers(
        "GET",
        _PATH,
        list_subscriber_codes,
        summary="List a subscriber's codes",
        detail="Every code that credits them: chosen and imported ones, newest first, then their "
        "`ref_code`.",
        answer=SubscriberCodeList,
        snapshot=True,
    ),
    _subscribers(
        "POST",
        _PATH,
        choose_subscriber_code,
        summary="Choose a code for a subscriber",
        detail="One that is easy to remember. All earlier codes go on working. A subscriber can "
        f"get {codes.MOST_CHOSEN} new ones in 365 days; a code they have already changes nothing.",
        body=bodies.SubscriberCodeCreate,
        answer=OneSubscriberCode,
        status=201,
    ),
)
