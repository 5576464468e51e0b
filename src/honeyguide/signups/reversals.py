"""Taking back what partners' referrals cost, one or many at once, in one transaction. Both sides
are notified once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from honeyguide.accounts import accounts
from honeyguide.kernel import money
from honeyguide.kernel.clock import day
from honeyguide.kernel.errors import Fault, Invalid, Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.mail import emails, notifications, partner_texts
from honeyguide.mail.layout import HONEYGUIDE
from honeyguide.mail.notification_kinds import CHARGE_REVERSED
from honeyguide.mail.notifications import Notification
from honeyguide.partners import ledger, partner_emails, programs, rules
from honeyguide.partners.charges import PartnerReferral
from honeyguide.partners.programs import Program
from honeyguide.partners.reversal_reasons import Reversal
from honeyguide.screening import moves
from honeyguide.signups import consequences
from honeyguide.signups.consequence_writer import ChangedSubscriber, write
from honeyguide.signups.consequences import CampaignFacts
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

# Stands for what the owner wrote about somebody.
REMOVED = "(removed, because the subscriber was erased)"
UNKNOWN = "There is no such referral in this program."


class Charged(NamedTuple):
    """A partner referral of the program, whatever became of it."""

    id: str
    subscriber_id: str
    partner_account_id: str
    partner_campaign_id: str
    charged_cents: int | None
    charged_month: str | None
    is_reversed: bool
    is_erased: bool


class ReversalOutcome(NamedTuple):
    referral_id: str
    refused: Fault | None
    """Why this one was left as it is."""


_sql = beside(__file__)
_LOCK_SUBSCRIBERS = _sql.value("lock_subscribers", str)
_OF_PROGRAM = _sql.query("of_program", Charged)
_NOTE = _sql.value("reversal_note", str)
_FORGET = _sql.command("forget_reversal")


class MayBeCharged(Protocol):
    @property
    def charged_cents(self) -> int | None: ...
    @property
    def charged_month(self) -> str | None: ...


def may_reverse(referral: MayBeCharged, last_closed: str) -> bool:
    """Whether to offer it: charged, in a month that is open. Under its locks `reverse` may find
    otherwise, and says why."""
    is_open = (referral.charged_month or "") > last_closed
    return referral.charged_cents is not None and is_open


async def reverse(
    change: Change, program_id: str, referral_ids: Sequence[str], reversal: Reversal
) -> list[ReversalOutcome]:
    """In the order given. Those that cannot be reversed are left alone."""
    program = await programs.get_unsettled(change, program_id)
    ids = [each for each in dict.fromkeys(referral_ids) if is_id(each)]
    # All subscribers before the first budget: whoever charges locks in the same order.
    await change.lock(_LOCK_SUBSCRIBERS, program_id=program.id, ids=ids)
    found = {
        each.id: each for each in await change.all(_OF_PROGRAM, program_id=program.id, ids=ids)
    }
    months = sorted({each.charged_month for each in found.values() if each.charged_month})
    closed = {month: await ledger.closed_ms(change.tx, month) for month in months}
    refused = {id: _refusal(found.get(id), closed) for id in referral_ids}
    reversed_now = [found[id] for id, refusal in refused.items() if refusal is None]
    for referral in sorted(reversed_now, key=lambda each: (each.charged_month or "", each.id)):
        before, after = await moves.reverse(change, referral.subscriber_id)
        planned = consequences.of_change(before, after, CampaignFacts(), is_by_hand=True)
        # Nothing is kept about somebody who was erased.
        kept = reversal._replace(note=None) if referral.is_erased else reversal
        await write(change, ChangedSubscriber(before, after, kept.note, kept), planned)
    await _notify(change, program, reversed_now, reversal)
    return [ReversalOutcome(id, refused[id]) for id in referral_ids]


def _refusal(referral: Charged | None, closed: dict[str, int | None]) -> Fault | None:
    if referral is None:
        return Missing(UNKNOWN)
    if referral.is_reversed:
        return Invalid("This charge is already reversed.", code="already_reversed")
    if referral.charged_cents is None or referral.charged_month is None:
        return Invalid("Nothing was charged for this referral.", code="not_charged")
    closed_ms = closed[referral.charged_month]
    if closed_ms is not None:
        return Invalid(
            "{month} was closed on {day}, so its charges are final. You can still remove the "
            "partner from the program, and agree on a refund with them.",
            code="month_closed",
            month=rules.month_name(referral.charged_month),
            day=day(closed_ms),
        )
    return None


async def forget(change: Change, referral: PartnerReferral) -> None:
    """When the subscriber is erased: what the owner wrote goes, also from the partner's email that
    waits to be sent. That the charge was reversed, and why, stays."""
    note = await change.one(_NOTE, id=referral.id)
    if note is None:
        return
    await change.run(_FORGET, id=referral.id)
    ending, instead = (partner_texts.reversal_ending(each) for each in (note, REMOVED))
    partner_id, kind = referral.partner_account_id, CHARGE_REVERSED.name
    await emails.replace_ending(change.tx, partner_id, kind, ending, instead)


async def _notify(
    change: Change, program: Program, referrals: list[Charged], reversal: Reversal
) -> None:
    """Each partner of all their referrals together, and the owner of each partner."""
    tx, site = change.tx, change.site
    for partner_id in sorted({each.partner_account_id for each in referrals}):
        theirs = [each for each in referrals if each.partner_account_id == partner_id]
        partner = await accounts.get(tx, partner_id)
        facts = {
            "program": program.publication_name,
            "referrals": "1 referral" if len(theirs) == 1 else f"{len(theirs)} referrals",
            "amount": money.show(sum(each.charged_cents or 0 for each in theirs)),
            "reason": reversal.reason.label.lower(),
        }
        owner_link, partner_link = (
            f"/program/{program.id}",
            f"/earnings/{theirs[0].partner_campaign_id}",
        )
        note = None if all(each.is_erased for each in theirs) else reversal.note
        to_partner = partner_texts.charge_reversed(
            **facts, note=note, page=f"{site.base_url}{partner_link}"
        )
        to_owner = partner_texts.charges_taken_back(
            **facts, partner=partner.name or "a partner", page=f"{site.base_url}{owner_link}"
        )
        brand = await partner_emails.branding_of(
            change.of_account(program.account_id), program.publication_name, program.logo_id
        )
        owner = await accounts.get(tx, program.account_id)
        cause = f"{CHARGE_REVERSED.name}:{new_id()}"
        for account, message, link, branding in (
            (partner, to_partner, partner_link, brand),
            (owner, to_owner, owner_link, HONEYGUIDE),
        ):
            notification = Notification(
                account_id=account.id,
                to=account.email,
                kind=CHARGE_REVERSED.name,
                once=cause,
                message=message,
                link=link,
                brand=branding,
            )
            await notifications.notify(tx, site.base_url, notification)
