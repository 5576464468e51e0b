"""The lab plays, its limits hold, and a family is a small file."""

import json
import re
from pathlib import Path

import pytest
import uvloop
from typer.testing import CliRunner

from honeyguide.kernel.clock import DAY_MS
from honeyguide.screening.rules import ReferralTerms, Rule
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level
from lab import families, report, run, showing
from lab.__main__ import app
from lab.browsers import BROWSERS
from lab.family import ATTACK_SIGNUPS, Family, choose_third, find_families
from lab.outcomes import PlayedSignup, decide_without
from lab.report import LabReport
from lab.world import FEE_CENTS
from tests.support.service import fresh_database_url

FAMILIES = find_families()
FOLDER = Path(families.__file__).parent


def play(*, is_short: bool, database_url: str = "") -> LabReport:
    chosen = choose_third(FAMILIES, 0) if is_short else FAMILIES
    playing = run.run(chosen, is_short=is_short, database_url=database_url)
    return report.make(chosen, uvloop.run(playing))


def check_limits(made: LabReport) -> None:
    assert made.attacks and made.honest and len(made.limits) == 4
    missed = [f"{each.name}: {each.value:.1%}" for each in made.limits if not each.is_met]
    assert not missed, (missed, json.dumps(showing.as_json(made), indent=1))


@pytest.mark.long
def test_the_short_lab_meets_its_limits() -> None:
    made = play(is_short=True)
    check_limits(made)
    # Nobody is left out, and those who should confirm got an email.
    assert all(row.tried_cents >= 0.9 * ATTACK_SIGNUPS * FEE_CENTS for row in made.attacks)
    assert all(row.people and row.emails >= row.people for row in made.honest)
    # What is computed without any signal off is what was charged.
    assert made.switched_off[0].charged_cents == made.charged_cents


@pytest.mark.long
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_whole_lab_meets_its_limits(engine: str, tmp_path: Path) -> None:
    check_limits(play(is_short=False, database_url=fresh_database_url(engine, tmp_path)))


def test_there_are_enough_families() -> None:
    attacks = [family for family in FAMILIES if not family.is_honest]
    honest = [family for family in FAMILIES if family.is_honest]
    assert len(attacks) >= 14
    assert all(family.people == ATTACK_SIGNUPS for family in attacks)
    assert len([family for family in honest if 100 <= family.people <= 300]) >= 8


def test_the_short_labs_of_three_seeds_have_all_families() -> None:
    thirds = [choose_third(FAMILIES, seed) for seed in range(3)]
    assert sorted(family.name for third in thirds for family in third) == sorted(
        family.name for family in FAMILIES
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_a_small_file_and_the_same_in_every_run(family: Family) -> None:
    source = (FOLDER / f"{family.name}.py").read_text()
    assert len(source.splitlines()) < 40
    assert len(family.about) > 40
    signups = family.play(seed=3, is_short=False)
    assert signups == family.play(seed=3, is_short=False) != family.play(seed=4, is_short=False)
    assert len({signup.email for signup in signups}) >= 0.97 * family.people
    assert {signup.browser for signup in signups} <= set(BROWSERS)
    assert all(signup.at_ms >= 0 for signup in signups)


def test_the_example_in_the_docs_is_a_family() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "lab.md").read_text()
    example = re.search(r"```python\n(.*?)```", docs, re.DOTALL)
    assert example is not None
    assert example[1] == (FOLDER / "catch_all.py").read_text()


# -- the report


TERMS = ReferralTerms(rule=Rule.CONFIRMED, level=Level.STRONG, arrived_ms=0, hold_until_ms=0)
ATTACK = next(family for family in FAMILIES if not family.is_honest)
HONEST = next(family for family in FAMILIES if family.is_honest)


def held(family: Family = ATTACK, *signals: Signal) -> PlayedSignup:
    """Somebody who confirmed, and whom nobody reviewed."""
    return PlayedSignup(
        family.name,
        family.is_honest,
        "a@example.org",
        is_accepted=True,
        wants_to_confirm=True,
        confirmed_ms=5,
        status="rejected",
        reason=Reason.UNREVIEWED,
        was_held=True,
        terms=TERMS,
        findings=[SignalFinding(each, "", each.facts.points) for each in signals],
    )


def paid(family: Family, *, verified_ms: int = 6) -> PlayedSignup:
    return PlayedSignup(
        family.name,
        family.is_honest,
        "b@example.org",
        is_accepted=True,
        wants_to_confirm=True,
        confirmed_ms=5,
        status="verified",
        charged_cents=FEE_CENTS,
        verified_ms=verified_ms,
        terms=TERMS,
    )


def unconfirmed(family: Family) -> PlayedSignup:
    return PlayedSignup(
        family.name,
        family.is_honest,
        "c@example.org",
        is_accepted=True,
        status="rejected",
        reason=Reason.UNCONFIRMED,
        terms=TERMS,
    )


def test_without_a_signal_is_paid_what_only_this_signal_stopped() -> None:
    one = held(ATTACK, Signal.RARE_DOMAIN)
    assert decide_without(one) == (0, True)
    assert decide_without(one, signal=Signal.RARE_DOMAIN) == (FEE_CENTS, False)
    assert decide_without(one, signal=Signal.BURST) == (0, True)
    two = held(ATTACK, Signal.RARE_DOMAIN, Signal.GENERATED_ADDRESS)
    assert decide_without(two, signal=Signal.RARE_DOMAIN) == (0, True)
    assert decide_without(unconfirmed(ATTACK)) == (0, False)
    assert decide_without(unconfirmed(ATTACK), rule=Rule.NONE) == (FEE_CENTS, False)


def test_what_no_signal_decided_stays_without_any_signal() -> None:
    refused = PlayedSignup(ATTACK.name, False, "d@example.org")
    assert decide_without(refused, rule=Rule.NONE) == (0, False)
    certain = unconfirmed(ATTACK)
    certain.reason = Reason.DISPOSABLE_DOMAIN
    assert decide_without(certain, rule=Rule.NONE) == (0, False)


def test_the_report_counts_dollars_and_honest_people() -> None:
    unasked = unconfirmed(HONEST)
    unasked.wants_to_confirm = True  # but no email came
    made = report.make(
        [ATTACK, HONEST],
        [
            *(held(ATTACK, Signal.RARE_DOMAIN), paid(ATTACK), unconfirmed(ATTACK)),
            PlayedSignup(ATTACK.name, False, "e@example.org"),
            *(
                paid(HONEST),
                paid(HONEST, verified_ms=DAY_MS),
                held(HONEST, Signal.GENERATED_ADDRESS),
            ),
            *(unasked, unconfirmed(HONEST)),
        ],
    )
    (attack,), (people,) = made.attacks, made.honest
    assert (attack.tried_cents, attack.charged_cents, attack.stopped) == (1000, 250, 0.75)
    assert (attack.refused, attack.unconfirmed, attack.held, attack.rejected) == (1, 1, 1, 0)
    assert attack.evidence == {"rare_domain": 1}
    assert (people.signups, people.people, people.held) == (5, 4, 2)
    assert (people.paid_at_once, people.paid_later, people.rejected) == (1, 1, 0)
    assert [limit.value for limit in made.limits] == [0.75, 0.75, 0.5, 0.0]
    assert [limit.is_met for limit in made.limits] == [False, False, False, True]
    assert not made.is_met
    without = {each.name: each for each in made.switched_off}
    assert without["nothing"].charged_cents == 250
    assert without["rare_domain"].charged_cents == 500
    assert without["burst"] == report.SwitchedOff("burst", 250, 1)
    assert without["generated_address"] == report.SwitchedOff("generated_address", 250, 0)


def test_the_page_needs_nothing_else_and_escapes() -> None:
    made = report.make([ATTACK, HONEST], [held(ATTACK, Signal.RARE_DOMAIN), paid(HONEST)])
    strange = made._replace(honest=[made.honest[0]._replace(about="<b>bold</b>")])
    page = showing.as_page(strange, made_on="17 Nov 2026", seed=5, is_short=True)
    assert "&lt;b&gt;bold" in page and "<b>bold" not in page
    assert not re.search(r"<script|<link|src=|url\(|https?:", page)
    assert "color-scheme: light dark" in page
    for text in (ATTACK.name, HONEST.name, "rare_domain", showing.NOTE, "seed 5", "short run"):
        assert text in page


# -- the command


def test_the_command_plays_one_family_and_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    asked = ["--short", "--family", "replayed_form", "--output", str(page), "--json"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["is_met"] and [row["family"] for row in printed["attacks"]] == ["replayed_form"]
    assert printed["honest"] == []
    assert "replayed_form" in page.read_text()


def test_an_unknown_family_is_refused() -> None:
    result = CliRunner().invoke(app, ["--family", "nobody"])
    assert result.exit_code == 1
    assert "There is no family nobody. The families are: answered_form" in result.stderr
