"""What became of an earned reward. One row for each state has all that is said about it. And the
earned reward itself, which is in one of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Self

from honeyguide.kernel.actors import READER
from honeyguide.languages.language import translatable
from honeyguide.rewards.rewards import MANUAL


class EarnedState(StrEnum):
    label: str
    pill: str
    """Its color and icon: "good" if nothing more happens, "wait" or "accent"."""
    refusal: str
    """Why it cannot be claimed yet, for the reader."""
    reader_label: str
    """The label on pages for readers; the same as for operators unless a row has its own."""

    def __new__(cls, code: str, label: str = "", pill: str = "", refusal: str = "", reader_label: str | None = None) -> Self:
        state = str.__new__(cls, code)
        state._value_ = code
        state.label, state.pill, state.refusal = label, pill, refusal
        state.reader_label = reader_label or label
        return state

    AWAITING = ("awaiting_approval", translatable("Awaiting approval"), "wait", translatable("This reward is still being reviewed."))
    UNLOCKED = "unlocked", translatable("Ready to claim"), "accent"
    OUT_OF_STOCK = ("out_of_stock", translatable("Out of stock"), "wait", translatable("This reward is out of stock right now."))
    REDEEMED = "redeemed", translatable("Redeemed"), "good"
    # Of a manual reward, which is stored as unlocked or redeemed.
    CLAIMED = "claimed", "Claimed", "wait", "", translatable("Being prepared")
    DONE = "done", translatable("Done"), "good"
    # Of a shipment, which is stored as redeemed.
    TO_SEND = "to_send", "To send", "wait", "", translatable("Being prepared")
    SENT = "sent", translatable("Sent"), "good"
    DELIVERED = "delivered", translatable("Delivered"), "good"

    @property
    def is_done(self) -> bool:
        return self.pill == "good"


SHIPMENTS = (EarnedState.TO_SEND, EarnedState.SENT, EarnedState.DELIVERED)
# By which they are listed: what was delivered is among what was sent, as the API has promised.
LISTED_SHIPMENTS = SHIPMENTS[:2]
HANDED_OVER = (EarnedState.CLAIMED, EarnedState.DONE)
STORED = tuple(state for state in EarnedState if state not in (*SHIPMENTS, *HANDED_OVER))
REFUSALS = {state.value: state.refusal for state in EarnedState if state.refusal}


class EarnedReward(NamedTuple):
    """An earned reward with what its milestone says of it."""

    id: str
    reward_id: str
    subscriber_id: str
    multiple: int
    status: str
    coupon_code: str | None
    earned_ms: int
    unlocked_ms: int | None
    redeemed_ms: int | None
    redeemed_by: str | None
    shipping: str | None
    variant: str | None
    sent_ms: int | None
    tracking_note: str | None
    delivered_ms: int | None
    name: str
    referrals: int
    kind: str
    recurring: bool
    description: str | None
    link: str | None
    variants: list[str] | None
    claimed_ms: int | None = None
    """Of a manual reward: when the subscriber asked for it."""
    decline_reason: str | None = None

    @property
    def is_claimed(self) -> bool:
        """Whether the subscriber asked for it and waits."""
        return self.status == EarnedState.UNLOCKED and self.claimed_ms is not None

    @property
    def state(self) -> EarnedState:
        """The status as pages show it: something redeemed may still be to send, or be sent."""
        if self.is_claimed:
            return EarnedState.CLAIMED
        if self.kind == MANUAL and self.status == EarnedState.REDEEMED:
            # What subscribers redeemed themselves is from when nobody was told of a claim.
            return EarnedState.REDEEMED if self.redeemed_by == READER else EarnedState.DONE
        if self.delivered_ms is not None:
            return EarnedState.DELIVERED
        if self.sent_ms is not None:
            return EarnedState.SENT
        return EarnedState.TO_SEND if self.shipping is not None else EarnedState(self.status)
