"""The settings file: lines of NAME=value, as systemd's EnvironmentFile= reads them.

Whatever is accepted here means the same to systemd. What systemd would ignore or read in a
surprising way, such as a line without "=" or a quote that is not closed, is an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

PREFIX = "HONEYGUIDE_"
PATH_NAME = f"{PREFIX}SETTINGS"
FILE_NAME = "honeyguide.env"
IN_ETC = Path("/etc/honeyguide") / FILE_NAME
LARGEST = 1_000_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SINGLE_QUOTED = re.compile(r"'([^']*)'[ \t]*")
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*', re.DOTALL)
_UNQUOTED = re.compile(r"((?:[^\\]|\\.)*?)[ \t]*", re.DOTALL)
# What every reader of such files takes as it is: systemd, shells and Docker Compose.
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]*", re.ASCII)


class WrongSetting(Exception):
    """Says which setting is invalid and how to fix it."""


class Entry(NamedTuple):
    value: str
    line: int


class SettingsFile(NamedTuple):
    path: Path
    entries: dict[str, Entry]

    @property
    def values(self) -> dict[str, str]:
        return {name: entry.value for name, entry in self.entries.items()}


def find(environment: Mapping[str, str]) -> Path | None:
    """The file to read. An empty HONEYGUIDE_SETTINGS means none."""
    if PATH_NAME in environment:
        return Path(environment[PATH_NAME]) if environment[PATH_NAME] else None
    here = Path(FILE_NAME)
    try:
        is_here = here.exists()
    except PermissionError:  # a folder that is closed to us, such as root's home, has none for us
        is_here = False
    if is_here:
        _refuse_strangers_file(here)
        return here
    try:
        return IN_ETC if IN_ETC.exists() else None
    except PermissionError:  # its folder is closed to us, so the file is probably there
        return IN_ETC


def _refuse_strangers_file(path: Path) -> None:
    """Commands may run as root in a folder where anyone can put a file."""
    if path.stat().st_uid not in (0, os.geteuid()):
        raise WrongSetting(
            f"The settings file {path.absolute()} belongs to another user, so it was not read. "
            f"If you trust it, name it: --settings {path}"
        )


def read(path: Path, known: Collection[str]) -> SettingsFile:
    """Read and check a file. `known` are the names that may begin with HONEYGUIDE_."""
    entries = parse(_text(path), path)
    for name, entry in entries.items():
        if name.startswith(PREFIX) and name not in known:
            close = get_close_matches(name, known, 1, 0.5)
            raise WrongSetting(
                f"{path}, line {entry.line}: there is no setting {name}. "
                + (f"Did you mean {close[0]}?" if close else "`honeyguide settings` lists all.")
            )
    return SettingsFile(path, entries)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        remedy = "Check its path."
        if isinstance(error, PermissionError):
            remedy = "Run the command as root or as the user of the service."
        raise WrongSetting(
            f"The settings file {path} cannot be read: {error.strerror}. {remedy}"
        ) from None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or len(content) > LARGEST:
        raise WrongSetting(
            f"The settings file {path} is not text. It must have lines such as "
            "HONEYGUIDE_PORT=8000, in UTF-8."
        )
    return text


def parse(text: str, path: Path) -> dict[str, Entry]:
    """The values by name. If a name is there twice, the last one counts."""
    entries: dict[str, Entry] = {}
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        try:
            assignment = _assignment(line.lstrip(" \t"))
        except ValueError as error:
            raise WrongSetting(f"{path}, line {number}: {error}") from None
        if assignment is not None:
            name, value = assignment
            entries[name] = Entry(value, number)
    return entries


def _assignment(line: str) -> tuple[str, str] | None:
    if not line:
        return None
    if line[0] in "#;":
        if line.endswith("\\"):  # versions of systemd disagree about the line after it
            raise ValueError("a comment must not end with a backslash.")
        return None
    name, equals, value = line.partition("=")
    if not equals:
        raise ValueError(
            "this line has no =. Write a setting as HONEYGUIDE_PORT=8000 and a comment after #."
        )
    name = name.rstrip(" \t")
    if not _NAME.fullmatch(name):
        raise ValueError("a name before = has only letters, digits and underscores.")
    return name, _value(value.lstrip(" \t"))


def _value(text: str) -> str:
    if text[:1] in ("'", '"'):
        pattern = _SINGLE_QUOTED if text[0] == "'" else _DOUBLE_QUOTED
        found = pattern.fullmatch(text)
        if found is None:
            raise ValueError("the quotes around a value must be at both its ends, on one line.")
        return found[1] if text[0] == "'" else re.sub(r'\\(["\\`$])', r"\1", found[1])
    found = _UNQUOTED.fullmatch(text)
    if found is None:
        raise ValueError("a value must not end with a backslash. Put it in single quotes.")
    return re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)


def written(value: str) -> str:
    """The value as it is written in a file, so that every reader of such files takes it alike."""
    if "\n" in value or "\r" in value or "\0" in value:
        raise ValueError("A value must be on one line.")
    if _PLAIN.fullmatch(value):
        return value
    if "'" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'(["\\`$])', r"\\\1", value) + '"'


def merged(text: str, path: Path, values: Mapping[str, str]) -> str:
    """The text of a file with these values in it. Comments and other lines stay as they are."""
    entries = parse(text, path)
    lines = re.split(r"\r\n|\n|\r", text.rstrip("\r\n")) if text.strip() else []
    for name, value in values.items():
        line = f"{name}={written(value)}"
        if name in entries:
            lines[entries[name].line - 1] = line
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"
