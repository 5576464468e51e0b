"""The partner network: programs to browse and join. The owner's budget is never shown, only whether
much of it is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id, new_code, new_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import partner_notifications, programs, publications, rules
from honeyguide.partners.programs import Program
from honeyguide.partners.verification import StoredVerification
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such partner program."
# A partner's code differs from a subscriber's by its first letter and length, so one lookup is
# enough.
CODE_LETTER, CODE_LENGTH = "p", 9
LOW_SHARE = 5  # under a fifth of the budget is low
PLENTY, LOW, NONE = BUDGETS_LEFT = ("plenty", "low", "none")
ACTIVE, PAUSED, ENDED, REMOVED, LEFT = PARTNER_CAMPAIGN_STATUSES = (
    "active",
    "paused",
    "ended",
    "removed",
    "left",
)
SORTS = ("created_at", "cpa", "max_payout", "confirmation_rate")
RATE_DAYS = 30
# Of more words in a search, the longest ones count.
MOST_SEARCHED = 5


class NetworkQuery(NamedTuple):
    """What a partner looks for; the default is everything, newest first."""

    search: str = ""
    category: str = ""
    min_cpa_cents: int = 0
    audience_gender: str = ""
    income_level: str = ""
    age_range: str = ""
    sort: str = "created_at"


class NetworkProgram(Program, frozen=True):
    """A program as others see it."""

    audience_gender: str
    income_levels: list[str]
    age_ranges: list[str]
    spent_cents: int
    reached_ms: int | None
    partner_campaign_id: str | None
    is_removed: bool
    """By the owner: the account that looks at it may not join."""
    has_left: bool
    verified_30d: int
    rejected_30d: int

    @property
    def has_joined(self) -> bool:
        return self.partner_campaign_id is not None and not (self.is_removed or self.has_left)

    @property
    def confirmation_rate(self) -> float | None:
        decided = int(self.verified_30d) + int(self.rejected_30d)
        return round(int(self.verified_30d) / decided, 4) if decided else None

    @property
    def budget_left(self) -> str:
        left_cents = self.total_budget_cents - self.spent_cents
        if self.reached_ms is not None or left_cents <= 0:
            return NONE
        return LOW if left_cents * LOW_SHARE < self.total_budget_cents else PLENTY


class PartnerCampaign(StoredVerification, frozen=True):
    """A partner's place in a program: the recommendation."""

    id: str
    account_id: str
    owner_account_id: str
    program_id: str
    publication_id: str
    publication_name: str
    ref_code: str
    cpa_cents: int
    max_payout_cents: int
    spent_cents: int
    referral_pending_duration: int
    referral_pending_duration_enabled: bool
    terms: str | None
    resources_url: str | None
    thankyou_page_url: str | None
    deleted_ms: int | None
    publication_status: str
    enabled_partner_program: bool
    logo_id: str
    created_ms: int
    left_ms: int | None
    removed_ms: int | None
    """By the owner, from this program or from all."""
    removed_reason: str | None
    is_budget_spent: bool
    """Whether the program's budget for the month is spent. How much it is stays the owner's."""

    @property
    def name(self) -> str:
        return f"{self.publication_name}'s partner program"

    @property
    def status(self) -> str:
        if self.deleted_ms is not None or self.publication_status != "active":
            return ENDED
        if self.removed_ms is not None:
            return REMOVED
        if self.left_ms is not None:
            return LEFT
        return ACTIVE if self.enabled_partner_program else PAUSED


class ConfirmationRate(NamedTuple):
    """What the rate of a program is by now, in basis points; -1 if there is none."""

    id: str
    rate_bp: int


_sql = beside(__file__, program=programs.COLUMNS)
_COUNT = _sql.value("count", int)
_PAGE = _sql.value("page", str)
_CHANGED_RATES = _sql.query("changed_rates", ConfirmationRate)
_SET_RATES = _sql.command("set_rates")
_PROGRAMS_BY_ID = _sql.query("programs_by_id", NetworkProgram)
_LOCK_PROGRAM = _sql.value("lock_program", str)
_IS_KEPT_OUT = _sql.value("is_kept_out", int)
_JOIN = _sql.command("join")
_LOCK = _sql.value("lock", str)
_JOIN_AGAIN = _sql.command("join_again")
_LEAVE = _sql.command("leave")
_PARTNER_CAMPAIGN = _sql.query("partner_campaign", PartnerCampaign)
_COUNT_PARTNER_CAMPAIGNS = _sql.value("count_partner_campaigns", int)
_LIST_PARTNER_CAMPAIGNS = _sql.query("list_partner_campaigns", PartnerCampaign)
_PARTNER_CAMPAIGNS_BY_ID = _sql.query("partner_campaigns_by_id", PartnerCampaign)


async def page_of(
    at: AccountReading, query: NetworkQuery, page: Page
) -> tuple[list[NetworkProgram], int]:
    ids, total = await find(at.tx, query, page)
    return await _programs_by_id(at.tx, at.account_id, ids), total


async def find(tx: Tx, query: NetworkQuery, page: Page) -> tuple[list[str], int]:
    """The programs on one page of the results, in order, and how many there are on all pages."""
    words = sorted(set(publications.fold(query.search).split()), key=len, reverse=True)
    padded = [*words, *[""] * MOST_SEARCHED][:MOST_SEARCHED]
    filters: dict[str, Any] = {
        "min_cpa_cents": query.min_cpa_cents,
        "audience_gender": query.audience_gender,
        "category": _item(query.category),
        "income_level": _item(query.income_level),
        "age_range": _item(query.age_range),
        "words": len(words),
        **{f"word_{n}": _containing(word) for n, word in enumerate(padded, start=1)},
    }
    ids = await tx.all(_PAGE, sort=query.sort, most=page.per_page, skip=page.skip, **filters)
    return ids, await tx.one(_COUNT, **filters) or 0


def _containing(word: str) -> str:
    return "%" + re.sub("[!%_]", r"!\g<0>", word) + "%"


def _item(word: str) -> str:
    """A pattern for one item of a list in JSON. Categories and the like have no wildcards."""
    return f'%"{word}"%' if word else "%"


async def changed_rates(tx: Tx, *, most: int) -> list[ConfirmationRate]:
    return await tx.all(_CHANGED_RATES, since_day=_since_day(tx.now_ms), most=most)


async def set_rates(tx: Tx, rates: Sequence[ConfirmationRate]) -> None:
    await tx.run(_SET_RATES, rates=[rate._asdict() for rate in rates])


def _since_day(now_ms: int) -> int:
    """Confirmation rates are of the days after this one."""
    return now_ms // DAY_MS - RATE_DAYS


async def get(tx: Tx, account_id: str, program_id: str) -> NetworkProgram:
    """Also one that is not in the directory: unlisted is not secret."""
    for program in await _programs_by_id(tx, account_id, [program_id] if is_id(program_id) else []):
        return program
    raise Missing(UNKNOWN)


async def get_own(at: AccountReading, program_id: str) -> NetworkProgram:
    """As its owner sees it, who can change it while it is paused and nobody else finds it."""
    found = await _programs_by_id(at.tx, at.account_id, [program_id], paused_too=True)
    if not found or found[0].account_id != at.account_id:
        raise Missing(UNKNOWN)
    return found[0]


async def _programs_by_id(
    tx: Tx, account_id: str, ids: list[str], *, paused_too: bool = False
) -> list[NetworkProgram]:
    """Those of the programs that are open, in the order asked for, as this account sees them."""
    if not ids:
        return []
    places = {program_id: place for place, program_id in enumerate(ids)}
    found = await tx.all(
        _PROGRAMS_BY_ID,
        ids=msgspec.json.encode(places).decode(),
        many=len(ids),
        account_id=account_id,
        month=rules.month_of(tx.now_ms),
        since_day=_since_day(tx.now_ms),
        paused_too=int(paused_too),
    )
    return sorted(found, key=lambda program: places[program.id])


async def join(change: Change, program_id: str, reason: str | None) -> tuple[PartnerCampaign, bool]:
    """The partner campaign, and whether it is new. A partner who left gets the same one and its
    code again. The program's owner is notified."""
    if reason is not None:
        checks.text(reason, param="reason_for_recommending", limit=checks.DESCRIPTION_LIMIT)
    tx, account_id = change.tx, change.tenant.account_id
    program = await get(tx, account_id, program_id)
    # So that an owner who blocks a partner at this moment finds all that the partner has joined.
    owner: dict[str, Any] = {"account_id": program.account_id}
    await change.lock(_LOCK_PROGRAM, "share", **owner, id=program.id)
    if await change.one(
        _IS_KEPT_OUT, **owner, program_id=program.id, partner_account_id=account_id
    ):
        raise Invalid(
            "The owner of this program removed you; you can join again once they allow it.",
            code="partner_removed",
        )
    is_new = await change.run(
        _JOIN,
        taken={"partner_campaign_code": Again},
        id=new_id(),
        owner_account_id=program.account_id,
        program_id=program.id,
        ref_code=CODE_LETTER + new_code(CODE_LENGTH - 1),
        reason=reason,
    )
    joined = await _get_locked(change, program.id)
    left_ms = joined.left_ms
    if left_ms is not None:
        await change.run(_JOIN_AGAIN, id=joined.id, reason=reason)
        joined = await get_partner_campaign(change, joined.id)
    if is_new or left_ms is not None:
        after = {"program_id": program.id, "reason": reason}
        await change_log.record(change, "partner_campaign.joined", joined.id, None, after)
        await _record_for_owner(change, joined, "partner.joined")
        await partner_notifications.joined(change, joined, left_ms=left_ms)
    return joined, bool(is_new)


async def _record_for_owner(change: Change, joined: PartnerCampaign, action: str) -> None:
    """In the log of the program's owner, too, unless that is the same account."""
    if joined.owner_account_id != joined.account_id:
        owner = Tenant(joined.owner_account_id, "")
        theirs = Change(change.tx, change.site, owner, change.actor, change.now_ms)
        await change_log.record(theirs, action, joined.id)


async def leave(change: Change, campaign_id: str) -> PartnerCampaign:
    """What comes with the code no longer counts. The program's owner is notified, unless they
    removed the partner before."""
    before = await _get_locked(change, campaign_id)
    if before.left_ms is None:
        await change.run(_LEAVE, id=before.id)
        await change_log.record(
            change, "partner_campaign.left", before.id, {"has_left": False}, {"has_left": True}
        )
        await _record_for_owner(change, before, "partner.left")
        if before.removed_ms is None:
            await partner_notifications.left(change, before)
    return await get_partner_campaign(change, before.id)


async def _get_locked(change: Change, campaign_id: str) -> PartnerCampaign:
    found = await get_partner_campaign(change, campaign_id)
    await change.lock(_LOCK, id=found.id)
    return await get_partner_campaign(change, found.id)


async def get_partner_campaign(at: AccountReading, campaign_id: str) -> PartnerCampaign:
    """By its own id or the program's."""
    found = None
    if is_id(campaign_id):
        found = await at.one(_PARTNER_CAMPAIGN, id=campaign_id, month=rules.month_of(at.now_ms))
    if found is None:
        raise Missing("There is no such partner campaign.")
    return found


async def partner_campaigns_by_id(at: AccountReading, ids: list[str]) -> dict[str, PartnerCampaign]:
    found = await at.all(_PARTNER_CAMPAIGNS_BY_ID, month=rules.month_of(at.now_ms), ids=ids)
    return {each.id: each for each in found}


async def page_of_partner_campaigns(
    at: AccountReading, page: Page
) -> tuple[list[PartnerCampaign], int]:
    total = await at.one(_COUNT_PARTNER_CAMPAIGNS) or 0
    month = rules.month_of(at.now_ms)
    return await at.all(
        _LIST_PARTNER_CAMPAIGNS, month=month, most=page.per_page, skip=page.skip
    ), total
