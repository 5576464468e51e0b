"""Finds out what the judgements need, and makes all checks."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.mail import email_kinds, texts
from honeyguide.mail.transports import (
    Down,
    MailRefused,
    NotNow,
    OutgoingEmail,
    Transport,
    transport_for,
)
from honeyguide.operating.doctor import judgements, link_hosts, records
from honeyguide.operating.doctor.judgements import DiskSpace, SeenRequest
from honeyguide.operating.doctor.results import CheckResult, in_order, ok, problem, warning
from honeyguide.partners.held_referrals import HIGH_PERCENT, ProgramHealth
from honeyguide.settings import Settings
from honeyguide.store import (
    Planned,
    health,
    inspect_database,
    inspect_pgbouncer,
    inspect_replica,
    open_store,
    plan_migrations,
    sqlite_path,
)
from honeyguide.store.migrate import BASELINE
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers.link_hosts import VerifiedHost, all_verified

# A mail server that answers each step just in time must not keep a page waiting.
MAIL_LIMIT_S = 20.0


async def check_all(settings: Settings, clock: Clock) -> list[CheckResult]:
    """All checks, from outside a running service. Nothing is changed; a database that is not up to
    date is not asked further.
    """
    database, mail = await asyncio.gather(_database(settings), check_mail(settings))
    found = [*of_settings(settings), *database, mail]
    if judgements.UP_TO_DATE in found:
        store = await open_store(settings.direct_url, pool_size=1)
        try:
            found += await store.read(timed(_of_tables, clock()), settings)
            found.append(await _link_hosts(settings, await store.read(all_verified)))
        finally:
            await store.close()
    return in_order(found)


async def check_quickly(tx: Tx, settings: Settings, seen: SeenRequest) -> list[CheckResult]:
    """The checks for every view of a page."""
    skew_ms = None if sqlite_path(settings.database_url) else await health.clock_skew_ms(tx)
    return [
        *([] if settings.has_mail_server else [judgements.mail(settings, None)]),
        *([] if settings.database_direct_url else [judgements.pgbouncer(None)]),
        *([] if settings.replica_url else [judgements.replica(None)]),
        *([] if await all_verified(tx) else [link_hosts.answers(None)]),
        *of_settings(settings, seen),
        judgements.clock(skew_ms, is_moved=bool(settings.test_clock)),
        *await _of_tables(tx, settings),
    ]


async def check_slowly(settings: Settings, hosts: Sequence[VerifiedHost]) -> list[CheckResult]:
    """The checks that connect to something. The clock is left out, as pages check it each time."""
    database, mail, link_host_answers = await asyncio.gather(
        _database(settings), check_mail(settings), _link_hosts(settings, hosts)
    )
    found = [result for result in database if result.name != "clock"]
    return [*found, mail, link_host_answers]


async def _link_hosts(settings: Settings, hosts: Sequence[VerifiedHost]) -> CheckResult:
    outbound = Outbound(OutboundPolicy.for_base_url(settings.base_url))
    try:
        return await link_hosts.ask(outbound, settings.base_url, [each.host for each in hosts])
    finally:
        await outbound.close()


def of_settings(settings: Settings, seen: SeenRequest | None = None) -> list[CheckResult]:
    return [
        judgements.base_url(settings),
        judgements.proxies(settings, seen),
        judgements.disk(_disk_space(settings)),
    ]


async def _of_tables(tx: Tx, settings: Settings) -> list[CheckResult]:
    found = await records.read(tx)
    return [
        *judgements.of_records(settings, found, now_ms=tx.now_ms),
        check_programs(settings, found.programs),
        link_hosts.records(found.link_hosts),
        judgements.jobs(
            found.job_runs, found.job_failures, found.failing_loops, now_ms=system_clock()
        ),
    ]


async def _database(settings: Settings) -> list[CheckResult]:
    try:
        facts = await inspect_database(settings.direct_url)
    except Unavailable as fault:
        return [problem("database", fault.message)]
    found = [
        judgements.database(facts),
        judgements.clock(facts.skew_ms, is_moved=bool(settings.test_clock)),
    ]
    if facts.refusal is None:
        found.append(await _schema(settings))
    return [*found, await _pgbouncer(settings), await _replica(settings)]


async def _pgbouncer(settings: Settings) -> CheckResult:
    if not settings.database_direct_url:
        return judgements.pgbouncer(None)
    try:
        return judgements.pgbouncer(await inspect_pgbouncer(settings.database_url))
    except Unavailable as fault:
        return problem("pgbouncer", fault.message)


async def _replica(settings: Settings) -> CheckResult:
    if not settings.replica_url:
        return judgements.replica(None)
    try:
        return judgements.replica(await inspect_replica(settings.replica_url, settings.direct_url))
    except Unavailable as fault:
        return problem("replica", fault.message)


async def _schema(settings: Settings) -> CheckResult:
    try:
        pending = await plan_migrations(settings.direct_url)
    except Unavailable as fault:
        return problem("schema", fault.message)
    return judgements.schema(len(pending), is_new=is_new_database(pending))


def is_new_database(pending: list[Planned]) -> bool:
    """Whether it has no table of ours yet."""
    return any(planned.name.startswith(BASELINE) for planned in pending)


def _disk_space(settings: Settings) -> DiskSpace | None:
    """Of the disk with less free space, if the database and the logos are on two."""
    file = sqlite_path(settings.database_url)
    folders = [file.absolute().parent] if file else []
    folders += [Path(settings.logo_dir).absolute()] if settings.logo_dir else []
    spaces = []
    for folder in folders:
        with suppress(OSError):
            while not folder.exists():
                folder = folder.parent
            spaces.append(DiskSpace(folder, shutil.disk_usage(folder).free))
    return min(spaces, key=lambda space: space.free, default=None)


async def check_mail(settings: Settings) -> CheckResult:
    """Connects to the mail server and logs in, but sends nothing."""
    transport = transport_for(settings.smtp_url, settings.mail_from)
    return judgements.mail(settings, await _trouble(transport, transport.check()))


async def send_test_email(settings: Settings, to: EmailAddress, *, now_ms: int) -> CheckResult:
    """Sends it now and not through the queue, so that we can tell what the server said."""
    text = texts.test_email(base_url=settings.base_url)
    transport = transport_for(settings.smtp_url, settings.mail_from)
    email = OutgoingEmail(
        id=new_id(),
        account_id="",
        kind=email_kinds.TEST_EMAIL.name,
        to=to.text,
        from_name=None,
        reply_to=None,
        unsubscribe_url=None,
        subject=text.subject,
        text=text.text,
        html=None,
        created_ms=now_ms,
        attempts=1,
    )
    trouble = await _trouble(transport, transport.send(email))
    if trouble is not None:
        return problem("mail", f"The test email was not sent. {trouble}")
    if not settings.has_mail_server:
        return judgements.mail(settings, None)
    return ok(
        "mail",
        f"The mail server accepted the test email to {to.text}. If it does not arrive, look in the "
        "spam folder.",
    )


async def _trouble(transport: Transport, work: Awaitable[None]) -> str | None:
    """What went wrong, as a sentence."""
    try:
        async with asyncio.timeout(MAIL_LIMIT_S):
            await work
    except TimeoutError:
        return f"The mail server took longer than {MAIL_LIMIT_S:.0f} seconds."
    except Down as down:
        return _sentence(str(down))
    except (MailRefused, NotNow) as refused:
        return _sentence(f"The mail server refused it: {refused}")
    finally:
        await transport.rest()
    return None


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def check_programs(settings: Settings, found: ProgramHealth) -> CheckResult:
    if found.needing_email and not settings.smtp_url:
        asking = "program asks" if found.needing_email == 1 else "programs ask"
        return problem(
            "programs",
            f"{found.needing_email:,} partner {asking} for confirmations by email, and no mail "
            "server is set. None of their referrals will count.",
            "Set HONEYGUIDE_SMTP_URL to your mail server, or let the owners choose another rule.",
        )
    if found.holding_many:
        many = "program keeps" if found.holding_many == 1 else "programs keep"
        return warning(
            "programs",
            f"The screening of {found.holding_many:,} partner {many} more than "
            f"{HIGH_PERCENT}% of the referrals of 30 days from counting.",
            "Their owners see it on the program's page, and can review them or lower the level.",
        )
    return ok("programs", "Screening and confirmations work")
