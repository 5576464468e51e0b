"""Certificates for tests, made on the spot by an authority that nobody but these tests trusts."""

import ssl
from datetime import datetime

import trustme


def certified(
    name: str, not_after: datetime | None = None
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server of this name offers, and a client that trusts whoever vouches for it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name, not_after=not_after).configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client
