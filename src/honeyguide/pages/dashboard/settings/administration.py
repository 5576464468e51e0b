"""The administrator's page: checks, months and payouts, the ledger check, accounts, backups."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide import __version__
from honeyguide.account_life import pausing
from honeyguide.accounts import accounts, invitations
from honeyguide.accounts.permissions import Right
from honeyguide.events import webhooks
from honeyguide.kernel import actors, money
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.mail import emails
from honeyguide.operating.doctor import checks, records
from honeyguide.operating.doctor.judgements import SeenRequest
from honeyguide.operating.doctor.results import TITLES, CheckResult, HealthLevel, in_order
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.settings import backups
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.partners import ledger_check, payout_marks, payouts, rules, statements
from honeyguide.store import job_failures, job_runs
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, link_hosts

ACCOUNTS, PAYOUTS = "/administration#h-accounts", "/administration#h-owed"
FIELDS = {"reference": Field("Payment reference", "Enter a payment reference.")}
TEST_EMAIL = {"test_email": Field("Test email")}
# Worst first.
LEVELS = (HealthLevel.PROBLEM, HealthLevel.WARNING, HealthLevel.OK)


class CheckRow(NamedTuple):
    title: str
    result: CheckResult
    at_ms: int | None  # when it was checked; None: just now


def _month(request: PageRequest) -> str:
    """The month of the URL or, when a payout is marked, of the form."""
    try:
        return rules.parse_month(request.query.get("month") or request.text("month"), param="month")
    except Invalid:
        return ""


async def show(at: Reading, request: PageRequest) -> PageView:
    """Whoever only pays partners sees the payouts, and nothing else of the installation."""
    runs_installation = request.who.may(Right.ADMINISTRATION)
    return request.view(
        "administration.html",
        runs_installation=runs_installation,
        given=request.fields,
        money=money.show,
        **await _payouts(at, request),
        **(await _installation(at, request) if runs_installation else {}),
    )


async def _payouts(at: Reading, request: PageRequest) -> dict[str, Any]:
    months = await payouts.months(at.tx)
    return {
        "months": months,
        "so_far": {
            row.month: await payouts.earned_so_far(at.tx, row.month)
            for row in months
            if row.closed_ms is None
        },
        "month": _month(request),
        "owed": await payouts.of_month(at.tx, _month(request)),
        "closes_at": rules.closes_at,
    }


async def _installation(at: Reading, request: PageRequest) -> dict[str, Any]:
    checked = await _checks(at, request)
    jobs = await job_runs.all_jobs(at.tx)
    skipped = Counter(failure.job for failure in await job_failures.list_all(at.tx))
    system_ms = system_clock()
    return {
        "accounts": await accounts.list_all(at.tx),
        "link_hosts": await link_hosts.list_all(at.tx),
        "invited": await invitations.of_inviter(at),
        "backup_ms": await accounts.last_backup_ms(at.tx),
        "backups": await backups.find_backups(at, request),
        "proof": await accounts.last_proof(at.tx),
        "unsent_emails": await emails.backlog(at.tx),
        "deliveries": await webhooks.backlog(at.tx),
        "checks": checked,
        "not_checked": [
            title.lower()
            for title in TITLES.values()
            if title not in {row.title for row in checked}
        ],
        "engine": request.services.store.engine_name,
        "version": __version__,
        "jobs": jobs,
        "troubled_jobs": [job for job in jobs if skipped[job.name] or _is_troubled(job, system_ms)],
        "skipped": skipped,
        "system_ms": system_ms,
    }


def _is_troubled(job: job_runs.JobRun, system_ms: int) -> bool:
    """Whether it failed, or its process ended before it did."""
    is_running = not job.result and job.leased_until_ms > system_ms
    return bool(job.started_ms) and job.result != "ok" and not is_running


async def _checks(at: Reading, request: PageRequest) -> list[CheckRow]:
    forwarded = ", ".join(request.http.headers.getlist("x-forwarded-for"))
    seen = SeenRequest(request.peer, forwarded)
    settings = request.services.settings
    now = await checks.check_quickly(at.tx, settings, seen)
    earlier = await records.stored_results(at.tx)
    for result in now:
        earlier.pop(result.name, None)
    found = in_order([*now, *(stored.result for stored in earlier.values())])
    found.sort(key=lambda result: LEVELS.index(result.level))
    return [
        CheckRow(
            TITLES[each.name], each, earlier[each.name].at_ms if each.name in earlier else None
        )
        for each in found
    ]


async def check(services: PageServices, request: PageRequest) -> Response:
    """Makes the checks that connect to something, and keeps their results."""
    hosts = await services.store.read(link_hosts.all_verified)
    results = await checks.check_slowly(services.settings, hosts)
    await services.store.write(records.store_results, results)
    return request.go("/administration", "The database and the mail server were checked.")


async def send_test_email(services: PageServices, request: PageRequest) -> Response:
    """To the administrator. What the mail server said is kept with the checks."""
    to = EmailAddress.parse(request.who.email)
    result = await checks.send_test_email(services.settings, to, now_ms=request.now_ms)
    await services.store.write(records.store_results, [result])
    if result.level is not HealthLevel.OK:
        raise Invalid("{message}", param="test_email", message=result.message)
    return request.go("/administration", result.message)


async def prove(services: PageServices, request: PageRequest) -> PageView:
    """Checks the ledger against everything that moved money, and keeps the result."""
    findings, sums = await services.store.slow_snapshot(ledger_check.verify)
    broken = sum(finding.broken for finding in findings)
    await services.store.write(accounts.note_proof, broken=broken)
    return request.view("ledger_check.html", findings=findings, sums=sums, money=money.show)


async def mark(change: Change, request: PageRequest) -> Response:
    """Marks a payout as paid, or as unpaid again."""
    payout_id = request.text("payout")
    site, actor = request.services.site, actors.member(request.who.user_id)
    if request.text("do") == "undo":
        payout = await payout_marks.unmark_paid(change.tx, site, actor, payout_id)
        done = "is unpaid again"
    else:
        reference = request.text("reference")
        payout = await payout_marks.mark_paid(change.tx, site, actor, payout_id, reference)
        done = "was marked as paid"
    where = f"/administration?month={payout.month}" if _month(request) else PAYOUTS
    month = rules.month_name(payout.month)
    return request.go(where, f"The {money.show(payout.amount_cents)} payout for {month} {done}.")


async def export(at: Reading, request: PageRequest) -> Response:
    month = _month(request)
    text = statements.csv_of_payouts(await payouts.of_month(at.tx, month))
    headers = attachment(f"payouts-{month}.csv" if month else "payouts.csv")
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


async def pause_or_resume(change: Change, request: PageRequest) -> Response:
    account_id = request.text("account")
    if not is_id(account_id):
        raise Missing("There is no such account.")
    account = await accounts.get(change.tx, account_id)
    change = change.of(await campaigns.tenant_of(change.tx, account_id))
    name = account.name or account.email
    if request.text("do") == "pause":
        await pausing.pause(change)
        return request.go(ACCOUNTS, f"{name} is paused. Its owners get an email.")
    if request.text("do") == "resume":
        await pausing.resume(change)
        return request.go(ACCOUNTS, f"{name} goes on. Its owners get an email.")
    raise Invalid("Choose what to do with the account.")
