"""Stands in for the tools that an operator has elsewhere: a receiver of webhooks, and an email tool
that takes our subscribers. It listens on loopback and accepts everything.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from honeyguide.accounts import members
from honeyguide.app import Services
from honeyguide.events import signature
from honeyguide.integrations import connecting, field_names, integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.kernel import actors
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

HOOKS_PATH, TOOL_PATH = "/hooks/honeyguide", "/email-tool"
_BODY = b'{"ok":true}'


def url(port: int, path: str) -> str:
    return f"http://127.0.0.1:{port}{path}"


class _Accepting(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        with suppress(ConnectionError):  # the service hangs up when it stops
            super().handle()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    def log_message(self, format: str, *args: object) -> None:
        """The service logs what it sends; nobody needs to read it twice."""


def start(port: int) -> None:
    """Answers as long as this process runs. If something else has the port, webhooks fail, and
    their page says so."""
    if not port:
        return
    with suppress(OSError):
        server = ThreadingHTTPServer(("127.0.0.1", port), _Accepting)
        threading.Thread(target=server.serve_forever, daemon=True).start()


async def connect_email_tool(services: Services, tenant: Tenant, port: int) -> None:
    """As an operator does on the page for it; the stand-in must be listening."""
    if not services.settings.secret_keys:
        return
    platform = integrations.platform_of("generic")
    credentials = {"url": url(port, TOOL_PATH), "secret": signature.new_secret()}
    found = await connecting.audiences(platform, services.outbound, credentials)
    new = NewIntegration(
        platform=platform.about.key,
        credentials=credentials,
        audience=found.audiences[0],
        field_names=field_names.preset(platform.about, ""),
        code_field="",
        adds_existing=True,
        hook_key=secrets.token_urlsafe(24),
    )
    new, _ = await connecting.set_up(platform, services.outbound, services.site, new)

    await services.store.write(_connect, services, tenant, new)


async def _connect(tx: Tx, services: Services, tenant: Tenant, new: NewIntegration) -> None:
    owner_id = await members.first_owner(tx, tenant.account_id)
    change = Change(tx, services.site, tenant, actors.member(owner_id), services.clock())
    await integrations.connect(change, EncryptionKeys(services.settings.secret_keys), new)
