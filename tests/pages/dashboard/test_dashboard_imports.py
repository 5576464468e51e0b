"""Bringing in a file on the dashboard, on both engines: tried first, watched, and what could not be
taken comes back.
"""

import csv
import io
import itertools

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import importing, source_words
from honeyguide.store import job_failures
from honeyguide.store.tx import Tx
from tests.support.planted import permit, refuse
from tests.support.readings import change_of
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump, mentions
from tests.support.web import Operator, chosen_columns, operator, run_import, text_of, upload

_numbers = itertools.count(1)

MESSY = (
    "\ufeffE-Mail;Full Name;Signed up at;Status\r\n"
    "ann@example.org;Ann Lee;2026-01-05;active\r\n"
    "\r\n"
    'BEN@Example.org;"Okafor; Ben";2026-02-01 10:00:00;unsubscribed\r\n'
    "ann@example.org;Ann again;;\r\n"
    "not an address;Nobody;;\r\n"
    ";No address;;\r\n"
    "future@example.org;Too soon;2999-01-01;\r\n"
    "=cmd@example.org;=1+1;;\r\n"
)


def test_a_column_of_addresses_without_any_is_told(alice: Operator) -> None:
    import_id = upload(alice, "name;E-mail;contact\nAnn;ann;ann@example.org\nBob;bob@home;\n")
    page = f"/subscribers/import/{import_id}"
    problem = "The column “E-mail” has no valid email address. Look into the file."
    assert problem in text_of(alice.web.get(page).text)
    alice.web.post(page, do="try", email="2", name="0")
    assert problem not in text_of(alice.web.get(page).text)


def test_a_messy_file_is_tried_brought_in_and_what_failed_comes_back(alice: Operator) -> None:
    import_id = upload(alice, MESSY)
    page = alice.web.get(f"/subscribers/import/{import_id}").text
    chosen = chosen_columns(page)
    assert chosen == {"email": "0", "name": "1", "created_at": "2", "status": "3"}
    alice.web.post(f"/subscribers/import/{import_id}", do="try", **chosen)
    tried = text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
    assert (
        "3 would be added, 1 are already subscribed or listed twice, 3 can’t be imported." in tried
    ), tried
    assert alice.total() == 0, "a dry run changes nothing"
    done = run_import(alice, import_id, **chosen)
    assert "3 subscribers added." in done and alice.total() == 3
    ben = alice.subscriber("ben@example.org")
    assert (ben["name"], ben["created_at"]) == ("Okafor; Ben", "2026-02-01T10:00:00.000Z")
    assert "Okafor; Ben" in text_of(alice.web.get("/subscribers?show=unsubscribed").text)
    errors = list(
        csv.DictReader(
            io.StringIO(alice.web.get(f"/subscribers/import/{import_id}/errors.csv").text)
        )
    )
    assert [(row["line"], row["why"]) for row in errors] == [
        ("6", "Email is invalid"),
        ("7", "This line has no email address."),
        ("8", "Signup date is in the future."),
    ]
    assert "0 subscribers added." in run_import(alice, upload(alice, MESSY), **chosen)
    assert alice.total() == 3, "again, and nothing is doubled"
    exported = list(csv.DictReader(io.StringIO(alice.web.get("/subscribers/export.csv").text)))
    assert [row["name"] for row in exported if "cmd" in row["email"]] == ["'=1+1"], (
        "a spreadsheet runs no formula of a stranger's"
    )


def test_the_result_of_a_trial_is_gone_once_the_file_is_read_otherwise(
    service: Service, alice: Operator
) -> None:
    import_id = upload(alice, "email,name\nana@example.org,Ana\n")
    page = f"/subscribers/import/{import_id}"
    tenant = Tenant(alice.account_id, alice.campaign_id)

    def shows_trial() -> bool:
        return "1 would be added" in text_of(alice.web.get(page).text)

    alice.web.post(page, do="try", email="0", name="1")
    assert shows_trial()
    service.write(lambda tx: importing.choose(change_of(tx, tenant), import_id, {"email": 1}))
    assert not shows_trial(), "other columns"
    alice.web.post(page, do="try", email="0")
    assert shows_trial()
    alice.web.post(page, do="source", source="sparkloop")
    assert not shows_trial(), "another tool"


# What a list exported from each platform says of somebody who left, beside somebody who did not.
LEFT = {
    "ghost": (
        "id,email,name,subscribed_to_emails,deleted_at\n"
        "1,stays@example.org,,true,\n2,left@example.org,,false,\n"
    ),
    "ghost, deleted": (
        "email,subscribed_to_emails,deleted_at\n"
        "stays@example.org,true,\nleft@example.org,true,2026-01-02\n"
    ),
    "mailchimp": (
        "Email Address,UNSUB_TIME\nstays@example.org,\nleft@example.org,2026-01-02 10:00:00\n"
    ),
    "mailchimp, cleaned": (
        "Email Address,CLEAN_TIME\nstays@example.org,\nleft@example.org,2026-01-02 10:00:00\n"
    ),
    "beehiiv": "email,status\nstays@example.org,active\nleft@example.org,inactive\n",
    "kit": "email,state\nstays@example.org,active\nleft@example.org,Complained\n",
    "listmonk": "email,status\nstays@example.org,enabled\nleft@example.org,blocklisted\n",
    "buttondown": (
        "email,unsubscription_date\nstays@example.org,\nleft@example.org,2026-01-02T10:00:00Z\n"
    ),
    "substack": (
        "email,active_subscription,expiry,email_disabled,created_at\n"
        "stays@example.org,false,,false,2024-01-02T10:00:00.000Z\n"
        "left@example.org,true,2027-01-01,true,2024-01-02T10:00:00.000Z\n"
    ),
    "substack, paying": (
        "email,expiry,email_disabled,stripe_connected_customer_id,type\n"
        "stays@example.org,2027-01-01,FALSE,cus_1,monthly\n"
        "left@example.org,2027-01-01,TRUE,cus_2,annual\n"
    ),
    "kickofflabs": "email,opted_out\nstays@example.org,false\nleft@example.org,true\n",
}


def statuses(alice: Operator) -> dict[str, str]:
    exported = csv.DictReader(io.StringIO(alice.web.get("/subscribers/export.csv").text))
    return {row["email"]: row["status"] for row in exported}


@pytest.mark.parametrize("text", LEFT.values(), ids=list(LEFT))
def test_who_left_the_old_platform_is_imported_as_unsubscribed(alice: Operator, text: str) -> None:
    assert "2 subscribers added." in run_import(alice, upload(alice, text))
    assert statuses(alice) == {"stays@example.org": "active", "left@example.org": "unsubscribed"}


def test_who_left_is_imported_without_counting_for_their_referrer(alice: Operator) -> None:
    alice.post(f"{alice.v1}/rewards", {"name": "A mug", "referrals": 1})
    ana = alice.subscribe("ana@example.org")
    run_import(
        alice,
        upload(alice, f"email,referrer,status\nben@example.org,{ana['ref_code']},unsubscribed\n"),
    )
    assert alice.subscriber("ben@example.org")["referral_status"] == "rejected"
    assert alice.subscriber("ana@example.org")["referrals_count"] == 0
    assert alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/rewards").json()["rewards"] == []


def test_an_import_does_not_bring_back_who_unsubscribed(alice: Operator) -> None:
    alice.subscribe("ana@example.org", status="unsubscribed")
    run_import(alice, upload(alice, "email,status\nana@example.org,active\n"))
    assert statuses(alice) == {"ana@example.org": "unsubscribed"}


def test_a_status_that_nobody_knows_is_not_taken_for_active(alice: Operator) -> None:
    text = (
        "email,status,subscribed\n"
        "ana@example.org,parked,\nben@example.org,confirmed,yes\ncy@example.org,,perhaps\n"
    )
    found = run_import(alice, upload(alice, text))
    assert "The status “parked” is unknown" in found
    assert "“perhaps” is neither yes nor no" in found
    assert statuses(alice) == {"ben@example.org": "confirmed"}


def test_each_column_says_whether_it_is_used_before_and_after(alice: Operator) -> None:
    import_id = upload(
        alice, "Email,Full Name,Shoe size,\nann@example.org,Ann Lee,38,x,beyond the heading\n"
    )
    why = "ignored: We don’t know this column. If you need it, choose its field."
    before = text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
    assert (
        f"Email used as Email ann@example.org Full Name used as Name Ann Lee Shoe size {why} 38 "
        f"column 4 {why} x column 5 {why} beyond the heading"
    ) in before
    uses = f"Shoe size {why} column 4 {why} column 5 {why}"
    assert f"Email used as Email Full Name used as Name {uses}" in run_import(alice, import_id)
    without_name = upload(alice, "Email,Full Name\nben@example.org,Ben\n")
    assert "Full Name ignored" in run_import(alice, without_name, name="")


def test_a_column_that_is_not_chosen_says_so_before_and_after(alice: Operator) -> None:
    import_id = upload(
        alice,
        "email,RH_CODE,RH_TOTREF,created_at\nann@example.org,anna7f3c,3,2024-01-02\n",
    )
    page = f"/subscribers/import/{import_id}"
    chosen = chosen_columns(alice.web.get(page).text)
    assert chosen == {"email": "0", "code": "1", "referrals_count": "2", "created_at": "3"}
    chosen |= {"code": "", "created_at": ""}
    alice.web.post(page, do="try", **chosen)
    tried = text_of(alice.web.get(page).text)
    for text in (tried, run_import(alice, import_id, **chosen)):
        for name in ("RH_CODE", "created_at"):
            assert f"{name} ignored: It is empty, or has nothing that we can use." in text, text


def test_files_are_forgotten_after_a_month_with_the_people_in_them(
    service: Service, alice: Operator
) -> None:
    done, begun = upload(alice, MESSY), upload(alice, MESSY)
    run_import(alice, done)
    tables = ("import", "import_part", "import_error")
    left = [
        statement(f"SELECT COUNT(*) FROM {table} WHERE account_id = :account_id")
        for table in tables
    ]

    def counts() -> list[int]:
        async def find(tx: Tx) -> list[int]:
            return [(await tx.all(count, account_id=alice.account_id))[0][0] for count in left]

        return service.read(find)

    def purge(at_ms: int) -> bool:
        return service.write(lambda tx: importing.purge(tx.at(at_ms)))

    began_ms = service.now_ms()
    assert not purge(began_ms + importing.KEPT_MS - DAY_MS)
    assert counts() == [2, 2, 3], "both files are kept, and the three lines that failed"
    while purge(began_ms + importing.KEPT_MS + DAY_MS):
        pass
    assert counts() == [0, 0, 0]
    assert [
        alice.web.http.get(f"/subscribers/import/{each}").status_code for each in (done, begun)
    ] == [404, 404]
    assert alice.total() == 3, "whoever came in stays"


def test_an_import_that_still_runs_is_not_forgotten_however_old(
    service: Service, alice: Operator
) -> None:
    running = upload(alice, MESSY)

    async def set_status(tx: Tx, status: str) -> None:
        change = "UPDATE import SET status = :status WHERE id = :id"
        await tx.run(statement(change, "changes import"), id=running, status=status)

    async def purge_late(tx: Tx, status: str) -> None:
        """In one transaction, so that the job that imports does not see it."""
        await set_status(tx, status)
        late_ms = service.now_ms() + importing.KEPT_MS + DAY_MS
        while await importing.purge(tx.at(late_ms)):
            pass
        await set_status(tx, "new")

    page = f"/subscribers/import/{running}"
    service.write(lambda tx: purge_late(tx, "running"))
    assert alice.web.http.get(page).status_code == 200
    service.write(lambda tx: purge_late(tx, "new"))
    assert alice.web.http.get(page).status_code == 404


def reasons(alice: Operator, import_id: str) -> dict[str, str]:
    """By the address in the line."""
    text = alice.web.get(f"/subscribers/import/{import_id}/errors.csv").text
    return {row["email"]: row["why"] for row in csv.DictReader(io.StringIO(text))}


def test_a_line_that_the_database_refuses_holds_back_no_other(service: Service) -> None:
    alice, number = operator(service), next(_numbers)
    people = [f"line{n}-{number}@example.org" for n in range(250)]
    bad = {people[0], people[120], people[249]}
    trigger = f"planted_imports_{number}"
    condition = " OR ".join(f"NEW.email = '{email}'" for email in sorted(bad))
    refuse(service, "INSERT", "subscriber", condition, trigger)
    try:
        import_id = upload(
            alice, "\n".join(["email,tags", *(f"{who},vip" for who in people), "no"])
        )
        text = run_import(alice, import_id)
    finally:
        permit(service, "subscriber", trigger)
    assert "247 subscribers added." in text, text
    assert alice.total() == 247
    found = reasons(alice, import_id)
    assert found == {**dict.fromkeys(bad, importing.UNEXPECTED), "no": "Email is invalid"}
    counts = statement("SELECT total, done, added, skipped, failed FROM import WHERE id = :id")
    assert service.read(lambda tx: tx.all(counts, id=import_id)) == [(251, 251, 247, 0, 4)]
    failed = service.read(job_failures.list_all)
    assert not [each for each in failed if each.job == importing.IMPORTING]


def test_a_line_that_breaks_our_reading_is_refused_when_tried_and_imported(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, read = operator(service), source_words.status

    def fail_on_one(cells: list[str], mapping: dict[str, int]) -> str:
        if "b@odd.example" in cells:
            raise OverflowError
        return read(cells, mapping)

    monkeypatch.setattr(source_words, "status", fail_on_one)
    import_id = upload(alice, "email,status\na@odd.example,active\nb@odd.example,odd\n")
    page = f"/subscribers/import/{import_id}"
    alice.web.post(page, do="try", **chosen_columns(alice.web.get(page).text))
    assert "1 would be added" in text_of(alice.web.get(page).text)
    assert "1 subscriber added." in run_import(alice, import_id)
    assert reasons(alice, import_id) == {"b@odd.example": importing.UNEXPECTED}


GONE = (
    "Email,Name,Invited by\n"
    "zed@gone.example,Zed Zebulon,\n"
    "JoZed@gone.example,Jo,\n"
    "Zed <ZED@gone.example>,Zed Zebulon again,\n"
    "not an address,Nobody,zed@gone.example\n"
    "jan@gone.example,Jan,ZED@gone.example\n"
)


@pytest.mark.parametrize("local", ["zed", "жук"])
def test_erasing_somebody_reaches_the_files_that_are_kept(
    service: Service, alice: Operator, local: str
) -> None:
    email = f"{local}{next(_numbers)}@gone.example"
    file = GONE.replace("zed@gone.example", email).replace("ZED@gone.example", email.upper())
    done, tried, begun = (upload(alice, file) for _ in range(3))
    run_import(alice, done)
    alice.web.post(f"/subscribers/import/{tried}", do="try", email="0", name="1")
    assert {"import_part.lines", "import_error.content"} <= set(mentions(dump(service), email))
    assert alice.delete(f"{alice.v1}/subscribers/{email}").status_code == 200
    tables = dump(service)
    assert mentions(tables, email) == []
    assert [
        row
        for row in tables["import_part"]
        if row["account_id"] == alice.account_id and "Zebulon" in row["lines"]
    ] == []
    errors = list(
        csv.DictReader(io.StringIO(alice.web.get(f"/subscribers/import/{done}/errors.csv").text))
    )
    assert [(row["Name"], row["Invited by"]) for row in errors] == [("Nobody", "")]
    text = run_import(alice, begun)
    assert "0 subscribers added." in text and "Done 3 of 3" in text, text
    assert alice.total() == 2, "Jo and Jan stay"


def test_erasing_somebody_reaches_files_whose_columns_nobody_chose_yet(
    service: Service, alice: Operator
) -> None:
    email = f"zed{next(_numbers)}@gone.example"
    alice.subscribe(email)
    file = f"A,B,C\n7,Zed Quixote,{email}\n8,Zed <{email}>,1 Quixote Lane\n9,Jo,jo@gone.example\n"
    begun = upload(alice, file)
    assert alice.delete(f"{alice.v1}/subscribers/{email}").status_code == 200
    tables = dump(service)
    assert mentions(tables, email) == [] and mentions(tables, "Quixote") == []
    text = run_import(alice, begun, email="2", name="1")
    assert "1 subscriber added." in text and "Done 1 of 1" in text, text


def test_a_last_name_in_its_own_column_is_added_to_the_name(alice: Operator) -> None:
    lines = (
        "Email,First name,Surname\n"
        "a@example.org,Ann,Lee\nb@example.org,Bo Ek,Ek\nc@example.org,,Orr\n"
    )
    run_import(alice, upload(alice, lines))
    names = {
        each["email"]: each["name"]
        for each in alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    }
    assert names == {"a@example.org": "Ann Lee", "b@example.org": "Bo Ek", "c@example.org": "Orr"}
