"""What `http_server.py` relies on in uvicorn's private parts. When uvicorn is upgraded and a test
here fails, read its new source and adapt `http_server.py`; `tests/serving/test_raw_http.py` tests
behavior.
"""

import ast
import asyncio
import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from honeyguide import http_server
from honeyguide.http_server import JoinedWrites, Protocol, Server

ROOT = Path(__file__).parents[2]
# Ours alone: uvicorn must not have anything of the same name, or we would override it unawares.
OUR_METHODS = {"_replay_without_upgrade", "_cannot_read", "_head_is_here", "_too_late", "_refuse"}
OUR_FIELDS = {"_head", "_head_late"}
OVERRIDDEN = {
    "connection_made": "(self, transport)",
    "connection_lost": "(self, exc)",
    "data_received": "(self, data)",
    "on_headers_complete": "(self)",
    "_should_upgrade": "(self)",
    "send_400_response": "(self, msg)",
}


def names_of(function: object) -> str:
    return f"({', '.join(inspect.signature(function).parameters)})"  # type: ignore[arg-type]


def source(thing: object) -> str:
    return textwrap.dedent(inspect.getsource(thing))  # type: ignore[arg-type]


@pytest.fixture
def protocol() -> Iterator[HttpToolsProtocol]:
    async def application(scope: object, receive: object, send: object) -> None: ...

    config = uvicorn.Config(application, http=HttpToolsProtocol, ws="none", log_config=None)
    config.load()
    loop = asyncio.new_event_loop()
    made = HttpToolsProtocol(config=config, server_state=ServerState(), app_state={}, _loop=loop)
    made.on_message_begin()
    yield made
    loop.close()


def test_the_default_headers_go_out_with_every_response(protocol: HttpToolsProtocol) -> None:
    assert protocol.server_state.default_headers == []
    assert "self.default_headers + list(message" in source(RequestResponseCycle.send)


def test_the_version_is_pinned_exactly_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pinned,) = [each for each in project["dependencies"] if each.startswith("uvicorn")]
    assert pinned == f"uvicorn=={uvicorn.__version__}"
    for lock in ("requirements.lock", "requirements-dev.lock"):
        assert re.search(rf"^{re.escape(pinned)} ", (ROOT / lock).read_text(), re.MULTILINE)


def test_only_one_file_uses_uvicorn() -> None:
    package = Path(http_server.__file__).parent
    users = {
        file.name
        for file in package.rglob("*.py")
        if re.search(r"^\s*(import|from) uvicorn\b", file.read_text(), re.MULTILINE)
    }
    assert users == {"http_server.py"}


def test_every_method_we_define_either_overrides_uvicorns_or_is_new() -> None:
    defined = {name for name, value in vars(Protocol).items() if inspect.isfunction(value)}
    assert defined == OUR_METHODS | OVERRIDDEN.keys()
    assert not any(hasattr(HttpToolsProtocol, name) for name in OUR_METHODS | OUR_FIELDS)
    for name, parameters in OVERRIDDEN.items():
        theirs = getattr(HttpToolsProtocol, name)
        assert names_of(theirs) == names_of(getattr(Protocol, name)) == parameters


def test_uvicorn_has_every_attribute_that_we_use(protocol: HttpToolsProtocol) -> None:
    used = {
        node.attr
        for node in ast.walk(ast.parse(source(Protocol)))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    theirs = used - OUR_METHODS - OUR_FIELDS
    assert {"parser", "headers", "url", "scope", "timeout_keep_alive_task"} <= theirs
    assert [name for name in theirs if not hasattr(protocol, name)] == []


def test_the_scope_has_no_method_until_the_headers_are_complete(
    protocol: HttpToolsProtocol,
) -> None:
    """`data_received` tells by it whether a head is still on its way."""
    assert protocol.scope is not None and "method" not in protocol.scope
    assert 'self.scope["method"] =' in source(HttpToolsProtocol.on_headers_complete)
    assert protocol.headers == [] and protocol.url == b""


def test_uvicorn_calls_what_we_override() -> None:
    for caller in ("on_headers_complete", "on_body", "on_message_complete"):
        assert "self._should_upgrade()" in source(getattr(HttpToolsProtocol, caller))
    # Ours replaces this one, which would warn and answer in plain text.
    assert "self.parser.feed_data(data)" in source(HttpToolsProtocol.data_received)
    assert "lenient_data_after_close=True" in source(HttpToolsProtocol.__init__)


def test_the_keep_alive_timer_is_one_handle_that_uvicorn_cancels(
    protocol: HttpToolsProtocol,
) -> None:
    timer = protocol.loop.call_later(60, protocol.timeout_keep_alive_handler)
    protocol.timeout_keep_alive_task = timer
    protocol._unset_keepalive_if_required()
    assert timer.cancelled() and protocol.timeout_keep_alive_task is None


def test_the_transport_is_used_only_through_what_ours_passes_on() -> None:
    text = source(HttpToolsProtocol) + source(RequestResponseCycle) + source(FlowControl)
    used = set(re.findall(r"transport\.(\w+)\(", text))
    ours = {"write", "close", "is_closing", "resume_reading"}
    # `__getattr__` passes these on. Nothing else may write: it would overtake what ours has joined.
    passed_on = {"pause_reading", "set_protocol"}
    assert used == ours | passed_on
    assert {"write", "close"} <= vars(JoinedWrites).keys()


def test_a_connection_is_closed_after_its_response_is_marked_complete(
    protocol: HttpToolsProtocol,
) -> None:
    """`JoinedWrites.close` tells by it whether the body of an answered request is still coming."""
    cycle: object = protocol.cycle
    assert cycle is None
    sending = source(RequestResponseCycle.send)
    complete = sending.index("self.response_complete = True")
    assert complete < sending.index("self.transport.close()")
    assert "self.more_body = True" in source(RequestResponseCycle.__init__)
    assert "self.cycle.more_body = False" in source(HttpToolsProtocol.on_message_complete)
    # A response can be complete before its request: whether that closed the connection counts.
    assert "self.transport.is_closing()" in source(HttpToolsProtocol.on_response_complete)


def test_the_server_calls_startup_once_and_says_when_it_has_started() -> None:
    assert names_of(uvicorn.Server.startup) == names_of(Server.startup) == "(self, sockets)"
    assert source(uvicorn.Server._serve).count("await self.startup(sockets=sockets)") == 1
    assert source(uvicorn.Server.startup).rstrip().endswith("self.started = True")
