"""The owner's look at who comes through a partner: when a card asks for it, what each answer does,
and what happens if nobody answers.

An answer waits a minute like other decisions (`delayed_kinds`). Who waits is then due at once, and
the job that verifies referrals goes on with them, within what is allowed (`screening.look_claims`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import notifications, partner_texts
from honeyguide.mail.email_kinds import LOOK_AWAITED
from honeyguide.mail.notification_kinds import FIRST_LOOK
from honeyguide.partners import ledger, partner_emails
from honeyguide.partners.budget_notifications import PartnerOf
from honeyguide.screening import look_cohorts, trait_groups
from honeyguide.screening.look_cohorts import CohortReader, Comparison
from honeyguide.signups import look_readers
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The jobs.
ASKING = "ask owners to look at new partners"
REFUSING = "refuse readers of a first look"
NEXT, LATER = 100, 1_000
"""How many more count after the first “Looks right”, and after each one later."""
POSTPONED_DAYS = 7
REMINDER_DAYS = (7, 3, 1)
PAUSE_DAYS, BUSY_PAUSE_DAYS, BUSY_WAITING = 7, 3, 50
STALE_DAYS = 182
"""So long after a look the owner is asked again."""
NEWEST = 50
"""So many are compared with those who looked right."""
UNKNOWN = "This partner does not wait for a look."
BOTH_SIDES = (
    "Somebody is a member of your account and of this partner’s, so an owner who is not in both "
    "decides about its readers."
)


class FirstLook(NamedTuple):
    """A card, or what became of it. The id is that of the partner's first partner campaign."""

    id: str
    account_id: str
    campaign_id: str
    program_id: str
    publication_name: str
    logo_id: str
    allowed: int
    counted: int
    looks: int
    asked_ms: int | None
    postponed_ms: int | None
    reminded: int
    paused_ms: int | None
    looked_ms: int | None
    looked_by: str | None
    refused_ms: int | None
    approved: str | None
    met: int
    """Pending referrals that have met the rule, those that wait for the look included."""
    waiting: int
    pending: int
    pending_cents: int
    charged: int
    """In open months."""
    charged_cents: int
    first_hold_ms: int | None
    last_day_ms: int | None
    """When the last of those who wait goes unpaid."""

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def may_postpone(self) -> bool:
        return self.postponed_ms is None

    @property
    def third_button(self) -> str:
        """What refusing them does."""
        back = f"take back {money.show(self.charged_cents)}"
        if self.pending and self.charged:
            return f"Reject {self.pending:,}, {back}"
        if self.pending:
            return f"Reject {self.pending:,}"
        return back.capitalize() if self.charged else ""


class LookToAsk(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    program_id: str
    first_look: int

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_LOOKS = _sql.query("looks", FirstLook)
_LOCK = _sql.value("lock", str)
_TO_ASK = _sql.query("to_ask", LookToAsk)
_ASK = _sql.command("ask")
_TO_COMPARE = _sql.query("to_compare", LookToAsk)
_COMPARED = _sql.command("compared")
_ASK_AGAIN = _sql.command("ask_again")
_TO_REMIND = _sql.query("to_remind", LookToAsk)
_REMIND = _sql.command("remind")
_TO_PAUSE = _sql.query("to_pause", LookToAsk)
_PAUSE = _sql.command("pause")
_APPROVE = _sql.command("approve")
_GO_ON = _sql.command("go_on")
_POSTPONE = _sql.command("postpone")
_REFUSE = _sql.command("refuse")
_PARTNERS = _sql.query("partners", PartnerOf)
_ON_BOTH_SIDES = _sql.value("on_both_sides", int)
_REFERRED_BY_OWN = _sql.value("referred_by_own", int)
_GROUP_OF_OWN = _sql.value("group_of_own", int)


async def find_many(at: Reading, ids: Sequence[str]) -> dict[str, FirstLook]:
    found = await _find(at, list(ids))
    return {each.id: each for each in found}


async def _find(at: Reading, ids: list[str], *, every: bool = False) -> list[FirstLook]:
    """`every` finds all of the account."""
    closed = await ledger.last_closed(at.tx)
    return await at.all(_LOOKS, ids=ids, every=int(every), last_closed=closed)


async def of_account(at: Reading) -> tuple[list[FirstLook], list[FirstLook]]:
    """The cards, oldest first, and what was looked at, newest first."""
    found = await _find(at, [], every=True)
    asked = [each for each in found if each.asked_ms is not None and each.asked_ms <= at.now_ms]
    done = [each for each in found if each not in asked and each.looked_ms is not None]
    return (
        sorted(asked, key=lambda each: (each.asked_ms or 0, each.id)),
        sorted(done, key=lambda each: (-(each.looked_ms or 0), each.id)),
    )


async def get_locked(change: Change, look_id: str) -> FirstLook:
    """For whoever decides it."""
    await change.lock(_LOCK, id=look_id)
    found = await find_many(change, [look_id])
    if look_id not in found:
        raise Missing(UNKNOWN)
    return found[look_id]


def check_asked(look: FirstLook) -> None:
    if look.asked_ms is None:
        raise Invalid(UNKNOWN, code="not_asked")


async def check_side(at: Change, look_id: str) -> None:
    """Where somebody is a member on both sides, only an owner who is not decides between them."""
    _refuse_if(await at.one(_ON_BOTH_SIDES, id=look_id, user_id=at.actor.id))


async def check_sides(at: Change, subscriber_ids: Sequence[str]) -> None:
    """Nor about single referrals that a partner is paid for."""
    found = await at.one(_REFERRED_BY_OWN, ids=list(subscriber_ids), user_id=at.actor.id)
    _refuse_if(found)


async def check_side_of_group(at: Change, group_id: str) -> None:
    _refuse_if(await at.one(_GROUP_OF_OWN, id=group_id, user_id=at.actor.id))


def _refuse_if(is_on_both_sides: int | None) -> None:
    if is_on_both_sides:
        raise Invalid(BOTH_SIDES, code="member_of_both")


async def compare(at: Reading, look: FirstLook) -> list[Comparison]:
    """With those who looked right if the owner looked before, else with the newsletter's own."""
    if look.approved:
        newest = await look_readers.of(at, look.id, most=NEWEST)
        return look_cohorts.compare(newest, await _approved(at, look))
    return await look_readers.compare_with_own(at, look.id)


async def _approved(at: Reading, look: FirstLook) -> list[CohortReader]:
    """By then, DNS may not have said where their email is received."""
    approved = msgspec.json.decode(look.approved or "[]", type=list[CohortReader])
    return await look_readers.with_hosts(at, approved)


# -- the answers


async def approve(change: Change, look: FirstLook, *, met: int | None = None) -> None:
    """Who waits counts, and so many more. `met` is how many the owner saw who have met the rule.
    Groups of these readers look right too."""
    readers = look_readers.unnamed(await look_readers.of(change, look.id))
    more = NEXT if look.looks == 0 else LATER
    await change.run(
        _APPROVE,
        id=look.id,
        allowed=look.counted + (look.met if met is None else met) + more,
        looked_by=change.actor.id,
        approved=msgspec.json.encode(readers).decode(),
    )
    await change.run(_GO_ON, look_id=look.id)
    for group in (await trait_groups.of_parts(change, [look.id]))[look.id]:
        await trait_groups.approve(change, await trait_groups.get_locked(change, group.id))
    await _log(change, look, {"looks": look.looks + 1})
    if look.paused_ms is not None:
        await _tell_partner(change, look, is_paused=False)


async def postpone(change: Change, look_id: str) -> FirstLook:
    """Ask again in a week. It works once."""
    look = await get_locked(change, look_id)
    check_asked(look)
    if not look.may_postpone:
        raise Invalid("You have put this look off already.", code="already_postponed")
    again_ms = change.now_ms + POSTPONED_DAYS * DAY_MS
    await change.run(_POSTPONE, id=look.id, asked_ms=again_ms)
    await _log(change, look, {"postponed_ms": change.now_ms})
    return look


async def refuse(change: Change, look: FirstLook) -> None:
    """A job rejects those who are pending and takes back what was paid for the others."""
    await change.run(_REFUSE, id=look.id, looked_by=change.actor.id)
    await _log(change, look, {"refused_ms": change.now_ms})


async def _log(change: Change, look: FirstLook, after: dict[str, Any]) -> None:
    before = {name: getattr(look, name) for name in after}
    await change_log.record(change, "first_look.answered", look.id, before, after)


# -- what happens by itself


async def to_ask(tx: Tx, *, most: int) -> list[LookToAsk]:
    """Partners whose readers are to be looked at: they have brought what counts without, somebody
    waits, or it is long since they were looked at."""
    stale_ms = tx.now_ms - STALE_DAYS * DAY_MS
    return await tx.all(_TO_ASK, stale_ms=stale_ms, most=most)


async def ask(change: Change, found: LookToAsk) -> None:
    key: dict[str, Any] = {"id": found.id, "program_id": found.program_id}
    if await change.run(_ASK, **key, first_look=found.first_look):
        await _tell_owner(change, found, day=0)


async def to_compare(tx: Tx, *, most: int) -> list[LookToAsk]:
    """Partners who were looked at and brought somebody since they were compared."""
    return await tx.all(_TO_COMPARE, most=most)


async def compare_again(change: Change, found: LookToAsk) -> None:
    """Asks once more if the newest differ from those who looked right; until then nobody counts."""
    look = await get_locked(change, found.id)
    newest = await look_readers.of(change, look.id, most=NEWEST)
    since = [each for each in newest if each.arrived_ms > (look.looked_ms or 0)]
    await change.run(_COMPARED, id=look.id)
    is_new = look.asked_ms is None and len(since) == NEWEST
    if is_new and look_cohorts.drifted(since, await _approved(change, look)):
        await change.run(_ASK_AGAIN, id=look.id)
        await _tell_owner(change, found, day=0)


async def to_remind(tx: Tx, *, most: int) -> list[LookToAsk]:
    days: dict[str, Any] = {f"day_{day}_ms": tx.now_ms - day * DAY_MS for day in REMINDER_DAYS}
    return await tx.all(_TO_REMIND, **days, most=most)


async def remind(change: Change, found: LookToAsk) -> None:
    look = await get_locked(change, found.id)
    if look.asked_ms is None:
        return
    age_ms = change.now_ms - look.asked_ms
    day = next((day for day in REMINDER_DAYS if age_ms >= day * DAY_MS), 0)
    if day > look.reminded:
        await change.run(_REMIND, id=look.id, day=day)
        await _tell_owner(change, found, day=day)


async def to_pause(tx: Tx, *, most: int) -> list[LookToAsk]:
    return await tx.all(
        _TO_PAUSE,
        pause_ms=tx.now_ms - PAUSE_DAYS * DAY_MS,
        busy_ms=tx.now_ms - BUSY_PAUSE_DAYS * DAY_MS,
        busy=BUSY_WAITING,
        most=most,
    )


async def pause(change: Change, found: LookToAsk) -> None:
    """New readers of the partner do not count until the owner has looked."""
    look = await get_locked(change, found.id)
    if await change.run(_PAUSE, id=found.id):
        await _tell_partner(change, look, is_paused=True)


async def _tell_owner(change: Change, found: LookToAsk, *, day: int) -> None:
    look = (await find_many(change, [found.id]))[found.id]
    message = partner_texts.look_asked(
        program=look.publication_name,
        day=day,
        waiting=look.waiting,
        page=f"{change.site.base_url}/review/looks",
    )
    cause = f"{found.id}:{look.asked_ms}:{day}"
    await accounts.notify_owner(change, FIRST_LOOK.name, cause, message, link="/review/looks")


async def _tell_partner(change: Change, look: FirstLook, *, is_paused: bool) -> None:
    brand = await partner_emails.branding_of(change, look.publication_name, look.logo_id)
    for partner in await change.all(_PARTNERS, look_id=look.id):
        message = partner_texts.look_awaited(
            program=look.publication_name,
            is_paused=is_paused,
            page=f"{change.site.base_url}/earnings/{partner.id}",
        )
        once = f"{LOOK_AWAITED.name}:{partner.id}:{look.asked_ms}:{int(is_paused)}"
        notification = partner.notification(LOOK_AWAITED.name, once, message, brand=brand)
        await notifications.notify(change.tx, change.site.base_url, notification)
