"""The documents say only what is so: links and anchors lead somewhere, and every setting, command,
option, make target, file, route and page that they name exists.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import named_things
from tests.support.documents import (
    DOCUMENTS,
    ROOT,
    TODAY,
    anchors,
    blocks,
    blocks_of,
    broken_links,
    read,
)

LANGUAGES = {
    *("sh", "python", "js", "json"),  # checked or run: test_document_samples.py
    *("html", "yaml", "ini", "sql", "text", "csv", "http", "toml", "liquid"),
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_anchors_lead_somewhere(document: str) -> None:
    assert broken_links(document, read(document)) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One heading\n## `honeyguide copy`: moved\n## One heading\n")
    text = (
        "[x](a.md) [x](a.md#one-heading-1) [x](a.md#honeyguide-copy-moved) [x](b.md) [x](a.md#no)"
    )
    assert broken_links("c.md", text, tmp_path) == ["b.md", "a.md#no"]
    assert anchors("# SPF, DKIM & DMARC\n") == {"spf-dkim--dmarc"}


Check = Callable[[str], Iterator[str]]
CHECKS: dict[str, Check] = {
    "setting": named_things.wrong_settings,
    "command": named_things.wrong_commands,
    "target": named_things.wrong_targets,
    "file": named_things.wrong_files,
    "route": named_things.wrong_routes,
    "page": named_things.wrong_pages,
}


@pytest.mark.parametrize("document", TODAY)
def test_what_a_document_names_exists(document: str) -> None:
    wrong = [f"{kind}: {name}" for kind, of in CHECKS.items() for name in of(read(document))]
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("setting", "Set `HONEYGUIDE_SMTP_HOST`."),
        ("setting", "All of `HONEYGUIDE_MAIL_HOST_*`."),
        ("command", "Run `honeyguide fly`."),
        ("command", "Run `honeyguide account invent ana@example.org`."),
        ("command", "Run `honeyguide serve --wings 2`."),
        ("command", "With `--wings`, it flies."),
        ("command", "```sh\nrunuser -u honeyguide -- /opt/x/bin/honeyguide doctr\n```"),
        ("command", "```sh\ndocker compose run --rm honeyguide fly latest\n```"),
        ("target", "`make everything`"),
        ("file", "See `docs/nothing.md`."),
        ("page", "Open `/account/kees`."),
        ("page", "Open `/fly`."),
        ("route", "`GET /v1/campaign/:uuid/subscribers`"),
        ("route", "```sh\ncurl $BASE/v2/webhooks/$UUID/sekret\n```"),
    ],
)
def test_what_does_not_exist_is_seen(kind: str, text: str) -> None:
    assert list(CHECKS[kind](text))


@pytest.mark.parametrize(
    "text",
    [
        "`HONEYGUIDE_SECRET_KEY_FILE`, `HONEYGUIDE_BACKUP_*` and `HONEYGUIDE_SETTINGS`",
        "`honeyguide payouts mark-paid <uuid> --undo`, `honeyguide --settings x serve`",
        "```sh\ndocker compose stop honeyguide && systemctl enable --now honeyguide\n```",
        "```sh\nHONEYGUIDE_PORT=9000 make run\n```",
        "`GET /v1/campaigns/:campaign_uuid/subscribers`, `/v2/webhooks/…/secret`",
    ],
)
def test_what_exists_is_not_complained_about(text: str) -> None:
    assert [name for of in CHECKS.values() for name in of(text)] == []


@pytest.mark.parametrize("document", TODAY)
def test_every_block_says_its_language(document: str) -> None:
    found = {block.language for block in blocks(document)}
    assert found <= LANGUAGES


@pytest.mark.parametrize("document", TODAY)
def test_json_is_json(document: str) -> None:
    for block in blocks(document):
        if block.language == "json":
            json.loads(block.text)


def test_an_indented_block_is_a_block_too() -> None:
    assert [block.language for block in blocks_of("Run\n\n    honeyguide serve\n")] == [""]


@pytest.mark.long
def test_words_are_spelled_as_americans_do() -> None:
    """The words that a tool takes for mistakes and are none are in website/spelling.txt."""
    done = subprocess.run(
        ["make", "--silent", "spelling"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
