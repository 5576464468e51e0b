"""The last step of an import on the dashboard: its certificate."""

import re
import time

from honeyguide.moving import signed_documents
from tests.support.move_certificates import certificate_of
from tests.support.web import Operator, run_import, text_of, upload

FILE = "email,RH_CODE,referrer\nann@{0},{1}7b,\nben@{0},{1}B,ann@{0}\nnobody,,\n"


def run_check(alice: Operator, import_id: str) -> str:
    """The address of the certificate."""
    answer = alice.web.post(f"/subscribers/import/{import_id}", do="check")
    page = str(answer.headers["location"])
    for _ in range(200):
        text = text_of(alice.web.get(page).text)
        if "Download the signed file" in text:
            return page
        assert "of 3 lines compared" in text, text
        time.sleep(0.05)
    raise AssertionError(f"the check did not end: {text}")


def test_an_import_is_checked_and_its_certificate_downloaded(alice: Operator) -> None:
    host = f"{alice.account_id}.example"
    import_id = upload(alice, FILE.format(host, alice.account_id[-6:]))
    assert "Check the links" not in alice.web.get(f"/subscribers/import/{import_id}").text
    run_import(alice, import_id)
    page = run_check(alice, import_id)
    shown = alice.web.get(page).text
    text = text_of(shown)
    assert "Moved, with nothing lost" in text, text
    assert "6 of 6 old links lead to the right person" in text
    assert "Email platform after SparkLoop" in text and host not in shown
    found = re.search(rf'href="({page}/certificate.json)"', shown)
    assert found
    file = alice.web.get(found[1])
    assert "attachment" in file.headers["content-disposition"]
    document = signed_documents.check(file.content)
    assert document.fingerprint in shown and document.content["nothing_lost"] is True
    after = text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
    assert "View the certificate" in after and "Check again" in after
    assert "Nothing lost" in text_of(alice.web.get("/subscribers/import").text)


def test_a_loss_is_shown_with_its_lines_and_advice(alice: Operator) -> None:
    text = text_of(alice.web.get(f"/subscribers/import/certificates/{certificate_of(alice)}").text)
    assert "Something was lost" in text
    assert "1 subscriber who is missing Import the file again" in text, text


def test_a_check_that_cannot_begin_says_why(alice: Operator) -> None:
    import_id = upload(alice, FILE.format("odd.example", "odd"))
    answer = alice.web.http.post(
        f"/subscribers/import/{import_id}",
        data={"do": "check", "csrf": alice.web.token("/subscribers/import")},
    )
    assert answer.status_code == 400 and "This import is not done yet" in text_of(answer.text)
