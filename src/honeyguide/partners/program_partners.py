"""The partners of a program, for its owner: who they are, and whether what they send counts.

The owner removes and allows, the partner leaves and joins again; neither undoes what the other
decided. A block is a removal from all of the owner's programs, also from later ones, and leaves
those decisions as they are. Accounts that have an owner in common are one partner: what an owner
decides about one of them holds for all. Whoever changes one of them locks the partner campaign. A
signup locks it too (`signups.partner_signups`), so it sees the change or comes before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import partner_notifications, rules
from honeyguide.partners.programs import Program
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such partner."


class ProgramPartner(NamedTuple):
    id: str
    """Of the partner campaign."""
    account_id: str
    owner_account_id: str
    program_id: str
    publication_name: str
    logo_id: str
    name: str
    reason_for_recommending: str | None
    created_ms: int
    left_ms: int | None
    removed_ms: int | None
    removed_reason: str | None
    blocked_ms: int | None
    blocked_reason: str | None
    is_running: bool
    """Whether the program pays for new referrals."""
    cpa_cents: int
    max_payout_cents: int
    pending_referrals: int
    pending_cents: int
    """Of all of them. What budget and cap can hold of it is the outlook's to say."""

    @property
    def status(self) -> str:
        return rules.partner_status(self.blocked_ms, self.removed_ms, self.left_ms)

    @property
    def is_own(self) -> bool:
        """The owner joined to try it."""
        return self.account_id == self.owner_account_id


class Removal(NamedTuple):
    """What an owner decides when they part from a partner."""

    reason: str | None = None
    """The partner is told."""
    ends_pending: bool = False

    def check(self) -> None:
        if self.reason is not None:
            checks.text(self.reason, param="reason", limit=checks.DESCRIPTION_LIMIT)

    def describe(self, what: str) -> dict[str, Any]:
        """For the change log."""
        return {what: True, "reason": self.reason, "ends_pending": self.ends_pending}


_sql = beside(__file__)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", ProgramPartner)
_BY_ID = _sql.query("by_id", ProgramPartner)
_LOCK_PROGRAMS = _sql.value("lock_programs", str)
_SAME_OWNERS = _sql.value("same_owners", str)
_LOCK_ALL = _sql.value("lock_all", str)
_REMOVE = _sql.command("remove")
_ALLOW = _sql.command("allow")
_BLOCK = _sql.command("block")
_UNBLOCK = _sql.value("unblock", int)


async def page_of(tx: Tx, program: Program, page: Page) -> tuple[list[ProgramPartner], int]:
    """Everybody who ever joined, newest first."""
    program_key: dict[str, Any] = {"account_id": program.account_id, "program_id": program.id}
    total = await tx.one(_COUNT, **program_key) or 0
    return await tx.all(_LIST, **program_key, most=page.per_page, skip=page.skip), total


async def get(at: AccountReading, partner_id: str) -> ProgramPartner:
    """By the id of the partner campaign, also if its program was deleted since."""
    found = None
    if is_id(partner_id):
        found = await at.one(_BY_ID, id=partner_id)
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def _lock_person(change: Change, partner: ProgramPartner) -> list[ProgramPartner]:
    """What the partner has joined of this owner's, also by other accounts with the same owner."""
    accounts = {partner.account_id}
    if not partner.is_own:
        accounts |= set(await change.all(_SAME_OWNERS, partner_account_id=partner.account_id))
    ids = await change.lock(_LOCK_ALL, accounts=sorted(accounts))
    return [await get(change, each) for each in ids]


async def _lock_in_program(change: Change, partner_id: str) -> list[ProgramPartner]:
    # Whoever joins locks the program, so from here on no partner campaign is added unseen.
    await change.lock(_LOCK_PROGRAMS)
    partner = await get(change, partner_id)
    joined = await _lock_person(change, partner)
    return [each for each in joined if each.program_id == partner.program_id]


async def _lock_accounts(change: Change, partner_id: str) -> list[ProgramPartner]:
    """One partner campaign of each account, the given one among them."""
    await change.lock(_LOCK_PROGRAMS)
    joined = await _lock_person(change, await get(change, partner_id))
    joined.sort(key=lambda each: each.id == partner_id)
    return list({each.account_id: each for each in joined}.values())


async def remove(
    change: Change, partner_id: str, removal: Removal
) -> tuple[ProgramPartner, list[str]]:
    """What comes with the partner's code no longer counts. The partner is told unless that was so
    before. Also gives the ids of the partner campaigns whose pending referrals the caller ends if
    the owner wants that."""
    removal.check()
    removed = await _lock_in_program(change, partner_id)
    for before in removed:
        if before.removed_ms is None:
            await change.run(_REMOVE, id=before.id, reason=removal.reason)
            after = removal.describe("is_removed")
            await change_log.record(
                change, "partner_campaign.removed", before.id, {"is_removed": False}, after
            )
        if before.status == rules.ACTIVE:
            await partner_notifications.removed(
                change, before, removal.reason, pending_ended=removal.ends_pending
            )
    partner = await get(change, partner_id)
    return partner, [each.id for each in removed]


async def allow(change: Change, partner_id: str) -> tuple[ProgramPartner, dict[str, int]]:
    """Takes the removal back: the same code counts again, unless the partner has left. Also gives
    since when each of the partner campaigns was removed."""
    removed: dict[str, int] = {}
    for before in await _lock_in_program(change, partner_id):
        if before.blocked_ms is not None:
            raise Invalid(
                "This partner is blocked in all your programs; unblock them first.",
                code="partner_blocked",
            )
        if before.removed_ms is not None:
            removed[before.id] = before.removed_ms
            await change.run(_ALLOW, id=before.id)
            await change_log.record(
                change,
                "partner_campaign.allowed",
                before.id,
                {"is_removed": True},
                {"is_removed": False},
            )
            await partner_notifications.allowed(
                change,
                before,
                removed_ms=before.removed_ms,
                counts_again=before.left_ms is None,
                is_undone=before.is_running,
            )
    return await get(change, partner_id), removed


async def block(
    change: Change, partner_id: str, removal: Removal
) -> tuple[ProgramPartner, list[str]]:
    """Keeps the partner out of all the owner's programs. Also gives the ids of the partner's
    campaigns in these."""
    removal.check()
    if (await get(change, partner_id)).is_own:
        raise Invalid("You cannot block your own account.", code="own_program")
    for before in await _lock_accounts(change, partner_id):
        if await change.run(_BLOCK, partner_account_id=before.account_id, reason=removal.reason):
            after = removal.describe("is_blocked")
            await change_log.record(
                change, "partner.blocked", before.id, {"is_blocked": False}, after
            )
            await partner_notifications.blocked(
                change, before, removal.reason, pending_ended=removal.ends_pending
            )
    partner = await get(change, partner_id)
    return partner, [each.id for each in await _lock_person(change, partner)]


async def unblock(change: Change, partner_id: str) -> tuple[ProgramPartner, dict[str, int]]:
    """In programs from which the partner was also removed, or which they left, that stays so. Also
    gives since when each account was blocked."""
    blocked: dict[str, int] = {}
    partners = await _lock_accounts(change, partner_id)
    joined = await _lock_person(change, partners[-1])
    for before in partners:
        blocked_ms = await change.one(_UNBLOCK, partner_account_id=before.account_id)
        if blocked_ms is not None:
            blocked[before.account_id] = blocked_ms
            await change_log.record(
                change, "partner.unblocked", before.id, {"is_blocked": True}, {"is_blocked": False}
            )
            theirs = [each for each in joined if each.account_id == before.account_id]
            is_undone = all(each.removed_ms is None and each.is_running for each in theirs)
            await partner_notifications.unblocked(
                change, before, blocked_ms=blocked_ms, is_undone=is_undone
            )
    return await get(change, partner_id), blocked
