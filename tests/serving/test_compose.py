"""compose.yaml and what belongs to it, as far as no container is needed.
tests/serving/test_image.py has the rest.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from honeyguide import settings
from tests.support.process import environment

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = COMPOSE["services"]["honeyguide"]


def test_what_an_operator_sets_wins_over_what_compose_sets() -> None:
    """Docker Compose lets `environment` win over files, and a later file over an earlier one."""
    assert {name.removeprefix("HONEYGUIDE_") for name in OURS["environment"]} == {
        f"{secret.replace('-', '_').upper()}_FILE" for secret in OURS["secrets"]
    }
    assert [each["path"] for each in OURS["env_file"]] == ["deploy/compose.env", "honeyguide.env"]


def test_the_network_of_the_containers_is_trusted() -> None:
    (given,) = (
        line.split("=")
        for line in (ROOT / "deploy" / "compose.env").read_text().splitlines()
        if not line.startswith("#")
    )
    assert given == [
        "HONEYGUIDE_TRUSTED_PROXIES",
        COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"],
    ]
    assert settings.read({given[0]: given[1]}).trusted_proxies == given[1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("base_url", "host"),
    [("https://refer.example.org", "refer.example.org"), (None, "localhost")],
)
def test_caddy_takes_its_file_and_serves_the_host_of_the_base_url(
    base_url: str | None, host: str
) -> None:
    program = shutil.which("caddy")
    assert program, "caddy is not installed; `make test-long` installs it on Debian"
    given = environment(**({"base_url": base_url} if base_url else {}))
    arguments = ["--config", str(ROOT / "deploy" / "compose.Caddyfile"), "--adapter", "caddyfile"]
    for verb in ("validate", "adapt"):
        done = subprocess.run(
            [program, verb, *arguments], env=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    adapted = json.loads(done.stdout)
    (server,) = adapted["apps"]["http"]["servers"].values()
    assert server["listen"] == [":443"]
    assert [route.get("match") for route in server["routes"]] == [[{"host": [host]}], None]
    for route in server["routes"]:
        assert '"dial": "honeyguide:8000"' in json.dumps(route)
    # Its place differs between versions of Caddy.
    assert "http://honeyguide:8000/internal/tls" in json.dumps(adapted["apps"]["tls"])
    volume = "./deploy/compose.Caddyfile:/etc/caddy/Caddyfile:ro"
    assert volume in COMPOSE["services"]["caddy"]["volumes"]
