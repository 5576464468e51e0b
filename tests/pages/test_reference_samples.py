"""Every sample of the API reference is sent as it is, and accepted. The quick run sends what curl
would; the long one runs the Python and the JavaScript."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from honeyguide.api.call import Route
from honeyguide.api.openapi import document
from honeyguide.api.openapi_examples import id_in_path
from honeyguide.api.routes import ROUTES
from honeyguide.kernel.public import EXAMPLE_IDS
from honeyguide.pages.reference import SchemaReader
from honeyguide.pages.reference_samples import SampleRequest, curl, javascript, python
from tests.api.test_schemathesis import real_values
from tests.support import partner_network
from tests.support.belongings import things_of
from tests.support.service import Member, Service
from tests.support.web import Operator, operator

NODE = shutil.which("node")
# After these settings a referral waits, and what others need is not earned at once.
IN_ORDER = sorted(ROUTES, key=lambda route: route.operation_id == "updateCampaignSettings")
SETTINGS = {"screening": "flexible", "hold_days": 0, "needs_confirmation": False}


@pytest.fixture(scope="module")
def alice() -> Iterator[Operator]:
    with Service("sqlite", work=False, smtp_url="smtp://127.0.0.1:9") as service:
        yield operator(service)


@cache
def described(url: str) -> dict[str, Any]:
    return document(ROUTES, url)


def prepared(route: Route, alice: Member) -> dict[str, str]:
    """What stands in the sample for what is in the world: new things, so that a sample that
    deletes one, or needs an address that is free, can be sent after any other."""
    real = real_values(route, alice)
    found = {id_in_path(route.path, name): value for name, value in real.items()}
    if route.operation_id == "createPartnerProgram":
        found[EXAMPLE_IDS["publication"]] = partner_network.publish(alice)["uuid"]
    if re.fullmatch("(create|update)(Account)?Subscriber", route.operation_id):
        alice.http.delete(f"{alice.v1}/subscribers/ana@example.org")
    return found


def sample(route: Route, alice: Member, write: Callable[[SampleRequest], str]) -> str:
    whole = described(alice.service.url)
    operation = whole["paths"][route.path][route.method.lower()]
    code = write(SchemaReader(whole).request(route.method, route.path, operation))
    for example, own in prepared(route, alice).items():
        code = code.replace(example, own)
    return code


def send_as_curl(command: str, alice: Member) -> httpx.Response:
    """What curl would send for this command."""
    arguments = shlex.split(command.replace("\\\n", " "))
    assert arguments.pop(0) == "curl"
    method, url, headers, body = None, "", {}, None
    while arguments:
        word = arguments.pop(0)
        if word == "-X":
            method = arguments.pop(0)
        elif word == "-H":
            name, _, value = arguments.pop(0).partition(": ")
            headers[name] = value.replace("$API_KEY", alice.key)
        elif word == "-d":
            body = arguments.pop(0)
        else:
            assert not url
            url = word
    method = method or ("GET" if body is None else "POST")
    return alice.http.request(method, url, headers=headers, content=body)


def test_every_request_is_accepted(alice: Operator) -> None:
    refused = {}
    alice.put(f"{alice.v1}/settings", SETTINGS)
    for route in IN_ORDER:
        answer = send_as_curl(sample(route, alice, curl), alice)
        if answer.status_code not in (200, 201):
            refused[route.operation_id] = answer.text
    assert refused == {}


def test_every_kind_of_reward_in_the_document_is_accepted(alice: Operator) -> None:
    paths = described(alice.service.url)["paths"]
    operation = paths["/v1/campaigns/{campaign_uuid}/rewards"]["post"]
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    for name, example in examples.items():
        answer = alice.post(f"{alice.v1}/rewards", example["value"])
        assert (answer.status_code, answer.json()["reward"]["kind"]) == (201, name), answer.text


@pytest.mark.long
def test_whole_examples_of_the_document_are_accepted(alice: Operator) -> None:
    """The page leaves some of their fields out."""
    alice = operator(alice.service, "dave")
    refused = {}
    alice.put(f"{alice.v1}/settings", SETTINGS)
    for route in IN_ORDER:
        operation = described(alice.service.url)["paths"][route.path][route.method.lower()]
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        if "example" not in content:
            continue
        path, body = route.path, json.dumps(content["example"])
        for name in route.names:
            path = path.replace(f"{{{name}}}", id_in_path(route.path, name))
        for example, own in prepared(route, alice).items():
            path, body = path.replace(example, own), body.replace(example, own)
        answer = alice.http.request(route.method, path, content=body)
        if answer.status_code not in (200, 201):
            refused[route.operation_id] = answer.text
        elif route.operation_id == "createPartnerProgram":
            made = answer.json()["partner_program"]["uuid"]
            assert alice.put(f"{route.path}/{made}", {"slug": "another-one"}).status_code == 200
    assert refused == {}


def whole_reference(client: httpx.Client) -> str:
    """All its pages."""
    start = client.get("/docs").text
    slugs = dict.fromkeys(re.findall(r'href="/docs/([^"#]+)#', start))
    return "".join([start, *(client.get(f"/docs/{slug}").text for slug in slugs)])


def commands(page: str) -> list[str]:
    found = re.findall(r'aria-label="Example request, curl"><code>(.*?)</code>', page, re.DOTALL)
    return [unescape(each) for each in found]


def test_who_is_logged_in_sees_samples_with_their_own_ids(alice: Operator) -> None:
    with httpx.Client(base_url=alice.service.url, verify=False) as visitor:
        everyones = whole_reference(visitor)
    partner_network.offer(alice)
    alice = operator(alice.service, "carol")
    things_of(alice)
    alice.post(f"{alice.v1}/webhooks", {"url": "http://127.0.0.1:9/hook"})
    assert "no-store" in alice.web.get("/docs").headers["cache-control"]
    own = whole_reference(alice.web.http)
    assert alice.campaign_id not in everyones and alice.campaign_id in own
    kept = {thing for thing, example in EXAMPLE_IDS.items() if example in own}
    assert kept <= {"adjustment", "delivery", "partner_referral", "payout"}, (
        "the account has one of all others"
    )
    for command in commands(own):
        if (
            " -X " not in command
            and " -d " not in command
            and not any(EXAMPLE_IDS[thing] in command for thing in kept)
        ):
            answer = send_as_curl(command, alice)
            assert answer.status_code == 200 or "/referral" in command, (command, answer.text)


def test_nobody_sees_the_ids_of_another_account(alice: Operator) -> None:
    bob = operator(alice.service, "bob")
    page = bob.web.get("/docs/v1-campaigns").text
    assert bob.campaign_id in page and alice.campaign_id not in page


@pytest.fixture
def new_account(alice: Operator) -> Operator:
    """What a sample before this one has set or taken is another account's."""
    return operator(alice.service, "frank")


@pytest.mark.long
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_the_python_runs(new_account: Operator, route: Route, tmp_path: Path) -> None:
    code = sample(route, new_account, python)
    run(new_account, tmp_path / "sample.py", code, sys.executable)


@pytest.mark.long
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_the_javascript_runs(new_account: Operator, route: Route, tmp_path: Path) -> None:
    assert NODE, "the long tests need Node.js"
    code = sample(route, new_account, javascript)
    run(new_account, tmp_path / "sample.mjs", code, NODE)


def run(alice: Operator, file: Path, code: str, program: str) -> None:
    file.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [program, str(file)],
        env={**os.environ, "API_KEY": alice.key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stderr}"
    assert "{" in done.stdout
