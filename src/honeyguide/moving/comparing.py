"""One line of an imported file compared with what is here. Pure: it is given all it needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from honeyguide.kernel import actors
from honeyguide.moving import counts, given_rewards
from honeyguide.moving.certificate import CheckKind, Tally
from honeyguide.moving.counts import Counted
from honeyguide.moving.findings import FindingKind
from honeyguide.moving.imported_line import ImportedPerson
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import Reward
from honeyguide.subscribers.referral_states import Status, toward_rewards

# The import has reported why the referrer is another one.
_REFERRER_EXPLAINED = frozenset(
    {
        FindingKind.REFERRER_UNKNOWN,
        FindingKind.REFERRER_IS_SELF,
        FindingKind.LOOP,
        FindingKind.OTHER_REFERRER,
    }
)


class PersonHere(NamedTuple):
    """A subscriber of the file, as they are now."""

    id: str
    email_key: str
    created_ms: int
    status: str
    referrer_id: str | None
    referral_status: str
    verified: int
    adjustments: int
    left_program_ms: int | None
    messages: int
    """Emails and events about them while the import ran, if it added them."""

    @property
    def progress(self) -> int:
        return toward_rewards(self.verified, self.adjustments)


class LineFacts(NamedTuple):
    """What was looked up for one line."""

    reported: Collection[FindingKind]
    """By the import."""
    named_id: str | None
    """Whom the line names as the referrer."""
    links: Sequence[tuple[str, str | None]]
    """Each form of their links, and to whom it leads."""
    offered: Sequence[Reward]
    """Rewards that there were when the import ended."""
    earned: Sequence[EarnedReward]
    began_ms: int
    is_first: bool
    """Of the lines with this address: of the others, only links and counts are compared."""


def compare(
    tally: Tally, person: ImportedPerson, here: PersonHere | None, facts: LineFacts
) -> None:
    line = person.line.number
    if here is None:
        tally.note(CheckKind.PERSON_MISSING, line)
        return
    tally.subscribers += 1
    _compare_links(tally, line, here, facts)
    _compare_count(tally, person, here, facts)
    if not facts.is_first:
        return
    _compare_referral(tally, person, here, facts)
    _compare_rewards(tally, person, here, facts)
    if person.new.status == "unsubscribed" and here.status != "unsubscribed":
        tally.note(CheckKind.STATUS_DIFFERS, line)
    tally.messages += here.messages
    if here.messages:
        tally.note(CheckKind.MESSAGE_SENT, line)


def _compare_links(tally: Tally, line: int, here: PersonHere, facts: LineFacts) -> None:
    is_reported = FindingKind.DUPLICATE_CODE in facts.reported
    wrong = set[CheckKind]()
    for form, leads_to in facts.links:
        is_right = leads_to == here.id
        # Somebody who left the program is found by a link, and credited with nobody.
        has_left = leads_to is None and here.left_program_ms is not None
        is_explained = has_left or (is_reported and leads_to is not None)
        tally.link(form, is_right=is_right, is_explained=is_explained)
        if not is_right and not is_explained:
            wrong.add(
                CheckKind.LINK_LEADS_NOWHERE if leads_to is None else CheckKind.LINK_LEADS_ELSEWHERE
            )
    for kind in sorted(wrong):
        tally.note(kind, line)


def _compare_referral(
    tally: Tally, person: ImportedPerson, here: PersonHere, facts: LineFacts
) -> None:
    if person.referrer is None:
        return
    # A referrer who cannot be found by what the line says was erased, if there still is one here.
    is_same = here.referrer_id is not None and facts.named_id in (None, here.referrer_id)
    tally.referrals.add(1, int(is_same))
    if _REFERRER_EXPLAINED & set(facts.reported):
        return
    if not is_same:
        tally.note(CheckKind.REFERRER_DIFFERS, person.line.number)
    elif person.referral.status not in (Status.PENDING, here.referral_status):
        # What was pending there is decided here.
        tally.note(CheckKind.REFERRAL_STATUS_DIFFERS, person.line.number)


def _compare_count(
    tally: Tally, person: ImportedPerson, here: PersonHere, facts: LineFacts
) -> None:
    if person.referrals is None and person.adjustments is None:
        return
    counted = Counted(
        here.id, here.email_key, here.created_ms, here.verified, here.adjustments, here.referrer_id
    )
    before = (here.verified if person.referrals is None else person.referrals) + (
        person.adjustments or 0
    )
    now = here.verified + here.adjustments
    if facts.is_first:
        tally.counts.add(before, now)
    if counts.missing(counted, person.referrals, person.adjustments) > 0:
        tally.note(CheckKind.COUNT_DIFFERS, person.line.number)
    elif facts.is_first and now > before and FindingKind.COUNT_LOWER not in facts.reported:
        tally.note(CheckKind.COUNT_HIGHER, person.line.number)


def _compare_rewards(
    tally: Tally, person: ImportedPerson, here: PersonHere, facts: LineFacts
) -> None:
    """What somebody has reached, or got in the other tool, they have here once."""
    named = given_rewards.up_to(facts.offered, person.last_reward) if person.last_reward else None
    got = {reward.id: 1 for reward in named or ()}
    for each in person.earned:
        if reward := given_rewards.find(facts.offered, each):
            got[reward.id] = max(got.get(reward.id, 0), each.multiple)
    for reward in facts.offered:
        rows = [each for each in facts.earned if each.reward_id == reward.id]
        times = max(reward.times_reached(here.progress), got.get(reward.id, 0))
        have = max((each.multiple for each in rows), default=0)
        tally.rewards.add(times, min(times, have))
        if have < times:
            tally.note(CheckKind.REWARD_LOST, person.line.number)
        elif _is_doubled(reward, rows, facts.began_ms):
            tally.note(CheckKind.REWARD_DOUBLED, person.line.number)


def _is_doubled(reward: Reward, rows: Sequence[EarnedReward], began_ms: int) -> bool:
    """Whether something was given here that was marked as given elsewhere. Only the last multiple
    is marked, and means those before it too."""
    if not reward.recurring:
        return len(rows) > 1
    marked = [each.multiple for each in rows if each.redeemed_by == actors.IMPORT]
    return any(
        each.redeemed_by != actors.IMPORT
        and each.earned_ms >= began_ms
        and each.multiple <= max(marked)
        for each in rows
        if marked
    )
