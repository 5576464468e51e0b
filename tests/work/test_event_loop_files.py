"""No file keeps the event loop busy: the largest lists of subscribers and pictures that we take."""

from collections.abc import Callable, Iterator

import pytest

from honeyguide.moving.import_files import MOST_BYTES as IMPORT_BYTES
from tests.support.hostile_world import World
from tests.support.large_files import multiparts, one_file, picture_bomb
from tests.support.large_requests import MB, finish, large_world, send
from tests.support.loop_steps import LoopSteps

FILE_LIMIT = 2 * MB
ROWS: dict[str, Callable[[], bytes]] = {
    "lines": lambda: b"email\n" + b"".join(b"p%d@x.org\n" % n for n in range(1_300_000)),
    "fewer lines": lambda: b"email\n" + b"".join(b"p%d@x.org\n" % n for n in range(5_000)),
    "commas": lambda: b"email" + b",a" * 199 + b"\n" + (b"," * 199 + b"\n") * 90_000,
    "one line": lambda: b",".join(b"p%d@x.org" % n for n in range(1_400_000)),
    "long lines": lambda: b"email,tags\n" + (b"a@x.org," + b'"""' * 40_000 + b"\n") * 300,
    "quotes": lambda: b'"' * IMPORT_BYTES,
    "names": lambda: b",".join([b"n" * 300] * 200) + b"\n" + b"a," * 199 + b"@\n",
}
# They take long to upload and to read, though not on the loop.
LONG = ("lines", "commas")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with large_world() as made:
        yield made


@pytest.mark.parametrize(
    "shape",
    [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in ROWS],
)
def test_a_file_of_subscribers(
    world: World, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    web = world.alice.web
    token = {"csrf": web.token("/settings")}
    sent = one_file("POST", "/subscribers/import", token, "file", ROWS[shape]()[:IMPORT_BYTES])

    def upload_and_go_on() -> None:
        answer = web.http.post(sent.path, content=sent.body, headers=sent.headers, timeout=300)
        assert answer.status_code in (303, 400), answer.text
        for action in ("try", "start", "forget") if answer.status_code == 303 else ():
            path = answer.headers["location"]
            if action == "try" and shape == "lines":
                continue  # a dry run of a million lines takes minutes
            columns = {"email": "0", "tags": "1", "name": "1", "status": "2"}
            web.http.post(path, data={**token, "do": action, **columns}, timeout=300)
            assert web.get(path).status_code in (200, 404)

    with LoopSteps(world.service) as steps:
        steps.judge(f"file of {shape}", upload_and_go_on)
    finish(steps, capsys, f"file of {shape}")


@pytest.mark.parametrize("path", ["/look/branding", "/publications/new"])
def test_a_picture(world: World, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    web = world.alice.web
    with LoopSteps(world.service) as steps:
        for sent in multiparts("POST", path, ["logo"], FILE_LIMIT):
            origin = {"origin": world.service.settings.base_url.encode()}
            send(web.http, steps, sent._replace(headers=sent.headers | origin))
        for content in (picture_bomb(FILE_LIMIT), b"\x89PNG" + b"\0" * 2 * MB):
            token = {"csrf": web.token("/settings"), "name": "Wax"}
            send(web.http, steps, one_file("POST", path, token, "logo", content))
    finish(steps, capsys, f"pictures at {path}")
