"""Settings: the campaign, the account, its password, its sessions and whom it invites."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.accounts import accounts, attempts, invitations, passwords, sessions
from honeyguide.kernel.errors import Fault, Invalid, Missing
from honeyguide.pages.dashboard import doors
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.referrals import campaigns, rules
from honeyguide.store.tx import Tx

LEVELS = (
    (
        "flexible",
        "Flexible",
        "Certain fraud is rejected: own addresses, aliases, throw-away mail, loops. All else counts at once.",
    ),
    ("strong", "Strong", "Suspicions wait 7 days for your eyes, then count: same network, many from one place, bursts."),
    ("strict", "Strict", "Suspicions are rejected too. You can still verify one by hand."),
)


_FIELDS = ("name", "destination_url", "slug", "hold_days", "current", "password", "email")


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(visit: Visit, fault: Fault | None = None, where: str = "", **values: Any) -> Response:
    who = visit.who

    async def look(tx: Tx) -> dict[str, Any]:
        return {
            "campaign": await campaigns.get(tx, visit.owner),
            "account": await accounts.get(tx, who.account_id),
            "sessions": await sessions.of_account(tx, who.account_id, now_ms=visit.now_ms),
            "invited": await invitations.of_inviter(tx, who.account_id, now_ms=visit.now_ms) if who.is_admin else [],
        }

    found = await visit.read(look)
    # A field that has no place for its own sentence leaves it to the top of its form.
    wrong = {(where, fault.param if fault.param in _FIELDS else ""): _sentence(fault)} if fault else {}
    return await visit.page(
        "settings.html", 400 if fault else 200, levels=LEVELS, longest=rules.LONGEST_HOLD_DAYS, wrong=wrong,
        page_host=visit.desk.settings.signup_page_host, **{"link": "", **found, **values},
    )  # fmt: skip


def _sentence(fault: Fault) -> str:
    """What the API calls by its parameter, people call by its label."""
    label = {"destination_url": "The address", "slug": "The ending", "hold_days": "The hold", "name": "The name"}
    message = fault.message
    for param, words in label.items():
        if message.startswith(f"{param} "):
            message = words + message.removeprefix(param)
    return message if message.endswith(".") else f"{message}."


def _whole(text: str, param: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise Invalid(f"{param} must be a whole number.", param=param)
    return int(text)


async def save_campaign(visit: Visit) -> Response:
    try:
        chosen = campaigns.Settings(
            name=visit.text("name"),
            destination_url=visit.text("destination_url") or None,
            slug=visit.text("slug"),
            screening=visit.text("screening"),
            hold_days=_whole(visit.text("hold_days") or "0", "hold_days"),
            needs_confirmation=bool(visit.text("needs_confirmation")),
        )
        await visit.write(lambda tx: campaigns.configure(tx, visit.owner, chosen))
    except Invalid as fault:
        return await _page(visit, fault, "campaign")
    return visit.go("/settings", "Saved. New referrals follow the new rules; those that wait keep their dates.")


async def save_profile(visit: Visit) -> Response:
    try:
        await visit.write(lambda tx: accounts.rename(tx, visit.who.account_id, visit.text("name")))
    except Invalid as fault:
        return await _page(visit, fault, "profile")
    return visit.go("/settings", "Saved.")


async def save_password(visit: Visit) -> Response:
    who, site = visit.who, visit.desk.site

    async def count(tx: Tx) -> str | None:
        await attempts.count(tx, site, attempts.LOGIN_BY_ACCOUNT, who.email.lower(), now_ms=visit.now_ms)
        return await passwords.of_account(tx, who.account_id)

    try:
        password_hash = await visit.write(count)
        if not await passwords.matches(password_hash, visit.fields.get("current", "")):
            raise Invalid("That is not your current password.", param="current")
        new_hash = await passwords.hashed(passwords.checked(visit.fields.get("password", ""), email=who.email))
    except Invalid as fault:
        return await _page(visit, fault, "password")

    async def change(tx: Tx) -> None:
        await passwords.set_hash(tx, who.account_id, new_hash)
        await attempts.forget(tx, site, attempts.LOGIN_BY_ACCOUNT, who.email.lower())

    await visit.write(change)
    return await doors.begin_session(
        visit, who.account_id, "/settings", "Your new password works. Every other session was ended."
    )


async def end_session(visit: Visit) -> Response:
    wanted = visit.text("id")
    if wanted:
        await visit.write(lambda tx: sessions.end(tx, visit.who.account_id, wanted))
        return visit.go("/settings#sessions", "That session was ended.")
    ended = await visit.write(lambda tx: sessions.end_others(tx, visit.who.account_id, visit.who.session_id))
    return visit.go("/settings#sessions", f"Every other session was ended ({ended}).")


async def invite(visit: Visit) -> Response:
    _only_admin(visit)

    async def send(tx: Tx) -> str:
        inviter = await accounts.get(tx, visit.who.account_id)
        return await invitations.invite(tx, visit.desk.site, inviter, visit.text("email"), now_ms=visit.now_ms)

    try:
        link = await visit.write(send)
    except Invalid as fault:
        return await _page(visit, fault, "invite")
    return await _page(visit, link=link, said=f"The invitation to {visit.text('email')} is on its way.")


async def withdraw(visit: Visit) -> Response:
    _only_admin(visit)
    await visit.write(lambda tx: invitations.withdraw(tx, visit.who.account_id, visit.text("id")))
    return visit.go("/settings#invitations", "The invitation was withdrawn.")


def _only_admin(visit: Visit) -> None:
    if not visit.who.is_admin:
        raise Missing("There is nothing here.")
