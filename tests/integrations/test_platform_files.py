"""Every email platform has what belongs to it: its module, its stand-in with a case, its page."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from honeyguide.integrations.about import About, Hooks
from honeyguide.integrations.platform import Platform
from honeyguide.integrations.platforms import PLATFORMS
from tests.support.made_up_platform import Pigeon

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "src/honeyguide/integrations"
STAND_INS = ROOT / "tests/support/platforms"
PAGES = ROOT / "docs/integrations"


def missing(platform: Platform) -> Iterator[str]:
    """What to add, one sentence each."""
    about = platform.about
    if Path(inspect.getfile(type(platform))) != MODULES / f"{about.key}.py":
        yield f"{about.name}: its class belongs into src/honeyguide/integrations/{about.key}.py."
    yield from _missing_tests(about)
    if not (PAGES / f"{about.key}.md").is_file():
        yield f"{about.name}: write its page, docs/integrations/{about.key}.md."
    if f"| {about.name} |" not in _row(about):
        yield f"{about.name}: add its row to the table in docs/integrations/README.md."


def _missing_tests(about: About) -> Iterator[str]:
    stand_in = f"tests/support/platforms/{about.key}.py"
    if not (ROOT / stand_in).is_file():
        yield f"{about.name}: write its stand-in, {stand_in}."
        return
    case = getattr(importlib.import_module(f"tests.support.platforms.{about.key}"), "CASE", None)
    if case is None:
        yield f"{about.name}: {stand_in} needs a CASE, a PlatformCase for the shared tests."
    elif (case.webhook is None) != (about.hooks == Hooks.NONE):
        yield f"{about.name}: the CASE in {stand_in} needs a webhook if the platform has webhooks."


def _row(about: About) -> str:
    rows = (PAGES / "README.md").read_text().splitlines()
    return next((row for row in rows if row.endswith(f"[{about.key}.md]({about.key}.md) |")), "")


@pytest.mark.parametrize("key", PLATFORMS)
def test_nothing_is_missing(key: str) -> None:
    assert PLATFORMS[key].about.key == key
    assert list(missing(PLATFORMS[key])) == []


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(missing(Pigeon())) == [
        "Pigeon: its class belongs into src/honeyguide/integrations/pigeon.py.",
        "Pigeon: write its page, docs/integrations/pigeon.md.",
        "Pigeon: add its row to the table in docs/integrations/README.md.",
    ]
    stand_in = importlib.import_module("tests.support.platforms.pigeon")
    monkeypatch.delattr(stand_in, "CASE")
    assert "needs a CASE" in next(_missing_tests(Pigeon.about))
    unknown = msgspec.structs.replace(Pigeon.about, key="nobody", name="Nobody")
    assert list(_missing_tests(unknown)) == [
        "Nobody: write its stand-in, tests/support/platforms/nobody.py."
    ]


def test_no_stand_in_is_left_over() -> None:
    """One for each platform, the made-up one, and what they share."""
    shared = {"__init__", "case", "cases", "stand_in", "pigeon"}
    assert {each.stem for each in STAND_INS.glob("*.py")} == {*PLATFORMS, *shared}
