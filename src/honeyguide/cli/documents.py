"""`honeyguide key` and `honeyguide check`: what this installation signs with, and whether a signed
document is genuine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from honeyguide.app import Services
from honeyguide.cli.base import fail, write
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import installation_key, signed_documents
from honeyguide.moving.installation_key import InstallationKey
from honeyguide.store import Tx

app = typer.Typer()

MOST_SHOWN = 20


@app.command()
def key(
    replace: Annotated[
        bool, typer.Option("--replace", help="Sign with a new key from now on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all keys as JSON.")] = False,
) -> None:
    """Show the public key that this installation signs documents with."""
    keys = write(_keys, replace=replace)
    if as_json:
        typer.echo(json.dumps([_row(each) for each in keys], indent=2))
        return
    for each in keys:
        since = f"In use since {iso(each.created_ms)}"
        typer.echo(f"Replaced {iso(each.retired_ms)}" if each.retired_ms else since)
        typer.echo(f"  Fingerprint: {each.fingerprint}")
        typer.echo(f"  Public key:  {each.public_key}")
    typer.echo(
        "Give the fingerprint to whoever checks your documents: "
        "honeyguide check FILE --key FINGERPRINT"
    )


async def _keys(tx: Tx, services: Services, *, replace: bool) -> list[InstallationKey]:
    secret_keys, now_ms = services.settings.secret_keys, services.clock()
    if replace:
        await installation_key.replace(tx.at(now_ms), secret_keys)
    await installation_key.get_or_make(tx.at(now_ms), secret_keys)
    return await installation_key.list_all(tx)


def _row(each: InstallationKey) -> dict[str, Any]:
    return {
        "fingerprint": each.fingerprint,
        "public_key": each.public_key,
        "created_at": iso(each.created_ms),
        "retired_at": None if each.retired_ms is None else iso(each.retired_ms),
    }


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The signed document.")],
    fingerprint: Annotated[
        str,
        typer.Option("--key", help="Fingerprint of the key that must have signed it."),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print what it says as JSON.")] = False,
) -> None:
    """Check a signed document: who made it, when, what it says, and that nothing was changed.

    This needs no database and no settings.
    """
    try:
        document = signed_documents.check(_read(file), expected_fingerprint=fingerprint.strip())
    except Invalid as refused:
        fail(refused.message)
    if as_json:
        typer.echo(json.dumps(document._asdict(), indent=2))
        return
    typer.echo("This document is as it was signed.")
    shown = {"Kind": document.kind, "Issuer": document.issuer, "Date": document.issued_at}
    for line in _lines({**shown, "Key": document.fingerprint, "Content": document.content}, ""):
        typer.echo(line)
    if not fingerprint:
        typer.echo(
            "Anybody can sign a document with a key of their own. To know who signed this one, "
            "compare the key with what the issuer's `honeyguide key` prints."
        )


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(signed_documents.MOST_BYTES + 1)
    except OSError as error:
        fail(f"{file} cannot be read: {error.strerror}.")


def _lines(value: Any, indent: str) -> Iterator[str]:
    """As JSON, which escapes what a terminal would take as a command."""
    named = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    for number, (name, each) in enumerate(named):
        if number == MOST_SHOWN and name is None:
            yield f"{indent}… and {len(value) - MOST_SHOWN} more"
            return
        start = f"{indent}-" if name is None else f"{indent}{_plain(name)}:"
        if isinstance(each, (dict, list)) and each:
            yield start
            yield from _lines(each, f"{indent}  ")
        else:
            yield f"{start} {_plain(each)}"


def _plain(value: Any) -> str:
    """A text without quotes if it needs none."""
    written = json.dumps(value)
    return value if isinstance(value, str) and written == f'"{value}"' else written
