"""Every sample in the documents works. A block that is not run says why, and is at least well
formed.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import samples
from tests.support.documents import DOCUMENTS, ROOT, Block, blocks, blocks_of, read, tokens
from tests.support.partner_network import join, offer, png
from tests.support.samples import ELSEWHERE, REASONS, RUN, is_long, is_run
from tests.support.service import Member, Service
from tests.support.webhook_receiver import WebhookReceiver

HOOK = "https://example.org/hooks/honeyguide"
PAGES = [name for name in DOCUMENTS if any(is_run(block) for block in blocks(name))]
NOT_RUN = [block for name in DOCUMENTS for block in blocks(name) if block.not_run]


def _webhook(alice: Member, _bob: Member, receiver: WebhookReceiver) -> dict[str, str]:
    answer = alice.post("/v2/webhooks", {"url": _url(receiver), "new_referral": True})
    return {"UUID": answer.json()["webhook"]["uuid"]}


def _program(alice: Member, bob: Member, _receiver: WebhookReceiver) -> dict[str, str]:
    """A program with a partner's referral that was charged."""
    program = offer(alice)
    path = f"/v2/partner_programs/{program['uuid']}"
    assert alice.put(f"{path}/verification", {"rule": "none"}).status_code == 200
    alice.subscribe("paid@example.org", referrer_code=join(bob, program)["ref_code"])
    (referral,) = alice.get(f"{path}/referrals").json()["referrals"]
    return {"PROGRAM": program["uuid"], "REFERRAL": referral["uuid"]}


# What a page takes for granted besides an account: variables, and what they name.
GIVEN: dict[str, Callable[[Member, Member, WebhookReceiver], dict[str, str]]] = {
    "docs/webhooks.md": _webhook,
    "docs/money.md": _program,
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """It can send email, as the pages assume."""
    with Service("sqlite", smtp_url=f"file://{tmp_path_factory.mktemp('emails')}") as service:
        yield service


def _url(receiver: WebhookReceiver) -> str:
    return f"http://127.0.0.1:{receiver.port}/hook"


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.long) if is_long(blocks(p)) else p for p in PAGES],
)
def test_the_samples_of_a_page_work(page: str, installation: Service, tmp_path: Path) -> None:
    alice, bob = installation.member("alice"), installation.member("bob")
    (tmp_path / "logo.png").write_bytes(png())
    with WebhookReceiver() as receiver:
        given = GIVEN[page](alice, bob, receiver) if page in GIVEN else {}
        done = samples.run(blocks(page), tmp_path, alice, {HOOK: _url(receiver)}, **given)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_pages_with_samples_are_found() -> None:
    assert {"docs/webhooks.md", "docs/partners.md"} <= set(PAGES)
    assert set(GIVEN) <= set(PAGES)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ('```sh\ncurl -H "X-Api-Key: $KEY" $BASE/v1/nothing\n```', "404"),
        ("```sh\nfalse | true\n```", "line 1"),
        ("```python\nraise SystemExit('no')\n```", "no"),
    ],
)
def test_a_sample_that_fails_is_seen(
    sample: str, message: str, installation: Service, tmp_path: Path
) -> None:
    alice = installation.member("alice")
    done = samples.run(blocks_of(sample), tmp_path, alice, {})
    assert done.returncode != 0 and message in done.stderr


def test_values_that_the_reader_sets_are_set_already() -> None:
    text = "export BASE=http://127.0.0.1:8000\nKEY=hg_live_…  # yours\nCODE=$KEY\n"
    assert samples.with_values(text, {}).split() == ["CODE=$KEY"]


def what_is_wrong(block: Block) -> str:
    """With a block that is not run."""
    found = ELSEWHERE.fullmatch(block.not_run)
    if found is not None:
        test = ROOT / found[1]
        is_there = test.exists() and Path(block.document).name in test.read_text(encoding="utf-8")
        return "" if is_there else f"{found[1]} does not test this page"
    if block.not_run not in REASONS:
        return f"{block.not_run!r} is no reason"
    if block.language not in RUN:
        return "nothing of this language is run"
    if block.language == "python":
        compile(block.text, block.document, "exec")
    elif block.language == "sh":
        text = re.sub(r"<(\w[\w -]*)>", r"\1", block.text)
        done = subprocess.run(
            ["bash", "-n"], input=text, capture_output=True, text=True, check=False
        )
        return done.stderr
    return ""


def test_what_is_not_run_says_why_and_is_well_formed() -> None:
    wrong = {(block.document, block.line): what_is_wrong(block) for block in NOT_RUN}
    assert {place: why for place, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    "text",
    [
        "<!-- not run: too lazy -->\n```sh\ntrue\n```",
        "<!-- not run: fragment -->\n```sh\nif true; then\n```",
        "<!-- not run: tested in tests/test_nothing.py -->\n```sh\ntrue\n```",
        "<!-- not run: tested in tests/kernel/test_money.py -->\n```sh\ntrue\n```",
        "<!-- not run: fragment -->\n```json\n{}\n```",
    ],
)
def test_a_poor_excuse_is_seen(text: str) -> None:
    (block,) = blocks_of(text, "docs/webhooks.md")
    assert what_is_wrong(block)


def test_every_excuse_is_about_a_block() -> None:
    for name in DOCUMENTS:
        comments = [token for token in tokens(read(name)) if token.type == "html_block"]
        count = sum(token.content.count("<!-- not run: ") for token in comments)
        assert count == sum(block.document == name for block in NOT_RUN), name


@pytest.mark.long
def test_javascript_that_is_not_run_is_well_formed(tmp_path: Path) -> None:
    for block in NOT_RUN:
        if block.language == "js":
            file = tmp_path / f"line_{block.line}.mjs"
            file.write_text(block.text)
            subprocess.run(["node", "--check", file], check=True)
