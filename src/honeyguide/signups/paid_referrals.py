"""Referrals that partners are paid for, as lists and pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from honeyguide.kernel.ids import is_id
from honeyguide.kernel.paging import Page
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside


class PaidReferral(msgspec.Struct, frozen=True):
    """A partner's referral, and what it costs or why nothing."""

    fee_cents: int
    charged_cents: int | None
    charged_month: str | None
    uncharged_reason: str | None
    reversal_reason: str | None
    reversal_note: str | None
    decided_ms: int | None
    is_own: bool
    partner_name: str
    email: str | None
    """Of the person."""

    @property
    def may_cost_cents(self) -> int:
        """While it is pending. What budget and cap can hold of it, nobody knows yet."""
        return 0 if self.is_own else self.fee_cents


class ListedReferral(PaidReferral, frozen=True):
    id: str
    subscriber_id: str
    name: str | None
    partner_campaign_id: str
    status: str
    reason: str | None
    due_ms: int | None
    arrived_ms: int


class SentBy(PaidReferral, frozen=True):
    """Which partner sent a person to which program."""

    program_id: str
    publication_name: str
    referral_id: str
    last_closed: str | None
    """The newest month that is closed."""


_sql = beside(__file__)
_SENT_BY = _sql.query("sent_by", SentBy)
_PARTNER_NAMES = _sql.query("partner_names", lambda subscriber_id, name: (subscriber_id, name))
_COUNT_OF_PROGRAM = _sql.value("count_of_program", int)
_SOME_OF_PROGRAM = _sql.query("some_of_program", ListedReferral)
_LIST_OF_PROGRAM = _sql.query("list_of_program", ListedReferral)


async def page_of_program(
    at: AccountReading, program_id: str, page: Page
) -> tuple[list[ListedReferral], int]:
    """Everyone that partners referred to a program, newest first."""
    program_key: dict[str, Any] = {"account_id": at.account_id, "program_id": program_id}
    total = await at.one(_COUNT_OF_PROGRAM, **program_key) or 0
    return await at.all(_LIST_OF_PROGRAM, **program_key, most=page.per_page, skip=page.skip), total


async def some_of_program(
    at: AccountReading, program_id: str, ids: list[str]
) -> list[ListedReferral]:
    """Those of a program's referrals, newest first."""
    ids = [each for each in ids if is_id(each)]
    return await at.all(_SOME_OF_PROGRAM, program_id=program_id, ids=ids)


async def find_sender(at: AccountReading, subscriber_id: str) -> SentBy | None:
    """The partner behind a subscriber, for the owner of the program. None without a partner."""
    return await at.one(_SENT_BY, subscriber_id=subscriber_id)


async def partner_names(at: AccountReading, ids: Sequence[str]) -> dict[str, str]:
    """The partners behind some subscribers, by the subscriber. Others are left out."""
    if not ids:
        return {}
    return dict(await at.all(_PARTNER_NAMES, ids=list(ids)))
