"""The partner network: programs to browse and join. The owner's budget is never shown, only whether
much of it is left.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import is_id, new_code, new_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import directory, rules
from honeyguide.partners.directory import NetworkQuery
from honeyguide.store import Again
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such partner program."
# A partner's code differs from a subscriber's by its first letter and length, so one lookup is
# enough.
CODE_LETTER, CODE_LENGTH = "p", 9
LOW_SHARE = 5  # under a fifth of the budget is low

_words = msgspec.json.Decoder(list[str]).decode


class NetworkProgram(NamedTuple):
    id: str
    account_id: str
    publication_id: str
    publication_name: str
    publication_description: str | None
    categories: str
    logo_id: str
    audience_gender: str
    income_levels: str
    age_ranges: str
    terms: str | None
    resources_url: str | None
    redirect_url: str
    thankyou_page_url: str | None
    show_in_directory: int
    referral_pending_duration: int
    referral_pending_duration_enabled: int
    max_payout_cents: int
    cpa_cents: int
    total_budget_cents: int
    spent_cents: int
    reached_ms: int | None
    joined_id: str | None
    verified_30d: int
    rejected_30d: int
    created_ms: int

    @property
    def name(self) -> str:
        return f"{self.publication_name}'s partner program"

    def words(self, field: str) -> list[str]:
        return _words(getattr(self, field))

    @property
    def confirmation_rate(self) -> float | None:
        decided = int(self.verified_30d) + int(self.rejected_30d)
        return round(int(self.verified_30d) / decided, 4) if decided else None

    @property
    def budget_left(self) -> str:
        left_cents = self.total_budget_cents - self.spent_cents
        if self.reached_ms is not None or left_cents <= 0:
            return "none"
        return "low" if left_cents * LOW_SHARE < self.total_budget_cents else "plenty"


class PartnerCampaign(NamedTuple):
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
    referral_pending_duration_enabled: int
    terms: str | None
    resources_url: str | None
    thankyou_page_url: str | None
    paused_ms: int | None
    deleted_ms: int | None
    publication_status: str
    enabled_partner_program: int
    logo_id: str
    created_ms: int

    @property
    def name(self) -> str:
        return f"{self.publication_name}'s partner program"

    @property
    def status(self) -> str:
        if (
            self.deleted_ms is not None
            or self.publication_status != "active"
            or not self.enabled_partner_program
        ):
            return "ended"
        return "paused" if self.paused_ms is not None else "active"


_sql = beside(__file__)
_OFFERS = _sql.query("offers", NetworkProgram)
_JOIN = _sql.command("join")
_JOINED = _sql.query("joined", PartnerCampaign)
_COUNT_JOINED = _sql.value("count_joined", int)
_LIST_JOINED = _sql.query("list_joined", PartnerCampaign)


async def page_of(
    tx: Tx, account_id: str, wanted: NetworkQuery, page: Page, *, now_ms: int
) -> tuple[list[NetworkProgram], int]:
    ids, total = await directory.find(tx, wanted, page)
    return await _offers(tx, account_id, ids, now_ms=now_ms), total


async def get(tx: Tx, account_id: str, program_id: str, *, now_ms: int) -> NetworkProgram:
    """Also one that is out of the directory: unlisted is not secret."""
    for offer in await _offers(
        tx, account_id, [program_id] if is_id(program_id) else [], now_ms=now_ms
    ):
        return offer
    raise Missing(UNKNOWN)


async def _offers(tx: Tx, account_id: str, ids: list[str], *, now_ms: int) -> list[NetworkProgram]:
    """Those of the programs that are open, in the order asked for, as this account sees them."""
    if not ids:
        return []
    places = {program_id: place for place, program_id in enumerate(ids)}
    found = await tx.all(
        _OFFERS,
        ids=msgspec.json.encode(places).decode(),
        many=len(ids),
        account_id=account_id,
        month=rules.month_of(now_ms),
        since_day=directory.since_day(now_ms),
    )
    return sorted(found, key=lambda offer: places[offer.id])


async def join(
    tx: Tx, account_id: str, program_id: str, reason: str | None, *, now_ms: int
) -> tuple[PartnerCampaign, bool]:
    """The partner's place in the program, and whether it is new."""
    if reason is not None:
        checks.text(reason, param="reason_for_recommending", limit=checks.DESCRIPTION_LIMIT)
    offer = await get(tx, account_id, program_id, now_ms=now_ms)
    is_new = await tx.run(
        _JOIN,
        taken={"partner_campaign_code": Again},
        id=new_id(),
        account_id=account_id,
        owner_account_id=offer.account_id,
        program_id=offer.id,
        ref_code=CODE_LETTER + new_code(CODE_LENGTH - 1),
        reason=reason,
        now_ms=now_ms,
    )
    return await get_joined(tx, account_id, offer.id, now_ms=now_ms), bool(is_new)


async def get_joined(tx: Tx, account_id: str, wanted_id: str, *, now_ms: int) -> PartnerCampaign:
    """By its own id or the program's."""
    found = None
    if is_id(wanted_id):
        found = await tx.one(
            _JOINED, account_id=account_id, id=wanted_id, month=rules.month_of(now_ms)
        )
    if found is None:
        raise Missing("There is no such partner campaign.")
    return found


async def page_of_joined(
    tx: Tx, account_id: str, page: Page, *, now_ms: int
) -> tuple[list[PartnerCampaign], int]:
    total = await tx.one(_COUNT_JOINED, account_id=account_id) or 0
    month = rules.month_of(now_ms)
    return await tx.all(
        _LIST_JOINED, account_id=account_id, month=month, most=page.per_page, skip=page.skip
    ), total
