"""An import takes over who referred whom in any order of lines, by code, by email address or by the
other tool's ID, and nobody hears of it.
"""

import pytest

from honeyguide.events import webhooks
from honeyguide.events.webhooks import Flags
from honeyguide.kernel.clock import DAY_MS
from honeyguide.moving import import_files, import_parts, sources, uploaded_files
from honeyguide.moving.trial import Trial
from honeyguide.signups import lifecycle, signups
from honeyguide.subscribers import codes
from tests.support.dispatcher import HOME
from tests.support.imported import LOUD, Program
from tests.support.stores import OpenStore

# The first lines name referrers who come later. `ann` is named by code, email address and ID.
MIXED = (
    "email,referral_code,referrer,id,created_at\n"
    "ben@example.org,BenB,james23b,7,2024-01-02\n"
    "cy@example.org,,ANN@example.org,8,\n"
    "dee@example.org,,9,10,\n"
    "eve@example.org,,benb,11,\n"
    "ann@example.org,james23b,,9,2023-05-06T07:08:09.123Z\n"
)


def start_mixed(program: Program) -> str:
    import_id = program.start(MIXED)
    program.opened.do(
        "UPDATE import SET mapping = REPLACE(mapping, '{', '{\"own_id\":3,') WHERE id = :id",
        id=import_id,
    )
    return import_id


def bring_mixed(program: Program) -> None:
    kept = program.go_on(start_mixed(program))
    assert (kept.added, kept.failed, kept.status) == (5, 0, "done")
    assert program.findings(kept) == []


def test_referrers_may_come_later_and_be_named_by_code_email_or_id(program: Program) -> None:
    bring_mixed(program)
    ann, ben, cy, dee, eve = (f"{name}@example.org" for name in ("ann", "ben", "cy", "dee", "eve"))
    assert program.referrers() == {ben: ann, cy: ann, dee: ann, eve: ben}
    assert program.get(ann).referrals_verified == 3
    assert program.get(ann).created_ms % 1000 == 123, "registration dates are kept"
    assert program.get(eve).referrer_code == program.get(ben).ref_code, "ours is shown"
    assert program.count("import_part") == 1, "kept, to compare the result with it"
    new = program.subscribe("fay@example.org", referrer_code="james23b")
    assert new.referrer_id == program.get(ann).id, "the old link goes on working"


def test_who_is_erased_between_two_stages_leaves_no_id_of_the_other_tool(program: Program) -> None:
    import_id = start_mixed(program)
    while not program.count("import_own_id"):
        program.go_on(import_id, 1)
    program.change(signups.erase, "ann@example.org")
    own_ids = {own_id for (own_id,) in program.opened.ask("SELECT own_id FROM import_own_id")}
    assert own_ids == {"7", "8", "10", "11"}
    program.go_on(import_id)
    assert program.referrers() == {"eve@example.org": "ben@example.org"}


def test_the_address_of_an_unknown_referrer_is_not_kept_and_an_unknown_code_is(
    program: Program,
) -> None:
    """Nobody would find the address there when its owner asks to be erased."""
    program.bring("email,referrer\nben@example.org,zoe@elsewhere.example\ncy@example.org,zoe-lee\n")
    claimed = [program.get(f"{name}@example.org").claimed_code for name in ("ben", "cy")]
    assert claimed == [None, "zoe-lee"]


def test_nothing_leaves_during_an_import(program: Program) -> None:
    flags = Flags(**dict.fromkeys(Flags.__struct_fields__, True))
    program.change(webhooks.create, "", "https://hooks.example.org", flags, policy=HOME)
    program.offer("A mug", 1)
    before = {table: program.count(table) for table in LOUD}
    bring_mixed(program)
    assert {table: program.count(table) for table in LOUD} == before
    program.subscribe("gil@example.org", referrer_code="BenB")
    assert program.count("event") > before["event"], "afterwards everything is told as usual"


def test_importing_twice_changes_nothing(program: Program) -> None:
    bring_mixed(program)
    before = program.export()
    program.now_ms += DAY_MS
    kept = program.bring(MIXED)
    assert (kept.added, kept.skipped, kept.failed) == (0, 5, 0)
    assert program.export() == before
    assert program.count("subscriber_code") == 2


def test_the_status_of_a_referral_is_kept(program: Program) -> None:
    program.bring(
        "email,referrer,referral_status,status\n"
        "ann@example.org,,,\n"
        "a@example.org,ann@example.org,Confirmed,\n"
        "b@example.org,ann@example.org,pending,\n"
        "c@example.org,ann@example.org,rejected,\n"
        "d@example.org,ann@example.org,,\n"
        "e@example.org,ann@example.org,,unsubscribed\n"
        "f@example.org,ann@example.org,verified,unsubscribed\n"
    )
    found = {
        name: (row.referral_status, row.referral_reason)
        for name in "abcdef"
        if (row := program.get(f"{name}@example.org"))
    }
    assert found == {
        "a": ("verified", None),
        "b": ("pending", "imported"),
        "c": ("rejected", "imported"),
        "d": ("verified", None),
        "e": ("rejected", "unsubscribed"),
        "f": ("verified", None),
    }
    ann = program.get("ann@example.org")
    counts = (ann.referrals_verified, ann.referrals_pending, ann.referrals_rejected)
    assert counts == (3, 1, 2)
    program.now_ms += 8 * DAY_MS
    program.change(signups.verify_due, program.get("b@example.org").id)
    assert program.get("b@example.org").referral_status == "verified", "as any that is held"


ODD = (
    "email,code,referrer,referrals\n"
    "ann@example.org,one,,\n"
    "ben@example.org,one,ann@example.org,\n"
    "cy@example.org,b d!,nobody7,\n"
    "dee@example.org,,dee@example.org,many\n"
    "eve@example.org,two,fay@example.org,\n"
    "fay@example.org,,eve@example.org,\n"
    "gil@example.org,ONE,ben@example.org,\n"
    "hal@example.org,,One,\n"
)
ODD_FINDINGS = [
    (3, "duplicate_code"),
    (4, "code_invalid"),
    (4, "referrer_unknown"),
    (5, "count_unreadable"),
    (5, "referrer_is_self"),
    (7, "loop"),
    (9, "referrer_unknown"),
]


def test_what_cannot_be_taken_over_is_found_and_everybody_is_imported(program: Program) -> None:
    kept = program.bring(ODD)
    assert (kept.added, kept.failed) == (8, 0)
    assert program.findings(kept) == ODD_FINDINGS
    assert program.referrers() == {
        "ben@example.org": "ann@example.org",
        "eve@example.org": "fay@example.org",
        "gil@example.org": "ben@example.org",
    }
    assert program.get("cy@example.org").claimed_code == "nobody7"
    for code, name in {"one": "ann", "ONE": "gil"}.items():
        found = program.read(lifecycle.find_referrer, code)
        assert found.email == f"{name}@example.org", "codes that differ in case are both kept"


@pytest.mark.parametrize("is_here", [False, True])
def test_a_dry_run_finds_the_same_and_changes_nothing(program: Program, is_here: bool) -> None:
    if is_here:
        program.bring(ODD)
    header, lines = import_files.read(ODD.encode())
    file = uploaded_files.understand(header, lines, sources.recognize(header, lines))
    trial = Trial(uploaded_files.line_format(file.source, header, file.mapping, file.dates))
    before = program.export()
    program.change(trial.add, lines[:3])
    program.change(trial.add, lines[3:])
    while program.change(trial.check_referrers):
        pass
    assert sorted((each.line, each.kind.value) for each in trial.findings) == ODD_FINDINGS
    assert (trial.added, trial.skipped) == ((0, 8) if is_here else (8, 0))
    assert program.export() == before
    assert sum(trial.counted.values()) == len(ODD_FINDINGS)


def test_who_is_here_keeps_their_referrer_and_gets_missing_codes(program: Program) -> None:
    ann, ben = program.subscribe("ann@example.org"), program.subscribe("ben@example.org")
    program.subscribe("cy@example.org", referrer_code=ann.ref_code)
    kept = program.bring(
        "email,code,referrer,name,tags\n"
        f"cy@example.org,cyclone,{ben.ref_code},Another name,vip\n"
        "ben@example.org,,ann@example.org,,\n"
    )
    assert program.findings(kept) == [(2, "other_referrer")]
    assert program.referrers() == dict.fromkeys(
        ("cy@example.org", "ben@example.org"), "ann@example.org"
    )
    cy = program.get("cy@example.org")
    assert cy.name is None and program.exported()["cy@example.org"]["tags"] == "vip"
    assert [each.code for each in program.read(codes.of_subscriber, cy.id)] == ["cyclone"]


def test_a_code_of_another_account_is_nobody_here(opened: OpenStore) -> None:
    theirs, ours = Program(opened, "them@example.org"), Program(opened, "us@example.org")
    theirs.bring("email,code,ref_code\nann@example.org,james23b,abcdefgh\n")
    kept = ours.bring(
        "email,code,ref_code,referrer\n"
        "ben@example.org,james23b,abcdefgh,\n"
        f"cy@example.org,,,{theirs.get('ann@example.org').ref_code}\n"
    )
    assert ours.findings(kept) == [], "our own further code of ben's"
    assert ours.referrers() == {"cy@example.org": "ben@example.org"}
    assert theirs.get("ann@example.org").ref_code == "abcdefgh"
    assert ours.get("ben@example.org").ref_code != "abcdefgh"
    assert theirs.get("ann@example.org").referrals_verified == 0


def test_each_part_is_done_once_in_each_stage(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("honeyguide.moving.import_files.PART", 2)
    import_id = program.start(ODD)
    seen = []
    while (kept := program.go_on(import_id, 1)).status == "running":
        seen.append((kept.stage, kept.done))
        lines = program.opened.run(program.opened.store.read(import_parts.next_lines, import_id))
        assert lines == sorted(lines)
    stages = [stage for stage, _ in dict.fromkeys(seen)]
    assert list(dict.fromkeys(stages)) == ["people", "referrers", "counts"]
    for stage in ("people", "referrers"):
        assert [done for each, done in seen if each == stage][-4:] == [2, 4, 6, 8]
    assert (kept.done, kept.total, kept.added) == (8, 8, 8)
    assert program.findings(kept) == ODD_FINDINGS
