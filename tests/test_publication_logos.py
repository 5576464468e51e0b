"""Hostile logos over the API, on both engines: a form or JSON, creating or updating, each is refused in one sentence or comes
out clean, and nothing of it is served as it was sent.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.hostile_logos import BROKEN, CLEANED, NOT_AN_IMAGE, POLYGLOTS, SECRET, SMALL_PNG
from tests.support.market import publication_fields, publish
from tests.support.service import ENGINES, Member, Service
from tests.support.tables import dump

FORMS = ("form", "data URI", "base64")
HOSTILE = {**NOT_AN_IMAGE, **BROKEN, **POLYGLOTS, **CLEANED}


def send(owner: Member, method: str, form: str, path: str, logo: bytes) -> Any:
    """A new publication with this logo, or another logo for one that is there."""
    fields = publication_fields() if method == "POST" else {"name": "Another"}
    fields.pop("logo", None)
    if form == "form":
        # The name and type that a caller claims are never believed.
        return owner.http.request(
            method, path, data=fields, files={"logo": ("../../logo.png", logo, "image/png")}
        )
    coded = base64.b64encode(logo).decode()
    return owner.http.request(
        method,
        path,
        json={**fields, "logo": f"data:image/png;base64,{coded}" if form != "base64" else coded},
    )


@pytest.fixture(scope="module")
def publications() -> dict[str, dict[str, Any]]:
    """One on each engine, to try other logos on."""
    return {}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_logo_is_refused_in_a_sentence_or_comes_out_clean(service, publications, name):
    if service.engine not in publications:
        owner = service.member("alice")
        publications[service.engine] = {"owner": owner, **publish(owner)}
    known = publications[service.engine]
    owner: Member = known["owner"]
    paths = {"POST": "/v2/publications", "PUT": f"/v2/publications/{known['uuid']}"}
    ways = [(method, form) for method in paths for form in FORMS]
    if (
        name not in NOT_AN_IMAGE
    ):  # each of these costs a child process: some ways on one engine, the others on the other
        turn = list(HOSTILE).index(name) + 3 * (service.engine == "sqlite")
        ways = ways[turn % 2 :: 2] if name in POLYGLOTS else [ways[turn % 6]]
    for method, form in ways:
        answer = send(owner, method, form, paths[method], HOSTILE[name])
        if name in CLEANED:
            assert answer.status_code == (201 if method == "POST" else 200), answer.text
            served = owner.http.get(answer.json()["publication"]["logo_url"])
            assert (
                served.status_code == 200 and served.headers["x-content-type-options"] == "nosniff"
            )
            assert served.headers["content-type"] in ("image/png", "image/jpeg")
            assert (
                served.content != HOSTILE[name]
                and SECRET not in served.content
                and b"<script" not in served.content
            )
            continue
        assert answer.status_code == 400, (method, form, answer.text)
        told = answer.json()
        assert name not in POLYGLOTS or "Save it again" in told["error"]
        assert (
            told["param"] == "logo"
            and told["error"].startswith("logo ")
            and told["error"].endswith(".")
        ), told
        assert set(told) == {"error", "code", "param", "request_id"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_logo_is_taken_in_every_form(alice, method, form):
    path = "/v2/publications" if method == "POST" else f"/v2/publications/{publish(alice)['uuid']}"
    for logo, status in (
        (SMALL_PNG, 201 if method == "POST" else 200),
        (BROKEN["PNG truncated"], 400),
    ):
        assert send(alice, method, form, path, logo).status_code == status


@pytest.mark.parametrize("engine", ENGINES)
def test_logos_are_kept_in_a_folder_where_the_setting_says_so(engine, tmp_path):
    folder = tmp_path / "made" / "logos"
    with Service(engine, logo_dir=str(folder)) as service:
        alice = service.member("alice")
        publication = publish(alice)
        (stored,) = dump(service)["logo"]
        assert stored["data"] is None and [file.name for file in folder.iterdir()] == [stored["id"]]
        served = alice.http.get(publication["logo_url"])
        assert (
            served.content == (folder / stored["id"]).read_bytes()
            and served.headers["content-type"] == "image/png"
        )
        assert (
            send(
                alice,
                "PUT",
                "form",
                f"/v2/publications/{publication['uuid']}",
                BROKEN["PNG truncated"],
            ).status_code
            == 400
        )
        assert alice.http.get(publication["logo_url"]).content == served.content
        assert len(list(folder.iterdir())) == 1
        (folder / stored["id"]).unlink()
        assert alice.http.get(publication["logo_url"]).status_code == 404
