"""`honeyguide mcp`: tools for an operator's assistant, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from honeyguide.cli.base import fail

app = typer.Typer()

URL_NAME, KEY_NAME = "HONEYGUIDE_API_URL", "HONEYGUIDE_API_KEY"


@app.command("mcp")
def mcp_command(
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Also offer the tools that change something: decide referrals, mark rewards as "
            "sent, resend webhook deliveries.",
        ),
    ] = False,
    api_url: Annotated[
        str | None,
        typer.Option(help=f"Where the service is. Default: {URL_NAME} in the environment."),
    ] = None,
) -> None:
    """Offer tools to an AI assistant (Model Context Protocol) that asks the API with the key in
    HONEYGUIDE_API_KEY. It can read only, unless --write is given. An assistant starts this
    command itself."""
    base_url = _checked_url(api_url or os.environ.get(URL_NAME, ""))
    key = os.environ.get(KEY_NAME, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        # Never an argument: other users of the machine can see those.
        fail(f"Set {KEY_NAME} to an API key of your account (dashboard: Account, API keys).")
    try:
        from honeyguide.assistant.server import serve_stdio
    except ModuleNotFoundError:
        fail("This command needs the MCP SDK. Install it: pip install 'honeyguide[mcp]'")
    if sys.stdin.isatty():
        typer.echo(
            "Waiting for an assistant on standard input. Press Ctrl-C to stop. "
            "How to set one up: docs/mcp.md.",
            err=True,
        )
    asyncio.run(serve_stdio(base_url, key, may_write=write))


def _checked_url(text: str) -> str:
    url = text.strip().rstrip("/")
    if not url:
        fail(f"Set {URL_NAME} to the address of your service, such as https://news.example.org.")
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good or parts.query or parts.fragment or parts.username is not None:
        fail(f"{URL_NAME} must be an address such as https://news.example.org, without more.")
    return url
