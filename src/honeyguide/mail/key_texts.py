"""The email about API keys."""

from __future__ import annotations

from honeyguide.mail.content import Button, EmailText, email


def key_expires(*, name: str, prefix: str, on: str, page: str) -> EmailText:
    return email(
        f"Your API key {name} expires on {on}",
        f"The key {prefix}… is in use. From then on, requests with it are refused.",
        "Rotate it: you get a new key, and the old one works on while you put the new one into "
        "your tool.",
        Button("Open API keys", page),
    )
