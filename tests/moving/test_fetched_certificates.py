"""The certificate of a program that was fetched from an API says exactly what is odd about it, and
what was broken since, down to the line.
"""

from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import signed_documents
from honeyguide.moving.certificate import CheckKind
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import SubscriberChanges
from tests.moving.test_certificates import begin, certify, differences, go_on
from tests.support.imported import Program
from tests.support.incumbent import IncumbentServer
from tests.support.moves import Move

WHO = "(SELECT id FROM subscriber WHERE email = :email)"
# What is done to one person: who that is, and in which way the certificate must say it.
DAMAGES: dict[CheckKind, tuple[int, list[str]]] = {
    CheckKind.PERSON_MISSING: (101, ["UPDATE subscriber SET email_key = 'x' WHERE email = :email"]),
    CheckKind.LINK_LEADS_NOWHERE: (
        102,
        [f"DELETE FROM subscriber_code WHERE subscriber_id = {WHO}"],
    ),
    CheckKind.LINK_LEADS_ELSEWHERE: (
        103,
        [
            "UPDATE subscriber_code SET subscriber_id = (SELECT id FROM subscriber WHERE email = "
            f"'reader104@old.example') WHERE subscriber_id = {WHO}"
        ],
    ),
    CheckKind.REFERRER_DIFFERS: (
        105,
        [
            "UPDATE subscriber SET referrer_id = (SELECT id FROM subscriber WHERE email = "
            "'reader103@old.example') WHERE email = :email"
        ],
    ),
    CheckKind.REFERRAL_STATUS_DIFFERS: (
        117,
        ["UPDATE subscriber SET referral_status = 'pending' WHERE email = :email"],
    ),
    CheckKind.COUNT_DIFFERS: (123, ["UPDATE subscriber SET adjustments = 0 WHERE email = :email"]),
    CheckKind.REWARD_LOST: (140, [f"DELETE FROM won_reward WHERE subscriber_id = {WHO}"]),
    CheckKind.REWARD_DOUBLED: (
        150,
        [
            "INSERT INTO won_reward (id, account_id, campaign_id, reward_id, subscriber_id, "
            "multiple, status, earned_ms) SELECT 'w', account_id, campaign_id, reward_id, "
            "subscriber_id, 2, 'unlocked', earned_ms FROM won_reward WHERE multiple = 1 AND "
            f"subscriber_id = {WHO}"
        ],
    ),
    CheckKind.COUNT_HIGHER: (
        223,
        ["UPDATE subscriber SET adjustments = adjustments + 1 WHERE email = :email"],
    ),
    CheckKind.STATUS_DIFFERS: (
        107,
        ["UPDATE subscriber SET status = 'active' WHERE email = :email"],
    ),
    CheckKind.MESSAGE_SENT: (
        109,
        [
            "INSERT INTO event (id, account_id, type, subscriber_id, created_ms) SELECT 'e', "
            "account_id, 'new_subscriber', id, received_ms FROM subscriber WHERE email = :email"
        ],
    ),
}


def moved_in(program: Program, people: int) -> Any:
    program.offer("A mug", 6)
    move = Move(program.opened, program.tenant, IncumbentServer(people))

    async def work() -> Any:
        async with move.server.serving():
            import_id = await move.begin()
            await move.fetch(import_id)
        return import_id

    import_id = program.opened.run(work())
    # A service at another address than SparkLoop's counts as a Honeyguide, which has other links.
    program.opened.do("UPDATE import SET source = 'sparkloop'")
    kept = program.opened.run(move.run_import(import_id))
    program.now_ms = move.now_ms
    return kept


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("people", [400, pytest.param(5_000, marks=pytest.mark.long)])
def test_a_certificate_says_what_was_planted_and_what_was_broken(
    program: Program, people: int
) -> None:
    kept = moved_in(program, people)
    hundreds = people // 100

    def line(number: int) -> int:
        """The newest come first."""
        return people - number + 1

    content = certify(program, kept)
    assert content["nothing_lost"] is True and differences(content) == []
    assert content["lines"] == {
        "in_file": people,
        "compared": people,
        "subscribers": people,
        "refused": 0,
    }
    [reported] = content["reported_by_the_import"]
    odd = sorted(line(number) for number in range(1, people + 1) if number % 100 == 28)
    assert (reported["kind"], reported["count"]) == ("duplicate_code", hundreds)
    assert reported["lines"] == odd
    for form, count in content["links"]["by_form"].items():
        right = {"tried": people, "right": people - hundreds, "explained": hundreds}
        assert count == right, form
    counted = content["counts"]
    assert counted["after"] == counted["before"] == 7 * hundreds
    assert content["rewards"]["before"] == content["rewards"]["after"] > hundreds

    for number, statements in DAMAGES.values():
        for sql in statements:
            assert program.opened.do(sql, email=f"reader{number}@old.example") == 1, sql
    # Whoever changes their address is no longer in the kept file.
    changed = SubscriberChanges(email="another@new.example")
    program.change(signups.update, "reader111@old.example", changed)
    made = go_on(program, begin(program, kept.id))
    found = dict(differences(made.content))
    assert found == {kind.value: [line(DAMAGES[kind][0])] for kind in CheckKind}
    assert made.content["lines"]["compared"] == people - 1
    file = made.document.encode()
    signed_documents.check(file)
    for place in range(0, len(file), 97):
        with pytest.raises(Invalid):
            signed_documents.check(file[:place] + bytes([file[place] ^ 1]) + file[place + 1 :])
