"""A website of the operator's: another origin than ours, with a strict policy of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


class Website:
    """Serves `pages` by path; a form posted to any path is kept in `posts`. Every answer sets
    `cookie`, and `cookies` has those that were sent with each path."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.pages: dict[str, str] = {}
        self.posts: list[dict[str, str]] = []
        self.cookie = ""
        self.cookies: list[tuple[str, str | None]] = []
        website = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                website.cookies.append((self.path, self.headers["cookie"]))
                html = website.pages.get(urlsplit(self.path).path)
                self._answer(404 if html is None else 200, html or "Not found")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                website.posts.append(dict(parse_qsl(body, keep_blank_values=True)))
                self._answer(200, "<!doctype html><title>Thanks</title><h1>Thanks</h1>")

            def _answer(self, status: int, html: str) -> None:
                self.send_response(status)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-security-policy", website.policy)
                if website.cookie:
                    self.send_header("set-cookie", website.cookie)
                self.end_headers()
                self.wfile.write(html.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def origin(self) -> str:
        """Another host name than the service's, so that browsers take it for another site."""
        return f"http://localhost:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[Website]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
