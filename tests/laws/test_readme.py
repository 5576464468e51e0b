"""The README's walk with curl works as it is printed, and keeps every promise of its comments."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from honeyguide.cli import demo
from tests.support.documents import blocks, read
from tests.support.samples import with_values
from tests.support.service import ONE_ENGINE, Member, Service

WALK = next(block.text for block in blocks("README.md") if block.text.startswith("BASE="))
STEPS = re.findall(r"^# (.+)$", WALK, re.MULTILINE)


@pytest.fixture
def answers(service: Service, alice: Member, tmp_path: Path) -> dict[str, Any]:
    """What each step of the walk printed, by its comment."""
    assert shutil.which("curl"), "the walk needs curl"
    given = f"set -eu\nBASE={service.url}\nKEY={alice.key}\nCAMPAIGN={alice.campaign_id}\n"
    walk = re.sub(r"^# (.+)$", r'echo "# \1"', with_values(WALK, {}), flags=re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", given + walk],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    printed = done.stdout.split("# ")[1:]
    found = [part.partition("\n") for part in printed]
    return {comment: json.loads(text) for comment, _, text in found}


@ONE_ENGINE
def test_the_walk_with_curl_keeps_its_promises(answers: dict[str, Any], alice: Member) -> None:
    assert list(answers) == STEPS
    reward, ana, ben, why, advocates, earned = answers.values()
    assert (reward["reward"]["name"], reward["reward"]["referrals"]) == ("Sticker pack", 1)
    code = ana["subscriber"]["ref_code"]
    assert code and ana["subscriber"]["name"] == "Ana"
    assert ben["subscriber"]["referrer_code"] == code
    assert why["referral"]["status"] == "verified" and why["referral"]["explanation"]
    (advocate,) = advocates["subscribers"]
    assert (advocate["email"], advocate["referrals_count"]) == ("ana@example.org", 1)
    (sticker,) = earned["rewards"]
    assert (sticker["name"], sticker["status"]) == ("Sticker pack", "unlocked")
    shown = alice.http.get(f"/r/{code}", follow_redirects=True)
    assert shown.status_code == 200 and "text/html" in shown.headers["content-type"]


def test_the_banner_has_what_the_reader_copies() -> None:
    banner = Path(demo.__file__).read_text(encoding="utf-8")
    labels = re.findall(r'# "(.+?)"', WALK)
    assert len(labels) == 2 and [label for label in labels if label not in banner] == []


def test_every_part_can_be_scanned() -> None:
    """No index of three hundred characters in a line, and every reader has a list."""
    text = read("README.md")
    assert max(len(line) for line in text.splitlines() if "|" not in line) <= 140
    parts = re.findall(r"^\*\*For (.+?)\*\*\n((?:- .+\n)+)", text, re.MULTILINE)
    assert len(parts) == 4 and all(len(items.splitlines()) <= 6 for _, items in parts)
