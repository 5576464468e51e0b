"""One line of an imported file, read: who it is, who referred them, and what they had in the other
tool. Nothing is looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import AHEAD_MS, DAY_MS, parse
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import ALPHABET, CODE_LENGTH
from honeyguide.moving import import_columns, link_codes
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.import_files import ImportLine
from honeyguide.referrals import codes, tags
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.referrals.origins import Origin
from honeyguide.referrals.reasons import SCREENING_HOLD_DAYS, Reason
from honeyguide.referrals.rules import Decision, Status

MOST_COUNTED = 1_000_000
LONGEST_ID = 255
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SPACED = re.compile(
    r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)(\.\d{1,9})?( ?UTC|Z)?", re.ASCII
)
_OURS = re.compile(f"[{ALPHABET}]{{{CODE_LENGTH}}}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,12}(?:[.,]0+)?", re.ASCII)


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
    findings: list[ImportFinding]


class ReadLines(NamedTuple):
    people: list[ImportedPerson]
    refused: list[tuple[ImportLine, Exception]]


def read(lines: Sequence[ImportLine], mapping: dict[str, int], now_ms: int) -> ReadLines:
    """Those that can be imported, and those that cannot, with the reason."""
    found = ReadLines([], [])
    for line in lines:
        try:
            found.people.append(_person(line, mapping, now_ms))
        except Exception as error:
            found.refused.append((line, error))
    return found


def moment(text: str | None, now_ms: int) -> str | None:
    """Dates as tools write them; what the API takes is taken too."""
    if text is None:
        return None
    text = _timestamp(text)
    if parse(text, param="created_at") > now_ms + AHEAD_MS:
        raise Invalid("{field} is in the future.", param="created_at")
    return text


def _timestamp(text: str) -> str:
    if _DAY.fullmatch(text):
        return f"{text}T00:00:00Z"
    spaced = _SPACED.fullmatch(text)
    if spaced is None:
        return text
    clock = spaced[2] if len(spaced[2]) == 8 else f"{spaced[2]}:00"
    return f"{spaced[1]}T{clock}{spaced[3] or ''}Z"


def _person(line: ImportLine, mapping: dict[str, int], now_ms: int) -> ImportedPerson:
    def cell(field: str) -> str | None:
        return import_columns.cell(line.cells, mapping, field)

    text = cell("email")
    if text is None:
        raise Required("email", "This line has no email address.")
    email = EmailAddress.parse(text)
    found: list[FindingKind] = []
    ref_code = cell("ref_code")
    new = NewSubscriber(
        email=email.text,
        name=import_columns.name(line.cells, mapping),
        ip_address=cell("ip_address"),
        utm_source=cell("utm_source"),
        utm_campaign=cell("utm_campaign"),
        created_at=moment(cell("created_at"), now_ms),
        origin=Origin.IMPORT,
        status=import_columns.status(line.cells, mapping),
        ref_code=ref_code if ref_code and _OURS.fullmatch(ref_code) else None,
        must_confirm=import_columns.says_yes(line.cells, mapping, "must_confirm"),
    )
    own_id = cell("own_id")
    claims = cell("referrer") or cell("referrer_code")
    return ImportedPerson(
        line=line,
        email=email,
        new=new,
        tags=tags.split_tags(cell("tags") or ""),
        codes=_codes([ref_code, cell("code")], cell("link"), found),
        own_id=own_id[:LONGEST_ID] if own_id else None,
        referrer=claims.strip() if claims else None,
        claimed_code=cell("claimed_code"),
        referral=_referral(cell, new.status, now_ms, found),
        referrals=_whole(cell("referrals_count"), found, least=0),
        adjustments=_whole(cell("adjustments"), found, least=-MOST_COUNTED),
        last_reward=cell("rewards_given"),
        findings=[ImportFinding(line.number, kind) for kind in dict.fromkeys(found)],
    )


def _codes(cells: list[str | None], link: str | None, found: list[FindingKind]) -> list[str]:
    """The codes in these cells, which may have several, and in the link."""
    texts = [code for cell in cells if cell for code in cell.replace(",", " ").split()]
    if link and (in_link := link_codes.code_in(link)):
        texts.append(in_link)
    if not all(codes.is_code(code) for code in texts):
        found.append(FindingKind.CODE_INVALID)
    return [code for code in dict.fromkeys(texts) if codes.is_code(code)]


def _referral(
    cell: import_columns.Cell, status: str, now_ms: int, found: list[FindingKind]
) -> Decision:
    """What the referral is, if there is one. What was decided elsewhere is not decided again."""
    word, reason = cell("referral_status"), cell("referral_reason")
    given = import_columns.referral_status(word) if word else Status.VERIFIED
    if given is None:
        found.append(FindingKind.REFERRAL_STATUS_UNKNOWN)
        given = Status.PENDING
    if status == "unsubscribed" and (word is None or given == Status.PENDING):
        return Decision(Status.REJECTED, Reason.UNSUBSCRIBED)
    ours = Reason(reason) if reason in _REASONS else None
    if given == Status.VERIFIED:
        return Decision(given, ours)
    if given == Status.REJECTED:
        return Decision(given, ours or Reason.IMPORTED)
    due_ms = now_ms + SCREENING_HOLD_DAYS * DAY_MS if ours is None else None
    if (due := cell("referral_due_at")) is not None:
        due_ms = parse(_timestamp(due), param="referral_due_at")
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
