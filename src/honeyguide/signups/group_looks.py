"""Looking at what those who came with one referral code, or through one program, have in common:
evidence about each of them, so the fortieth of a group can make the first thirty-nine suspicious
while they are pending.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from honeyguide.accounts import accounts
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import partner_texts
from honeyguide.mail.notification_kinds import GROUP_WAITS
from honeyguide.screening import evidence, trait_groups
from honeyguide.screening.evidence import CodeToLookAt, InGroup
from honeyguide.screening.shared_traits import FoundGroup, Trait
from honeyguide.screening.signals import (
    SUSPICIOUS_POINTS,
    THRESHOLDS,
    SignalFinding,
    points,
)
from honeyguide.screening.trait_groups import ProgramLook, ProgramToLookAt
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import SUSPICIONS, Reason
from honeyguide.subscribers.referral_states import Status

# The job.
LOOKING = "look at what referrals have in common"
LOOKING_AT_PROGRAMS = "look at what the referrals of a program have in common"
REMINDER_DAYS = (7, 3, 1, 0)


class WaitingGroup(NamedTuple):
    """One that the owner is to be told of, or reminded of."""

    id: str
    account_id: str
    campaign_id: str
    publication_name: str
    people: int
    found_ms: int

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_TO_TELL = _sql.query("to_tell", WaitingGroup)
_TELL = _sql.command("tell")


def _change(tx: Tx, site: Site, found: CodeToLookAt | ProgramToLookAt, now_ms: int) -> Change:
    return Change(tx, site, found.tenant, actors.job(LOOKING), now_ms)


async def store_evidence(tx: Tx, site: Site, found: CodeToLookAt, now_ms: int) -> list[str]:
    """Stores the evidence about those whose referral is pending, and returns who has to be decided
    again."""
    change = _change(tx, site, found, now_ms)
    group = await evidence.group_of(change, found.code, at_ms=now_ms)
    pending = {each.id: each for each in group if each.referral_status == Status.PENDING}
    if not pending:
        return []
    by_group = await trait_groups.find_signals(change, found.code, group)
    about = await evidence.refresh(change, list(pending), by_group)
    return [each for each, items in about.items() if _is_news(pending[each], items)]


def _is_news(referral: InGroup, found: list[SignalFinding]) -> bool:
    """Whether the evidence differs from what the referral waits for. A referral that
    awaits a confirmation is decided when it comes."""
    if referral.referral_reason == Reason.AWAITING_CONFIRMATION:
        return False
    return (points(found) >= SUSPICIOUS_POINTS) != (referral.referral_reason in SUSPICIONS)


async def decide(
    tx: Tx, site: Site, found: CodeToLookAt | ProgramToLookAt, subscriber_id: str, now_ms: int
) -> None:
    await signups.decide_on_evidence(_change(tx, site, found, now_ms), subscriber_id)


async def end(tx: Tx, site: Site, found: CodeToLookAt, now_ms: int) -> None:
    change = _change(tx, site, found, now_ms)
    await evidence.end_look(change, found.code, looked_ms=now_ms)
    await trait_groups.queue(change, found.code)


# -- over a program


async def read_program(tx: Tx, site: Site, found: ProgramToLookAt, now_ms: int) -> ProgramLook:
    return await trait_groups.read(Reading(tx, site, found.tenant, now_ms), found.id)


async def store_groups(
    tx: Tx, site: Site, found: ProgramToLookAt, groups: Sequence[FoundGroup], now_ms: int
) -> None:
    await trait_groups.save(_change(tx, site, found, now_ms), found.id, groups)


async def remove_groups(
    tx: Tx, site: Site, found: ProgramToLookAt, ids: Sequence[str], now_ms: int
) -> None:
    await trait_groups.remove(_change(tx, site, found, now_ms), ids)


async def find_news(
    tx: Tx,
    site: Site,
    found: ProgramToLookAt,
    look: ProgramLook,
    groups: Sequence[FoundGroup],
    *,
    changed: Collection[Trait],
) -> list[str]:
    """Who has to be decided again."""
    at = Reading(tx, site, found.tenant, tx.now_ms)
    return await trait_groups.find_news(at, found.id, look, groups, changed)


async def end_program(
    tx: Tx, site: Site, found: ProgramToLookAt, look: ProgramLook, now_ms: int
) -> None:
    again_ms = now_ms + trait_groups.LOOK_AFTER_MS if look.awaits_hosts else None
    await trait_groups.end_look(_change(tx, site, found, now_ms), found.id, again_ms=again_ms)


# -- the owner


async def to_tell(tx: Tx, *, most: int) -> list[WaitingGroup]:
    days: dict[str, Any] = {f"day_{day}_ms": tx.now_ms - day * DAY_MS for day in REMINDER_DAYS}
    return await tx.all(_TO_TELL, **days, growth=THRESHOLDS.shared_growth, most=most)


async def tell(change: Change, found: WaitingGroup) -> None:
    """That the group waits for them, and again after some days."""
    age_ms = change.now_ms - found.found_ms
    day = next((day for day in REMINDER_DAYS if age_ms >= day * DAY_MS), 0)
    if not await change.run(_TELL, id=found.id, day=day):
        return
    message = partner_texts.group_waits(
        program=found.publication_name,
        day=day,
        people=found.people,
        page=f"{change.site.base_url}/review",
    )
    cause = f"{found.id}:{found.found_ms}:{day}"
    await accounts.notify_owner(change, GROUP_WAITS, cause, message, link="/review")
