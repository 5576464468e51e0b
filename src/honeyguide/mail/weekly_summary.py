"""The operator's email of Monday morning: last week's numbers, what waits and who helped.

It names advocates. So its text is deleted once it is sent (`mail.email_kinds`), and one that is not
sent yet when a subscriber is erased is written again without them.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.percentages import LEAST_FOR_PERCENT
from honeyguide.mail import layout
from honeyguide.mail.content import EmailText, Paragraph
from honeyguide.mail.layout import EmailParts
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

KIND = "weekly_summary"


class WeekTotal(NamedTuple):
    """A number of last week, and of the week before."""

    n: int
    before: int

    @property
    def change(self) -> str:
        """Such as "▲ 9%", or on a small base just the difference. Empty if there is nothing to
        compare with, or no change."""
        if not self.before or self.n == self.before:
            return ""
        changed = abs(self.n - self.before)
        percent = round(100 * changed / self.before)
        is_telling = percent and self.before >= LEAST_FOR_PERCENT
        text = f"{percent:,}%" if is_telling else f"{changed:,}"
        return f"{'▲' if self.n > self.before else '▼'} {text}"

    @property
    def comparison(self) -> str:
        return f"from {self.before:,} the week before"


class WaitingTask(NamedTuple):
    how_many: str
    label: str
    note: str
    action: str
    url: str


class SummaryAdvocate(NamedTuple):
    name: str
    verified: int
    pending: int


class SummaryBudget(NamedTuple):
    """One program, because the budget of one never pays for another."""

    name: str
    sentence: str
    """What is spent of the month's budget, and what of the pending fees it can still hold."""
    action: str
    url: str


class WeeklySummary(NamedTuple):
    newsletter: str
    days: str
    """Such as "Monday 9 to Sunday 15 Nov 2026, New York time"."""
    new: WeekTotal
    referred: WeekTotal
    verified: int
    pending: int
    rejected: int
    waiting: list[WaitingTask]
    advocates: list[SummaryAdvocate]
    almost_there: str
    """Which of them need one more referral for which reward, or empty."""
    budgets: list[SummaryBudget]
    overview_url: str
    preferences_url: str
    turn_off_url: str

    @property
    def subject(self) -> str:
        new = "No" if not self.new.n else f"{self.new.n:,}"
        plural = "" if self.new.n == 1 else "s"
        return f"{self.newsletter}: {new} new subscriber{plural} last week"

    @property
    def preheader(self) -> str:
        waiting = f" Waiting for you: {_listed(self.waiting)}." if self.waiting else ""
        if self.new.n:
            referred = f"{self.referred.n:,}" if self.referred.n else "None"
            return f"{referred} of them referred.{waiting}"
        before = f"{self.new.before:,}" if self.new.before else "Nobody"
        return f"{before} joined the week before.{waiting}"

    @property
    def bars(self) -> list[tuple[str, str, int, int]]:
        """The referred by status: its word, its style, how many and how wide in percent."""
        counts = (
            ("verified", "1", self.verified),
            ("pending", "2", self.pending),
            ("rejected", "3", self.rejected),
        )
        whole = sum(count for _, _, count in counts) or 1
        return [(word, style, n, max(1, 100 * n // whole)) for word, style, n in counts if n]


def _listed(waiting: list[WaitingTask]) -> str:
    return ", ".join(f"{task.label.lower()} ({task.how_many})" for task in waiting)


def message(summary: WeeklySummary) -> EmailText:
    """Its subject is what the dashboard and Slack say."""
    return EmailText(summary.subject, (Paragraph(summary.preheader),))


def parts(summary: WeeklySummary) -> EmailParts:
    html = layout.render("weekly_summary.html", summary=summary)
    return EmailParts(_text(summary), html)


def _text(summary: WeeklySummary) -> str:
    lines = [f"{summary.newsletter}, last week", summary.days, ""]
    if summary.new.n:
        lines += [
            f"New subscribers: {summary.new.n:,} ({summary.new.comparison})",
            f"Referred: {summary.referred.n:,} ({summary.referred.comparison})",
        ]
        lines += [f"  {count:,} {word}" for word, _, count, _ in summary.bars]
    else:
        lines.append("No new subscribers last week.")
    if summary.waiting:
        lines += ["", "Waiting for you"]
        for task in summary.waiting:
            lines.append(" ".join(filter(None, (f"{task.label}: {task.how_many}.", task.note))))
            lines.append(task.url)
    if summary.advocates:
        lines += ["", "Top advocates last week"]
        lines += [
            f"{each.name}: {each.verified:,} verified, {each.pending:,} pending"
            for each in summary.advocates
        ]
        lines += [summary.almost_there] if summary.almost_there else []
    for budget in summary.budgets:
        lines += ["", f"Partner program: {budget.name}", budget.sentence, budget.url]
    lines += [
        "",
        "Open Home",
        summary.overview_url,
        "",
        "-- ",
        f"You get this every Monday because you run {summary.newsletter} on this Honeyguide.",
        f"Choose your notifications: {summary.preferences_url}",
        f"Turn this summary off: {summary.turn_off_url}",
    ]
    return "\n".join(lines) + "\n"


_sql = beside(__file__)
_CANCEL_UNSENT = _sql.command("cancel_unsent")
_DELETE_NOTIFICATION = _sql.command("delete_notification")
_MAKE_DUE_AGAIN = _sql.command("make_due_again")


async def rewrite_unsent(change: Change) -> None:
    """Part of an erasure: a summary that waits for the mail server may name the subscriber."""
    if await change.run(_CANCEL_UNSENT):
        await change.run(_DELETE_NOTIFICATION)
        await change.run(_MAKE_DUE_AGAIN)
