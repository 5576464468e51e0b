"""What emails about a login say. The others are in `texts`."""

from __future__ import annotations

from honeyguide.mail.content import Button, EmailText, Note, email

_STRANGER = (
    "If it wasn’t you, choose a new password at once, and ask the administrator of this "
    "installation for help."
)


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


def email_code(*, code: str, valid_for: str) -> EmailText:
    return email(
        "Your code for Honeyguide",
        "Somebody, probably you, set up a login with this email address. Enter this code to show "
        "that the address is yours:",
        code,
        f"It is valid for {valid_for}.",
        Note("If it wasn’t you, give the code to nobody. Without it, the login opens nothing."),
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


def second_factor_on(*, page: str) -> EmailText:
    return email(
        "Your second factor was set up",
        "From now on, your login needs a code from an authenticator app besides your password.",
        Button("Open Security", page),
        Note(_STRANGER),
    )


def recovery_codes_renewed(*, page: str) -> EmailText:
    return email(
        "You have new recovery codes",
        "Ten new recovery codes were made for your login. Those before no longer work.",
        Button("Open Security", page),
        Note(_STRANGER),
    )


def password_changed(*, forgot: str) -> EmailText:
    return email(
        "Your password was changed",
        "The password of your login was changed, and all other sessions were logged out.",
        Button("Choose another password", forgot),
        Note("If it was you, there is nothing to do. " + _STRANGER),
    )


def email_changed(*, new_email: str) -> EmailText:
    """To the old address."""
    return email(
        "Your email address was changed",
        f"You log in with {new_email} from now on. Nothing more about your login is sent to this "
        "address.",
        Note(_STRANGER),
    )


def new_browser(*, browser: str, at: str, forgot: str) -> EmailText:
    return email(
        "A login from a new browser",
        f"Somebody logged in as you with a browser that you had not used before: {browser}, "
        f"{at} UTC.",
        Button("Choose a new password", forgot),
        Note(
            "If it was you, there is nothing to do. If not, choose a new password now: it logs "
            "everybody out."
        ),
    )


def api_key_changed(*, key: str, done: str, who: str, account: str, page: str) -> EmailText:
    """`done` as in "was created"."""
    return email(
        f"An API key of {account} was {done}",
        f"The API key “{key}” was {done} by {who}.",
        Button("Open API keys", page),
        Note("If you did not expect this, ask them, or revoke the key."),
    )


def key_expires(*, name: str, prefix: str, on: str, page: str) -> EmailText:
    return email(
        f"Your API key {name} expires on {on}",
        f"The key {prefix}… is in use. From then on, requests with it are refused.",
        "Rotate it: you get a new key, and the old one works on while you put the new one into "
        "your tool.",
        Button("Open API keys", page),
    )
