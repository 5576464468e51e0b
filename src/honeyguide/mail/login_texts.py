"""What emails about a login say. The others are in `texts`."""

from __future__ import annotations

from honeyguide.mail.content import Button, EmailText, Note, email


def email_change_old(*, new_email: str, link: str, valid_for: str) -> EmailText:
    return email(
        "Confirm or stop the change of your email address",
        f"Somebody who is logged in as you wants to log in with {new_email} from now on. "
        "We wrote to that address too. Nothing changes until both of you confirm it within "
        f"{valid_for}.",
        Button("Confirm or stop it", link),
        Note("If it wasn’t you, stop it and change your password: somebody knows it."),
    )


def email_change_new(*, old_email: str, link: str, valid_for: str) -> EmailText:
    return email(
        "Confirm your new email address",
        f"{old_email} wants to log in to Honeyguide with this address from now on. "
        f"Confirm it within {valid_for}. The old address must confirm it too.",
        Button("Confirm this address", link),
        Note("If you don’t know what this is about, you can ignore this email."),
    )


def second_factor_off(*, by_administrator: bool, page: str) -> EmailText:
    who = "An administrator of this installation" if by_administrator else "You"
    return email(
        "Your second factor was turned off",
        f"{who} turned off the second factor of your login. Your password alone is enough to log "
        "in now.",
        Button("Set it up again", page),
        Note("If you did not expect this, change your password and ask the administrator."),
    )
