"""What a program asks of its referrals before it pays for them: a rule and a screening level.

What the owner chose holds for every signup. What a program has by default holds for signups on
pages and forms of ours; others go by the campaign's level. A program that was made before programs
had a level of their own goes by the campaign's until its owner changes that.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.fields import as_stored
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.mail import partner_texts
from honeyguide.mail.notification_kinds import NO_CONFIRMATIONS
from honeyguide.screening.rules import Rule
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import SUSPICIONS
from honeyguide.subscribers.referral_states import Level

UNKNOWN = "There is no such partner program."
NEEDS_EMAIL = "This rule needs email, and no mail server is set (HONEYGUIDE_SMTP_URL)."
HELD_DAYS = 30
# A share of fewer says nothing; of more, the newest say enough.
LEAST_ARRIVED, MOST_ARRIVED = 20, 1_000
HIGH_PERCENT = 20


class Texts(NamedTuple):
    label: str
    to_owner: str
    to_partner: str


RULES = {
    Rule.NONE: Texts(
        "None",
        "A referral counts when its holding period ends. A robot never unsubscribes, so this only "
        "delays what you pay for one.",
        "Signups need not confirm their email address, unless the newsletter asks everybody to.",
    ),
    Rule.CONFIRMED: Texts(
        "Confirmed email address",
        "A referral counts once they open the link in an email from us. Without that, it is "
        "rejected after 30 days.",
        "A signup counts once they confirm their email address, within 30 days.",
    ),
    Rule.ACTIVE: Texts(
        "Confirmed and active",
        "They must confirm and then do one more thing, such as use a button on their referral "
        "page. Without that, the referral is rejected after 30 days.",
        "A signup counts once they confirm their email address and do one more thing, such as use "
        "a button on their referral page, within 30 days.",
    ),
}
LEVELS = {
    Level.FLEXIBLE: Texts(
        "Flexible",
        "Rejects clear fraud only: the partner’s own, blocked and disposable email addresses.",
        "Only clear fraud is rejected, such as disposable email addresses.",
    ),
    Level.STRONG: Texts(
        "Strong",
        "Suspicious referrals wait for your review. What you have not decided 30 days after the "
        "holding period is rejected.",
        "Suspicious signups wait for the owner’s review, at most until 30 days after the holding "
        "period.",
    ),
    Level.STRICT: Texts(
        "Strict",
        "Suspicious referrals are rejected. You can still verify one yourself.",
        "Suspicious signups are rejected.",
    ),
}
ONLY_HOSTED = "This holds for signups with magic links and on hosted pages and forms."


class StoredVerification(msgspec.Struct, frozen=True):
    """Of a program. `screening` is None in a program made before it had one."""

    rule: Rule
    screening: Level | None
    is_verification_chosen: bool
    campaign_level: Level


class Verification(NamedTuple):
    """What a program asks for, as its owner and partners see it."""

    rule: Rule
    screening: Level
    """The campaign's, if the program has none of its own."""
    is_chosen: bool
    has_own_level: bool

    def in_short(self, hold_days: int) -> str:
        """When a referral counts: `confirmed, after 14 days`."""
        first = {Rule.NONE: "", Rule.CONFIRMED: "confirmed", Rule.ACTIVE: "confirmed and active"}[
            self.rule
        ]
        if not hold_days:
            return f"once {first}" if first else "counts at once"
        days = "1 day" if hold_days == 1 else f"{hold_days} days"
        return f"{first}, after {days}" if first else f"after {days}"

    @property
    def to_partner(self) -> list[str]:
        """What a partner should know, a sentence each."""
        sentences = [RULES[self.rule].to_partner, LEVELS[self.screening].to_partner]
        return [*sentences, ONLY_HOSTED] if self.has_own_level and not self.is_chosen else sentences


RULE = doc(
    "What a referral must do to be verified, besides the holding period: nothing (`none`), confirm "
    "the email address (`confirmed`), or confirm it and do one more thing (`active`).",
    "confirmed",
    label="Rule",
    enum=list(Rule),
)
SCREENING = doc(
    "What happens to a suspicious referral: it counts (`flexible`), it waits for the owner's "
    "review (`strong`), or it is rejected (`strict`).",
    "strong",
    label="Screening",
    enum=list(Level),
)


class VerificationFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is."""

    rule: Annotated[str, RULE] | UnsetType = UNSET
    screening: Annotated[str, SCREENING] | UnsetType = UNSET


class VerificationRow(StoredVerification, frozen=True):
    verification_offer_ms: int | None


class OfferedProgram(NamedTuple):
    id: str
    publication_name: str


class HeldShare(NamedTuple):
    """Of the newest referrals of 30 days, how many the level kept from counting."""

    arrived: int
    held: int

    @property
    def is_high(self) -> bool:
        return self.arrived >= LEAST_ARRIVED and self.held * 100 > self.arrived * HIGH_PERCENT

    @property
    def percent(self) -> int:
        return self.held * 100 // max(1, self.arrived)


class ProgramHealth(NamedTuple):
    """Live programs, over all accounts."""

    needing_email: int
    holding_many: int


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_OF_PROGRAM = _sql.query("of_program", VerificationRow)
_SET = _sql.command("set")
_CHOSEN = ("rule", "screening", "is_verification_chosen")
_DISMISS = _sql.command("dismiss")
_OFFERED = _sql.query("offered", OfferedProgram)
_COUNT_HELD = _sql.query("count_held", HeldShare)
_HEALTH = _sql.query("health", ProgramHealth)


def of(stored: StoredVerification) -> Verification:
    return Verification(
        stored.rule,
        stored.screening or stored.campaign_level,
        stored.is_verification_chosen,
        stored.screening is not None,
    )


def effective(
    program: StoredVerification, campaign_level: str, origin: Origin
) -> tuple[Rule, Level]:
    """What one signup must meet."""
    if program.screening is None:
        return program.rule, Level(campaign_level)
    if program.is_verification_chosen or origin.is_hosted:
        return program.rule, program.screening
    return Rule.NONE, Level(campaign_level)


def asks_to_confirm(program: StoredVerification, origin: Origin) -> bool:
    rule, _ = effective(program, program.campaign_level, origin)
    return rule.needs_confirmation


def has_terms(program: StoredVerification, origin: Origin) -> bool:
    """Whether the program's own settings decide about a signup. Otherwise it is decided as before
    programs had any."""
    return program.is_verification_chosen or (program.screening is not None and origin.is_hosted)


def recommended(site: Site) -> tuple[Rule, Level]:
    """What new programs start with."""
    return (Rule.CONFIRMED if site.has_mail_server else Rule.NONE), Level.STRONG


def first_columns(site: Site, fields: VerificationFields) -> dict[str, Any]:
    """Of a new program, with what its owner chose, if anything."""
    rule, level = recommended(site)
    given = checked(site, fields)
    return {
        "rule": rule,
        "screening": level,
        **given,
        "is_verification_chosen": int(bool(given)),
    }


def checked(site: Site, fields: VerificationFields) -> dict[str, str]:
    given: dict[str, str] = {}
    if not isinstance(fields.rule, UnsetType):
        rule = given["rule"] = Rule(checks.one_of(fields.rule, list(Rule), param="rule"))
        if rule.needs_confirmation and not site.has_mail_server:
            raise Invalid(NEEDS_EMAIL, param="rule", code="no_mail_server")
    if not isinstance(fields.screening, UnsetType):
        level = checks.one_of(fields.screening, list(Level), param="screening")
        given["screening"] = Level(level)
    return given


async def get(at: AccountReading, program_id: str) -> Verification:
    return of(await _get(at, program_id))


async def _get(at: AccountReading, program_id: str) -> VerificationRow:
    found = None
    if is_id(program_id):
        found = await at.one(_OF_PROGRAM, id=program_id)
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def _get_locked(change: Change, program_id: str) -> VerificationRow:
    if not is_id(program_id) or not await change.lock(_LOCK, id=program_id):
        raise Missing(UNKNOWN)
    return await _get(change, program_id)


async def set_verification(
    change: Change, program_id: str, fields: VerificationFields
) -> Verification:
    """What the owner chooses. From then on it holds for every origin; referrals that have come
    already keep what they came with."""
    given = checked(change.site, fields)
    old = await _get_locked(change, program_id)
    if not given:
        return of(old)
    return await _save(change, program_id, old, {**given, "is_verification_chosen": True})


async def use_recommended(change: Change, program_id: str) -> bool:
    """What new programs start with, for an older one. False if that is not open any more."""
    old = await _get_locked(change, program_id)
    if not _is_offered(old):
        return False
    rule, level = recommended(change.site)
    await _save(change, program_id, old, {"rule": rule, "screening": level})
    return True


async def _save(
    change: Change, program_id: str, old: VerificationRow, given: dict[str, Any]
) -> Verification:
    new = msgspec.structs.replace(old, **given)
    before, after = (as_stored(each, _CHOSEN) for each in (old, new))
    await change.run(_SET, id=program_id, **after)
    await change_log.record(change, "program.verification_changed", program_id, before, after)
    return of(new)


def _is_offered(stored: VerificationRow) -> bool:
    has_kept = stored.verification_offer_ms is not None or stored.is_verification_chosen
    return stored.screening is None and not has_kept


async def keep_own(change: Change, program_id: str) -> bool:
    """An older program stays as it is; the recommendation is not shown again. False if that is not
    open any more."""
    if not _is_offered(await _get_locked(change, program_id)):
        return False
    await change.run(_DISMISS, id=program_id)
    await change_log.record(
        change, "program.verification_kept", program_id, {"is_kept": False}, {"is_kept": True}
    )
    return True


async def is_offered(at: AccountReading, program_id: str) -> bool:
    """Whether to recommend to an older program what new ones start with."""
    return _is_offered(await _get(at, program_id))


async def offered(at: AccountReading, *, most: int) -> list[OfferedProgram]:
    return await at.all(_OFFERED, most=most)


async def count_held(tx: Tx, account_id: str, program_id: str, *, now_ms: int) -> HeldShare:
    found = await tx.one(
        _COUNT_HELD,
        account_id=account_id,
        program_id=program_id,
        since_ms=now_ms - HELD_DAYS * DAY_MS,
        most=MOST_ARRIVED,
        reasons=[*SUSPICIONS, "unreviewed"],
    )
    assert found is not None  # it only counts
    return found


async def health(tx: Tx) -> ProgramHealth:
    """For the check of the whole installation. What levels hold is as of the last daily count."""
    found = await tx.one(_HEALTH, least=LEAST_ARRIVED, percent=HIGH_PERCENT)
    assert found is not None  # it only counts
    return found


async def notify_without_email(change: Change, program_id: str, publication_name: str) -> None:
    """Without a mail server, a new program cannot ask for confirmations."""
    link = f"/program/{program_id}/change"
    message = partner_texts.no_confirmations(
        program=publication_name, page=f"{change.site.base_url}{link}"
    )
    await accounts.notify_owner(change, NO_CONFIRMATIONS.name, program_id, message, link=link)
