"""`honeyguide changes` lists the change log."""

import json

from tests.support.process import command
from tests.support.service import Service
from tests.support.web import Operator, operator


def run_command(owner: Operator, *options: str) -> str:
    url = owner.service.settings.database_url
    done = command("changes", "--account", owner.email, *options, database_url=url)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_the_command_lists_the_newest_first(service: Service) -> None:
    alice = operator(service)
    alice.put(f"{alice.v1}/settings", {"hold_days": 3})
    alice.web.post("/account/profile", page="/account", name="Bee")
    (first, second) = run_command(alice, "--limit", "2").splitlines()
    assert "on the dashboard  account.changed" in first
    assert first.endswith('name: "Alice" -> "Bee"')
    assert 'with API key "test"  campaign.changed' in second
    assert second.endswith("hold_days: 0 -> 3")
    (entry,) = json.loads(run_command(alice, "--limit", "1", "--json"))
    assert entry["actor_kind"] == "member" and entry["after"] == {"name": "Bee"}


def test_the_command_has_the_filters_of_the_page(service: Service) -> None:
    alice = operator(service)
    alice.put(f"{alice.v1}/settings", {"hold_days": 3})
    alice.web.post("/account/profile", page="/account", name="Bee")

    def found(*options: str) -> list[str]:
        rows = json.loads(run_command(alice, "--json", *options))
        return [row["action"] for row in rows if row["action"].endswith(".changed")]

    both = ["account.changed", "campaign.changed"]
    assert found() == both
    assert found("--kind", "member") == both[:1]
    assert found("--by", alice.email) == both[:1]
    assert found("--by", "test") == both[1:]
    assert found("--about", "settings") == both[1:]
    assert found("--search", "HOLD_") == both[1:]
    assert found("--from", "2020-01-01") == both
    assert found("--to", "2020-01-01") == []
    url = alice.service.settings.database_url
    done = command("changes", "--account", alice.email, "--by", "nobody", database_url=url)
    assert done.returncode == 1 and "neither a member nor an API key" in done.stderr
