"""Tells a program's active partners that its terms change: what each was and will be, and from when
on. All changes that nobody was told of yet are in one email.
"""

from __future__ import annotations

from typing import Any

from honeyguide.kernel import clock
from honeyguide.kernel.site import Site
from honeyguide.mail import notifications, partner_texts
from honeyguide.mail.email_kinds import TERMS_CHANGED
from honeyguide.partners import announcements, partner_emails
from honeyguide.partners.announcements import TermChange
from honeyguide.partners.budget_notifications import PARTNERS, PartnerOf
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

TELLING = "tell partners of changed terms"

_sql = beside(__file__)
_TO_TELL = _sql.query("to_tell", TermChange)
_START_TELLING = _sql.command("start_telling")
_BY_ID = _sql.query("by_id", TermChange)
_PARTNERS = _sql.query("partners", PartnerOf)
_SET_TOLD = _sql.command("set_told")
_DELETE_DONE = _sql.command("delete_done")
_NAME = _sql.query("name", lambda name, logo_id: (name, logo_id))


async def due(tx: Tx, *, most: int) -> list[TermChange]:
    return await tx.all(_TO_TELL, most=most)


async def tell(tx: Tx, site: Site, found: TermChange) -> bool:
    """The next batch of partners; returns whether there may be more."""
    key: dict[str, Any] = {"account_id": found.account_id, "id": found.id}
    # From here on a further change has a row of its own.
    if not await tx.run(_START_TELLING, **key):
        return False
    change = await tx.one(_BY_ID, **key)
    publication = await tx.one(_NAME, account_id=found.account_id, program_id=found.program_id)
    assert change is not None and publication is not None
    name, logo_id = publication
    once = f"{TERMS_CHANGED.name}:{change.id}"
    partners = await tx.all(
        _PARTNERS,
        account_id=change.account_id,
        program_id=change.program_id,
        once_key=once,
        batch=PARTNERS,
    )
    brand = await partner_emails.branding_of(
        AccountReading(tx, site, change.account_id, tx.now_ms), name, logo_id
    )
    for partner in partners:
        message = partner_texts.terms_changed(
            program=name,
            starts=clock.short_day(change.starts_ms) if change.starts_ms > tx.now_ms else "",
            lines=change.texts,
            has_stopped=_has_stopped(change),
            page=f"{site.base_url}/earnings/{partner.id}",
        )
        notification = partner.notification(TERMS_CHANGED.name, once, message, brand=brand)
        await notifications.notify(tx, site.base_url, notification)
    if len(partners) == PARTNERS:
        return True
    await tx.run(_SET_TOLD, **key)
    await tx.run(_DELETE_DONE, **key)
    return False


def _has_stopped(change: TermChange) -> bool:
    return any(
        line[0] == announcements.NEW_REFERRALS and line[-1] != announcements.COUNT
        for line in change.texts
    )
