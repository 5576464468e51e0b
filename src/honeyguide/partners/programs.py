"""Partner programs: the paid offer of a publication, from which it has its name, description and
categories.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log
from honeyguide.kernel import fields, public
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.partners import charges, program_stops, publications, verification
from honeyguide.partners.verification import StoredVerification, VerificationFields
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.subscribers import slugs

UNKNOWN = "There is no such partner program."
LONGEST_HOLD_DAYS = 365
DEFAULT_HOLD_DAYS = 14


def _check_days(days: int, *, param: str) -> int:
    if not 0 <= days <= LONGEST_HOLD_DAYS:
        raise bad_holding_period()
    return days


def bad_holding_period() -> Invalid:
    return Invalid(
        "{field} must be a whole number of days from 0 to {most}.",
        param="referral_pending_duration",
        most=LONGEST_HOLD_DAYS,
    )


HOLDING_PERIOD = public.doc(
    "Days a referral must stay subscribed before it is verified.",
    DEFAULT_HOLD_DAYS,
    label="Holding period",
    rule=_check_days,
    default=DEFAULT_HOLD_DAYS,
    minimum=0,
    maximum=LONGEST_HOLD_DAYS,
)


class Program(StoredVerification, frozen=True):
    id: str
    account_id: str
    publication_id: str
    publication_name: str
    publication_description: str | None
    categories: list[str]
    max_payout_cents: int
    total_budget_cents: int
    cpa_cents: int
    redirect_url: str
    thankyou_page_url: str | None
    terms: str | None
    resources_url: str | None
    slug: str | None
    show_in_directory: bool
    referral_pending_duration_enabled: bool
    referral_pending_duration: int
    logo_id: str
    publication_status: str
    enabled_partner_program: bool
    """The program's only switch: Pause on the dashboard, and the API's flag of the publication."""
    created_ms: int
    deleted_ms: int | None

    @property
    def name(self) -> str:
        return f"{self.publication_name}'s partner program"

    @property
    def is_running(self) -> bool:
        """Whether new referrals count."""
        is_open = self.publication_status == "active" and self.deleted_ms is None
        return is_open and self.enabled_partner_program


class ProgramFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is. None clears a field that may be
    empty."""

    max_payout: Annotated[public.Amount, public.MAX_PAYOUT] = UNSET
    total_budget: Annotated[public.Amount, public.TOTAL_BUDGET] = UNSET
    cpa: Annotated[public.Amount, public.CPA] = UNSET
    redirect_url: public.RedirectUrl | UnsetType = UNSET
    thankyou_page_url: public.ThankYouPageUrl | UnsetType | None = UNSET
    terms: public.Terms | UnsetType | None = UNSET
    resources_url: public.ResourcesUrl | UnsetType | None = UNSET
    slug: Annotated[public.Slug, public.doc(None, "wax-partners")] | UnsetType | None = UNSET
    show_in_directory: public.ShowInDirectory | UnsetType = UNSET
    referral_pending_duration_enabled: public.HoldingPeriodEnabled | UnsetType = UNSET
    referral_pending_duration: Annotated[int | UnsetType, HOLDING_PERIOD] = UNSET


_COLUMNS = fields.columns(ProgramFields)
_sql = beside(__file__, fields=_COLUMNS)
COLUMNS = _sql.fragment("program")
_INSERT = _sql.command("insert")
_BY_ID = _sql.query("by_id", Program)
_LIVE_OR_UNSETTLED = _sql.query("live_or_unsettled", Program)
_LIST_UNSETTLED = _sql.query("list_unsettled", Program)
_LOCK = _sql.value("lock", str)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", Program)
_OF_PUBLICATIONS = _sql.query("of_publications", Program)
_UPDATE = _sql.command("update")
_DELETE = _sql.command("delete")

_NOTHING_CHOSEN = VerificationFields()
REQUIRED = ("max_payout", "total_budget", "cpa", "redirect_url")


async def create(
    change: Change,
    publication_id: str,
    given: ProgramFields,
    chosen: VerificationFields = _NOTHING_CHOSEN,
) -> Program:
    """One live program per publication; making it switches the publication's partner program on."""
    for param in REQUIRED:
        if isinstance(getattr(given, param), UnsetType):
            raise Required(param)
    columns = fields.defaults(ProgramFields) | fields.checked(ProgramFields, given)
    columns |= verification.first_columns(change.site, chosen)
    tx, account_id = change.tx, change.tenant.account_id
    try:
        publication = await publications.get_locked(change, publication_id)
    except Missing:
        raise Invalid(
            "{field} does not match any of your publications.", param="publication_uuid"
        ) from None
    program_id = new_id()
    second = Invalid(
        "This publication already has a partner program; delete it before you create another.",
        param="publication_uuid",
    )
    await change.run(
        _INSERT,
        taken={"program_publication": second},
        id=program_id,
        publication_id=publication.id,
        **columns,
    )
    if columns["slug"]:
        await slugs.claim(tx, account_id, slugs.PROGRAM, program_id, columns["slug"])
    await publications.set_enabled(tx, publication, True)
    made = {"publication_id": publication.id, **columns}
    await change_log.record(change, "program.created", program_id, None, made)
    if not change.site.has_mail_server and isinstance(chosen.rule, UnsetType):
        await verification.notify_without_email(change, program_id, publication.name)
    return await get(change, program_id)


async def get(at: AccountReading, program_id: str) -> Program:
    program = await at.one(_BY_ID, id=program_id) if is_id(program_id) else None
    if program is None:
        raise Missing(UNKNOWN)
    return program


async def get_unsettled(at: AccountReading, program_id: str) -> Program:
    """To look at: also a deleted one, while a referral is pending or a month in which it was
    charged is open."""
    found = None
    if is_id(program_id):
        found = await at.one(_LIVE_OR_UNSETTLED, id=program_id)
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def list_deleted_unsettled(at: AccountReading) -> list[Program]:
    """The deleted ones that `get_unsettled` still finds."""
    return await at.all(_LIST_UNSETTLED)


async def page_of(at: AccountReading, page: Page) -> tuple[list[Program], int]:
    total = await at.one(_COUNT) or 0
    return await at.all(_LIST, most=page.per_page, skip=page.skip), total


async def some_of_account(at: AccountReading, *, most: int) -> list[Program]:
    return await at.all(_LIST, most=most, skip=0)


async def of_publications(at: AccountReading, ids: list[str]) -> dict[str, Program]:
    """The program of each of these publications that has one."""
    found = await at.all(_OF_PUBLICATIONS, ids=ids)
    return {program.publication_id: program for program in found}


async def update(change: Change, program_id: str, given: ProgramFields) -> Program:
    return await set_columns(change, program_id, fields.checked(ProgramFields, given))


async def set_columns(change: Change, program_id: str, changed: dict[str, Any]) -> Program:
    """Partners are told by `term_changes`."""
    old = await _get_locked(change, program_id)
    before = fields.as_stored(old, _COLUMNS)
    await _write(change, old, {**before, **changed})
    await change_log.record(change, "program.changed", old.id, before, {**before, **changed})
    return await get(change, program_id)


async def switch(change: Change, program_id: str, *, on: bool) -> None:
    """While it is off, it is not in the partner network and new signups do not count. Pending
    referrals run to their end."""
    tx = change.tx
    program = await get(change, program_id)
    publication = await publications.get_locked(change, program.publication_id)
    await get(change, program_id)  # it may have been deleted while we waited for the lock
    before = await program_stops.states(change)
    await publications.set_enabled(tx, publication, on)
    await program_stops.follow(change, before)
    old, new = (
        {"enabled_partner_program": int(flag)} for flag in (publication.enabled_partner_program, on)
    )
    await change_log.record(change, "program.switched", program.id, old, new)


async def _get_locked(change: Change, program_id: str) -> Program:
    """Two changes at once would each write back what the other changed."""
    if not is_id(program_id) or not await change.lock(_LOCK, id=program_id):
        raise Missing(UNKNOWN)
    return await get(change, program_id)


async def _write(change: Change, old: Program, columns: dict[str, Any]) -> None:
    tx = change.tx
    if columns["slug"] != old.slug:
        if columns["slug"]:
            await slugs.claim(tx, old.account_id, slugs.PROGRAM, old.id, columns["slug"])
        else:
            await slugs.free(tx, old.account_id, old.id)
    await change.run(_UPDATE, id=old.id, **columns)
    if columns["total_budget_cents"] != old.total_budget_cents:
        await charges.budget_changed(
            tx,
            old.account_id,
            old.id,
            old_cents=old.total_budget_cents,
            new_cents=columns["total_budget_cents"],
        )


async def delete(change: Change, program_id: str) -> None:
    tx, account_id = change.tx, change.tenant.account_id
    known = await get(change, program_id)
    publication = await publications.get_locked(change, known.publication_id)
    program = await _get_locked(change, program_id)
    before = await program_stops.states(change)
    await change.run(_DELETE, id=program.id)
    await program_stops.follow(change, before)
    await slugs.free(tx, account_id, program.id)
    await publications.set_enabled(tx, publication, False)
    await change_log.record(change, "program.deleted", program.id, {"name": program.name})
