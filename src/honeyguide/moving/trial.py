"""A dry run: what an import would do, found part by part without a write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from honeyguide.moving import found_things, given_rewards, imported_line, people, referrers
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.found_things import FoundKind
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import ImportedPerson, LineFormat
from honeyguide.moving.referrers import LockedSubscriber
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.store.change import Change
from honeyguide.subscribers import codes
from honeyguide.subscribers.referral_states import Status

# Referrers that are looked for at once, after all lines, and counts that are compared at once.
BATCH = 500
COUNTS = 5_000
MOST_KEPT = 1_000
# Of referrers of referrers, when a loop is looked for.
LONGEST_CHAIN = 100


class _Claim(NamedTuple):
    line: int
    key: str
    """Of the subscriber's email address."""
    referrer: str
    is_verified: bool
    """Whether it would become a verified referral: they have no referrer yet."""


class _ClaimedCount(NamedTuple):
    line: int
    referrals: int | None
    verified: int
    """Those that they have here already."""


class Trial:
    """First every part (`add`), then every batch of referrers and counts (`check_referrers`)."""

    def __init__(self, form: LineFormat) -> None:
        self.added = 0
        self.skipped = 0
        self.refused: list[tuple[ImportLine, Exception]] = []
        self.findings: list[ImportFinding] = []
        """The first of them."""
        self.counted: Counter[FindingKind] = Counter()
        self.found: Counter[FoundKind] = Counter()
        """What the lines have."""
        self._form = form
        self._keys: set[str] = set()
        """Of everybody in the file."""
        self._codes: dict[str, str] = {}
        self._folded: dict[str, set[str]] = {}
        self._own_ids: dict[str, str] = {}
        self._claims: list[_Claim] = []
        self._referrers: dict[str, str] = {}
        """The referrers and referred subscribers of the file, as it would connect them."""
        self._counts: dict[str, _ClaimedCount] = {}
        """What the file counts, of those in it."""
        self._verified: Counter[str] = Counter()
        """Referrals that would be added to those in the file."""
        self._keys_by_id: dict[str, str] = {}
        """Of those in the file who are here."""

    async def add(self, change: Change, lines: Sequence[ImportLine]) -> None:
        read = imported_line.read(lines, self._form, change.now_ms)
        self.refused += read.refused
        ids = await people.find(change, [person.email.key for person in read.people])
        known = {each.email_key: each for each in await referrers.look_at(change, ids.values())}
        in_lines = {code for person in read.people for code in person.codes}
        held = await codes.taken(change, in_lines) if in_lines else {}
        offered = await change.fact(rewards.of_campaign)
        for person in read.people:
            key = person.email.key
            is_here = key in ids or key in self._keys
            self.added, self.skipped = self.added + (not is_here), self.skipped + is_here
            self._keys.add(key)
            here = known.get(key)
            self._look_at(person, here, held)
            self._look_at_counts(person, here, offered)

    def _look_at(
        self, person: ImportedPerson, here: LockedSubscriber | None, held: dict[str, str]
    ) -> None:
        line, key = person.line.number, person.email.key
        self.found.update(found_things.kinds_of(person))
        found = [each.kind for each in person.findings]
        for code in person.codes:
            is_taken = code in held and (here is None or held[code] != here.id)
            if is_taken or self._codes.setdefault(code, key) != key:
                found.append(FindingKind.DUPLICATE_CODE)
            else:
                self._folded.setdefault(code.lower(), set()).add(key)
        if person.own_id and self._own_ids.setdefault(person.own_id, key) != key:
            found.append(FindingKind.DUPLICATE_ID)
        self._note(line, found)
        if person.referrer:
            is_verified = person.referral.status == Status.VERIFIED
            is_new = here is None or here.referrer_code is None
            self._claims.append(_Claim(line, key, person.referrer, is_verified and is_new))

    def _look_at_counts(
        self, person: ImportedPerson, here: LockedSubscriber | None, offered: Sequence[Reward]
    ) -> None:
        line, key, last = person.line.number, person.email.key, person.last_reward
        if here is not None:
            self._keys_by_id[here.id] = key
        if any(given_rewards.find(offered, each) is None for each in person.earned):
            self._note(line, [FindingKind.REWARD_UNKNOWN])
        counts = person.referrals is not None or person.adjustments is not None or last
        if not counts or key in self._counts:
            return  # an earlier line has said it
        self._counts[key] = _ClaimedCount(line, person.referrals, here.verified if here else 0)
        if last and offered and given_rewards.up_to(offered, last) is None:
            self._note(line, [FindingKind.REWARD_UNKNOWN])

    async def check_referrers(self, change: Change) -> bool:
        """The next batch of referrers or, after them, of counts. False if there is none."""
        if not self._claims:
            return self._check_counts()
        batch, self._claims = self._claims[:BATCH], self._claims[BATCH:]
        found = {claim.referrer: self._find(claim.referrer) for claim in batch}
        unknown = [name for name, key in found.items() if key is None]
        here = await referrers.find_named(change, "", unknown) if unknown else {}
        for claim in batch:
            key = found[claim.referrer]
            kind = None
            if key is None:
                kind = None if claim.referrer in here else FindingKind.REFERRER_UNKNOWN
                if claim.is_verified and claim.key not in self._referrers:
                    self._verified[self._keys_by_id.get(here.get(claim.referrer, ""), "")] += 1
            elif key == claim.key:
                kind = FindingKind.REFERRER_IS_SELF
            elif self._is_above(claim.key, key):
                kind = FindingKind.LOOP
            else:
                if claim.is_verified and claim.key not in self._referrers:
                    self._verified[key] += 1
                self._referrers.setdefault(claim.key, key)
            if kind is not None:
                self._note(claim.line, [kind])
        return bool(self._claims or self._counts)

    def _check_counts(self) -> bool:
        for key in list(islice(self._counts, COUNTS)):
            line, referrals, verified = self._counts.pop(key)
            verified += self._verified[key]
            if referrals is not None and referrals < verified:
                self._note(line, [FindingKind.COUNT_LOWER], verified)
        return bool(self._counts)

    def _note(self, line: int, kinds: Iterable[FindingKind], detail: int | None = None) -> None:
        for kind in dict.fromkeys(kinds):
            self.counted[kind] += 1
            if len(self.findings) < MOST_KEPT:
                self.findings.append(ImportFinding(line, kind, detail))

    def _find(self, name: str) -> str | None:
        """Whom a text names, of those in the file."""
        if (email := referrers.email_key(name)) is not None:
            return email if email in self._keys else None
        keys = self._folded.get(name.lower(), set())
        only = next(iter(keys)) if len(keys) == 1 else None
        return self._own_ids.get(name) or self._codes.get(name) or only

    def _is_above(self, key: str, referrer: str) -> bool:
        """Whether somebody is the referrer of their own referrer, directly or through others."""
        at: str | None = referrer
        for _ in range(LONGEST_CHAIN):
            if at is None or at == key:
                break
            at = self._referrers.get(at)
        return at == key
