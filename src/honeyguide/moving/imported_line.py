"""One line of an imported file, read: who it is, who referred them, and what they had in the other
tool. Nothing is looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS, iso, parse
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import ALPHABET, CODE_LENGTH
from honeyguide.moving import import_dates, own_cells, source_words
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.rewards.rewards_elsewhere import RestoredReward
from honeyguide.screening.rules import Decision
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.subscribers import codes, tags
from honeyguide.subscribers.consents import Consent
from honeyguide.subscribers.notes import ImportedNote
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import SCREENING_HOLD_DAYS, Reason
from honeyguide.subscribers.referral_states import Status

MOST_COUNTED = 1_000_000
LONGEST_ID = 255
_OURS = re.compile(f"[{ALPHABET}]{{{CODE_LENGTH}}}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,12}(?:[.,]0+)?", re.ASCII)


class LineFormat(NamedTuple):
    """How the lines of a file are read."""

    mapping: dict[str, int]
    """In which place each field is."""
    dates: DateOrder
    notes: list[tuple[str, int]]
    """The columns that are kept as a note, with their places."""


class ImportedPerson(NamedTuple):
    line: ImportLine
    email: EmailAddress
    new: NewSubscriber
    """Without a referrer: whoever that is may come later in the file."""
    tags: list[str]
    codes: list[str]
    """Those that are or may become further codes."""
    own_id: str | None
    referrer: str | None
    """A code, an email address or the other tool's ID."""
    claimed_code: str | None
    referral: Decision
    referrals: int | None
    """Verified referrals, as the file counts them."""
    adjustments: int | None
    last_reward: str | None
    note: str
    notes: list[ImportedNote]
    consents: list[Consent]
    earned: list[RestoredReward]
    findings: list[ImportFinding]


class ReadLines(NamedTuple):
    people: list[ImportedPerson]
    refused: list[tuple[ImportLine, Exception]]


def read(lines: Sequence[ImportLine], form: LineFormat, now_ms: int) -> ReadLines:
    """Those that can be imported, and those that cannot, with the reason."""
    found = ReadLines([], [])
    for line in lines:
        try:
            found.people.append(_person(line, form, now_ms))
        except Exception as error:
            found.refused.append((line, error))
    return found


def _person(line: ImportLine, form: LineFormat, now_ms: int) -> ImportedPerson:
    mapping = form.mapping

    def cell(field: str) -> str | None:
        return source_words.cell(line.cells, mapping, field)

    text = cell("email")
    if text is None:
        raise Required("email", "This line has no email address.")
    email = EmailAddress.parse(text)
    found: list[FindingKind] = []
    ref_code = cell("ref_code")
    new = NewSubscriber(
        email=email.text,
        name=source_words.full_name(line.cells, mapping),
        ip_address=cell("ip_address"),
        utm_source=cell("utm_source"),
        utm_campaign=cell("utm_campaign"),
        created_at=_created_at(cell("created_at"), form.dates, now_ms),
        origin=Origin.IMPORT,
        status=source_words.status(line.cells, mapping),
        ref_code=ref_code if ref_code and _OURS.fullmatch(ref_code) else None,
        must_confirm=source_words.says_yes(line.cells, mapping, "must_confirm"),
    )
    own_id = cell("own_id")
    claims = cell("referrer") or cell("referrer_code")
    return ImportedPerson(
        line=line,
        email=email,
        new=new,
        tags=tags.split_tags(cell("tags") or ""),
        codes=_codes([ref_code, cell("code"), cell("codes")], cell("link"), found),
        own_id=own_id[:LONGEST_ID] if own_id else None,
        referrer=claims.strip() if claims else None,
        claimed_code=cell("claimed_code"),
        referral=_referral(line.cells, mapping, new.status, now_ms, found),
        referrals=_whole(cell("referrals_count"), found, least=0),
        adjustments=_whole(cell("adjustments"), found, least=-MOST_COUNTED),
        last_reward=cell("rewards_given"),
        note=_note(line.cells, form),
        notes=own_cells.read_notes(cell("notes"), now_ms),
        consents=own_cells.read_consents(cell("consents"), now_ms),
        earned=own_cells.read_earned(cell("earned_rewards"), now_ms),
        findings=[ImportFinding(line.number, kind) for kind in dict.fromkeys(found)],
    )


def _codes(cells: list[str | None], link: str | None, found: list[FindingKind]) -> list[str]:
    """The codes in these cells, which may have several, and in the link."""
    texts = [code for cell in cells if cell for code in cell.replace(",", " ").split()]
    in_link = source_words.code_of_link(link) if link else None
    if in_link is not None:
        texts.append(in_link)
    is_unusable = link is not None and not texts
    if is_unusable or not all(codes.is_code(code) for code in texts):
        found.append(FindingKind.CODE_INVALID)
    return [code for code in dict.fromkeys(texts) if codes.is_code(code)]


def _created_at(text: str | None, dates: DateOrder, now_ms: int) -> str | None:
    return iso(import_dates.moment(text, dates, now_ms)) if text is not None else None


def _note(cells: list[str], form: LineFormat) -> str:
    """What is kept of the columns that no field of ours is for, each with its name."""
    named = [(name, cells[place]) for name, place in form.notes if place < len(cells)]
    coupon = source_words.cell(cells, form.mapping, "coupon")
    if coupon is not None:
        named.append(("Coupon", coupon))
    text = "\n".join(f"{name}: {value}" for name, value in named if value)
    return text[: checks.DESCRIPTION_LIMIT].strip()


def _referral(
    cells: list[str], mapping: dict[str, int], status: str, now_ms: int, found: list[FindingKind]
) -> Decision:
    """What the referral is, if there is one. What was decided elsewhere is not decided again."""
    word = source_words.cell(cells, mapping, "referral_status")
    try:
        given = source_words.referral_status(cells, mapping)
    except Invalid:
        found.append(FindingKind.REFERRAL_STATUS_UNKNOWN)
        given = Status.PENDING
    if given is None:
        # A line with a referrer whose status is "no" is not counted.
        given = Status.REJECTED if word else Status.VERIFIED
    is_decided = given == Status.REJECTED or (word is not None and given == Status.VERIFIED)
    if status == "unsubscribed" and not is_decided:
        return Decision(Status.REJECTED, Reason.UNSUBSCRIBED)
    reason = source_words.cell(cells, mapping, "referral_reason")
    ours = Reason(reason) if reason in _REASONS else None
    if given == Status.VERIFIED:
        return Decision(given, ours)
    if given == Status.REJECTED:
        return Decision(given, ours or Reason.IMPORTED)
    due_ms = now_ms + SCREENING_HOLD_DAYS * DAY_MS if ours is None else None
    due = source_words.cell(cells, mapping, "referral_due_at")
    if due is not None:
        due_ms = parse(due, param="referral_due_at")
    return Decision(given, ours or Reason.IMPORTED, due_ms)


_REASONS = frozenset(reason.value for reason in Reason)


def _whole(text: str | None, found: list[FindingKind], *, least: int) -> int | None:
    if text is None:
        return None
    number = int(re.split("[.,]", text)[0]) if _NUMBER.fullmatch(text) else least - 1
    if not least <= number <= MOST_COUNTED:
        found.append(FindingKind.COUNT_UNREADABLE)
        return None
    return number
