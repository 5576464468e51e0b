"""What became of an earned reward. One row for each state has all that is said about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from honeyguide.languages.language import translatable


class EarnedState(StrEnum):
    label: str
    pill: str
    """Its color and icon: "good" if nothing more happens, "wait" or "accent"."""
    refusal: str
    """Why it cannot be claimed yet, for the reader."""
    reader_label: str
    """The label on pages for readers; the same as for operators unless a row has its own."""

    def __new__(
        cls,
        code: str,
        label: str = "",
        pill: str = "",
        refusal: str = "",
        reader_label: str | None = None,
    ) -> Self:
        state = str.__new__(cls, code)
        state._value_ = code
        state.label, state.pill, state.refusal = label, pill, refusal
        state.reader_label = reader_label or label
        return state

    AWAITING = (
        "awaiting_approval",
        translatable("Awaiting approval"),
        "wait",
        translatable("This reward is still being reviewed."),
    )
    UNLOCKED = "unlocked", translatable("Ready to claim"), "accent"
    OUT_OF_STOCK = (
        "out_of_stock",
        translatable("Out of stock"),
        "wait",
        translatable("This reward is out of stock right now."),
    )
    REDEEMED = "redeemed", translatable("Redeemed"), "good"
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
STORED = tuple(state for state in EarnedState if state not in SHIPMENTS)
REFUSALS = {state.value: state.refusal for state in EarnedState if state.refusal}
