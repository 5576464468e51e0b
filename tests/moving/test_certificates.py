"""The certificate of a move says exactly what differs between a file and what is here."""

from typing import Any

import pytest

from honeyguide.events import webhooks
from honeyguide.events.webhooks import Flags
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.moving import certificate, checking, importing, signed_documents
from honeyguide.moving.certificate import CheckKind, MoveFacts, Tally
from honeyguide.moving.checking import Certificate
from honeyguide.moving.importing import Import
from honeyguide.signups import signups
from honeyguide.store.purging import Purge
from honeyguide.store.tx import timed
from honeyguide.subscribers import campaigns, link_parameters
from honeyguide.subscribers.campaigns import CampaignSettings
from honeyguide.work.moving import compare_some
from tests.support.changes import SITE
from tests.support.dispatcher import HOME
from tests.support.imported import Program
from tests.support.readings import reads

SECRETS = [b"a secret key of the tests, which is long enough"]


def begin(program: Program, import_id: str) -> str:
    return program.change(checking.begin, import_id)


def go_on(program: Program, check_id: str, most: int = 1_000) -> Certificate:
    async def run() -> Certificate:
        store = program.opened.store
        for _ in range(most):
            if not await store.read(timed(checking.running, program.now_ms), most=1):
                break
            await compare_some(SITE, SECRETS, store, [check_id], program.now_ms)
        return await store.read(reads(checking.get, program.tenant), check_id)

    return program.opened.run(run())


def certify(program: Program, kept: Import) -> dict[str, Any]:
    return go_on(program, begin(program, kept.id)).content


def differences(content: dict[str, Any]) -> list[tuple[str, list[int]]]:
    return [(each["kind"], each["lines"]) for each in content["differences"]]


# A list of a platform that the incumbent wrote to. Ann's second referral is not in the file.
WHOLE = (
    "email,RH_CODE,RH_TOTREF,referrer,referral_status,status\n"
    "ann@example.org,james23b,2,,,\n"
    "ben@example.org,BenB,0,james23b,verified,\n"
    "cy@example.org,cy_1,0,ben@example.org,pending,\n"
    "dee@example.org,dee1,0,ben@example.org,rejected,unsubscribed\n"
)


def test_a_whole_move_is_certified_as_whole(program: Program) -> None:
    flags = Flags(**dict.fromkeys(Flags.__struct_fields__, True))
    program.change(webhooks.create, "", "https://hooks.example.org", flags, policy=HOME)
    program.offer("A mug", 2)
    content = certify(program, program.bring(WHOLE))
    assert differences(content) == [] and content["nothing_lost"] is True
    assert content["lines"] == {"in_file": 4, "compared": 4, "subscribers": 4, "refused": 0}
    forms = ["/r/{slug}/{code}", "?ref={code}", "?rh_ref={code}"]
    assert sorted(content["links"]["by_form"]) == forms
    assert (content["links"]["tried"], content["links"]["right"]) == (12, 12)
    assert sorted(content["links"]["not_tried"]) == ["/{code}", "https://sparklp.co/{code}"]
    assert content["referrals"] == {"before": 3, "after": 3}
    assert content["counts"] == {"before": 2, "after": 2}
    assert content["rewards"] == {"before": 1, "after": 1}
    assert content["emails_and_events_during_import"] == 0
    assert content["source"] == "Email platform after SparkLoop"


BREAKS = {
    "person_missing": (
        "UPDATE subscriber SET email_key = 'gone@example.org' WHERE email = 'cy@example.org'",
        [4],
    ),
    "link_leads_nowhere": ("DELETE FROM subscriber_code WHERE code = 'cy_1'", [4]),
    "link_leads_elsewhere": (
        "UPDATE subscriber_code SET subscriber_id = (SELECT id FROM subscriber WHERE email = "
        "'ann@example.org') WHERE code = 'cy_1'",
        [4],
    ),
    "referrer_differs": (
        "UPDATE subscriber SET referrer_id = (SELECT id FROM subscriber WHERE email = "
        "'dee@example.org') WHERE email = 'cy@example.org'",
        [4],
    ),
    "referral_status_differs": (
        "UPDATE subscriber SET referral_status = 'pending' WHERE email = 'dee@example.org'",
        [5],
    ),
    "count_differs": ("UPDATE subscriber SET adjustments = 0 WHERE adjustments = 1", [2]),
    "reward_lost": ("DELETE FROM won_reward", [2]),
    "reward_doubled": (
        "INSERT INTO won_reward (id, account_id, campaign_id, reward_id, subscriber_id, multiple, "
        "status, earned_ms) SELECT 'w', account_id, campaign_id, reward_id, subscriber_id, 2, "
        "'unlocked', earned_ms FROM won_reward",
        [2],
    ),
    "count_higher": (
        "UPDATE subscriber SET adjustments = 1 WHERE email = 'ben@example.org'",
        [3],
    ),
    "status_differs": (
        "UPDATE subscriber SET status = 'active' WHERE email = 'dee@example.org'",
        [5],
    ),
    "message_sent": (
        "INSERT INTO event (id, account_id, type, subscriber_id, created_ms) SELECT 'e', "
        "account_id, 'new_subscriber', id, received_ms FROM subscriber WHERE email = "
        "'ben@example.org'",
        [3],
    ),
}
NOT_LOST = {"count_higher", "status_differs", "message_sent"}


@pytest.mark.parametrize("kind", BREAKS)
def test_what_is_broken_is_found_and_nothing_else(program: Program, kind: str) -> None:
    program.offer("A mug", 2)
    kept = program.bring(WHOLE)
    break_it, lines = BREAKS[kind]
    program.opened.do(break_it)
    content = certify(program, kept)
    found = dict(differences(content))
    assert found == {kind: lines}
    assert content["nothing_lost"] is (kind in NOT_LOST)


def test_what_the_import_reported_is_no_loss(program: Program) -> None:
    kept = program.bring(
        "email,RH_CODE,referrer,RH_TOTREF\n"
        "ann@example.org,one,,\n"
        "ben@example.org,one,ann@example.org,\n"
        "cy@example.org,b d!,nobody7,\n"
        "dee@example.org,,dee@example.org,many\n"
        "eve@example.org,two,fay@example.org,\n"
        "fay@example.org,,eve@example.org,\n"
        "not an address,,,\n"
        "ANN@example.org,,ben@example.org,9\n"
    )
    content = certify(program, kept)
    assert differences(content) == [] and content["nothing_lost"] is True
    assert content["lines"] == {"in_file": 8, "compared": 8, "subscribers": 7, "refused": 1}
    assert {each["kind"]: each["lines"] for each in content["reported_by_the_import"]} == {
        "duplicate_code": [3],
        "code_invalid": [4],
        "referrer_unknown": [4],
        "referrer_is_self": [5],
        "loop": [7, 9],
        "count_unreadable": [5],
    }
    assert content["links"]["by_form"]["?ref={code}"] == {"tried": 4, "right": 3, "explained": 1}


def test_what_comes_after_the_import_is_no_loss(program: Program) -> None:
    kept = program.bring(WHOLE)
    program.now_ms += MINUTE_MS
    program.offer("A later reward", 1)
    program.subscribe("fay@example.org", referrer_code="james23b")
    program.change(signups.erase, "cy@example.org")
    content = certify(program, kept)
    assert differences(content) == [("count_higher", [2])]
    assert (content["lines"]["in_file"], content["lines"]["compared"]) == (4, 3)
    assert content["nothing_lost"] is True


def test_a_parameter_that_nobody_reads_is_found(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of all tools in the table are read, so one has to be forgotten.
    monkeypatch.setitem(link_parameters._NAMES, link_parameters.REF, ("ref",))
    kept = program.bring("email,date,referrals,code\nann@example.org,2024-02-01,0,xyz\n")
    content = certify(program, kept)
    assert content["source"] == "ReferralHero"
    assert differences(content) == [("link_leads_nowhere", [2])]
    assert content["links"]["by_form"]["?mwr={code}"]["right"] == 0
    program.change(campaigns.configure, CampaignSettings(link_parameters=["mwr"]))
    assert differences(certify(program, kept)) == []


def test_it_is_signed_and_names_nobody(program: Program) -> None:
    kept = program.bring(WHOLE)
    made = go_on(program, begin(program, kept.id))
    file = made.document.encode()
    checked = signed_documents.check(file, expected_fingerprint=made.fingerprint)
    assert checked.kind == "certificate-of-move" and checked.content == made.content
    for personal in ("ann@", "james23b", "BenB", "cy_1", "example.org\n"):
        assert personal not in made.document
    with pytest.raises(Invalid):
        signed_documents.check(file.replace(b'"tried": 12', b'"tried": 13'))


def test_it_goes_on_where_it_was_and_counts_nothing_twice(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("honeyguide.moving.import_files.PART", 1)
    kept = program.bring(WHOLE)
    check_id = begin(program, kept.id)
    assert go_on(program, check_id, 2).tally.lines == 2
    assert begin(program, kept.id) == check_id, "it runs already"

    async def again() -> None:
        """Two processes compare the same part."""
        store = program.opened.store
        check = await store.read(reads(checking.get, program.tenant), check_id)
        compared = await store.read(timed(checking.compare_part, program.now_ms), SITE, check)
        await store.write(checking.record, check, compared)
        await store.write(checking.record, check, compared)

    program.opened.run(again())
    content = go_on(program, check_id).content
    assert content["lines"]["compared"] == 4 and content["links"]["tried"] == 12


def test_who_compares_late_neither_counts_a_part_twice_nor_goes_back(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("honeyguide.moving.import_files.PART", 1)
    kept = program.bring(WHOLE)
    check_id = begin(program, kept.id)

    async def late() -> None:
        """While one process compares a part, another compares it too and goes on."""
        store = program.opened.store
        check = await store.read(reads(checking.get, program.tenant), check_id)
        compared = await store.read(timed(checking.compare_part, program.now_ms), SITE, check)
        for _ in range(2):
            await compare_some(SITE, SECRETS, store, [check_id], program.now_ms)
        await store.write(checking.record, check, compared)
        check = await store.read(reads(checking.get, program.tenant), check_id)
        assert (check.next_part, check.tally.lines) == (2, 2)

    program.opened.run(late())
    assert go_on(program, check_id).content["lines"]["compared"] == 4


@pytest.mark.parametrize("n", [999, 1_000, 1_001])
def test_losses_are_all_counted_and_the_first_thousand_are_listed(n: int) -> None:
    tally = Tally()
    for line in range(2, n + 2):
        tally.note(CheckKind.PERSON_MISSING, line)
    facts = MoveFacts("Wax", "SparkLoop", n, "", "", not_tried={}, reported={})
    content = certificate.content(tally, facts)
    (lost,) = content["differences"]
    assert lost["count"] == n
    assert lost["lines"] == list(range(2, min(n, 1_000) + 2))
    assert any(line.startswith(f"  {n:,} subscribers") for line in certificate.in_words(content))


def test_what_cannot_be_compared_says_why(program: Program) -> None:
    kept = program.bring(WHOLE)
    with pytest.raises(Invalid, match="not done yet"):
        begin(program, program.start(WHOLE))
    program.opened.do("DELETE FROM import_part WHERE import_id = :id", id=kept.id)
    with pytest.raises(Invalid, match="no longer kept"):
        begin(program, kept.id)


def test_a_check_ends_with_its_import_and_a_certificate_outlives_it(program: Program) -> None:
    kept = program.bring(WHOLE)
    made = go_on(program, begin(program, kept.id))
    half = begin(program, kept.id)
    later_ms = program.now_ms + importing.KEPT_MS
    purge: Purge[Any] = importing.purge
    program.opened.run(program.opened.store.write(timed(purge, later_ms)))
    with pytest.raises(Missing):
        go_on(program, half)
    assert program.read(checking.get, made.id).document == made.document


def test_nobody_sees_the_certificate_of_another_account(program: Program) -> None:
    made = go_on(program, begin(program, program.bring(WHOLE).id))
    other = Program(program.opened, "eve@example.net")
    with pytest.raises(Missing):
        other.read(checking.get, made.id)
    newest = checking.newest_of_import
    assert other.read(newest, made.import_id) is None
    assert other.read(checking.of_account) == []
    with pytest.raises(Missing):
        begin(other, made.import_id)
