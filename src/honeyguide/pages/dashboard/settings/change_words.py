"""Logged changes in sentences: who did what, from what to what. Pure: no store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from honeyguide.events import logged_actions
from honeyguide.events.change_log import LoggedChange
from honeyguide.events.logged_actions import ChangeGroup
from honeyguide.kernel import money
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.clock import iso
from honeyguide.pages.dashboard import formats

# What a line can hold; the rest is in the details.
LONGEST_VALUE = 60
MOST_FIELDS = 3
NOTHING = "nothing"

ACTOR_KINDS = {
    ActorKind.MEMBER: "Any member",
    ActorKind.API_KEY: "Any API key",
    ActorKind.JOB: "Background work",
    ActorKind.COMMAND_LINE: "Command line",
    ActorKind.SUBSCRIBER: "Subscribers",
}
# What the verb of an action does not say by itself; `{it}` is the subject.
PHRASES = {
    "account.closed": "closed the account",
    "account.closing": "asked to close the account",
    "account.closing_postponed": "postponed closing the account",
    "account.email_changed": "changed their email address",
    "account.kept": "kept the account",
    "account.password_changed": "changed their password",
    "account.paused": "paused the account",
    "account.resumed": "resumed the account",
    "api_key.created": "created {it}",
    "backup.requested": "asked for a backup",
    "claimed_code.removed": "removed {it}",
    "confirmations.released": "released the confirmation emails that waited",
    "earned_reward.approved": "approved {it}",
    "earned_reward.claimed": "claimed {it}",
    "earned_reward.decision_undone": "undid a decision about {it} within its minute",
    "earned_reward.declined": "declined the claim of {it}",
    "earned_reward.redeemed": "marked {it} as redeemed",
    "first_look.answer_undone": "undid an answer about {it} within its minute",
    "first_look.answered": "looked at the readers of {it}",
    "integration.connected": "connected {it}",
    "integration.disconnected": "disconnected {it}",
    "integration.key_replaced": "replaced the key of {it}",
    "integration.missing_unsubscribed": "unsubscribed contacts that are missing in {it}",
    "integration.unconfirmed_removed": "removed unconfirmed contacts from {it}",
    "integration.values_answered": "decided about the values that were in {it}",
    "invitation.sent": "sent an invitation",
    "invitation.withdrawn": "withdrew an invitation",
    "link_host.turned_off": "turned off {it}",
    "login.failed": "Somebody tried to log in as {it} with a wrong password",
    "login.succeeded": "logged in",
    "member.joined": "joined the team",
    "member.left": "left the team",
    "member.removed": "removed {it} from the team",
    "note.deletion_undone": "kept a note that was to be deleted",
    "partner.joined": "A partner joined a program: {name}",
    "partner.left": "A partner left a program: {name}",
    "partner_campaign.allowed": "allowed a removed partner again: {name}",
    "partner_campaign.joined": "joined {it}",
    "partner_campaign.left": "left {it}",
    "partner_campaign.removed": "removed a partner from a program: {name}",
    "payout.paid": "marked {it} as paid",
    "payout.unpaid": "marked {it} as unpaid again",
    "program.switched": "switched {it} on or off",
    "program.terms_announced": "announced terms of {it} that begin later",
    "program.verification_changed": "changed what {it} asks of referrals",
    "program.verification_kept": "kept what {it} asks of referrals",
    "referral.decision_undone": "undid a decision about {it} within its minute",
    "referrer.set": "set {it}",
    "reward.codes_added": "added coupon codes to {it}",
    "saved_filter.deletion_undone": "kept a saved filter that was to be deleted",
    "second_factor.code_used": "used a recovery code",
    "second_factor.codes_renewed": "got new recovery codes",
    "second_factor.reset": "reset the second factor of {it}",
    "second_factor.turned_off": "turned off their second factor",
    "second_factor.turned_on": "turned on their second factor",
    "session.ended": "ended another session",
    "session.others_ended": "ended all other sessions",
    "shipment.address_corrected": "corrected the address of {it}",
    "shipment.delivered": "marked {it} as delivered",
    "shipment.note_changed": "changed the tracking of {it}",
    "shipment.sent": "marked {it} as sent",
    "shipment.undelivered": "marked {it} as not delivered",
    "shipment.unsent": "marked {it} as not sent",
    "subscriber.adjusted": "adjusted the progress of {it}",
    "subscriber.code_chosen": "chose a referral code for {it}",
    "subscriber.email_changed": "changed the email address of {it}",
    "subscriber.links_renewed": "ended the private links of {it}",
    "subscriber.erased": "erased a subscriber",
    "webhook.secret_rotated": "rotated the secret of {it}",
    "webhook.sparkloop_token_changed": "changed the SparkLoop token of {it}",
}
# Names of fields that differ from their column.
LABELS = {
    "cpa_cents": "fee",
    "max_payout_cents": "cap per partner",
    "total_budget_cents": "monthly budget",
    "paid_cents": "paid amount",
    "hold_days": "holding period in days",
    "is_removed": "removed",
    "is_blocked": "blocked",
    "has_left": "left",
    "referrer_id": "referrer",
}
# Values by which a subject is named if it is not there anymore.
_NAMES = ("name", "host", "url", "email")


class ShownValue(NamedTuple):
    name: str
    before: str
    after: str


class LoggedSentence(NamedTuple):
    entry: LoggedChange
    actor: str
    text: str
    """What they did; a whole sentence if nobody did it."""
    values: list[ShownValue]
    is_erased: bool
    """Whether what it said was erased with a subscriber."""

    @property
    def has_actor(self) -> bool:
        return not self.text[:1].isupper()

    @property
    def sentence(self) -> str:
        return f"{self.actor} {self.text}" if self.has_actor else self.text


class LogNames(NamedTuple):
    """What actors and subjects are called; some are gone."""

    known: Mapping[str, str]
    keys: Mapping[str, str]


def show(entry: LoggedChange, names: LogNames) -> LoggedSentence:
    values = _values(entry)
    text = f"{_text(entry, values, names)}."
    is_erased = entry.salt is None and entry.values_hash is not None
    return LoggedSentence(entry, actor_name(entry, names), text, values, is_erased)


def actor_name(entry: LoggedChange, names: LogNames) -> str:
    known = names.known.get(entry.actor_id)
    match entry.actor_kind:
        case ActorKind.MEMBER if known:
            return formats.isolated(known)
        case ActorKind.MEMBER if entry.actor_id:
            return "Somebody outside the team"
        case ActorKind.MEMBER:
            return "Whoever used the link in an email"
        case ActorKind.API_KEY:
            key = names.keys.get(entry.actor_id)
            return f"The API key “{formats.isolated(key)}”" if key else "A deleted API key"
        case ActorKind.COMMAND_LINE:
            return f"The command “honeyguide {entry.actor_id}”"
        case ActorKind.JOB:
            return f"The job “{entry.actor_id}”"
        case _:
            return f"The subscriber {formats.isolated(known)}" if known else "A subscriber"


def _text(entry: LoggedChange, values: list[ShownValue], names: LogNames) -> str:
    """What was done, without who did it."""
    it = _it(entry, names)
    what, _, verb = entry.action.partition(".")
    if entry.actor_kind == ActorKind.SUBSCRIBER and verb == "redeemed":
        return f"claimed {it}"
    if phrase := PHRASES.get(entry.action):
        return phrase.replace("{it}", it).replace("{name}", _name(entry, names) or "unknown")
    if verb in ("changed", "decided", "role_changed") and values:
        return _differences(it, values)
    if logged_actions.subject_of(entry.action) is None:
        return f"made a change: {what.replace('_', ' ')} {verb.replace('_', ' ')}"
    return f"{verb.replace('_', ' ')} {it}"


def _differences(it: str, values: list[ShownValue]) -> str:
    if len(values) == 1:
        (value,) = values
        return f"changed the {value.name} of {it} from {value.before} to {value.after}"
    shown = [value.name for value in values[:MOST_FIELDS]]
    more = len(values) - len(shown)
    if more:
        return f"changed {', '.join(shown)} and {more} more of {it}"
    return f"changed {', '.join(shown[:-1])} and {shown[-1]} of {it}"


def _it(entry: LoggedChange, names: LogNames) -> str:
    subject = logged_actions.subject_of(entry.action)
    noun = subject.noun if subject else "it"
    name = _name(entry, names)
    if not name:
        return f"{noun} somebody" if noun.endswith(" of") else noun
    is_person = subject and subject.group in (ChangeGroup.TEAM, ChangeGroup.SUBSCRIBERS)
    return f"{noun} {name}" if is_person else f"{noun} “{name}”"


def _name(entry: LoggedChange, names: LogNames) -> str:
    """Of the subject; empty if nobody knows it anymore."""
    return formats.isolated(names.known.get(entry.subject_id) or _named_by_values(entry))


def _named_by_values(entry: LoggedChange) -> str:
    """What was created or deleted; a name that was changed says nothing about its subject."""
    if entry.before and entry.after:
        return ""
    for side in entry.differences[::-1]:
        for name in _NAMES:
            if side and isinstance(side.get(name), str):
                return str(side[name])
    return ""


def _values(entry: LoggedChange) -> list[ShownValue]:
    before, after = entry.differences
    names = dict.fromkeys([*(before or {}), *(after or {})])
    return [ShownValue(_label(name), _shown(name, before), _shown(name, after)) for name in names]


def _label(name: str) -> str:
    plain = name.removeprefix("is_").removesuffix("_cents").removesuffix("_ms")
    return LABELS.get(name) or plain.replace("_", " ")


def _shown(name: str, side: dict[str, Any] | None) -> str:
    value = (side or {}).get(name)
    if value is None or value == "":
        return NOTHING
    if name.endswith("_cents") and isinstance(value, int):
        return money.show(value)
    if isinstance(value, bool) or (name.startswith(("is_", "has_")) and value in (0, 1)):
        return "yes" if value else "no"
    if name.endswith("_ms") and isinstance(value, int):
        return formats.moment(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return formats.isolated(text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…")


def as_record(shown: LoggedSentence, names: LogNames) -> dict[str, Any]:
    """For downloads: nothing shortened."""
    entry = shown.entry
    before, after = entry.differences
    return {
        "changed_at": iso(entry.changed_ms),
        "actor_kind": entry.actor_kind,
        "actor": entry.actor_id,
        "actor_name": shown.actor,
        "action": entry.action,
        "subject": entry.subject_id,
        "subject_name": names.known.get(entry.subject_id, ""),
        "change": shown.sentence,
        "before": before,
        "after": after,
    }
