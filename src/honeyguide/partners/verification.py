"""What a program asks of its referrals before it pays for them: a rule, a screening level, and
how many of a new partner's count before the owner looks at them.

Its origins say for which signups that holds: for those on pages and forms of ours, or for all.
Others go by the campaign's level. A program that was made before programs had a level of their own
goes by the campaign's until its owner changes that.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel import checks
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
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.referral_states import Level

UNKNOWN = "There is no such partner program."
NEEDS_EMAIL = "This rule needs email, and no mail server is set (HONEYGUIDE_SMTP_URL)."
FIRST_LOOK = 10
"""What a program starts with that is made on the dashboard."""
MOST_FIRST_LOOK = 1_000


class Origins(StrEnum):
    """For which signups a program's rule and level hold. Stored as `is_verification_chosen`."""

    HOSTED = "hosted"
    ALL = "all"


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
ORIGINS = {
    Origins.HOSTED: Texts(
        "Our pages and forms",
        "Signups with magic links, on hosted pages and with embedded forms. What you add yourself "
        "or through the API goes by the level of your campaign.",
        "This holds for signups with magic links and on hosted pages and forms.",
    ),
    Origins.ALL: Texts(
        "All signups",
        "Also what comes through the API. An import or your email platform sends no confirmation, "
        "so referrals by these wait for you if the rule asks for one.",
        "",
    ),
}


class StoredVerification(msgspec.Struct, frozen=True):
    """Of a program. `screening` is None in a program made before it had one."""

    rule: Rule
    screening: Level | None
    is_verification_chosen: bool
    campaign_level: Level
    first_look: int | None


class Verification(NamedTuple):
    """What a program asks for, as its owner and partners see it."""

    rule: Rule
    screening: Level
    """The campaign's, if the program has none of its own."""
    origins: Origins
    first_look: int | None
    """So many verified referrals of each partner count before the owner looks; None is all."""
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
        if self.has_own_level and self.origins == Origins.HOSTED:
            sentences.append(ORIGINS[self.origins].to_partner)
        if self.first_look is not None:
            sentences.append(
                f"{first_readers(self.first_look)} of a new partner count at once; then the owner "
                "looks once before the next ones count."
            )
        return sentences


def first_readers(number: int) -> str:
    return "The first verified reader" if number == 1 else f"The first {number:,} verified readers"


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


ORIGINS_FIELD = doc(
    "For which signups the rule and the screening level hold: for those with magic links, on "
    "hosted pages and with embedded forms (`hosted`), or also for those by API (`all`). With "
    "`all`, those by import and email platform wait for the owner if the rule asks for a "
    "confirmation.",
    "all",
    label="Which signups they hold for",
    enum=list(Origins),
)


def _check_first_look(number: int, *, param: str) -> int:
    if not 1 <= number <= MOST_FIRST_LOOK:
        raise Invalid("{field} must be 1 to {most}.", param=param, most=MOST_FIRST_LOOK)
    return number


FIRST_LOOK_FIELD = doc(
    "How many verified referrals of each partner count before the owner must look at them; `null` "
    "if no look is needed.",
    FIRST_LOOK,
    label="First look",
    rule=_check_first_look,
    minimum=1,
    maximum=MOST_FIRST_LOOK,
)


class VerificationFields(msgspec.Struct, frozen=True):
    """What callers may set. UNSET leaves a field as it is."""

    rule: Annotated[str, RULE] | UnsetType = UNSET
    screening: Annotated[str, SCREENING] | UnsetType = UNSET
    origins: Annotated[str, ORIGINS_FIELD] | UnsetType = UNSET
    first_look: Annotated[int, FIRST_LOOK_FIELD] | UnsetType | None = UNSET


class VerificationRow(StoredVerification, frozen=True):
    verification_offer_ms: int | None


class OfferedProgram(NamedTuple):
    id: str
    publication_name: str


COLUMNS = ("rule", "screening", "is_verification_chosen", "first_look")
_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_OF_PROGRAM = _sql.query("of_program", VerificationRow)
_SET = _sql.command("set")
_DISMISS = _sql.command("dismiss")
_OFFERED = _sql.query("offered", OfferedProgram)


def of(stored: StoredVerification) -> Verification:
    return Verification(
        rule=stored.rule,
        screening=stored.screening or stored.campaign_level,
        origins=Origins.ALL if stored.is_verification_chosen else Origins.HOSTED,
        first_look=stored.first_look,
        has_own_level=stored.screening is not None,
    )


def effective(
    program: StoredVerification, campaign_level: str, origin: Origin
) -> tuple[Rule, Level]:
    """What one signup must meet. Nobody of the owner's own lists is asked to confirm."""
    rule = Rule.NONE if origin.is_own_list else program.rule
    if program.screening is None:
        return rule, Level(campaign_level)
    if program.is_verification_chosen or origin.is_hosted:
        return rule, program.screening
    return Rule.NONE, Level(campaign_level)


def waits_for_owner(program: StoredVerification, origin: Origin) -> bool:
    """Whether the owner's answer takes the place of a confirmation that nobody is asked for."""
    is_asked = program.is_verification_chosen and program.rule.needs_confirmation
    return is_asked and origin.is_own_list


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
    by_default = {"is_verification_chosen": False, "first_look": None}
    return {"rule": rule, "screening": level, **by_default, **checked(site, fields)}


def checked(site: Site, fields: VerificationFields) -> dict[str, Any]:
    """The columns to set. Who chooses a rule or a level and no origins means all."""
    given: dict[str, Any] = {}
    if not isinstance(fields.rule, UnsetType):
        rule = given["rule"] = Rule(checks.one_of(fields.rule, list(Rule), param="rule"))
        if rule.needs_confirmation and not site.has_mail_server:
            raise Invalid(NEEDS_EMAIL, param="rule", code="no_mail_server")
    if not isinstance(fields.screening, UnsetType):
        level = checks.one_of(fields.screening, list(Level), param="screening")
        given["screening"] = Level(level)
    if not isinstance(fields.origins, UnsetType):
        origins = checks.one_of(fields.origins, list(Origins), param="origins")
        given["is_verification_chosen"] = origins == Origins.ALL
    elif given:
        given["is_verification_chosen"] = True
    if not isinstance(fields.first_look, UnsetType):
        look = fields.first_look
        given["first_look"] = None if look is None else _check_first_look(look, param="first_look")
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


async def set_columns(change: Change, program_id: str, given: dict[str, Any]) -> None:
    """What the owner chooses, `checked`. Referrals that have come already keep what they came
    with."""
    old = await _get_locked(change, program_id)
    if old.screening is None and given.get("is_verification_chosen") is False:
        given = {"screening": old.campaign_level, **given}  # else hosted signups would go by none
    await _save(change, program_id, old, given)


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
) -> None:
    new = msgspec.structs.replace(old, **given)
    before, after = (as_stored(each, COLUMNS) for each in (old, new))
    await change.run(_SET, id=program_id, **after)
    await change_log.record(change, "program.verification_changed", program_id, before, after)


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


async def get_with_offer(at: AccountReading, program_id: str) -> tuple[Verification, bool]:
    """With whether to recommend to an older program what new ones start with."""
    found = await _get(at, program_id)
    return of(found), _is_offered(found)


async def offered(at: AccountReading, *, most: int) -> list[OfferedProgram]:
    return await at.all(_OFFERED, most=most)


async def notify_without_email(change: Change, program_id: str, publication_name: str) -> None:
    """Without a mail server, a new program cannot ask for confirmations."""
    link = f"/program/{program_id}/change"
    message = partner_texts.no_confirmations(
        program=publication_name, page=f"{change.site.base_url}{link}"
    )
    await accounts.notify_owner(change, NO_CONFIRMATIONS.name, program_id, message, link=link)
