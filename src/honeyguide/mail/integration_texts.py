"""What an operator is told about their email platform and other services; like `texts`, to which it
belongs.
"""

from __future__ import annotations

from honeyguide.mail.content import Button, EmailText, email


def integration_stopped(*, platform: str, problem: str, page: str) -> EmailText:
    """`problem` is a full sentence: what the platform said."""
    return email(
        f"{platform}: sync has stopped",
        problem,
        "Nothing is lost: we keep all changes and write them once it works again. Until then, new "
        "subscribers get no referral link there.",
        Button("Open email tool", page),
    )


def integration_asks(*, platform: str, page: str) -> EmailText:
    return email(
        f"{platform}: adopt what another tool wrote?",
        f"Another tool has written to the fields in {platform} that you chose for us.",
        "Adopt its codes, and links that you have sent go on working. Or replace them. We write "
        "nothing until you answer.",
        Button("Open email tool", page),
    )


def fetch_done(*, service: str, people: int, page: str) -> EmailText:
    subscribers = "1 subscriber is" if people == 1 else f"{people:,} subscribers are"
    return email(
        f"{service}: everything is fetched",
        f"{subscribers} ready to be imported. Nothing is imported before you start it.",
        Button("Open the import", page),
    )


def fetch_stopped(*, service: str, problem: str, page: str) -> EmailText:
    """`problem` is a full sentence: what the service said."""
    return email(
        f"{service}: the fetch has stopped",
        problem,
        "What was fetched is kept. The fetch goes on from there once you continue it.",
        Button("Open the import", page),
    )
