"""Named SQL: `-- name: find_one` blocks in a `.sql` file beside the module that runs them.

One text serves both engines; `-- name: find_one (postgres)` overrides a block for one of them.
Parameters are written `:name`. A `-- fragment: columns` block is text that statements and other
fragments of the same file share: they write `{columns}`. A fragment may be given words for its
`{1}` and `{2}`: `{part_of(reward, campaign)}`. A statement with `-- batch: name` may travel with
those of other callers, in the order of this parameter: a write locks rows by it.

Columns are not written twice. `{insert note: id, text, created_ms = :now_ms}` inserts one row: a
column gets the parameter of its name, or what is written after `=`. `{assign text, is_done = 1}` is
the same for `UPDATE … SET`. A list of columns that a struct has is given to `beside` by a name, and
is then a fragment: `beside(__file__, fields=Note._fields)`, `{assign {fields}}`. `{n.fields}` has
each column with the alias of its table.

A statement that is put says what it does to which tables: `-- touches: adds delivery, reads
webhook`, on one line or several. It `changes` rows that exist, or its `triggers` write to a table
after it. On this depends which puts travel together.

A parameter may be a list, which the statement reads as a table. `{list :ids AS i}` has one column,
`i.value`; `{rows :coupons AS c (id TEXT, cents BIGINT)}` has the columns named, from a list of
dictionaries or structs. `id {in :ids}` looks up rows by their index, whatever the planner guesses
about the table.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Set
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from honeyguide.store.rows import RowMaker, reader_of

R = TypeVar("R")
Row_co = TypeVar("Row_co", covariant=True)

_HEAD = re.compile(r"^-- (name|fragment): (\w+)(?: \((sqlite|postgres)\))?\s*$", re.MULTILINE)
_FRAGMENT = re.compile(r"\{(?:(\w+)\.)?(\w+)(?:\(([\w, ]+)\))?\}")
_INSERT = re.compile(r"\{insert (\w+):\s+([^{}]*)\}")
_ASSIGN = re.compile(r"\{assign\s+([^{}]*)\}")
_BATCH = re.compile(r"^-- batch: (\w+)$", re.MULTILINE)
_HOW = ("adds", "reads", "changes", "triggers")
_TOUCHES = re.compile(r"^-- touches: (.+)$", re.MULTILINE)
# A parameter is `:name`; `::type` casts and quoted text are left alone.
_PARAM = re.compile(r"'(?:[^']|'')*'|::\w+|:([a-z_][a-z0-9_]*)")
_WORD = re.compile(r"[a-z]\w*")
_ADDED_TO = re.compile(r"\b(?:INTO|DELETE\s+FROM)\s+(?:ONLY\s+)?(\w+)")
_SET = re.compile(r"\bUPDATE\s+(?:ONLY\s+)?(\w+)[^()]*?\bSET\b(.*?)(?:\bWHERE\b|$)", re.DOTALL)
_SET_COLUMN = re.compile(r"(\w+)\s*=")
_LIST = re.compile(r"\{(in|list|rows) :(\w+)(?: AS (\w+)(?: \(([^)]*)\))?)?\}")


class Statement(Generic[Row_co]):
    """One named statement in both engines' spelling, and the type its rows become."""

    def __init__(
        self,
        name: str,
        sqlite: str,
        postgres: str,
        row: Callable[..., Row_co],
        batched_by: str | None = None,
        touches: str = "",
    ) -> None:
        self.name = name
        self.row = row
        self.rows = RowMaker(row)
        lists = frozenset(match[2] for match in _LIST.finditer(sqlite + postgres))
        sqlite, postgres = _LIST.sub(_sqlite_list, sqlite), _LIST.sub(_postgres_list, postgres)
        self.sqlite, self.sqlite_order = _numbered(sqlite, "?")
        self.postgres, self.postgres_order = _numbered(postgres, "$")
        # Every request comes by here some times over: the values in their order, by one call.
        self.sqlite_values = _values_in(self.sqlite_order, lists)
        self.postgres_values = _values_in(self.postgres_order, lists)
        self.reads = sqlite.lstrip().startswith(("SELECT", "WITH"))
        self.touches: dict[str, set[str]] = {how: set() for how in _HOW}
        for part in touches.split(", ") if touches else ():
            how, table = part.split()
            self.touches[how].add(table)
        adds, reads, changes, triggers = self.touches.values()
        self.needs = reads | changes
        self.leaves = adds | changes | triggers
        self.batch_place = None if batched_by is None else self.postgres_order.index(batched_by)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every table and column that it names, in either spelling, among other words."""
        return frozenset(_WORD.findall(f"{self.sqlite} {self.postgres}"))

    @functools.cached_property
    def altered(self) -> dict[str, set[str]]:
        """The tables that it writes to, or its triggers do; the columns where it sets only some."""
        altered: dict[str, set[str]] = {table: set() for table in self.leaves}
        for sql in (self.sqlite, self.postgres):
            for table, clause in _SET.findall(sql):
                altered.setdefault(table, set()).update(_SET_COLUMN.findall(clause))
            for table in _ADDED_TO.findall(sql):
                altered[table] = set()
        return altered

    def alters(self, names: Set[str]) -> bool:
        """Whether what a statement with these names has read may be another after this one."""
        return any(
            table in names and (not columns or columns & names)
            for table, columns in self.altered.items()
        )

    def must_wait_for(self, earlier: Statement[Any]) -> bool:
        """Whether both cannot be sent as one statement, whose parts all see the data before it,
        and may not change a row twice.
        """
        if earlier.leaves & self.needs:
            return True
        return bool(earlier.touches["changes"] & self.touches["adds"])

    def __repr__(self) -> str:
        return f"<statement {self.name}>"


def _sqlite_list(match: re.Match[str]) -> str:
    kind, param, alias, columns = match.groups()
    if kind == "in":
        return f"IN (SELECT value FROM json_each(:{param}))"
    if kind == "list":
        return f"json_each(:{param}) AS {alias}"
    names = [column.split()[0] for column in columns.split(",")]
    values = ", ".join(f"value ->> '{name}' AS {name}" for name in names)
    return f"(SELECT {values} FROM json_each(:{param})) AS {alias}"


def _postgres_list(match: re.Match[str]) -> str:
    kind, param, alias, columns = match.groups()
    if kind == "in":
        return f"= ANY (ARRAY(SELECT json_array_elements_text(CAST(:{param} AS JSON))))"
    if kind == "list":
        return f"json_array_elements_text(CAST(:{param} AS JSON)) AS {alias} (value)"
    return f"json_to_recordset(CAST(:{param} AS JSON)) AS {alias} ({columns})"


def _values_in(
    order: tuple[str, ...], lists: frozenset[str]
) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    if lists:
        return lambda params: tuple(
            msgspec.json.encode(params[name]).decode() if name in lists else params[name]
            for name in order
        )
    if len(order) > 1:
        return itemgetter(*order)
    if not order:
        return lambda params: ()
    (only,) = order
    return lambda params: (params[only],)


def _numbered(sql: str, sign: str) -> tuple[str, tuple[str, ...]]:
    order: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in order:
            order.append(name)
        return f"{sign}{order.index(name) + 1}"

    return _PARAM.sub(number, sql), tuple(order)


def _columns_and_values(text: str) -> Iterable[tuple[str, str]]:
    """Each column of `{insert …}` or `{assign …}` with what it gets."""
    for part in text.split(","):
        column, _, value = (each.strip() for each in part.partition("="))
        yield column, value or f":{column}"


def _inserted(match: re.Match[str]) -> str:
    columns, values = zip(*_columns_and_values(match[2]), strict=True)
    return f"INSERT INTO {match[1]} ({', '.join(columns)}) VALUES ({', '.join(values)})"


def _assigned(match: re.Match[str]) -> str:
    return ", ".join(f"{column} = {value}" for column, value in _columns_and_values(match[1]))


def _as_it_is(value: R) -> R:
    return value


def _text_for(engine: str, texts: dict[str, str]) -> str:
    return texts.get(engine, texts.get("both", ""))


registry: list[Statement[Any]] = []


class Statements:
    """The statements of one `.sql` file."""

    def __init__(self, path: Path, **columns: Iterable[str]) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self._fragments = {name: {"both": ", ".join(names)} for name, names in columns.items()}
        self._batched_by: dict[str, str] = {}
        self._touches: dict[str, str] = {}
        parts = iter(_HEAD.split(path.read_text(encoding="utf-8"))[1:])
        for kind, name, engine, text in zip(parts, parts, parts, parts, strict=True):
            if batch := _BATCH.search(text):
                self._batched_by[name] = batch[1]
            if touches := _TOUCHES.findall(text):
                self._touches[name] = ", ".join(touches)
            lines = (line for line in text.splitlines() if not line.lstrip().startswith("--"))
            clean = "\n".join(lines).strip().rstrip(";")
            texts = self._fragments if kind == "fragment" else self._texts
            texts.setdefault(name, {})[engine or "both"] = clean
        self._stem = f"{path.parent.name}.{path.stem}"

    def _filled(self, name: str, engine: str) -> str:
        """The statement for one engine. A fragment may have fragments in it."""
        text = self._with_fragments(name, engine, _text_for(engine, self._texts[name]))
        return _ASSIGN.sub(_assigned, _INSERT.sub(_inserted, text))

    def _with_fragments(self, name: str, engine: str, text: str) -> str:
        def fragment(match: re.Match[str]) -> str:
            alias, called, given = match.groups()
            if called not in self._fragments:
                raise LookupError(f"{self._stem}.{name}: no fragment is called {called}")
            text = _text_for(engine, self._fragments[called])
            for place, word in enumerate(given.split(", ") if given else (), 1):
                text = text.replace(f"{{{place}}}", word)
            text = self._with_fragments(name, engine, text)
            return re.sub(r"\w+", rf"{alias}.\g<0>", text) if alias else text

        return _FRAGMENT.sub(fragment, text)

    def fragment(self, name: str) -> list[str]:
        """A fragment, to be given to the statements of another file."""
        return [self._with_fragments(name, "both", f"{{{name}}}")]

    def _make(self, name: str, row: Callable[..., Any]) -> Statement[Any]:
        statement = Statement(
            f"{self._stem}.{name}",
            self._filled(name, "sqlite"),
            self._filled(name, "postgres"),
            row,
            self._batched_by.get(name),
            self._touches.get(name, ""),
        )
        registry.append(statement)
        return statement

    def query(self, name: str, row: Callable[..., R]) -> Statement[R]:
        """A statement whose rows become `row(*columns)`, each column as the type of its field."""
        return self._make(name, row)

    def value(self, name: str, kind: type[R]) -> Statement[R]:
        """A statement of one column, whose value becomes of this kind."""
        return self._make(name, reader_of(kind | None) or _as_it_is)

    def command(self, name: str) -> Statement[None]:
        """A statement run for its effect."""
        return self._make(name, lambda *columns: None)


def beside(module_file: str, **columns: Iterable[str]) -> Statements:
    """The statements of the `.sql` file beside a module, which may name these lists of columns."""
    return Statements(Path(module_file).with_suffix(".sql"), **columns)


@functools.lru_cache(maxsize=512)
def together(statements: tuple[Statement[Any], ...]) -> str:
    """Several writes as one statement: each but the last becomes a data-modifying CTE, with its
    parameters renumbered.
    """
    texts, shift = [], 0
    for statement in statements:
        texts.append(_shifted(statement.postgres, shift))
        shift += len(statement.postgres_order)
    *first, last = texts
    if not first:
        return last
    return "WITH " + ", ".join(f"w{i} AS ({text})" for i, text in enumerate(first)) + " " + last


def _shifted(sql: str, shift: int) -> str:
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + shift}", sql) if shift else sql
