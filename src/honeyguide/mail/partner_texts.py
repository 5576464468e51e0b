"""What a program's owner and a partner are told about each other; like `texts`, to which it
belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from honeyguide.languages.language import ENGLISH
from honeyguide.mail import email_kinds, own_texts
from honeyguide.mail.content import Button, EmailText, Note, email
from honeyguide.mail.layout import EmailBranding

# What becomes of pending referrals when a partner is removed.
PENDING_FINISH = "Pending referrals finish as planned and are paid if they are verified."
PENDING_ENDED = "Pending referrals were ended and are not paid."
# What a partner who is allowed again can do.
COUNTS_AGAIN = "The same links count again."
CAN_JOIN_AGAIN = "You had left the program; you can join it again and get the same links."


def _digest(month: str, digest: str) -> tuple[Note, ...]:
    """Nothing if there is no digest."""
    if not digest:
        return ()
    return (
        Note(
            f"Digest of {month}: {digest}. Keep this email: with the digest you can prove whether "
            "anything in this month was changed later."
        ),
    )


# To the owner.


def fees_due(*, program: str, month: str, amount: str, digest: str, page: str) -> EmailText:
    return email(
        f"{program}: {amount} of partner fees for {month} due",
        f"{month} is closed. {program} owes its partners {amount}.",
        Button("View the statement", page),
        *_digest(month, digest),
    )


def partner_joined(*, partner: str, program: str, page: str) -> EmailText:
    return email(
        f"{partner} joined your partner program",
        f"{partner} can now refer subscribers to {program}.",
        Button("View the program", page),
    )


def look_asked(*, program: str, day: int, waiting: int, page: str) -> EmailText:
    """`day` is after how many days this reminds of it; 0 at first."""
    who = "1 reader waits" if waiting == 1 else f"{waiting:,} readers wait"
    since = f" You were asked {_days_ago(day)}." if day else ""
    return email(
        f"{'Still to do: look' if day else 'Look'} at a partner’s readers of {program}",
        f"A partner of {program} brought readers, and no more of them count until you have looked "
        f"at them once.{since} {who if waiting else 'Nobody waits'} so far. Without an answer the "
        "program pauses for this partner after 7 days, and who waits is not paid.",
        Button("Look at the readers", page),
    )


def group_waits(*, program: str, day: int, people: int, page: str) -> EmailText:
    """`day` is after how many days this reminds of it; 0 at first."""
    asked = f" You were asked {_days_ago(day)}." if day else ""
    return email(
        f"{'Still to do: decide' if day else 'Decide'} about {people:,} readers of {program}",
        f"{people:,} readers who came through partners of {program} share a mail domain, a mail "
        "server or a browser that hardly any of your other readers have. Schools and companies "
        f"look like this, and so do fakes.{asked} They are not paid for until you "
        "have decided, and never if nobody does.",
        Button("Look at the group", page),
    )


def _days_ago(day: int) -> str:
    return "yesterday" if day == 1 else f"{day} days ago"


def partner_left(*, partner: str, program: str, page: str) -> EmailText:
    return email(
        f"{partner} left your partner program",
        f"{partner} no longer refers subscribers to {program}. Their pending referrals finish as "
        "planned.",
        Button("View the program", page),
    )


def no_confirmations(*, program: str, page: str) -> EmailText:
    return email(
        f"{program} pays for referrals that never confirmed",
        "No mail server is set, so your new partner program cannot ask referrals to confirm their "
        "email address. It pays for them without that.",
        "Set HONEYGUIDE_SMTP_URL to a mail server, or ask whoever runs this service to do so. Then "
        "edit the program and choose the rule “Confirmed email address”.",
        Button("Edit the program", page),
    )


def look_awaited(*, program: str, is_paused: bool, page: str) -> EmailText:
    """To a partner for whom the program pauses, or goes on."""
    if is_paused:
        return email(
            f"{program} pauses for you until it looks at your readers",
            f"{program} looks once at the readers of each new partner, and has not looked at yours "
            "yet. Readers who come now do not count. You need not do anything: we have reminded "
            f"{program}, and your links count again once it has looked.",
            Button("View your referrals", page),
        )
    return email(
        f"{program} looked at your readers",
        f"{program} has looked at who came through you. Your links count again.",
        Button("View your referrals", page),
    )


def charges_taken_back(
    *, partner: str, program: str, referrals: str, amount: str, reason: str, page: str
) -> EmailText:
    """To the owner; `referrals` as in "3 referrals"."""
    return email(
        f"{amount} of {partner} taken back",
        f"{program} reversed what it paid {partner} for {referrals}: {amount}. "
        f"Reason: {reason}. They were told.",
        Button("View the program", page),
    )


# To the partner.


def partner_removed(*, program: str, reason: str | None, pending: str, page: str) -> EmailText:
    return email(
        f"{program} removed you from its partner program",
        f"{program} removed you from its partner program. Your links still lead to the newsletter, "
        "but new referrals no longer earn you a fee.",
        *_given(reason),
        f"{pending} You keep everything you have earned so far.",
        Button("View your referrals", page),
    )


def partner_blocked(*, owner: str, reason: str | None, pending: str, page: str) -> EmailText:
    return email(
        f"{owner} removed you from all its partner programs",
        f"{owner} removed you from all its partner programs. Your links still lead to the "
        "newsletters, but new referrals no longer earn you a fee.",
        *_given(reason),
        f"{pending} You keep everything you have earned so far.",
        Button("View your referrals", page),
    )


def _given(reason: str | None) -> list[str]:
    return [f"The reason they gave: {reason}"] if reason else []


def partner_allowed(*, program: str, now: str, page: str) -> EmailText:
    return email(
        f"{program} allows you in its partner program again",
        f"{program} allows you in its partner program again. {now}",
        Button("View your links", page),
    )


def partner_unblocked(*, owner: str, page: str) -> EmailText:
    return email(
        f"{owner} allows you in its partner programs again",
        f"{owner} no longer blocks you. Your earnings page shows which of your links count.",
        Button("View your earnings", page),
    )


def terms_changed(
    *, program: str, starts: str, lines: Iterable[Sequence[str]], has_stopped: bool, page: str
) -> EmailText:
    """`lines` are a label each, and its values in their order. `starts` is empty if the last ones
    hold already."""
    what = f"{program} changes its terms on {starts}" if starts else f"{program} changed its terms"
    if has_stopped:
        what = f"{program} no longer pays for new referrals"
    since = f"They hold for readers who come from {starts} on (UTC)" if starts else "They hold now"
    return email(
        what,
        f"{program} changed what its partner program pays for:",
        *[f"{label}: {' → '.join(values)}" for label, *values in lines],
        f"{since}. Referrals that came before keep the terms that they came with.",
        Button("View your referrals", page),
    )


def reversal_ending(note: str) -> str:
    """How the paragraph with the owner's text ends, by which an erasure finds it."""
    return f" writes: {note}"


def charge_reversed(
    *, program: str, referrals: str, amount: str, reason: str, note: str | None, page: str
) -> EmailText:
    return email(
        f"{program} took back {amount}",
        f"{program} reversed what it had paid you for {referrals}: {amount}. Reason: {reason}.",
        *([f"{program}{reversal_ending(note)}"] if note else []),
        "If you do not agree, answer the owner of the program.",
        Button("View your earnings", page),
    )


def payout_due(*, month: str, amount: str, digest: str, page: str) -> EmailText:
    return email(
        f"Your payout for {month}: {amount}",
        f"{month} is closed. You earned {amount}, which is to be paid out to you now.",
        Button("View the statement", page),
        *_digest(month, digest),
    )


def budget_reached(brand: EmailBranding, *, month: str, resumes: str, page: str) -> EmailText:
    values = {"newsletter": brand.name, "month": month, "date": resumes, "link": page}
    written = own_texts.write(email_kinds.BUDGET_REACHED, brand, values)
    return email(written.subject, *written.paragraphs, Button("View your earnings", page))


def budget_reopened(brand: EmailBranding, *, month: str, page: str) -> EmailText:
    values = {"newsletter": brand.name, "month": month, "link": page}
    written = own_texts.write(email_kinds.BUDGET_REOPENED, brand, values)
    return email(written.subject, *written.paragraphs, Button("View your earnings", page))


# To either of them.


def shared_member(
    *, member: str, other: str, owned: Sequence[str], promoted: Sequence[str], page: str
) -> EmailText:
    """`owned` are the account's programs that the other promotes, `promoted` the other's that the
    account promotes; one of the two may be empty."""
    lines = [
        f"New readers who come by {links} earn {who} no fee for {ENGLISH.enumeration(programs)}."
        for programs, links, who in ((owned, "their links", other), (promoted, "your links", "you"))
        if programs
    ]
    return email(
        f"{member} joined {other}: new referrals are not paid",
        f"{member}, who is on your team, joined the team of {other}. While a program and a partner "
        "share a member, the program counts as the partner’s own.",
        *lines,
        "Fees for readers who came before stay as they are.",
        Button("View your program" if owned else "View your referrals", page),
    )
