"""Partner programs: the paid offer of a publication, from which it has its name, description and
categories.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.kernel import checks, money, public
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import charges, publications
from honeyguide.referrals import slugs
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such partner program."
LONGEST_HOLD_DAYS = 365
DEFAULT_HOLD_DAYS = 14
HOLDING_PERIOD = public.doc(
    "Days a referral must stay subscribed before it is verified.",
    DEFAULT_HOLD_DAYS,
    minimum=0,
    maximum=LONGEST_HOLD_DAYS,
)


class Program(NamedTuple):
    id: str
    account_id: str
    publication_id: str
    publication_name: str
    publication_description: str | None
    categories: str
    terms: str | None
    resources_url: str | None
    redirect_url: str
    slug: str | None
    thankyou_page_url: str | None
    show_in_directory: int
    referral_pending_duration: int
    referral_pending_duration_enabled: int
    max_payout_cents: int
    total_budget_cents: int
    cpa_cents: int
    paused_ms: int | None
    created_ms: int

    @property
    def name(self) -> str:
        return f"{self.publication_name}'s partner program"

    @property
    def category_words(self) -> list[str]:
        words: list[str] = json.loads(self.categories)
        return words


class ProgramFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is. None clears a field that may be empty;
    for any other field it is an error."""

    max_payout: Annotated[public.Number, public.MAX_PAYOUT] = UNSET
    total_budget: Annotated[public.Number, public.TOTAL_BUDGET] = UNSET
    cpa: Annotated[public.Number, public.CPA] = UNSET
    redirect_url: public.RedirectUrl | UnsetType | None = UNSET
    thankyou_page_url: public.ThankYouPageUrl | UnsetType | None = UNSET
    terms: public.Terms | UnsetType | None = UNSET
    resources_url: public.ResourcesUrl | UnsetType | None = UNSET
    slug: public.Slug | UnsetType | None = UNSET
    show_in_directory: public.ShowInDirectory | UnsetType | None = UNSET
    referral_pending_duration_enabled: public.HoldingPeriodEnabled | UnsetType | None = UNSET
    referral_pending_duration: Annotated[public.Number, HOLDING_PERIOD] = UNSET


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_BY_ID = _sql.query("by_id", Program)
_LOCK = _sql.value("lock", str)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", Program)
_UPDATE = _sql.command("update")
_DELETE = _sql.command("delete")

REQUIRED = ("max_payout", "total_budget", "cpa", "redirect_url")


def _checked(fields: ProgramFields) -> dict[str, Any]:
    """The columns that were given, each by its rule."""
    given: dict[str, Any] = {}
    for param in ("max_payout", "total_budget", "cpa"):
        value = getattr(fields, param)
        if not isinstance(value, UnsetType):
            given[f"{param}_cents"] = money.cents(value, param=param)
    for param in ("redirect_url", "thankyou_page_url", "resources_url"):
        value = getattr(fields, param)
        if not isinstance(value, UnsetType):
            if value is None and param == "redirect_url":
                raise Required(param, "{field} must not be null.")
            given[param] = None if value is None else checks.http_url(value, param=param)
    if not isinstance(fields.terms, UnsetType):
        given["terms"] = (
            None
            if fields.terms is None
            else checks.text(fields.terms, param="terms", limit=checks.TERMS_LIMIT)
        )
    if not isinstance(fields.slug, UnsetType):
        given["slug"] = None if fields.slug is None else checks.slug(fields.slug, param="slug")
    for param in ("show_in_directory", "referral_pending_duration_enabled"):
        flag = getattr(fields, param)
        if not isinstance(flag, UnsetType):
            if flag is None:
                raise Invalid("{field} must be true or false.", param=param)
            given[param] = int(flag)
    if not isinstance(fields.referral_pending_duration, UnsetType):
        given["referral_pending_duration"] = _days(fields.referral_pending_duration)
    return given


def _days(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if (
        isinstance(value, Decimal)
        and value.is_finite()
        and abs(value) < 10_000
        and value == int(value)
    ):
        value, whole = int(value), True
    if not whole or not 0 <= value <= LONGEST_HOLD_DAYS:
        raise Invalid(
            "{field} must be a whole number of days from 0 to {most}.",
            param="referral_pending_duration",
            most=LONGEST_HOLD_DAYS,
        )
    return int(value)


async def create(
    tx: Tx, account_id: str, publication_id: str, fields: ProgramFields, *, now_ms: int
) -> Program:
    """One live program per publication; making it switches the publication's partner program on."""
    for param in REQUIRED:
        if isinstance(getattr(fields, param), UnsetType):
            raise Required(param)
    columns = {
        "terms": None,
        "resources_url": None,
        "slug": None,
        "thankyou_page_url": None,
        "show_in_directory": 0,
        "referral_pending_duration": DEFAULT_HOLD_DAYS,
        "referral_pending_duration_enabled": 0,
        **_checked(fields),
    }
    try:
        publication = await publications.get_locked(tx, account_id, publication_id)
    except Missing:
        raise Invalid(
            "{field} does not match any of your publications.", param="publication_uuid"
        ) from None
    program_id = new_id()
    second = Invalid(
        "This publication already has a partner program; delete it before you create another.",
        param="publication_uuid",
    )
    await tx.run(
        _INSERT,
        taken={"program_publication": second},
        id=program_id,
        account_id=account_id,
        publication_id=publication.id,
        now_ms=now_ms,
        **columns,
    )
    if columns["slug"]:
        await slugs.claim(tx, account_id, slugs.PROGRAM, program_id, columns["slug"])
    await publications.set_enabled(tx, publication, True)
    return await get(tx, account_id, program_id)


async def get(tx: Tx, account_id: str, program_id: str) -> Program:
    program = (
        await tx.one(_BY_ID, account_id=account_id, id=program_id) if is_id(program_id) else None
    )
    if program is None:
        raise Missing(UNKNOWN)
    return program


async def page_of(tx: Tx, account_id: str, page: Page) -> tuple[list[Program], int]:
    total = await tx.one(_COUNT, account_id=account_id) or 0
    return await tx.all(_LIST, account_id=account_id, most=page.per_page, skip=page.skip), total


async def update(
    tx: Tx, account_id: str, program_id: str, fields: ProgramFields, *, now_ms: int
) -> Program:
    given = _checked(fields)
    old = await _get_locked(tx, account_id, program_id)
    await _write(tx, old, {**old._asdict(), **given}, now_ms=now_ms)
    return await get(tx, account_id, program_id)


async def pause(tx: Tx, account_id: str, program_id: str, *, paused: bool, now_ms: int) -> Program:
    """Paused: it leaves the partner network and new signups do not count. Pending referrals run to
    their end."""
    old = await _get_locked(tx, account_id, program_id)
    paused_ms = (old.paused_ms or now_ms) if paused else None
    await _write(tx, old, {**old._asdict(), "paused_ms": paused_ms}, now_ms=now_ms)
    return await get(tx, account_id, program_id)


async def _get_locked(tx: Tx, account_id: str, program_id: str) -> Program:
    """Two changes at once would each write back what the other changed."""
    if not is_id(program_id) or not await tx.lock(_LOCK, account_id=account_id, id=program_id):
        raise Missing(UNKNOWN)
    return await get(tx, account_id, program_id)


async def _write(tx: Tx, old: Program, columns: dict[str, Any], *, now_ms: int) -> None:
    if columns["slug"] != old.slug:
        if columns["slug"]:
            await slugs.claim(tx, old.account_id, slugs.PROGRAM, old.id, columns["slug"])
        else:
            await slugs.free(tx, old.account_id, old.id)
    names = (
        "id",
        "account_id",
        "terms",
        "resources_url",
        "redirect_url",
        "slug",
        "thankyou_page_url",
        "show_in_directory",
        "referral_pending_duration",
        "referral_pending_duration_enabled",
        "max_payout_cents",
        "total_budget_cents",
        "cpa_cents",
        "paused_ms",
    )
    await tx.run(_UPDATE, **{name: columns[name] for name in names})
    if columns["total_budget_cents"] != old.total_budget_cents:
        await charges.budget_changed(
            tx,
            old.account_id,
            old.id,
            old_cents=old.total_budget_cents,
            new_cents=columns["total_budget_cents"],
            now_ms=now_ms,
        )


async def delete(tx: Tx, account_id: str, program_id: str, *, now_ms: int) -> None:
    known = await get(tx, account_id, program_id)
    publication = await publications.get_locked(tx, account_id, known.publication_id)
    program = await _get_locked(tx, account_id, program_id)
    await tx.run(_DELETE, account_id=account_id, id=program.id, now_ms=now_ms)
    await slugs.free(tx, account_id, program.id)
    await publications.set_enabled(tx, publication, False)
