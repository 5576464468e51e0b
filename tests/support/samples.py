"""Runs the samples of a document as somebody would who follows it: every block of `sh`, `python`
and `js` in its order, in one folder, against a running service.

A shell keeps its variables from block to block, and programs find them in their environment. What
the page says of `BASE`, `KEY` and `CAMPAIGN` is left out: they are those of an account here.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.documents import Block
from tests.support.process import environment
from tests.support.service import Member

RUN = {"sh", "python", "js"}
# Why a block is not run. `tested in tests/test_x.py` is a reason too: that test runs it.
REASONS = {
    "server": "changes a server as root",
    "other host": "needs another machine or a vendor",
    "fragment": "part of a file, or has names in it that the reader replaces",
    "checkout": "builds, starts or tests this checkout",
}
ELSEWHERE = re.compile(r"tested in (tests/[\w/]+\.py)")
_GIVEN = re.compile(r"^(?:export )?(?:BASE|KEY|CAMPAIGN)=.*$", re.MULTILINE)
_PROGRAMS = {"python": ("python3", ".py"), "js": ("node", ".mjs")}
# A refused request fails the sample, as it would a person's script.
_START = """\
set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@"; }
set -a
"""


def is_run(block: Block) -> bool:
    return block.language in RUN and not block.not_run


def is_long(blocks: list[Block]) -> bool:
    """Whether it needs Node, starts our command, which takes a second each time, or waits."""
    return any(
        is_run(block)
        and (block.language == "js" or re.search(r"\b(honeyguide|sleep) ", block.text))
        for block in blocks
    )


def with_values(text: str, replaced: dict[str, str]) -> str:
    """The block for here: what the page says for the reader to set is set already."""
    text = _GIVEN.sub("", text)
    for name, value in replaced.items():
        text = text.replace(name, value)
    return text


def script(blocks: list[Block], folder: Path, replaced: dict[str, str]) -> str:
    """One shell script of all the blocks that are run."""
    parts = [_START]
    for block in filter(is_run, blocks):
        text = with_values(block.text, replaced)
        if block.language != "sh":
            program, ending = _PROGRAMS[block.language]
            file = folder / f"line_{block.line}{ending}"
            file.write_text(text, encoding="utf-8")
            text = f"{program} {file.name}"
        parts.append(f"echo '-- line {block.line}' >&2\n{text}")
    return "\n".join(parts)


def run(
    blocks: list[Block], folder: Path, member: Member, replaced: dict[str, str], **given: str
) -> subprocess.CompletedProcess[str]:
    programs = folder / ".programs"
    programs.mkdir()
    for name, command in (("honeyguide", "-m honeyguide "), ("python3", "")):
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}"$@"\n')
        path.chmod(0o755)
    values = {
        "BASE": member.service.url,
        "KEY": member.key,
        "CAMPAIGN": member.campaign_id,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        **given,
    }
    replaced = {
        "https://refer.example.com": member.service.url,
        "https://refer.example.org": member.service.url,
        **replaced,
    }
    assert shutil.which("curl") and shutil.which("bash")
    return subprocess.run(
        ["bash", "-c", script(blocks, folder, replaced)],
        cwd=folder,
        env=environment(database_url=member.service.database_url) | values,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
