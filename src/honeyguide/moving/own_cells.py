"""Cells of our own export that hold several things of one subscriber: notes, consents and earned
rewards, each as a JSON list. Pure. Only an export of ours has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.clock import iso, parse_past
from honeyguide.kernel.errors import Invalid
from honeyguide.rewards import earned_rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards_elsewhere import RestoredReward
from honeyguide.subscribers import consents, notes
from honeyguide.subscribers.branding import CONSENT_LIMIT
from honeyguide.subscribers.consents import Consent
from honeyguide.subscribers.notes import ImportedNote, SubscriberNote

MOST_CONSENTS = 1_000
MOST_REWARDS = 10_000
MOST_TIMES = 1_000_000


class NoteCell(msgspec.Struct, frozen=True):
    text: str
    written_at: str


class ConsentCell(msgspec.Struct, frozen=True):
    text: str
    agreed_at: str
    privacy_url: str | None = None


class EarnedRewardCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reward is known by its name and the referrals that it takes: its id is another one
    elsewhere."""

    name: str
    referrals: int
    status: str
    earned_at: str
    multiple: int = 1
    coupon_code: str | None = None
    unlocked_at: str | None = None
    redeemed_at: str | None = None
    redeemed_by: str | None = None


T = TypeVar("T", NoteCell, ConsentCell, EarnedRewardCell)


def of_notes(found: Sequence[SubscriberNote]) -> str:
    return _cell([NoteCell(each.text, iso(each.written_ms)) for each in found])


def of_consents(found: Sequence[Consent]) -> str:
    return _cell([ConsentCell(each.text, iso(each.agreed_ms), each.privacy_url) for each in found])


def of_earned(found: Sequence[EarnedReward]) -> str:
    return _cell(
        [
            EarnedRewardCell(
                each.name,
                each.referrals,
                each.status,
                iso(each.earned_ms),
                multiple=each.multiple,
                coupon_code=each.coupon_code,
                unlocked_at=_at(each.unlocked_ms),
                redeemed_at=_at(each.redeemed_ms),
                redeemed_by=each.redeemed_by,
            )
            for each in found
        ]
    )


def _cell(found: Sequence[NoteCell | ConsentCell | EarnedRewardCell]) -> str:
    return msgspec.json.encode(found).decode() if found else ""


def _at(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


def read_notes(cell: str | None, now_ms: int) -> list[ImportedNote]:
    """A cell of another tool, which is no list, is one note."""
    if cell is None:
        return []
    if not cell.startswith('[{"'):
        return [ImportedNote(cell[: checks.DESCRIPTION_LIMIT].strip())]
    found = []
    for each in _read(cell, NoteCell, "notes", notes.MOST):
        checks.text(each.text, param="notes", limit=checks.DESCRIPTION_LIMIT, blank_ok=False)
        found.append(ImportedNote(each.text, _ms(each.written_at, "notes", now_ms)))
    return found


def read_consents(cell: str | None, now_ms: int) -> list[Consent]:
    found = []
    for each in _read(cell, ConsentCell, "consents", MOST_CONSENTS):
        checks.text(each.text, param="consents", limit=CONSENT_LIMIT, blank_ok=False)
        if each.privacy_url is not None:
            checks.http_url(each.privacy_url, param="consents")
        agreed_ms = _ms(each.agreed_at, "consents", now_ms)
        found.append(consents.Consent(each.text, each.privacy_url, agreed_ms))
    return found


def read_earned(cell: str | None, now_ms: int) -> list[RestoredReward]:
    found = []
    for each in _read(cell, EarnedRewardCell, "earned_rewards", MOST_REWARDS):
        checks.one_of(each.status, earned_rewards.EARNED_STATUSES, param="earned_rewards")
        for text in (each.name, each.coupon_code, each.redeemed_by):
            checks.text(text or "", param="earned_rewards", limit=checks.NAME_LIMIT)
        if not (0 < each.multiple <= MOST_TIMES and 0 < each.referrals <= MOST_TIMES):
            raise _unreadable("earned_rewards")
        unlocked_ms, redeemed_ms = (
            None if at is None else _ms(at, "earned_rewards", now_ms)
            for at in (each.unlocked_at, each.redeemed_at)
        )
        found.append(
            RestoredReward(
                name=each.name,
                referrals=each.referrals,
                multiple=each.multiple,
                status=each.status,
                coupon_code=each.coupon_code,
                earned_ms=_ms(each.earned_at, "earned_rewards", now_ms),
                unlocked_ms=unlocked_ms,
                redeemed_ms=redeemed_ms,
                redeemed_by=each.redeemed_by,
            )
        )
    return found


def _read(cell: str | None, kind: type[T], param: str, most: int) -> list[T]:
    if cell is None:
        return []
    try:
        found = msgspec.json.decode(cell, type=list[kind])  # type: ignore[valid-type]
    except (msgspec.DecodeError, RecursionError):
        raise _unreadable(param) from None
    if len(found) > most:
        raise _unreadable(param)
    return found


def _ms(text: str, param: str, now_ms: int) -> int:
    return parse_past(text, param=param, now_ms=now_ms)


def _unreadable(param: str) -> Invalid:
    return Invalid(
        "We can’t read {field}. Write it as our export does, or leave it empty.", param=param
    )
