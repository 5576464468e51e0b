"""What the page of an import says before it starts and afterwards: columns that are left out, and
what cannot be taken over.
"""

from __future__ import annotations

import pytest

from honeyguide.moving import importing
from tests.support.planted import permit, refuse
from tests.support.service import Service
from tests.support.web import chosen_columns, operator, run_import, text_of, upload

# The header of a file, and what its import leaves out if nobody chooses those columns.
LOSSES = {
    "email,name,created_at": "",
    "email,Ref Code": "referral codes (Ref Code)",
    "email,RH_CODE,RH_REFLINK,RH_TOTREF": (
        "referral codes (RH_CODE, RH_REFLINK); referral counts (RH_TOTREF)"
    ),
    "email,date,referrals,referrer email": (
        "referrers (referrer email); referral counts (referrals)"
    ),
    "email,referrer": "referrers (referrer)",
}
NOT_CHOSEN = dict.fromkeys(("ref_code", "code", "link", "referrer", "referrals_count"), "")


@pytest.mark.parametrize("header", LOSSES)
def test_an_import_that_loses_referrals_says_so(service: Service, header: str) -> None:
    alice = operator(service)
    given = {"email": "new@example.org", "referrer": "old@example.org", "date": "2024-01-02"}
    cells = [given.get(name, "" if "created" in name else "1") for name in header.split(",")]
    import_id = upload(alice, f"{header}\n{','.join(cells)}\n")
    page = alice.web.get(f"/subscribers/import/{import_id}").text
    assert "leaves out" not in page, "all of it is chosen first"
    columns = chosen_columns(page) | NOT_CHOSEN
    alice.web.post(f"/subscribers/import/{import_id}", do="try", **columns)
    tried = text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
    done = run_import(alice, import_id, **NOT_CHOSEN)
    for text in (tried, done):
        if LOSSES[header]:
            assert f"This import leaves out {LOSSES[header]}." in text, text
        else:
            assert "leaves out" not in text, text


def test_a_dry_run_lists_collisions_before_the_start(service: Service) -> None:
    alice = operator(service)
    import_id = upload(
        alice,
        "email,code,referrer\nann@example.org,one,\nben@example.org,one,nobody\n"
        "cy@example.org,,cy@example.org\n",
    )
    page = f"/subscribers/import/{import_id}"
    alice.web.post(page, do="try", **chosen_columns(alice.web.get(page).text))
    tried = text_of(alice.web.get(page).text)
    found = (
        "1 codes that somebody else has, 1 unknown referrers, "
        "1 subscribers who are their own referrer"
    )
    assert f"Not taken over as in the file: {found} Line 3 The code belongs to" in tried, tried
    assert alice.total() == 0
    done = run_import(alice, import_id)
    assert f"Not taken over as in the file {found} Line Finding 3 The code belongs" in done, done
    assert alice.total() == 3


def test_a_date_column_that_is_not_chosen_is_lost(service: Service) -> None:
    alice = operator(service)
    import_id = upload(alice, "email,created_at\nnew@example.org,2024-01-02\n")
    assert "leaves out" not in text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
    assert "leaves out signup dates (created_at)." in run_import(alice, import_id, created_at="")


def test_a_referrer_that_the_database_refuses_holds_back_no_other(service: Service) -> None:
    alice = operator(service)
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
