"""What emails to the owners of an account say when it is paused, resumed or closed."""

from __future__ import annotations

from honeyguide.mail.content import Button, EmailText, Note, email


def paused(*, newsletter: str, is_closing: bool) -> EmailText:
    waits = " It is not closed while it is paused." if is_closing else ""
    return email(
        f"{newsletter} is paused",
        f"An administrator paused your account for {newsletter}. You can still log in and read "
        "everything, but nothing can be changed and nobody can sign up.",
        "No emails go to subscribers, nothing is sent to your email tool or webhooks, and no "
        f"partner fees are charged. What was due waits.{waits}",
        "If you think that this is a mistake, write to the administrator of this installation.",
    )


def resumed(*, newsletter: str, closes_on: str | None, link: str) -> EmailText:
    if closes_on is not None:
        return email(
            f"{newsletter} will be closed on {closes_on}",
            f"Your account for {newsletter} is no longer paused. An owner had asked to close it, "
            f"so it will be closed on {closes_on}. After that nobody can bring its subscribers "
            "back.",
            "Until then you can download everything, and change your mind.",
            Button("Download, or keep the account", link),
        )
    return email(
        f"{newsletter} goes on",
        f"Your account for {newsletter} is no longer paused. Everything goes on where it stopped, "
        "and what was due while it was paused is done now.",
        Button("Open the dashboard", link),
    )


def closing(*, newsletter: str, day: str, link: str) -> EmailText:
    return email(
        f"{newsletter} will be closed on {day}",
        f"An owner asked to close your account for {newsletter}. Partner programs are off and "
        f"nobody can sign up from now on. On {day} the account is closed for good: subscribers are "
        "erased, email tool and webhooks disconnected, API keys revoked.",
        "Until then you can download everything, and change your mind.",
        Button("See what is pending, or keep the account", link),
        Note("Records of money are kept for as long as the law wants them, without subscribers."),
    )


def closing_soon(*, newsletter: str, day: str, link: str) -> EmailText:
    return email(
        f"{newsletter} will be closed in three days",
        f"Your account for {newsletter} will be closed on {day}. After that nobody can bring its "
        "subscribers back.",
        "Download what you want to keep before, or keep the account.",
        Button("Download, or keep the account", link),
    )


def kept(*, newsletter: str, link: str) -> EmailText:
    return email(
        f"{newsletter} will not be closed",
        f"An owner decided to keep your account for {newsletter}. Partner programs that were on "
        "are on again, and people can sign up.",
        Button("Open the dashboard", link),
    )


def closed(*, newsletter: str) -> EmailText:
    return email(
        f"{newsletter} is closed",
        f"Your account for {newsletter} is closed. Its subscribers are being erased. Referrals of "
        "partners that are still in their holding period are decided when it ends, and their "
        "subscribers are erased then.",
        "Payouts that are owed to you will still be made.",
    )
