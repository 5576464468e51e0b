"""Each closed set has one table, whose rows say everything about a member: reasons, signals,
origins, kinds of email, kinds of notification, states of earned rewards. Pages and other modules
look facts up there. These tests find tables that somebody keeps elsewhere, keyed by the members or
by their strings.
"""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from honeyguide.mail import email_kinds, notification_kinds
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.notification_kinds import NotificationKind
from honeyguide.rewards.earned_states import EarnedState
from honeyguide.screening.signals import Signal
from honeyguide.signups import delayed_kinds
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import SUSPICIONS, Reason
from tests.laws.test_architecture import FUNCTIONS, MODULES, SOURCE, Module, sources

MEMBERS: dict[str, frozenset[str]] = {
    "reason": frozenset(Reason),
    "signal": frozenset(Signal),
    "origin": frozenset(Origin),
    "state of an earned reward": frozenset(EarnedState),
    "kind of email": frozenset(kind.name for kind in email_kinds.EMAIL_KINDS),
    "kind of notification": frozenset(kind.name for kind in notification_kinds.NOTIFICATION_KINDS),
    "kind of delayed action": frozenset(delayed_kinds.BY_NAME),
}
TABLES = {
    "subscribers/reasons.py",
    "screening/signals.py",
    "subscribers/origins.py",
    "rewards/earned_states.py",
    "mail/email_kinds.py",
    "mail/notification_kinds.py",
    "signups/delayed_kinds.py",
}
# What looks like a table of its own, and why it may stay.
EXCEPTIONS = {
    "integrations/buttondown.py: reason: blocked, complained, unsubscribed": (
        "Words of the platform for its subscribers."
    ),
    "integrations/buttondown.py: reason: bounced, complained, unsubscribed": (
        "Words of the platform for its events."
    ),
    "integrations/kit.py: reason: bounced, complained": "Words of the platform.",
    "integrations/kit.py: reason: bounced, complained, unsubscribed": (
        "Words of the platform for its events."
    ),
    "integrations/mailerlite.py: reason: bounced, unsubscribed": (
        "Words of the platform for its subscribers."
    ),
    "integrations/policy.py: reason: bounced, complained": "What a platform says of a contact.",
    "pages/dashboard/settings/integrations.py: reason: bounced, complained": (
        "What is synced with a platform, as labels."
    ),
    "integrations/buttondown.py: signal: bounced, confirmed": (
        "Words of the platform for its events."
    ),
    "pages/dashboard/settings/integrations.py: signal: bounced, confirmed": (
        "What is synced with a platform, as labels."
    ),
    "moving/source_columns.py: reason: bounced, unsubscribed": "Words of other tools.",
    "moving/source_words.py: reason: bounced, complained": "Words of other tools.",
    "moving/source_words.py: reason: bounced, unsubscribed": "Words of other tools.",
    "moving/source_words.py: reason: inactive, unsubscribed": (
        "Words of other tools for people who left."
    ),
    "pages/dashboard/look/emails.py: kind of email: "
    "confirm, friend_joined, hub_link, one_more, shipment_sent": (
        "A sample of each kind is written from other values."
    ),
    "pages/dashboard/rewards/rewards.py: kind of delayed action: approve, decline": (
        "Each is a button of the same form."
    ),
    "pages/readers/signup.py: origin: magic, signup": (
        "The two kinds of forms of ours have a limit of their own each."
    ),
    "rewards/earned_rewards.py: state of an earned reward: "
    "awaiting_approval, out_of_stock, redeemed": (
        "What can be redeemed is decided there, with an error for operators."
    ),
    "pages/templates/dashboard/subscriber_rewards.html: state of an earned reward: "
    "awaiting_approval, unlocked": "Each of these two has a button of its own.",
    "pages/templates/readers/reward.html: state of an earned reward: "
    "awaiting_approval, claimed, delivered, out_of_stock, redeemed, sent, to_send, unlocked": (
        "What readers see of each is other markup: a code to copy, a link, a tracking note."
    ),
}


def code_of(value: Any) -> str:
    if isinstance(value, EmailKind | NotificationKind):
        return value.name
    return str(value) if isinstance(value, str) else ""


def meaning(node: ast.AST, module: ModuleType | None) -> Any:
    """What a constant or a name at the top of the module stands for."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return getattr(module, node.id, None)
    if isinstance(node, ast.Attribute):
        return getattr(meaning(node.value, module), node.attr, None)
    return None


def groups_in(tree: ast.AST) -> Iterator[list[ast.AST]]:
    """The nodes that would be keys of one table: of a dictionary or another collection, or all that
    one expression is compared with in a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Set) or (
            isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load)
        ):
            yield list(node.elts)
        elif isinstance(node, ast.Match):
            yield [each.value for each in ast.walk(node) if isinstance(each, ast.MatchValue)]
        elif isinstance(node, FUNCTIONS):
            compared: dict[str, list[ast.AST]] = {}
            for each in ast.walk(node):
                if isinstance(each, ast.Compare):
                    compared.setdefault(ast.unparse(each.left), []).extend(each.comparators)
            yield from compared.values()


def imported(path: str) -> ModuleType:
    dotted = "/".join(["honeyguide", *path.removesuffix(".py").split("/")])
    return importlib.import_module(dotted.removesuffix("/__init__").replace("/", "."))


def codes_in(module: Module, names: ModuleType | None = None) -> Iterator[set[str]]:
    for nodes in groups_in(module.tree):
        yield {code_of(meaning(node, names)) for node in nodes}


def codes_in_template(source: str) -> Iterator[set[str]]:
    compared: dict[str, set[str]] = {}
    for name, values in re.findall(r'([\w.]+) (?:[=!]=|in|not in) (\([^)]*\)|"\w+")', source):
        compared.setdefault(name, set()).update(re.findall(r'"(\w+)"', values))
    yield from compared.values()
    for literal in re.findall(r"\{\s*\"[^{}]*\}", source):
        yield set(re.findall(r'"(\w+)":', literal))


def complaints_about(path: str, groups: Iterable[set[str]]) -> set[str]:
    return {
        f"{path}: {name}: {', '.join(sorted(codes & members))}"
        for codes in groups
        for name, members in MEMBERS.items()
        if path not in TABLES and len(codes & members) > 1
    }


def test_nobody_keeps_a_table_of_a_closed_set_elsewhere() -> None:
    """A new fact about a member is a new field of its row. What is really something else is listed
    above; what is no longer there has to leave that list."""
    found: set[str] = set()
    for module in MODULES:
        if module.path != "__main__.py":
            found |= complaints_about(module.path, codes_in(module, imported(module.path)))
    for path in sources("*.html"):
        inside = path.relative_to(SOURCE).as_posix()
        found |= complaints_about(inside, codes_in_template(path.read_text(encoding="utf-8")))
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "culprit",
    [
        "LABELS = {'api': 'API', 'import': 'Import'}",
        "HIDDEN = frozenset({'same_network', 'burst'})",
        "def f(kind):\n return kind in ('friend_joined', 'one_more')",
        "def f(it):\n if it.state == 'sent': return 1\n if it.state == 'to_send': return 2",
        "def f(it):\n match it:\n  case 'budget': return 1\n  case 'payout_due': return 2",
    ],
)
def test_the_law_sees_a_table_of_strings(culprit: str) -> None:
    assert complaints_about("pages/x.py", codes_in(Module("pages/x.py", culprit)))


def test_the_law_sees_a_table_of_members() -> None:
    names = ModuleType("x")
    vars(names).update(email_kinds=email_kinds, Reason=Reason, SENT=EarnedState.SENT)
    for culprit in (
        "X = {email_kinds.CONFIRM: 1, email_kinds.HUB_LINK: 2}",
        "X = (Reason.BURST, Reason.BLOCKED)",
        "X = [SENT, 'to_send']",
    ):
        assert complaints_about("pages/x.py", codes_in(Module("pages/x.py", culprit), names))
    for innocent in ("X = {Reason.BURST: 1}", "def f(x): return x == SENT", "SENT, X = f()"):
        assert not complaints_about("pages/x.py", codes_in(Module("pages/x.py", innocent), names))


@pytest.mark.parametrize(
    "culprit",
    [
        '{% if x.state == "sent" %}a{% elif x.state == "to_send" %}b{% endif %}',
        '{% if origin in ("api", "import") %}a{% endif %}',
        '{{ {"burst": ("bad", "Burst"),\n  "blocked": ("bad", "Blocked")}[x] }}',
    ],
)
def test_the_law_sees_a_table_in_a_template(culprit: str) -> None:
    assert complaints_about("pages/x.html", codes_in_template(culprit))


def test_statements_that_ask_for_several_reasons_mean_the_suspicions() -> None:
    """SQL cannot look them up: an index serves a condition that says the same."""
    found = {
        (path.relative_to(SOURCE).as_posix(), frozenset(re.findall(r"'(\w+)'", values)))
        for path in sources("*.sql")
        for values in re.findall(
            r"referral_reason IN \(([^)]*)\)", path.read_text(encoding="utf-8")
        )
    }
    assert len(found) > 5
    others = {
        # Which of them have an IP network in common.
        ("screening/review.sql", frozenset({Reason.SAME_NETWORK, Reason.MANY_FROM_ONE_NETWORK})),
        # An index of the first version, which another one replaced.
        (
            "store/migrations/0093_baseline.sql",
            frozenset({Reason.SAME_NETWORK, Reason.MANY_FROM_ONE_NETWORK, Reason.BURST}),
        ),
        # Those whose rule is met.
        (
            "signups/first_looks.sql",
            frozenset({Reason.HOLDING_PERIOD, Reason.AWAITING_FIRST_LOOK, Reason.NEEDS_REVIEW}),
        ),
        (
            "signups/look_readers.sql",
            frozenset({Reason.HOLDING_PERIOD, Reason.AWAITING_FIRST_LOOK, Reason.NEEDS_REVIEW}),
        ),
    }
    assert {each for each in found if each[1] != SUSPICIONS} == others
