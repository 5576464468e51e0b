"""What an owner takes back within a minute counts as if it had not been: who came between a
removal, a block or a pause and its end becomes what they would have become without it.
"""

from __future__ import annotations

from typing import Any

from honeyguide.mail.notifications import WITHDRAWAL_MS
from honeyguide.partners import program_stops, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.partners.publications import Publication, PublicationChanges
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import Reason

_STOPS = [each.value for each in Reason if each.facts.is_stop]
_CAME_SINCE = beside(__file__).value("came_since", str)


async def of_partner(
    change: Change,
    stopped_ms: int,
    *,
    partner_campaign_id: str = "",
    partner_account_id: str = "",
) -> None:
    if change.now_ms - stopped_ms <= WITHDRAWAL_MS:
        await _decide(
            change,
            stopped_ms,
            partner_campaign_id=partner_campaign_id,
            partner_account_id=partner_account_id,
        )


async def update_publication(
    change: Change, publication_id: str, given: PublicationChanges, logo: StoredLogo | None
) -> Publication:
    """It may be on again, or no longer archived."""
    changed = await publications.update(change, publication_id, given, logo)
    await of_programs(change)
    return changed


async def of_programs(change: Change) -> None:
    """Of all programs of the account that count again."""
    for program_id, stopped_ms in await program_stops.find_undone(change):
        await _decide(change, stopped_ms, program_id=program_id)


async def _decide(change: Change, stopped_ms: int, **stop: str) -> None:
    nobody: dict[str, Any] = {"partner_campaign_id": "", "partner_account_id": "", "program_id": ""}
    # Who came during another stop, which ended meanwhile, was then rejected because of this one.
    since_ms = stopped_ms - WITHDRAWAL_MS
    found = await change.all(_CAME_SINCE, reasons=_STOPS, since_ms=since_ms, **nobody | stop)
    for subscriber_id in found:
        await signups.decide_without_stop(change, subscriber_id)
