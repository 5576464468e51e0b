"""The tools that people move from. One row for each has all that is known about its files: how they
are recognized, which column is which field, how dates are written, what its old links look like.
Pure: the answers depend on the arguments only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Self

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import source_columns as known
from honeyguide.moving import source_words
from honeyguide.moving.import_dates import DateOrder, date_order
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.source_columns import FIELDS, FieldNames, Ignored, plain


class SourceFacts(NamedTuple):
    key: str
    """In the database. It never changes; the name may."""
    name: str
    hint: str
    """What its file is, for whoever has to choose."""
    signs: tuple[frozenset[str], ...] = ()
    """A file that has all columns of one of these is from there."""
    fields: FieldNames = known.NO_FIELDS
    notes: tuple[str, ...] = ()
    """Columns that are kept as a note about the subscriber."""
    ignored: Ignored = known.NONE_IGNORED
    has_own_fields: bool = False
    """Operators add columns of their own, so an unknown one is kept as a note."""
    dates: DateOrder | None = None
    """How it writes dates, where it documents that. What the lines show outranks it."""
    links: tuple[str, ...] = ()
    """Forms of its links: on a host of its own, at the root of the operator's link host, or as a
    parameter of any page of the operator's."""


def _signs(*alternatives: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in alternatives)


class ImportSource(StrEnum):
    """Which of two is recognized first matters: GrowSurf has columns of Viral Loops."""

    facts: SourceFacts

    def __new__(cls, key: str, *facts: Any) -> Self:
        source = str.__new__(cls, key)
        source._value_ = key
        source.facts = SourceFacts(key, *facts)
        return source

    HONEYGUIDE = SourceFacts(
        "honeyguide",
        "Honeyguide",
        "Our own export, with everything",
        _signs("email refcode referralsverified"),
        known.HONEYGUIDE,
        ignored=known.HONEYGUIDE_IGNORED,
        links=("/r/{code}", "?ref={code}"),
    )
    RH_LIST = SourceFacts(
        "rh_list",
        "Email platform after SparkLoop",
        "A list with RH_ fields: keeps links and counts",
        _signs("rhcode", "rhreflink", "rhtotref"),
        known.RH_FIELDS,
        notes=("rhglobref",),
        ignored=known.RH_IGNORED,
        links=("https://sparklp.co/{code}", "/{code}", "?rh_ref={code}"),
    )
    SPARKLOOP = SourceFacts(
        "sparkloop",
        "SparkLoop",
        "CSV, keeps referrers",
        _signs("email registrationdate referrer", "email registrationdate ipaddress"),
        known.SPARKLOOP,
        dates=DateOrder.DAY_FIRST,
        links=("https://sparklp.co/{code}", "/{code}", "?rh_ref={code}"),
    )
    KICKOFFLABS = SourceFacts(
        "kickofflabs",
        "KickoffLabs",
        "CSV, keeps links and counts",
        _signs("email socialid"),
        known.KICKOFFLABS,
        notes=("verifiedleads",),
        ignored=known.KICKOFFLABS_IGNORED,
        links=("?kid={code}",),
    )
    GROWSURF = SourceFacts(
        "growsurf",
        "GrowSurf",
        "CSV, keeps links and counts",
        _signs(
            "id email referredby referralstatus",
            "id email referralcount shareurl",
            "id email referralcount referralstatus",
        ),
        known.GROWSURF,
        notes=("metadata", "notes"),
        ignored=known.GROWSURF_IGNORED,
        links=("?grsf={code}",),
    )
    VIRAL_LOOPS = SourceFacts(
        "viral_loops",
        "Viral Loops",
        "CSV, keeps counts",
        _signs("email referrerid referralcount", "email firstname lastname referralcount"),
        known.VIRAL_LOOPS,
        has_own_fields=True,
        links=("?referralCode={code}",),
    )
    REFERRALHERO = SourceFacts(
        "referralhero",
        "ReferralHero",
        "CSV, keeps counts",
        _signs("email date referrals", "email domain referrals", "email extrafield"),
        known.REFERRALHERO,
        notes=("extrafield", "extrafield2"),
        ignored=known.REFERRALHERO_IGNORED,
        dates=DateOrder.DAY_FIRST,
        links=("?mwr={code}",),
    )
    BEEHIIV = SourceFacts(
        "beehiiv",
        "beehiiv",
        "CSV export",
        _signs("email status tier createdat", "email freetier", "email status subscriptiontier"),
        known.BEEHIIV,
        ignored=known.BEEHIIV_IGNORED,
        links=("?ref={code}",),
    )
    GHOST = SourceFacts(
        "ghost",
        "Ghost",
        "members.csv",
        _signs("email subscribedtoemails", "email complimentaryplan"),
        known.GHOST,
        notes=("note",),
        ignored=known.GHOST_IGNORED,
    )
    SUBSTACK = SourceFacts(
        "substack",
        "Substack",
        "CSV export",
        _signs("email activesubscription", "email emaildisabled"),
        known.SUBSTACK,
        ignored=known.SUBSTACK_IGNORED,
    )
    MAILCHIMP = SourceFacts(
        "mailchimp",
        "Mailchimp",
        "CSV or the whole zip archive",
        _signs("emailaddress memberrating", "emailaddress leid euid", "emailaddress optintime"),
        known.MAILCHIMP,
        notes=("notes", "unsubreason", "unsubreasonother"),
        ignored=known.MAILCHIMP_IGNORED,
    )
    KIT = SourceFacts(
        "kit",
        "Kit",
        "CSV export",
        _signs("emailaddress state createdat", "email firstname state createdat"),
        known.KIT,
        ignored=known.KIT_IGNORED,
    )
    ANY = SourceFacts("any", "Any CSV file", "From any other tool")


# A column of this name is a status, or the state in which somebody lives.
_LIVES_IN = "state"


class Fate(StrEnum):
    """What becomes of a column."""

    USED = "used"
    NOTE = "note"
    IGNORED = "ignored"


class ColumnUse(NamedTuple):
    name: str
    fate: Fate
    text: str
    """The label of its field if it is used, else why it is not."""


def recognize(header: Sequence[str], lines: Sequence[ImportLine]) -> ImportSource:
    """Which tool a file is from. A platform's list keeps the incumbent's fields after it left them
    empty, and then they say nothing."""
    names = [plain(name) for name in header]
    filled = {
        name
        for place, name in enumerate(names)
        if not name.startswith("rh") or _has_value(lines, place)
    }
    return _by_names(filled)


def _by_names(names: set[str]) -> ImportSource:
    for source in ImportSource:
        if any(sign <= names for sign in source.facts.signs):
            return source
    return ImportSource.ANY


def _tables(source: ImportSource, header: Sequence[str]) -> list[SourceFacts]:
    """The source's own table, and that of the platform whose list has the incumbent's fields."""
    if source is not ImportSource.RH_LIST:
        return [source.facts]
    names = {plain(name) for name in header}
    return [source.facts, _by_names({name for name in names if not name.startswith("rh")}).facts]


def columns(
    source: ImportSource, header: Sequence[str], lines: Sequence[ImportLine]
) -> dict[str, int]:
    """Which column holds which field. Of several that could, the best one that is not empty."""
    tables = _tables(source, header)
    refused = {name for table in tables for name in _unused_names(table)}
    found: dict[str, int] = {}
    for field in known.ANY:
        places = [
            place
            for place in _candidates(field, tables, header, refused)
            if place not in found.values() or (field == "own_id" and found.get("code") == place)
        ]
        is_sure = any(field in table.fields for table in tables)
        suitable = [
            place
            for place in places
            if _suits(field, place, lines, is_sure or plain(header[place]) != _LIVES_IN)
        ]
        if suitable or (places and not lines):
            found[field] = (suitable or places)[0]
    if "referrer" not in found and _has_address(lines, found.get("referrer_code")):
        found["referrer"] = found.pop("referrer_code")
    if "referrer" not in found:
        found.pop("own_id", None)  # nothing names it
    return found


def _candidates(
    field: str, tables: Sequence[SourceFacts], header: Sequence[str], refused: set[str]
) -> Iterator[int]:
    """The columns with a name of this field, best first."""
    names = [plain(name) for name in header]
    own = [each for table in tables for each in table.fields.get(field, ())]
    general = [each for each in known.ANY[field] if each not in refused]
    for expected in dict.fromkeys([*own, *general]):
        yield from (place for place, name in enumerate(names) if name == expected)


def _unused_names(table: SourceFacts) -> Iterator[str]:
    yield from table.notes
    for names in table.ignored.values():
        yield from names


def _suits(field: str, place: int, lines: Sequence[ImportLine], is_sure: bool) -> bool:
    if field == "email":
        return _has_address(lines, place)
    if field == "status" and not is_sure:
        # A few odd words must not hide that people left.
        are_known = [_is_status(value) for value in _values(lines, place)]
        return sum(are_known) * 2 > len(are_known)
    return _has_value(lines, place)


def _is_status(word: str) -> bool:
    try:
        source_words.status([word], {"status": 0})
    except Invalid:
        return False
    return True


def _values(lines: Sequence[ImportLine], place: int | None) -> Iterator[str]:
    if place is None:
        return
    for line in lines:
        if place < len(line.cells) and line.cells[place]:
            yield line.cells[place]


def _has_value(lines: Sequence[ImportLine], place: int) -> bool:
    return any(True for _ in _values(lines, place))


def _has_address(lines: Sequence[ImportLine], place: int | None) -> bool:
    return any(_is_like_address(value) for value in _values(lines, place))


def _is_like_address(value: str) -> bool:
    """Nearly: each line is judged when it is imported."""
    local, _, domain = value.strip().rpartition("@")
    return bool(local) and "." in domain.strip(".")


def without_addresses(header: Sequence[str], mapping: dict[str, int]) -> str:
    """What to say if a column is called as one of addresses is, and has none."""
    if "email" in mapping:
        return ""
    named = [name for name in header if plain(name) in known.ANY["email"]]
    if not named:
        return ""
    return f"The column “{named[0]}” has no valid email address. Look into the file."


def uses(source: ImportSource, header: Sequence[str], mapping: dict[str, int]) -> list[ColumnUse]:
    """Every column of the file, in order, and what becomes of it."""
    return [
        ColumnUse(name or f"column {place + 1}", *_fate(source, header, mapping, place))
        for place, name in enumerate(header)
    ]


def note_places(source: ImportSource, header: Sequence[str], mapping: dict[str, int]) -> list[int]:
    """The columns that are kept as a note."""
    fates = enumerate(uses(source, header, mapping))
    return [place for place, use in fates if use.fate is Fate.NOTE]


def _fate(
    source: ImportSource, header: Sequence[str], mapping: dict[str, int], place: int
) -> tuple[Fate, str]:
    labels = [FIELDS[field] for field in FIELDS if mapping.get(field) == place]
    if labels:
        return Fate.USED, " and ".join(labels)
    name, tables = plain(header[place]), _tables(source, header)
    if any(name in table.notes for table in tables):
        return Fate.NOTE, "Kept as a note."
    why = next((why for table in tables if (why := _why(table.ignored, name))), None)
    why = why or _same_as(name, tables, header, mapping) or _why(known.ANY_IGNORED, name)
    if why is None and any(name in names for names in known.ANY.values()):
        why = known.UNCHOSEN
    if why is None and any(table.has_own_fields for table in tables):
        return Fate.NOTE, "Kept as a note."
    return Fate.IGNORED, why or known.UNKNOWN


def _why(ignored: Ignored, name: str) -> str | None:
    return next((why for why, names in ignored.items() if name in names), None)


def _same_as(
    name: str, tables: Sequence[SourceFacts], header: Sequence[str], mapping: dict[str, int]
) -> str | None:
    for field, place in mapping.items():
        fields = (*(table.fields for table in tables), known.ANY)
        if place < len(header) and any(name in names.get(field, ()) for names in fields):
            return f"“{header[place]}” is used instead."
    return None


def dates(source: ImportSource, lines: Sequence[ImportLine], place: int | None) -> DateOrder:
    """The order of day and month, to be asked only if it is `UNCLEAR` or `MIXED`."""
    found = date_order(lines, place)
    return source.facts.dates or found if found is DateOrder.UNCLEAR else found
