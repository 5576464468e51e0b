"""The shipped dashboard and alert rules, with the real Prometheus of Debian's package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.postgres import free_port
from tests.support.process import Serving, migrated, new_account
from tests.support.service import ENGINES, until

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "deploy" / "alerts.yaml"
CONFIG = """
global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: [{alerts}]
scrape_configs:
  - job_name: honeyguide
    static_configs: [{{ targets: ["127.0.0.1:{port}"] }}]
"""
# Nothing is late, and with PostgreSQL a server writes to no disk.
MAY_BE_EMPTY = {"Late jobs": ENGINES, "Free disk space": ("postgres",)}


def promtool(*arguments: str, text: str | None = None) -> None:
    program = shutil.which("promtool")
    assert program, "promtool is not installed; `make test-long` installs it on Debian"
    done = subprocess.run(
        [program, *arguments], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def queries() -> Iterator[tuple[str, str]]:
    """Each panel's title with each of its queries, its variables filled in."""
    for panel in json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            expr = target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")
            assert "$" not in expr, expr
            yield panel["title"], expr


def test_the_rules_are_valid_and_fire_when_they_should() -> None:
    promtool("check", "rules", str(ALERTS))
    promtool("test", "rules", str(ROOT / "tests" / "alerts.test.yaml"))


def test_every_rule_has_a_test_and_says_what_to_do() -> None:
    rules = ALERTS.read_text().split("- alert: ")[1:]
    tested = (ROOT / "tests" / "alerts.test.yaml").read_text()
    for rule in rules:
        assert f'"{rule.split()[0]}"' in tested, rule
        for part in ("severity:", "summary:", "description:"):
            assert rule.count(part) == 1, rule


@pytest.mark.parametrize("name", ["HoneyguideOverloaded", "HoneyguideDatabaseWaits"])
def test_rules_that_a_full_sqlite_meets_say_how_to_leave_it(name: str) -> None:
    (rule,) = (rule for rule in ALERTS.read_text().split("- alert: ") if rule.startswith(name))
    assert "`honeyguide copy` (docs/copying.md)" in rule


@pytest.fixture(scope="module", params=ENGINES)
def watched(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("prometheus")
    arguments = ("--workers", "2") if request.param == "postgres" else ()
    url = migrated(request.param)
    alice = new_account(url)
    with Serving(url, *arguments) as server:
        (folder / "prometheus.yml").write_text(CONFIG.format(alerts=ALERTS, port=server.port))
        port = free_port()
        program = shutil.which("prometheus")
        assert program, "prometheus is not installed; `make test-long` installs it on Debian"
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    program,
                    f"--config.file={folder}/prometheus.yml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )
        try:
            yield Watched(request.param, server, f"http://127.0.0.1:{port}/api/v1", alice.key)
        finally:
            process.terminate()
            process.wait(30)


class Watched:
    """A server that Prometheus scrapes every second."""

    def __init__(self, engine: str, server: Serving, api: str, key: str) -> None:
        self.engine = engine
        self.server = server
        self.key = key
        self._http = httpx.Client(base_url=api, timeout=30)

    def ask(self, expr: str) -> list[dict[str, Any]]:
        try:
            answer = self._http.get("/query", params={"query": expr})
        except httpx.TransportError:
            return []  # it is starting
        if answer.status_code == 503:
            return []  # it is still reading its own files
        assert answer.status_code == 200, (expr, answer.text)
        return answer.json()["data"]["result"]  # type: ignore[no-any-return]

    def alerts(self) -> set[str]:
        return {found["metric"]["alertname"] for found in self.ask("ALERTS")}


def test_a_scrape_passes_the_linter(watched: Watched) -> None:
    text = watched.server.caller()("GET", "/metrics").body.decode()
    promtool("check", "metrics", text=text)


def test_every_panel_shows_something(watched: Watched) -> None:
    call = watched.server.caller(watched.key)

    def is_empty(expr: str) -> bool:
        assert call("GET", "/v1/campaigns").status == 200
        return not watched.ask(expr)

    for title, expr in queries():
        if watched.engine in MAY_BE_EMPTY.get(title, ()):
            watched.ask(expr)
        else:
            until(lambda expr=expr: not is_empty(expr))


def test_alerts_follow_what_happens(watched: Watched) -> None:
    until(lambda: "HoneyguideBackupOld" in watched.alerts())
    assert "HoneyguideDown" not in watched.alerts()
    watched.server.stop()
    until(lambda: "HoneyguideDown" in watched.alerts())
    watched.server.start()
    until(lambda: "HoneyguideDown" not in watched.alerts())


def test_the_scrape_settings_of_the_guide_are_valid(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "monitoring.md").read_text()
    (settings,) = re.findall(r"```yaml\n(scrape_configs:.*?)```", guide, re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(settings)
    promtool("check", "config", "--syntax-only", str(tmp_path / "prometheus.yml"))
