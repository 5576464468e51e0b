"""An `httpx.Client` for a server on this machine, at half of the usual cost.

Tests send tens of thousands of requests. Most of what each took was httpx's own connection pool
and parser, and compressing pages for a reader in the same process. Here `http.client` carries the
requests, and pages come uncompressed unless a test asks for the opposite.
"""

import contextlib
import http.client
import select
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import httpx


def local_client(base_url: str, headers: dict[str, str], **options: Any) -> httpx.Client:
    plain = {"accept-encoding": "identity", **headers}
    return httpx.Client(
        base_url=base_url, headers=plain, timeout=30, transport=_Transport(), **options
    )


class _Transport(httpx.BaseTransport):
    """One kept-alive connection per thread, as tests share a client between threads."""

    def __init__(self) -> None:
        self._by_thread = threading.local()
        self._all = weakref.WeakSet[http.client.HTTPConnection]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with _httpx_errors(request):
            connection = self._connection(request)
            try:
                return _exchange(connection, request)
            except BaseException:
                connection.close()
                raise

    def close(self) -> None:
        for connection in list(self._all):
            connection.close()

    def _connection(self, request: httpx.Request) -> http.client.HTTPConnection:
        host, port = request.url.host, request.url.port or 80
        kept: http.client.HTTPConnection | None = getattr(self._by_thread, "connection", None)
        if kept is None or (kept.host, kept.port) != (host, port):
            kept = self._by_thread.connection = http.client.HTTPConnection(host, port)
            self._all.add(kept)
        kept.timeout = request.extensions["timeout"]["read"]
        if kept.sock is not None:
            if _is_readable(kept.sock):  # the server closed it meanwhile
                kept.close()
            else:
                kept.sock.settimeout(kept.timeout)
        return kept


def _exchange(connection: http.client.HTTPConnection, request: httpx.Request) -> httpx.Response:
    target = request.url.raw_path.decode("ascii")
    connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.raw:
        connection.putheader(name, value)
    chunked = "transfer-encoding" in request.headers
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # answered before it was sent
        connection.endheaders(request.read() or None, encode_chunked=chunked)
    answer = connection.getresponse()
    body = httpx.ByteStream(answer.read())
    return httpx.Response(answer.status, headers=answer.getheaders(), stream=body)


def _is_readable(sock: socket.socket) -> bool:
    watched = select.poll()
    watched.register(sock, select.POLLIN)
    return bool(watched.poll(0))


@contextlib.contextmanager
def _httpx_errors(request: httpx.Request) -> Iterator[None]:
    try:
        yield
    except ConnectionRefusedError as error:
        raise httpx.ConnectError(str(error), request=request) from error
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error), request=request) from error
    except (http.client.BadStatusLine, http.client.IncompleteRead) as error:
        raise httpx.RemoteProtocolError(str(error), request=request) from error
    except OSError as error:
        raise httpx.ReadError(str(error), request=request) from error
