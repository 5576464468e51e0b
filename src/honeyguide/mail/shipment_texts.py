"""What emails say about physical rewards on their way: to the subscriber, and to the owner."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.languages.language import translatable
from honeyguide.mail import email_kinds, own_texts
from honeyguide.mail.content import Button, EmailText, Note, ShipmentProgress, email
from honeyguide.mail.layout import EmailBranding
from honeyguide.mail.texts import AdvocateFacts


class Sending(NamedTuple):
    """What went to one postal address together. Days are texts."""

    rewards: str
    """Their names, as in "The mug and Sticker pack"."""
    earned: str
    sent: str
    expected: str
    """By when somebody should say that it did not arrive."""
    town: str = ""
    carrier: str = ""
    number: str = ""
    """The tracking number, or the note as the operator typed it."""
    tracking_url: str = ""


_WITHOUT_COUNT = translatable("We’ve sent you “{reward}”. Thank you for sharing {newsletter}!")


def shipment_sent(brand: EmailBranding, advocate: AdvocateFacts, sending: Sending) -> EmailText:
    """The street is not in it; the town is enough to see whether it goes to the right place."""
    language, gettext = brand.language, brand.language.gettext
    written = own_texts.write(
        email_kinds.SHIPMENT_SENT,
        brand,
        advocate.values(brand, reward=sending.rewards),
        count=advocate.referrals,
        text="" if advocate.referrals else language.translations.gettext(_WITHOUT_COUNT),
    )
    where = gettext("To {town}", town=sending.town) if sending.town else ""
    is_known = bool(sending.tracking_url)
    notes = [
        gettext(
            "If it hasn’t arrived by {day}, or is damaged, just reply to this email.",
            day=sending.expected,
        )
        if brand.reply_to
        else "",
        gettext("We delete your postal address 90 days after sending."),
    ]
    return email(
        written.subject,
        *written.paragraphs,
        ShipmentProgress(
            earned=gettext("Earned {day}", day=sending.earned),
            sent=gettext("Sent {day}", day=sending.sent),
            arrived=gettext("At your door"),
            heading=" · ".join(part for part in (sending.carrier, where) if part),
            number=sending.number,
        ),
        Button(gettext("Track your package"), sending.tracking_url) if is_known else None,
        Button(gettext("Open your referral page"), advocate.hub, is_main=not is_known),
        Note(" ".join(note for note in notes if note)),
    )._replace(reason=gettext("You get this email because you claimed a reward."))


def address_corrected(*, reward: str, page: str) -> EmailText:
    return email(
        f"{reward}: the postal address was corrected",
        f"A subscriber who claimed {reward} corrected the postal address before you sent it. "
        "If you have printed a label already, print it again.",
        Button("View what to send", page),
    )
