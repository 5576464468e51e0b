"""`honeyguide move check`: proof that an import took over everything."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import TimeRemainingColumn

from honeyguide.app import Services
from honeyguide.cli.base import fail, progress, read_of, tenant_named, with_services, write_of
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import certificate, checking, importing
from honeyguide.moving.checking import Certificate
from honeyguide.store.reading import Reading
from honeyguide.work.moving import compare_some

move_app = typer.Typer(help="Prove that a move from another tool is complete.")
NEWEST = "newest"


@move_app.callback()
def choose() -> None:
    """With a single command, Typer would leave out its name."""


@move_app.command("check")
def check_command(
    account: Annotated[str, typer.Option(help="Email address of the account.")],
    import_id: Annotated[
        str, typer.Option("--import", help="ID of the import, or `newest`.")
    ] = NEWEST,
    out: Annotated[
        Path | None, typer.Option(help="File for the signed certificate, as JSON.")
    ] = None,
) -> None:
    """Compare an import with its file: subscribers, old links, referrers, counts and rewards.

    The file is kept for 30 days after the import. Ends with exit code 1 if something was lost."""
    made = with_services(_check, account, import_id)
    for line in certificate.in_words(made.content):
        typer.echo(line)
    if out is not None:
        _write(out, made.document)
        typer.echo(
            f"The signed certificate is in {out}. Anybody can check it: "
            f"honeyguide check {out} --key {made.fingerprint}"
        )
    else:
        typer.echo("For the signed certificate as a file, add --out FILE.", err=True)
    if not made.tally.is_whole:
        raise typer.Exit(1)


async def _check(services: Services, account: str, import_id: str) -> Certificate:
    store = services.store
    tenant = await store.read(tenant_named, account)
    if import_id == NEWEST:
        import_id = await read_of(services, tenant, _newest)
    kept = await read_of(services, tenant, importing.get, import_id)
    check_id = await write_of(services, tenant, "move check", checking.begin, import_id)
    secret_keys = services.settings.secret_keys
    with progress(TimeRemainingColumn(), transient=False) as bar:
        task = bar.add_task("Comparing", total=kept.total)
        while (check := await read_of(services, tenant, checking.get, check_id)).made_ms is None:
            bar.update(task, completed=check.tally.lines)
            await compare_some(services.site, secret_keys, store, [check_id], services.clock())
            await asyncio.sleep(0)
    return check


async def _newest(at: Reading) -> str:
    for kept in await importing.of_account(at):
        if kept.status == "done":
            return kept.id
    raise Invalid("This account has no import of the last 30 days that is done.")


def _write(out: Path, document: str) -> None:
    try:
        out.write_bytes(document.encode())
    except OSError as error:
        fail(f"Cannot write {out}: {error.strerror}.")
