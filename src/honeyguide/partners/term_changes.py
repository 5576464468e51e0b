"""Changes of what a program pays for: its fee, cap, holding period and verification, and a
budget that is reached because it was lowered.

Each is told to every active partner, with old and new values (`term_notifications`). By API it
holds at once. On the dashboard, what is worse for partners begins on the next day (UTC), so that
they hear of it before. A referral keeps the terms that held when it came.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import neg
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel import clock, fields, money
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import announcements, programs, rules, verification
from honeyguide.partners.announcements import TermChange
from honeyguide.partners.programs import Program, ProgramFields
from honeyguide.partners.verification import Origins, Verification, VerificationFields
from honeyguide.screening.rules import Rule
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.referral_states import Level

BEGINNING = "begin changed terms of programs"
ANNOUNCED = "program.terms_announced"


class ProgramTerms(NamedTuple):
    cpa_cents: int
    max_payout_cents: int
    referral_pending_duration: int
    referral_pending_duration_enabled: bool
    rule: str
    screening: str
    is_verification_chosen: bool
    first_look: int | None
    total_budget_cents: int
    spent_cents: int
    """Of the budget, this month."""

    @property
    def hold_days(self) -> int:
        return self.referral_pending_duration if self.referral_pending_duration_enabled else 0

    @property
    def origins(self) -> Origins:
        return Origins.ALL if self.is_verification_chosen else Origins.HOSTED

    @property
    def is_budget_reached(self) -> bool:
        return self.spent_cents >= self.total_budget_cents


class Term(NamedTuple):
    label: str
    columns: tuple[str, ...]
    value: Callable[[ProgramTerms], Any]
    show: Callable[[Any], str]
    cost: Callable[[Any], Any]
    """What is greater in worse terms."""


def _show_days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _show_first_look(number: int | None) -> str:
    return "none" if number is None else f"after {number:,} verified"


_HOLD = ("referral_pending_duration", "referral_pending_duration_enabled")
TERMS = (
    Term("Fee", ("cpa_cents",), lambda t: t.cpa_cents, money.show, neg),
    Term("Cap per month", ("max_payout_cents",), lambda t: t.max_payout_cents, money.show, neg),
    Term("Holding period", _HOLD, lambda t: t.hold_days, _show_days, int),
    Term(
        "Rule",
        ("rule",),
        lambda t: Rule(t.rule),
        lambda rule: verification.RULES[rule].label,
        list(verification.RULES).index,
    ),
    Term(
        "Screening",
        ("screening",),
        lambda t: Level(t.screening),
        lambda level: verification.LEVELS[level].label,
        list(verification.LEVELS).index,
    ),
    Term(
        "Rule and screening hold for",
        ("is_verification_chosen",),
        lambda t: t.origins,
        lambda origins: verification.ORIGINS[origins].label,
        list(Origins).index,
    ),
    Term(
        "First look",
        ("first_look",),
        lambda t: t.first_look,
        _show_first_look,
        lambda number: 0 if number is None else 1 + verification.MOST_FIRST_LOOK - number,
    ),
    # How much it is stays the owner's.
    Term(
        "Budget for this month",
        ("total_budget_cents",),
        lambda t: t.is_budget_reached,
        lambda is_reached: "used up" if is_reached else "open",
        int,
    ),
)


_sql = beside(__file__)
_LOCK_PROGRAM = _sql.value("lock_program", str)
_TERMS = _sql.query("terms", ProgramTerms)
_TO_BEGIN = _sql.query("to_begin", TermChange)
_KEEP = _sql.command("keep")
_HAS_PARTNERS = _sql.value("has_partners", int)
_DELETE = _sql.command("delete")
_DUE = _sql.query("due", TermChange)
_BEGIN = _sql.command("begin")
_DELETE_DONE = _sql.command("delete_done")


async def change_now(
    change: Change,
    program_id: str,
    given: ProgramFields | None = None,
    chosen: VerificationFields | None = None,
) -> None:
    """What is set now wins over what waits to begin."""
    columns = _columns(change.site, given, chosen)
    before, waiting = await _lock(change, program_id)
    await _set(change, program_id, columns)
    after = await _terms(change, program_id)
    kept = {name: each for name, each in _waiting(waiting).items() if name not in columns}
    if waiting is not None and not kept:
        await change.run(_DELETE, id=waiting.id)
    elif waiting is not None and kept != waiting.fields:
        texts = announcements.encode(_lines(after, after._replace(**kept)))
        await change.run(_KEEP, id=waiting.id, texts=texts, fields=announcements.encode(kept))
    lines = _lines(_expected(before, after, waiting, kept), after)
    await announcements.note(change, program_id, lines)


async def change_soon(
    change: Change, program_id: str, given: ProgramFields, chosen: VerificationFields
) -> int | None:
    """As a form is saved that shows what waits to begin: that is kept unless it is set otherwise.
    Without partners nothing waits. Returns when the worse terms begin, if there are any."""
    before, waiting = await _lock(change, program_id)
    columns = _waiting(waiting) | _columns(change.site, given, chosen)
    asked = before._replace(
        **{name: columns[name] for name in ProgramTerms._fields if name in columns}
    )
    worse = [term for term in TERMS if term.cost(term.value(asked)) > term.cost(term.value(before))]
    names = {name for term in worse for name in term.columns} & columns.keys()
    has_partners = await change.one(_HAS_PARTNERS, program_id=program_id) is not None
    later = {name: columns.pop(name) for name in sorted(names)} if has_partners else {}
    await _set(change, program_id, columns)
    after = await _terms(change, program_id)
    lines = _lines(_expected(before, after, waiting, later), after)
    await announcements.note(change, program_id, lines)
    if waiting is not None and waiting.fields == later:
        return waiting.starts_ms
    if waiting is not None:
        await change.run(_DELETE, id=waiting.id)
    return await _announce(change, program_id, after, later) if later else None


def _waiting(waiting: TermChange | None) -> dict[str, Any]:
    return dict(waiting.fields or {}) if waiting is not None else {}


def _expected(
    before: ProgramTerms, after: ProgramTerms, waiting: TermChange | None, kept: dict[str, Any]
) -> ProgramTerms:
    """What partners know: the terms that held, and those that they heard of and that do not
    come. That a budget is open again is told by `budget_notifications`."""
    expected = before
    if waiting is not None and waiting.is_telling:
        not_kept = {name: value for name, value in _waiting(waiting).items() if name not in kept}
        expected = before._replace(**not_kept)
    if before.is_budget_reached and not after.is_budget_reached:
        expected = expected._replace(total_budget_cents=after.total_budget_cents)
    return expected


async def _announce(
    change: Change, program_id: str, now: ProgramTerms, later: dict[str, Any]
) -> int:
    starts_ms = (change.now_ms // DAY_MS + 1) * DAY_MS
    texts = _lines(now, now._replace(**later))
    await announcements.insert(change, program_id, texts, later, starts_ms)
    before = {name: getattr(now, name) for name in later}
    after = {**later, "starts_at": clock.iso(starts_ms)}
    await change_log.record(change, ANNOUNCED, program_id, {**before, "starts_at": None}, after)
    return starts_ms


async def use_recommended(change: Change, program_id: str) -> bool:
    """For an older program; see `verification`."""
    before, waiting = await _lock(change, program_id)
    is_used = await verification.use_recommended(change, program_id)
    after = await _terms(change, program_id)
    await announcements.note(
        change, program_id, _lines(_expected(before, after, waiting, _waiting(waiting)), after)
    )
    return is_used


async def find_waiting(at: AccountReading, program_id: str) -> TermChange | None:
    """What begins on the next day."""
    return await at.one(_TO_BEGIN, program_id=program_id)


async def _lock(change: Change, program_id: str) -> tuple[ProgramTerms, TermChange | None]:
    """The terms as they are, and what waits to begin."""
    await programs.get(change, program_id)
    await change.lock(_LOCK_PROGRAM, program_id=program_id)
    waiting = await change.lock(_TO_BEGIN, program_id=program_id)
    return await _terms(change, program_id), waiting[0] if waiting else None


async def _terms(change: Change, program_id: str) -> ProgramTerms:
    found = await change.one(_TERMS, program_id=program_id, month=rules.month_of(change.now_ms))
    if found is None:
        raise Missing(programs.UNKNOWN)
    return found


def _columns(
    site: Site, given: ProgramFields | None, chosen: VerificationFields | None
) -> dict[str, Any]:
    columns = {} if given is None else fields.checked(ProgramFields, given)
    return columns if chosen is None else columns | verification.checked(site, chosen)


async def _set(change: Change, program_id: str, columns: dict[str, Any]) -> None:
    asked = {name: columns[name] for name in verification.COLUMNS if name in columns}
    of_program = {name: value for name, value in columns.items() if name not in asked}
    if of_program:
        await programs.set_columns(change, program_id, of_program)
    if asked:
        await verification.set_columns(change, program_id, asked)


def _lines(before: ProgramTerms, after: ProgramTerms) -> list[list[str]]:
    return [
        [term.label, term.show(term.value(before)), term.show(term.value(after))]
        for term in TERMS
        if term.value(before) != term.value(after)
    ]


async def due(tx: Tx, *, most: int) -> list[TermChange]:
    return await tx.all(_DUE, most=most)


async def begin(tx: Tx, site: Site, found: TermChange) -> None:
    """In the name of whoever saved it. The program may have been deleted meanwhile."""
    actor = Actor(found.actor_kind, found.actor_id)
    change = Change(tx, site, Tenant(found.account_id, ""), actor, tx.now_ms)
    if await change.lock(_LOCK_PROGRAM, program_id=found.program_id) and await change.run(
        _BEGIN, id=found.id
    ):
        try:
            await _set(change, found.program_id, found.fields or {})
        except Missing:  # of a publication that was deleted
            await change.run(_DELETE, id=found.id)
    else:
        await change.run(_DELETE, id=found.id)
    await change.run(_DELETE_DONE, id=found.id)


def shown(
    program: Program, asked: Verification, waiting: TermChange | None
) -> tuple[Program, Verification]:
    """As they are once what waits has begun, for the form."""
    columns = dict(_waiting(waiting))
    chosen = {name: columns.pop(name) for name in verification.COLUMNS if name in columns}
    if "is_verification_chosen" in chosen:
        is_all = chosen.pop("is_verification_chosen")
        chosen["origins"] = Origins.ALL if is_all else Origins.HOSTED
    return msgspec.structs.replace(program, **columns), asked._replace(**chosen)
