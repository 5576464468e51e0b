"""No answer keeps the event loop busy either: the largest that we read, in shapes that are hard to
parse, from everybody whom the service asks.
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from honeyguide.accounts import attempts
from tests.support.embeds import embedding
from tests.support.large_requests import MB, SHAPES, finish
from tests.support.loop_steps import LoopSteps
from tests.support.postgres import free_port
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator


class Answering:
    """Sends an answer to whoever sends a request, or as soon as somebody connects. `first` is for
    the first of them."""

    def __init__(
        self, answer: bytes, *, first: bytes = b"", port: int = 0, at_once: bool = False
    ) -> None:
        self.answer, self._first, self.asked = answer, first, 0
        self._at_once = at_once
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if self._at_once or connection.recv(MB):
                self.asked += 1
                is_first = self._first and self.asked == 1
                connection.sendall(self._first if is_first else self.answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(MB):
                    pass

    def close(self) -> None:
        self._listener.close()


@contextmanager
def answering(answer: bytes, **how: Any) -> Iterator[Answering]:
    server = Answering(answer, **how)
    try:
        yield server
    finally:
        server.close()


def http(body: bytes, *lines: bytes) -> bytes:
    head = [b"HTTP/1.1 200 OK", b"content-length: %d" % len(body), *lines, b"", b""]
    return b"\r\n".join(head) + body


SMTP_PORT = free_port()


@pytest.fixture(scope="module")
def alice() -> Iterator[Operator]:
    async def nothing(*args: object, **kwargs: object) -> None: ...

    given = {"secret_key": "ab" * 32, "smtp_url": f"smtp://127.0.0.1:{SMTP_PORT}"}
    with pytest.MonkeyPatch.context() as patch, Service("sqlite", **given) as service:
        patch.setattr(attempts, "count", nothing)
        made = operator(service)
        admin = statement("UPDATE account SET is_admin = 1 WHERE id = :id")
        service.write(lambda tx: tx.run(admin, id=made.account_id))
        for page in (
            "/look/embed",
            "/integrations/listmonk",
            "/webhooks",
            "/notices/preferences",
            "/administration",
            API_PAGE,
        ):
            made.web.get(page)  # the first view of a page compiles its templates
        yield made


def embed_page(alice: Operator, server: Answering) -> None:
    url = f"http://127.0.0.1:{server.port}/"
    embedding(alice, url.rstrip("/"))
    assert alice.web.post("/look/embed/check", page="/look/embed", url=url).status_code == 200


def webhook(alice: Operator, server: Answering) -> None:
    url = f"http://127.0.0.1:{server.port}/{server.asked}"
    made = alice.post("/v2/webhooks", {"url": url, "new_referral": True}).json()["webhook"]
    alice.post(f"/v2/webhooks/{made['uuid']}/test", {})
    until(lambda: server.asked > 0)
    alice.get(f"/v2/webhooks/{made['uuid']}/deliveries")
    assert alice.web.get(f"/webhooks/{made['uuid']}").status_code == 200
    alice.delete(f"/v2/webhooks/{made['uuid']}")


def platform(alice: Operator, server: Answering) -> str:
    fields = {"url": f"http://127.0.0.1:{server.port}", "username": "honeyguide", "token": "secret"}
    page = "/integrations/listmonk"
    answer = alice.web.post(page, page=page, **fields)
    assert answer.status_code < 500 and server.asked, answer.text
    return answer.text


def slack(alice: Operator, server: Answering) -> None:
    page, url = "/notices/preferences", f"http://127.0.0.1:{server.port}/x"
    alice.web.post(page, page=page, remove="1")  # with what still waits
    saved = alice.web.post(page, page=page, url=url)
    assert saved.status_code == 303, saved.text
    assert alice.web.post("/notices/slack/test", page=page).status_code == 303
    until(lambda: server.asked > 0)


API_PAGE = "/subscribers/import/api"


def other_service(alice: Operator, server: Answering) -> str:
    fields = {"base_url": f"http://127.0.0.1:{server.port}", "key": "secret"}
    answer = alice.web.post(API_PAGE, page=API_PAGE, **fields)
    assert answer.status_code < 500 and server.asked, answer.text
    return answer.headers.get("location", "")


LISTS = {"data": {"results": [{"id": n, "uuid": "u", "name": f"List {n}"} for n in range(130_000)]}}
ASKED: dict[str, tuple[Callable[[Operator, Answering], object], int]] = {
    "embed page": (embed_page, 2 * MB - 1000),
    "webhook receiver": (webhook, MB),
    "platform": (platform, 8 * MB - 1000),
    "Slack": (slack, MB),
    "API to import from": (other_service, 8 * MB - 1000),
}


def bodies(size: int) -> Iterator[bytes]:
    for shape in ("<![", "<", "[", "{", '"', "\\", " ", '{"data":', "<script src='/embed/x?"):
        yield http(shape.encode() * (size // len(shape)), b"content-type: text/html")
    for shape in SHAPES[::4]:
        line = shape.replace("\n", " ").encode() * (7_000 // len(shape.encode()))
        yield http(b"{}", *(b"set-cookie: a=" + line for _ in range(20)), b"retry-after: " + line)
    yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 50_000
    yield b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000


@pytest.mark.parametrize("name", ASKED)
def test_the_largest_answer_of(
    alice: Operator, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, size = ASKED[name]
    with LoopSteps(alice.service) as steps:
        for answer in bodies(size):

            def ask_once(answer: bytes = answer) -> None:
                with answering(answer) as server:
                    ask(alice, server)

            steps.judge(f"{name} {answer[:200]!r}", ask_once)
    finish(steps, capsys, f"answers of: {name}")


def test_a_platform_with_many_lists(alice: Operator, capsys: pytest.CaptureFixture[str]) -> None:
    answer = http(json.dumps(LISTS).encode(), b"content-type: application/json")
    nobody = http(json.dumps({"data": {"results": [], "total": 0}}).encode())

    def find_lists() -> None:
        with answering(answer, first=nobody) as server:
            assert "List 499" in platform(alice, server)

    with LoopSteps(alice.service) as steps:
        steps.judge("130,000 lists", find_lists)
    finish(steps, capsys, "130,000 lists")


@pytest.mark.parametrize(
    "more",
    [
        {f"{number:04}": 1 for number in range(800)},
        {"referral_programs": [[] for _ in range(2_500)]},
        {"referral_programs": [{"codes": ["a"] * 1_900}]},
        {"name": "x" * 8_000},
    ],
    ids=["fields", "programs", "codes", "name"],
)
def test_the_largest_page_of_people(
    alice: Operator, more: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    people = [{"uuid": f"{n}", "email": f"a{n}@example.org", **more} for n in range(1_000)]
    text = json.dumps({"subscribers": people, "total_pages": 1}, separators=(",", ":"))
    campaign = http(json.dumps({"campaigns": [{"uuid": "x"}]}).encode())
    assert 6 * MB < len(text) < 8 * MB

    def fetch() -> None:
        with answering(http(text.encode()), first=campaign) as server:
            page = other_service(alice, server)
            until(lambda: "of 1,000 subscribers" in alice.web.get(page).text)
            alice.web.post(page, page=API_PAGE, do="forget")

    with LoopSteps(alice.service) as steps:
        steps.judge("a page of people", fetch)
    finish(steps, capsys, "a page of people")


def test_the_largest_answer_of_a_mail_server(
    alice: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "/administration"

    def send_and_check() -> None:
        sent = alice.web.post(f"{page}/test-email", page=page, test_email="ann@example.org")
        assert sent.status_code < 500 and server.asked
        assert alice.web.post(f"{page}/checks", page=page).status_code == 303

    with LoopSteps(alice.service) as steps, answering(b"", port=SMTP_PORT, at_once=True) as server:
        for line in (b"220-a\r\n", b"220 a", b"\r\n", b"220 ok\r\n", b"a"):
            server.answer = line * (MB // len(line))
            steps.judge(f"mail server {line!r}", send_and_check)
    finish(steps, capsys, "answers of: mail server")
