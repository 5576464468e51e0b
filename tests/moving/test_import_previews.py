"""What the page of an import says before it starts and afterwards: columns that are left out, and
what cannot be taken over.
"""

from honeyguide.moving import importing
from tests.support.planted import permit, refuse
from tests.support.service import Service
from tests.support.web import Operator, chosen_columns, run_import, text_of, upload


def test_a_dry_run_lists_collisions_before_the_start(alice: Operator) -> None:
    import_id = upload(
        alice,
        "email,code,referrer\nann@example.org,one,\nben@example.org,one,nobody\n"
        "cy@example.org,,cy@example.org\n",
    )
    page = f"/subscribers/import/{import_id}"
    alice.web.post(page, do="try", **chosen_columns(alice.web.get(page).text))
    tried = text_of(alice.web.get(page).text)
    found = (
        "1 code that somebody else has, 1 unknown referrer, 1 subscriber who is their own referrer"
    )
    assert f"Not taken over as in the file: {found} Line 3 The code belongs to" in tried, tried
    assert alice.total() == 0
    done = run_import(alice, import_id)
    assert f"Not taken over as in the file {found} Line Finding 3 The code belongs" in done, done
    assert alice.total() == 3


def test_a_referrer_that_the_database_refuses_holds_back_no_other(
    service: Service, alice: Operator
) -> None:
    people = [f"later{n}@{alice.account_id}.example" for n in range(6)]
    rows = [f"{email},{people[0] if email != people[0] else ''},1" for email in people]
    trigger = f"planted_{alice.account_id.replace('-', '')[-12:]}"
    condition = f"NEW.email = '{people[3]}' AND NEW.referrer_id IS NOT NULL"
    refuse(service, "UPDATE", "subscriber", condition, trigger)
    try:
        text = run_import(alice, upload(alice, "\n".join(["email,referrer,referrals", *rows])))
    finally:
        permit(service, "subscriber", trigger)
    assert "6 subscribers added." in text and "Done 6 of 6" in text, text
    assert importing.UNEXPECTED in text and "Failed 1" in text, text
    assert alice.subscriber(people[0])["referrals_count"] == 4
    assert alice.total() == 6
