"""What Prometheus reads: every number is of something that really happened."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from honeyguide import __version__
from honeyguide.accounts import accounts
from honeyguide.api.state_metrics import StateMetrics
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import emails
from honeyguide.mail.content import email
from honeyguide.mail.email_kinds import TEST_EMAIL
from honeyguide.mail.emails import EmailToSend
from honeyguide.operating.backups import records
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.store import job_runs
from honeyguide.store.tx import Tx, timed
from tests.cli.test_cli_server import children
from tests.support.disks import watched_disk
from tests.support.metrics import NAME, Scrape
from tests.support.process import Serving, migrated, new_account
from tests.support.service import ENGINES, Member, Service, until
from tests.support.stores import OpenStore

DEPLOY = Path(__file__).parents[2] / "deploy"


def scrape(server: Serving) -> Scrape:
    return Scrape(server.caller()("GET", "/metrics").body.decode())


def scrape_of(service: Service) -> Scrape:
    return Scrape(service.member("mona").get("/metrics").text)


# Requests.
def test_requests_are_counted_by_route_and_never_by_what_they_are_about(alice: Member) -> None:
    route = "/v1/campaigns/{campaign_uuid}/subscribers/{uuid}"
    before = scrape_of(alice.service)
    alice.subscribe("zoe.unique@example.org")
    for _ in range(3):
        alice.get(f"{alice.v1}/subscribers/zoe.unique@example.org")
    alice.http.get("/login")
    alice.http.get("/subscribers/0192-not-there")
    alice.http.get("/r/nobody")
    alice.http.get("/.env")
    after = scrape_of(alice.service)

    def more(name: str, **labels: str) -> float:
        return (after(name, **labels) or 0) - (before(name, **labels) or 0)

    counted = "honeyguide_requests_total"
    assert more(counted, method="GET", route=route, status="200") == 3
    assert more("honeyguide_request_seconds_count", route=route) == 3
    assert more(counted, method="GET", route="/login", status="200") == 1
    assert more(counted, route="/subscribers/{id}") == 1
    assert more(counted, route="/r/{code}", status="404") == 1
    assert more(counted, route="unknown", status="404") == 1
    assert not re.search(r"zoe|0192-not|\.env|nobody", after.text)
    assert alice.account_id not in after.text and alice.campaign_id not in after.text
    assert after("honeyguide_requests_in_flight") == 0


def test_errors_are_counted_by_code_and_the_probe_tells_why_writes_fail() -> None:
    with watched_disk() as disk, Service("sqlite") as service:
        alice = service.member("alice")
        assert alice.get("/readyz").json() == {"status": "ready"}
        disk.broken = True
        refused = alice.post(f"{alice.v1}/subscribers", {"email": "a@example.org"})
        assert refused.json()["code"] == "unavailable"
        assert (
            Scrape(alice.get("/metrics").text)("honeyguide_errors_total", code="unavailable") == 1
        )
        waiting = alice.get("/readyz")
        assert (waiting.status_code, waiting.json()["code"]) == (503, "cannot_write")
        assert waiting.json()["error"].startswith("The database cannot be written to.")
        disk.broken = False
        assert alice.get("/readyz").json() == {"status": "ready"}
        assert (
            Scrape(alice.get("/metrics").text)("honeyguide_errors_total", code="internal_error")
            == 0
        )


# The installation.
@pytest.mark.parametrize("engine", ENGINES)
def test_what_nobody_works_on_gets_old(engine: str) -> None:
    url = migrated(engine)
    alice = new_account(url)
    # Without background work, as if the process for it had died.
    with Serving(url, "--no-work") as server, OpenStore(engine, url) as opened:
        call = server.caller(alice.key)
        webhook = {"url": "http://127.0.0.1:9/", "new_referral": True}
        assert call("POST", f"{alice.v1}/webhooks", webhook).status == 201
        ana = call("POST", f"{alice.v1}/subscribers", {"email": "ana@example.org"}).json()
        code = ana["subscriber"]["ref_code"]
        ben = {"email": "ben@example.org", "referrer_code": code}
        assert call("POST", f"{alice.v1}/subscribers", ben).status == 201
        assert call("PUT", f"{alice.v1}/settings", {"hold_days": 1}).status == 200
        cleo = {"email": "cleo@example.org", "referrer_code": code}
        assert call("POST", f"{alice.v1}/subscribers", cleo).status == 201
        opened.run(opened.store.write(write_email, alice.account_id))
        server.set_clock(DAY_MS / 1000 + 3_600)
        found = scrape(server)
        assert found("honeyguide_webhook_deliveries_due", receiver="working") == 2
        assert found("honeyguide_webhook_deliveries_due", receiver="failing") == 0
        assert found("honeyguide_emails_unsent") == 2, "this one, and that of the first referral"
        for name, hours in (
            ("webhook_oldest_due", 25),
            ("email_oldest_unsent", 25),
            ("referral_oldest_due", 1),
        ):
            age_s = found(f"honeyguide_{name}_seconds")
            assert age_s is not None and 0 <= age_s - hours * 3_600 < 300, (name, age_s)


async def write_email(tx: Tx, account_id: str) -> None:
    to = EmailAddress("alice@example.org")
    hello = EmailToSend(account_id, to, TEST_EMAIL, email("Hello", "Hello"))
    await emails.send(tx.at(system_clock()), hello)


LEDGER, RATES, SEND = "check the ledger", "update confirmation rates", "send emails"


@pytest.mark.parametrize("engine", ENGINES)
def test_jobs_tell_how_they_last_went(engine: str) -> None:
    url = migrated(engine)
    with OpenStore(engine, url) as opened:
        for name, days_ago, result in (
            (LEDGER, 3, job_runs.OK),
            (LEDGER, 2, "failed: Unavailable"),
            (RATES, 0, job_runs.OK),
            (SEND, 2, None),
            ("a job of an older version", 2, job_runs.OK),
        ):
            at_ms = system_clock() - days_ago * DAY_MS
            opened.run(opened.store.write(run_job, name, at_ms, result))
        opened.run(opened.store.write(timed(accounts.note_proof, system_clock()), broken=2))
        opened.run(opened.store.write(timed(accounts.note_backup, system_clock())))
        opened.run(opened.store.write(fail_backup))
    with Serving(url, "--no-work") as server:
        found = scrape(server)

    def job(name: str, what: str) -> float | None:
        return found(f"honeyguide_job_{what}", job_name=name)

    assert (job(LEDGER, "last_failed"), job(RATES, "last_failed")) == (1, 0)
    assert job(SEND, "last_failed") is None  # it runs
    assert job(LEDGER, "last_duration_seconds") == 1.5
    assert days(job(LEDGER, "overdue_seconds")) == 2  # of its last success, not of its last run
    assert days(job(LEDGER, "running_seconds")) == 0 and days(job(SEND, "running_seconds")) == 2
    assert job(RATES, "overdue_seconds") == 0
    assert job(SEND, "overdue_seconds") is None  # it runs only if there is something to send
    now_s = system_clock() / 1000
    assert days(now_s - (job(LEDGER, "last_success_timestamp_seconds") or 0)) == 3
    assert days(now_s - (job(LEDGER, "last_start_timestamp_seconds") or 0)) == 2
    assert "older version" not in found.text
    assert found("honeyguide_ledger_broken_rows") == 2
    for what in ("ledger_last_check", "backup_last_success"):
        assert days(now_s - (found(f"honeyguide_{what}_timestamp_seconds") or 0)) == 0
    assert found("honeyguide_backup_last_failed") == 1
    assert found("honeyguide_backup_last_duration_seconds") == 2.5
    assert found("honeyguide_backup_last_size_bytes") == 0
    assert found("honeyguide_build_info", version=__version__) == 1


async def fail_backup(tx: Tx) -> None:
    await records.begin(tx.at(system_clock()), "1", "one.backup")
    await records.finish(
        tx,
        BackupRecord(
            id="1",
            name="one.backup",
            started_ms=0,
            duration_ms=2_500,
            bytes=None,
            sha256=None,
            result=records.FAILED,
            message="The folder is gone.",
        ),
    )


def days(seconds: float | None) -> int:
    assert seconds is not None
    return int(seconds * 1000 + 60_000) // DAY_MS


async def run_job(tx: Tx, name: str, at_ms: int, result: str | None) -> None:
    """A run of a job at another time. Without a result, it is still running."""
    lease_ms = 1 if result else 10 * DAY_MS
    assert await job_runs.claim(
        tx.at(at_ms), name, "token", every_ms=DAY_MS, lease_ms=lease_ms, early=False
    )
    if result is not None:
        await job_runs.finish(tx, name, "token", duration_ms=1_500, result=result)


# The process.
def test_workers_are_added_up_and_a_replacement_counts_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    url = migrated("postgres")
    alice = new_account(url)

    def counted(server: Serving) -> float | None:
        return scrape(server)("honeyguide_requests_total", status="200")

    with Serving(url, "--workers", "2", pool_size=4) as server:
        for _ in range(20):
            assert server.caller(alice.key)("GET", alice.v1).status == 200
        until(lambda: counted(server) == 20)
        most = "honeyguide_database_connections_max"
        until(lambda: scrape(server)(most, pool="main") == 8)
        for _ in range(2):
            kill_a_worker(server.process.pid)
        until(lambda: server.caller(alice.key)("GET", alice.v1).status == 200)
        until(lambda: counted(server) == 21)
        until(lambda: scrape(server)(most, pool="main") == 8)
        files = [path.stem for path in tmp_path.glob("honeyguide-metrics-*/*.db")]
        assert {name.rpartition("_")[2] for name in files} == {"0", "1"}
        found = scrape(server)
        assert found("process_resident_memory_bytes") > 2 * 20_000_000  # type: ignore[operator]
        assert found("process_cpu_seconds_total") > 0  # type: ignore[operator]


def kill_a_worker(parent: int) -> None:
    victim = children(parent)[0]
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in children(parent) and len(children(parent)) == 2)


# The shipped files.
# A server with PostgreSQL writes to no disk of its own.
OF_SQLITE = {"honeyguide_disk_free_bytes", "honeyguide_disk_size_bytes"}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_dashboard_and_the_alerts_use_only_what_is_exported(engine: str) -> None:
    with Service(engine) as service:
        service.member("alice").subscribe("a@example.org")
        exported = scrape_of(service).names
    for file in ("grafana-dashboard.json", "alerts.yaml"):
        used = set(NAME.findall((DEPLOY / file).read_text()))
        assert len(used) > 20
        missing = used - exported
        assert missing == (OF_SQLITE if engine == "postgres" else set()), file


def test_every_panel_asks_the_chosen_data_source() -> None:
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    for panel in panels:
        assert panel["targets"], panel["title"]
        for asked in (panel, *panel["targets"]):
            assert asked["datasource"]["uid"] == "${datasource}"
        for target in panel["targets"]:
            assert NAME.search(target["expr"]) or "up{" in target["expr"], panel["title"]


@pytest.mark.parametrize(
    ("result", "is_bad"),
    [(records.OK, 0), (records.UNCHECKED, 0), (records.FAILED, 1), (records.BROKEN, 1)],
)
def test_the_metric_of_backups_knows_every_result(
    opened: OpenStore, result: str, is_bad: int
) -> None:
    async def make(tx: Tx) -> None:
        await records.begin(tx.at(1), "1", "one.backup")
        made = await records.last_backup(tx)
        assert made is not None
        await records.finish(tx, made._replace(duration_ms=1, bytes=1, result=result, message=""))

    async def value() -> float:
        metrics = StateMetrics(opened.store, system_clock, {}, {}, frozenset())
        await metrics.refresh()
        (family,) = [
            each for each in metrics.collect() if each.name == "honeyguide_backup_last_failed"
        ]
        return family.samples[0].value

    opened.run(opened.store.write(make))
    assert opened.run(value()) == is_bad
