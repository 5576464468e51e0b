"""A dry run: what an import would do, found part by part without a write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from honeyguide.moving import found_things, imported_line, people, referrers
from honeyguide.moving.findings import FindingKind, ImportFinding
from honeyguide.moving.found_things import FoundKind
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.imported_line import ImportedPerson, LineFormat
from honeyguide.referrals import codes
from honeyguide.store.change import Change

# Referrers that are looked for at once, after all lines.
BATCH = 500
MOST_KEPT = 1_000
# Of referrers of referrers, when a loop is looked for.
LONGEST_CHAIN = 100


class _Claim(NamedTuple):
    line: int
    key: str
    """Of the subscriber's email address."""
    referrer: str


class Trial:
    """First every part (`add`), then every batch of referrers (`check_referrers`)."""

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
        """Who would refer whom, of those in the file."""

    async def add(self, change: Change, lines: Sequence[ImportLine]) -> None:
        read = imported_line.read(lines, self._form, change.now_ms)
        self.refused += read.refused
        ids = await people.find(change, [person.email.key for person in read.people])
        in_lines = {code for person in read.people for code in person.codes}
        held = await codes.taken(change, in_lines) if in_lines else {}
        for person in read.people:
            key = person.email.key
            is_here = key in ids or key in self._keys
            self.added, self.skipped = self.added + (not is_here), self.skipped + is_here
            self._keys.add(key)
            self._look_at(person, ids.get(key), held)

    def _look_at(self, person: ImportedPerson, id: str | None, held: dict[str, str]) -> None:
        line, key = person.line.number, person.email.key
        self.found.update(found_things.kinds_of(person))
        found = [each.kind for each in person.findings]
        for code in person.codes:
            is_taken = code in held and held[code] != id
            if is_taken or self._codes.setdefault(code, key) != key:
                found.append(FindingKind.DUPLICATE_CODE)
            else:
                self._folded.setdefault(code.lower(), set()).add(key)
        if person.own_id and self._own_ids.setdefault(person.own_id, key) != key:
            found.append(FindingKind.DUPLICATE_ID)
        self._note(line, found)
        if person.referrer:
            self._claims.append(_Claim(line, key, person.referrer))

    async def check_referrers(self, change: Change) -> bool:
        """The next batch. False if there is none."""
        batch, self._claims = self._claims[:BATCH], self._claims[BATCH:]
        found = {claim.referrer: self._find(claim.referrer) for claim in batch}
        unknown = [name for name, key in found.items() if key is None]
        here = await referrers.find_named(change, "", unknown) if unknown else {}
        for claim in batch:
            key = found[claim.referrer]
            kind = None
            if key is None:
                kind = None if claim.referrer in here else FindingKind.REFERRER_UNKNOWN
            elif key == claim.key:
                kind = FindingKind.REFERRER_IS_SELF
            elif self._is_above(claim.key, key):
                kind = FindingKind.LOOP
            else:
                self._referrers.setdefault(claim.key, key)
            if kind is not None:
                self._note(claim.line, [kind])
        return bool(self._claims)

    def _note(self, line: int, kinds: Iterable[FindingKind]) -> None:
        for kind in dict.fromkeys(kinds):
            self.counted[kind] += 1
            if len(self.findings) < MOST_KEPT:
                self.findings.append(ImportFinding(line, kind))

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
