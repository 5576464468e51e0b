"""A dry run foretells what an import finds about counts and rewards."""

from honeyguide.moving import import_files, sources, uploaded_files
from honeyguide.moving.findings import FindingKind, in_words
from honeyguide.moving.trial import Trial
from tests.support.imported import Program

# Ann has two verified referrals in the file, and Ben one that is pending.
FILE = (
    "email,code,referrer,referral_status,referrals,lastreward\n"
    "ann@example.org,one,,,1,A mug\n"
    "ben@example.org,two,one,verified,0,A car\n"
    "cy@example.org,,ONE,verified,,\n"
    "dee@example.org,,two,pending,,3\n"
    "ann@example.org,,,,0,A boat\n"
    "eve@example.org,,one,rejected,7,\n"
)


def try_out(program: Program, text: str) -> list[tuple[int, str]]:
    header, lines = import_files.read(text.encode())
    file = uploaded_files.understand(header, lines, sources.recognize(header, lines))
    trial = Trial(uploaded_files.line_format(file.source, header, file.mapping, file.dates))
    for line in lines:
        program.change(trial.add, [line])
    while program.change(trial.check_referrers):
        pass
    assert sum(trial.counted.values()) == len(trial.findings)
    assert all("{" not in each.sentence for each in trial.findings)
    return sorted((each.line, each.kind.value) for each in trial.findings)


def test_counts_that_are_lower_and_rewards_that_we_lack(program: Program) -> None:
    program.offer("A mug", 3)
    foretold = try_out(program, FILE)
    assert foretold == [(2, "count_lower_than_people"), (3, "reward_unknown")]
    assert sorted(program.findings(program.bring(FILE))) == foretold
    # The second time, everybody is here and is counted once.
    assert try_out(program, FILE) == foretold


def test_referrals_that_are_here_already_count(program: Program) -> None:
    ann = program.subscribe("ann@example.org")
    program.subscribe("zoe@example.org", referrer_code=ann.ref_code)
    text = (
        "email,referrer,referrals\n"
        "ann@example.org,,1\n"
        f"zoe@example.org,{ann.ref_code},\n"
        f"yan@example.org,{ann.ref_code},\n"
    )
    foretold = try_out(program, text)
    assert foretold == [(2, "count_lower_than_people")]
    assert sorted(program.findings(program.bring(text))) == foretold


def test_without_rewards_nothing_is_said_about_them(program: Program) -> None:
    text = "email,lastreward\nann@example.org,A mug\n"
    assert try_out(program, text) == program.findings(program.bring(text)) == []


def test_one_and_many_are_said_as_people_say_it() -> None:

    texts = in_words({FindingKind.REFERRER_UNKNOWN: 1, FindingKind.COUNT_LOWER: 2_000})
    assert texts == ["1 unknown referrer", "2,000 counts lower than the referrals here"]
