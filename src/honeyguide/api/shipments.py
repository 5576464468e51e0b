"""Shipment endpoints: physical rewards to send and sent."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honeyguide.api import bodies
from honeyguide.api.bodies import ShippingDetails
from honeyguide.api.call import Call, Listed, listed
from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.kernel import actors, public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.rewards import shipments
from honeyguide.rewards.shipments import Shipment
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


class RecipientView(View, frozen=True):
    uuid: public.Uuid
    email: public.Email | None
    name: Annotated[str | None, doc("Name of the subscriber.", "Ana Lopes")]


class ShipmentView(View, frozen=True):
    """A physical reward that was claimed with a postal address."""

    uuid: Annotated[public.Uuid, doc("The same as the UUID of the earned reward.")]
    reward_uuid: Annotated[public.Uuid, doc("UUID of the reward.")]
    name: public.RewardName
    variant: Annotated[str | None, doc("The size or color that was chosen.", "M")]
    subscriber: Annotated[RecipientView, doc("Who earned it. Empty if they were deleted.")]
    status: Annotated[
        str, doc("Whether it was sent.", "to_send", enum=list(shipments.SHIPMENT_STATUSES))
    ]
    shipping_details: Annotated[
        ShippingDetails | None,
        doc("Postal address. Null once it is removed, 90 days after sending."),
    ]
    tracking_note: Annotated[str | None, doc("Shown to the subscriber.", None)]
    created_at: Annotated[public.Time, doc("When it was claimed.")]
    sent_at: Annotated[public.Time | None, doc("When it was marked as sent.", None)]
    sent_by: Annotated[
        str | None, doc("Who marked it as sent: an operator's login, or `api`.", None)
    ]


class OneShipment(View, frozen=True):
    shipment: ShipmentView


class ShipmentMeta(PageMeta, frozen=True):
    total_shipments: Total


class ShipmentList(View, frozen=True):
    shipments: list[ShipmentView]
    meta: Annotated[ShipmentMeta, META]


_fill_shipment = filler(ShipmentView, Shipment, created_at=("claimed_ms", iso))


def shipment_view(s: Shipment) -> ShipmentView:
    details = None
    if s.address is not None:
        details = msgspec.convert(s.address, ShippingDetails, from_attributes=True)
    recipient = RecipientView(s.subscriber_id, s.email, s.subscriber_name)
    return _fill_shipment(s, subscriber=recipient, shipping_details=details)


async def list_shipments(at: Reading, call: Call[None]) -> Listed[ShipmentList]:
    """List shipments.

    Newest claim first. A physical reward that was redeemed without a postal address is not among
    them.
    """
    page = call.page
    status = call.choice("status", shipments.SHIPMENT_STATUSES, shipments.TO_SEND)
    rows, total = await shipments.page_newest_first(at, status, page)
    return listed(ShipmentList, ShipmentMeta, [shipment_view(row) for row in rows], page, total)


async def mark_shipment_sent(change: Change, call: Call[bodies.MarkSentInput]) -> OneShipment:
    """Mark a shipment as sent.

    The subscriber sees it, with your tracking note, and gets an email a minute later. Marking it
    twice changes nothing: the response says who did it first, and when.
    """
    shipment, _ = await shipments.mark_sent(
        change,
        call.path["uuid"],
        by=actors.API,
        tracking_note=call.body.tracking_note,
    )
    return OneShipment(shipment_view(shipment))
