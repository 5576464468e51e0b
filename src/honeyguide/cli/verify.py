"""`honeyguide verify`: check the ledger and everything that is kept, and compare the digests of
closed months.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, NamedTuple

import typer
from rich.progress import TimeElapsedColumn

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.cli.base import fail, progress, with_existing_services
from honeyguide.kernel import money
from honeyguide.partners import digest_rules, ledger_check, month_digests
from honeyguide.partners.digest_rules import DigestPart, KeptDigest
from honeyguide.partners.ledger_check import Finding, Sums
from honeyguide.partners.month_digests import CheckedDigest, DigestDifference
from honeyguide.store import Tx

app = typer.Typer()

FAILED = "The ledger check failed. Hold payouts, and report this with the lines above."
CHANGED = {
    DigestPart.LEDGER: "the ledger was changed after the month was closed",
    DigestPart.LOG: "the change log was changed after the month was closed",
    DigestPart.CHAIN: "the digest does not follow from its parts and the month before",
}
NOT_KEPT = "the change log is no longer kept, so only the ledger was checked"
REPLACED = (
    "the stored digest is not the one that you kept: this month or an earlier one was replaced"
)


class _Proof(NamedTuple):
    findings: list[Finding]
    sums: Sums
    differences: list[DigestDifference]


class _Compared(NamedTuple):
    months: list[CheckedDigest]
    replaced: set[str]
    """The months whose digest is not the one that was kept."""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _mark(*, is_ok: bool) -> str:
    if is_ok:
        return typer.style("ok", fg=typer.colors.GREEN)
    return typer.style("FAILED", fg=typer.colors.RED)


@app.command()
def verify(
    account: Annotated[
        str, typer.Option(help="Check only the digests of this account, month by month.")
    ] = "",
    digest: Annotated[
        list[str] | None,
        typer.Option(
            help="With --account: compare with a digest that you kept, such as 2026-10=4f1c… "
            "Can be given several times."
        ),
    ] = None,
) -> None:
    """Check the ledger, the counts of subscribers, whose each row is, and the digests of closed
    months. Exits with 1 if a check fails.
    """
    if account:
        _verify_account(account, digest or [])
        return
    if digest:
        fail("Say with --account whose digest it is.")
    proof = with_existing_services(_check_everything)
    for finding in proof.findings:
        places = f" ({_count(finding.broken, 'row')} wrong)" if finding.broken else ""
        typer.echo(f"{_mark(is_ok=not finding.broken)}  {finding.promise}{places}")
    for each in proof.differences:
        typer.echo(f"        {each.month} of account {each.account_id}: {CHANGED[each.part]}.")
    charged, paid_out = (
        money.show(cents) for cents in (proof.sums.charged_cents, proof.sums.paid_out_cents)
    )
    transfers = _count(proof.sums.transfers, "transfer")
    typer.echo(f"\n{transfers}: {charged} charged, {paid_out} of it in payouts.")
    if any(finding.broken for finding in proof.findings):
        fail(FAILED)


async def _check_everything(services: Services) -> _Proof:
    with progress(TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("Checking the ledger", total=ledger_check.GROUPS)
        return await services.store.slow_snapshot(_prove, partial(bar.advance, task))


async def _prove(tx: Tx, done: partial[None]) -> _Proof:
    findings, sums = await ledger_check.verify(tx, done)
    digests = set(month_digests.PROMISES.values())
    is_wrong = any(each.broken for each in findings if each.promise in digests)
    return _Proof(findings, sums, await month_digests.all_differences(tx) if is_wrong else [])


def _verify_account(account: str, digests: list[str]) -> None:
    compared = with_existing_services(_check_account, account, digests)
    is_ok = True
    for each in compared.months:
        sentences = [CHANGED[part] for part in each.differs]
        if each.stored.month in compared.replaced:
            sentences.append(REPLACED)
        is_ok = is_ok and not sentences
        mark = _mark(is_ok=not sentences)
        sentences += [] if each.is_log_kept else [NOT_KEPT]
        typer.echo(f"{mark}  {each.stored.month}  {each.stored.digest}")
        for sentence in sentences:
            typer.echo(f"        {sentence[0].upper()}{sentence[1:]}.")
    if not compared.months:
        typer.echo("This account has no digests: none of its months is closed yet.", err=True)
    if not is_ok:
        fail(FAILED)


async def _check_account(services: Services, account: str, digests: list[str]) -> _Compared:
    kept = [digest_rules.parse_kept(text, param="--digest") for text in digests]
    return await services.store.slow_snapshot(_compare, account, kept)


async def _compare(tx: Tx, given: str, kept: list[KeptDigest]) -> _Compared:
    account_id = (await accounts.get_named(tx, given)).id
    replaced = {
        each.month for each in kept if not await month_digests.is_stored(tx, account_id, each)
    }
    return _Compared(await month_digests.check_account(tx, account_id), replaced)
