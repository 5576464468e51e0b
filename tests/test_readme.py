"""The README's walk with curl works as it is printed."""

import re
import shutil
import subprocess
from pathlib import Path

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
    assert '"error"' not in done.stdout
    assert done.stdout.count('"ana@example.org"') >= 2
    assert '"referrals_count":1' in done.stdout
    assert '"Sticker pack"' in done.stdout
    assert '"webhook"' in done.stdout


def test_every_page_the_readme_leads_to_exists():
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
