"""Hostile logos over the API: a form or JSON, creating or updating, each is refused in one sentence
or comes out clean.

Nothing of it is served as it was sent. A logo is decoded before the store sees it, so the table
runs on one engine.
"""

import base64
import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.hostile_logos import BROKEN, CLEANED, NOT_AN_IMAGE, SECRET, SMALL_PNG
from tests.support.partner_network import publication_fields, publish
from tests.support.service import ONE_ENGINE, Member, Service
from tests.support.tables import dump

FORMS = ("form", "data URI", "base64")
WAYS = [(method, form) for method in ("POST", "PUT") for form in FORMS]
HOSTILE = {**NOT_AN_IMAGE, **BROKEN, **CLEANED}


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


def send_and_check(owner: Member, logos: Iterable[tuple[str, list[tuple[str, str]]]]) -> None:
    """Every logo in its ways, each a method and a form."""
    paths = {"POST": "/v2/publications", "PUT": f"/v2/publications/{publish(owner)['uuid']}"}
    for name, ways in logos:
        for method, form in ways:
            answer = send(owner, method, form, paths[method], HOSTILE[name])
            check_answer(owner, name, method, answer)


@pytest.mark.long
@ONE_ENGINE
def test_a_hostile_logo_is_refused_in_a_sentence_or_comes_out_clean(alice):
    """What needs a child process comes in samples, which take the six ways in turn:
    tests/partners/test_logos.py sends all of them through such a process.
    """
    samples = zip([*BROKEN, *CLEANED][::4], itertools.cycle(WAYS), strict=False)
    send_and_check(alice, [(name, WAYS) for name in NOT_AN_IMAGE])
    send_and_check(alice, [(name, [way]) for name, way in samples])


@pytest.mark.long
@ONE_ENGINE
def test_every_hostile_logo_is_refused_or_comes_out_clean_in_every_way(alice):
    send_and_check(alice, [(name, WAYS) for name in HOSTILE])


def check_answer(owner: Member, name: str, method: str, answer: Any) -> None:
    if name in CLEANED:
        assert answer.status_code == (201 if method == "POST" else 200), (name, answer.text)
        served = owner.http.get(answer.json()["publication"]["logo_url"])
        assert served.status_code == 200 and served.headers["x-content-type-options"] == "nosniff"
        assert served.headers["content-type"] in ("image/png", "image/jpeg")
        assert (
            served.content != HOSTILE[name]
            and SECRET not in served.content
            and b"<script" not in served.content
        )
        return
    assert answer.status_code == 400, (name, method, answer.text)
    body = answer.json()
    assert (
        body["param"] == "logo"
        and body["error"].startswith("logo ")
        and body["error"].endswith(".")
    ), body
    assert set(body) == {"error", "code", "param", "request_id"}


def test_a_logo_is_taken_in_every_form(alice):
    known = f"/v2/publications/{publish(alice)['uuid']}"
    for method, path, taken in (("POST", "/v2/publications", 201), ("PUT", known, 200)):
        statuses = {form: send(alice, method, form, path, SMALL_PNG).status_code for form in FORMS}
        assert statuses == dict.fromkeys(FORMS, taken), method


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
