"""The lab plays, its limits hold, and a family is a small file."""

import inspect
import json
import re
from pathlib import Path

import pytest
import uvloop
from typer.testing import CliRunner

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.screening.rules import ReferralTerms, Rule
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level
from lab import report, run, showing
from lab.__main__ import app
from lab.browsers import BROWSERS
from lab.families import robots
from lab.family import ATTACK_SIGNUPS, Family, Kind, choose_third, find_families
from lab.outcomes import PlayedSignup, decide_without
from lab.owner import Setting
from lab.report import LabReport
from lab.world import FEE_CENTS
from tests.support.service import fresh_database_url

FAMILIES = find_families()
ACCEPTED_SIZE = 60
ROBOTS = Path(robots.__file__)


def play(*, is_short: bool, setting: Setting = Setting.LOOKS, database_url: str = "") -> LabReport:
    chosen = choose_third(FAMILIES, 0) if is_short else find_families(ACCEPTED_SIZE)
    playing = run.run(chosen, is_short=is_short, setting=setting, database_url=database_url)
    return report.make(chosen, uvloop.run(playing), setting)


def check_limits(made: LabReport) -> None:
    assert made.attacks and made.honest and made.framed and len(made.limits) >= 6
    missed = [f"{each.name}: {each.value:.1%}" for each in made.limits if not each.is_met]
    assert not missed, (missed, json.dumps(showing.as_json(made), indent=1))


@pytest.mark.long
def test_the_short_lab_meets_its_limits() -> None:
    made = play(is_short=True)
    check_limits(made)
    # Nobody is left out, and those who should confirm got an email.
    assert all(row.tried_cents >= 0.9 * ATTACK_SIGNUPS * FEE_CENTS for row in made.attacks)
    assert all(row.people and row.emails >= row.people for row in made.honest)
    assert all(row.people and row.forms for row in made.framed)
    # What is computed without any signal off is what was charged.
    assert made.switched_off[0].charged_cents == made.charged_cents


@pytest.mark.long
@pytest.mark.parametrize("setting", Setting)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_whole_lab_meets_its_limits(engine: str, setting: Setting, tmp_path: Path) -> None:
    database_url = fresh_database_url(engine, tmp_path)
    check_limits(play(is_short=False, setting=setting, database_url=database_url))


def test_there_are_enough_families() -> None:
    attacks = [family for family in FAMILIES if family.is_attack]
    honest = [family for family in FAMILIES if family.kind is Kind.HONEST]
    assert len([family for family in attacks if not family.is_expert]) >= 14
    assert len([family for family in attacks if family.is_expert]) >= 19
    assert len([family for family in FAMILIES if family.kind is Kind.FRAMING]) >= 9
    assert all(family.people == ATTACK_SIGNUPS for family in attacks)
    assert len([family for family in honest if 100 <= family.people <= 300]) >= 8


def test_the_short_labs_of_three_seeds_have_all_families() -> None:
    thirds = [choose_third(FAMILIES, seed) for seed in range(3)]
    assert sorted(family.name for third in thirds for family in third) == sorted(
        family.name for family in FAMILIES
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_small_and_the_same_in_every_run(family: Family) -> None:
    assert len(inspect.getsource(family.signups).splitlines()) < 40  # type: ignore[arg-type]
    assert len(family.about) > 20
    signups = family.play(seed=3, is_short=False)
    assert signups == family.play(seed=3, is_short=False) != family.play(seed=4, is_short=False)
    counted = [signup for signup in signups if not signup.is_extra]
    assert 0.97 * family.people <= len({signup.email for signup in counted}) <= family.people
    assert {signup.browser for signup in signups} <= set(BROWSERS)
    assert {signup.partner for signup in signups} == set(range(family.partners))
    assert all(signup.at_ms >= 0 for signup in signups)


@pytest.mark.parametrize("family", [each for each in FAMILIES if each.is_attack])
def test_an_attack_tries_as_often_as_it_is_told(family: Family) -> None:
    (same,) = [each for each in find_families(60) if each.name == family.name]
    counted = [signup for signup in same.play(seed=1, is_short=False) if not signup.is_extra]
    assert len(counted) == 60


def test_the_example_in_the_docs_is_a_family() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "lab.md").read_text()
    example = re.search(r"```python\n(.*?)```", docs, re.DOTALL)
    assert example is not None
    assert example[1] in ROBOTS.read_text()


# -- the report


TERMS = ReferralTerms(rule=Rule.CONFIRMED, level=Level.STRONG, arrived_ms=0, hold_until_ms=0)
ATTACK = next(family for family in FAMILIES if family.is_attack and not family.is_expert)
HONEST = next(family for family in FAMILIES if family.kind is Kind.HONEST and not family.is_group)
FRAMING = next(family for family in FAMILIES if family.kind is Kind.FRAMING)
EXPERT = next(each for each in FAMILIES if each.is_expert and not each.is_out_of_reach)


def held(family: Family = ATTACK, *signals: Signal) -> PlayedSignup:
    """Somebody who confirmed, and whom nobody reviewed."""
    return PlayedSignup(
        family.name,
        family.kind,
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
        family.kind,
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
        family.kind,
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
    refused = PlayedSignup(ATTACK.name, Kind.ATTACK, "d@example.org")
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
            PlayedSignup(ATTACK.name, Kind.ATTACK, "e@example.org"),
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
    assert [limit.value for limit in made.limits] == [0.75, 0.75, 0.5, 0.0, 4, 0]
    assert [limit.is_met for limit in made.limits] == [False, False, False, True, False, True]
    assert not made.is_met
    without = {each.name: each for each in made.switched_off}
    assert without["nothing"].charged_cents == 250
    assert without["rare_domain"].charged_cents == 500
    assert without["burst"] == report.SwitchedOff("burst", 250, 1)
    assert without["generated_address"] == report.SwitchedOff("generated_address", 250, 0)


def test_what_only_hides_or_hurts_others_is_not_counted() -> None:
    hiding = paid(ATTACK)
    hiding.is_extra = True
    (attack,) = report.make([ATTACK], [hiding, held(ATTACK, Signal.RARE_DOMAIN)]).attacks
    assert (attack.tried_cents, attack.charged_cents) == (FEE_CENTS, 0)
    assert attack.profit_mills == -ATTACK.cost_mills
    form = PlayedSignup(FRAMING.name, Kind.FRAMING, "x@example.org", is_extra=True, emails=1)
    soon, late, never = paid(FRAMING), paid(FRAMING), unconfirmed(FRAMING)
    never.wants_to_confirm = True
    for each, came_ms in ((soon, 5_000), (late, 2 * HOUR_MS), (never, None)):
        each.asked_ms, each.emailed_ms = 0, came_ms
    made = report.make([FRAMING], [form, soon, late, never])
    (row,) = made.framed
    assert (row.forms, row.emails_to_strangers, row.people, row.paid) == (1, 1, 3, 2)
    assert row.unwritten == (2, 2, 1)
    assert [round(limit.value, 2) for limit in made.limits] == [0.67, 0.33, 0]


def test_experts_count_where_an_owner_looks() -> None:
    def limits(setting: Setting) -> list[float]:
        return [each.value for each in report.make([EXPERT], [paid(EXPERT)], setting).limits]

    assert EXPERT.cost_mills > report.CHEAP_MILLS and limits(Setting.LOOKS) == []
    cheap = next(e for e in FAMILIES if e.is_expert and 0 < e.cost_mills <= report.CHEAP_MILLS)
    made = report.make([cheap], [paid(cheap)], Setting.LOOKS)
    assert [each.value for each in made.limits] == [0, 0]
    assert report.make([cheap], [paid(cheap)], Setting.API).limits == []


def test_the_page_needs_nothing_else_and_escapes() -> None:
    made = report.make([ATTACK, HONEST], [held(ATTACK, Signal.RARE_DOMAIN), paid(HONEST)])
    strange = made._replace(honest=[made.honest[0]._replace(about="<b>bold</b>")])
    page = showing.as_page(strange, Setting.API, made_on="17 Nov 2026", seed=5, is_short=True)
    assert "&lt;b&gt;bold" in page and "<b>bold" not in page
    assert not re.search(r"<script|<link|src=|url\(|https?:", page)
    assert "color-scheme: light dark" in page
    for text in (ATTACK.name, HONEST.name, "rare_domain", showing.NOTE, "seed 5", "short run"):
        assert text in page


# -- the command


def test_the_command_plays_one_family_and_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    asked = ["--short", "--setting", "api", "--family", "replayed_form", "--output", str(page)]
    result = CliRunner().invoke(app, [*asked, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)["api"]
    assert printed["is_met"] and [row["family"] for row in printed["attacks"]] == ["replayed_form"]
    assert printed["honest"] == []
    assert "replayed_form" in page.read_text()


def test_an_unknown_family_is_refused() -> None:
    result = CliRunner().invoke(app, ["--family", "nobody"])
    assert result.exit_code == 1
    assert "There is no family nobody. The families are: account_flooded, " in result.stderr
