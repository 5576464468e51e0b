"""The README's walk with curl works as it is printed."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

README = Path(__file__).parent.parent / "README.md"


def test_the_walk_with_curl_works_as_printed(service, alice):
    assert shutil.which("curl"), "the walk needs curl"
    walk = next(
        block
        for block in re.findall(r"```sh\n(.*?)```", README.read_text(), re.S)
        if block.startswith("BASE=")
    )
    steps = walk.split("\n\n", 1)[1]
    given = (
        f"set -eu\nBASE={service.url}\nKEY={alice.key}\nCAMPAIGN={alice.campaign_id}\n"
        "JSON='Content-Type: application/json; charset=utf-8'\n"
    )
    done = subprocess.run(
        ["bash", "-c", given + steps], capture_output=True, text=True, timeout=60, check=True
    )
    # What each comment of the walk promises, in its order.
    answers = {name: answer for each in documents(done.stdout) for name, answer in each.items()}
    assert "error" not in answers
    (ana,) = answers["subscribers"]
    assert (ana["email"], ana["referrals_count"]) == ("ana@example.org", 1)
    assert answers["subscriber"]["referrer_code"] == ana["ref_code"]
    (earned,) = answers["rewards"]
    assert (earned["name"], earned["status"]) == ("Sticker pack", "unlocked")
    assert answers["webhook"]["uuid"]


def documents(text: str) -> Iterator[Any]:
    """The JSON documents that a text consists of."""
    while text.strip():
        found, end = json.JSONDecoder().raw_decode(text.strip())
        text = text.strip()[end:]
        yield found


def test_every_page_the_readme_leads_to_exists():
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
