"""The set-up checklist keeps its order, can be dismissed, and is not for partners."""

import re
from pathlib import Path

import pytest

from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator, run_import, text_of, upload

ADMIN = statement("UPDATE account SET is_admin = 1 WHERE id = :account_id")
STEPS = re.compile(r'<ol class="steps">.*?</ol>', re.DOTALL)


def steps(web: WebClient) -> list[str]:
    """The names of the steps, with a tick before those that are done."""
    found = STEPS.search(web.get("/").text)
    if found is None:
        return []
    return [
        ("✓ " if "✓" in step else "") + re.findall(r"<b>(.*?)</b>", step)[0]
        for step in found[0].split("<li")[1:]
    ]


def test_finished_steps_stay_where_they_are(alice: Operator) -> None:
    alice.post(f"{alice.v1}/rewards", {"name": "Stickers", "referrals": 3})
    shown = steps(alice.web)
    assert shown[:3] == [
        "Import your subscribers",
        "✓ Add your first reward",
        "Set your logo and color",
    ]
    assert shown[-1] == "Set your landing page", "the hardest is optional and comes last"
    run_import(alice, upload(alice, "email\nold@example.org\n"))
    assert steps(alice.web)[0] == "✓ Import your subscribers"
    page = text_of(alice.web.get("/").text)
    assert re.search(r"2 of \d set up. Next: Set your logo and color", page)


def test_only_what_was_really_done_is_ticked(alice: Operator) -> None:
    """Two who signed up are no import, and an API key in use is no email tool."""
    alice.subscribe("ann@example.org")
    upload(alice, "email\nold@example.org\n")
    assert not [step for step in steps(alice.web) if step.startswith("✓")], "nor is a file alone"


@pytest.mark.parametrize(
    ("smtp_url", "tick"), [("", ""), ("file://{folder}", ""), ("smtp://127.0.0.1:9", "✓ ")]
)
def test_email_is_set_up_once_there_is_a_mail_server(
    smtp_url: str, tick: str, tmp_path: Path
) -> None:
    """A folder, as in the demo, reaches nobody."""
    with Service("sqlite", smtp_url=smtp_url.format(folder=tmp_path)) as service:
        admin = operator(service)
        service.write(lambda tx: tx.run(ADMIN, account_id=admin.account_id))
        assert f"{tick}Set up email sending" in steps(admin.web)


def test_the_checklist_can_be_dismissed(alice: Operator, bob: Operator) -> None:
    assert steps(alice.web)
    assert alice.web.post("/checklist/dismiss", page="/").headers["location"] == "/"
    assert steps(alice.web) == [] and steps(bob.web)


def test_somebody_invited_as_a_partner_starts_in_the_network(service: Service) -> None:
    admin = operator(service)
    service.write(lambda tx: tx.run(ADMIN, account_id=admin.account_id))
    places = []
    for number, choice in enumerate(({"as_partner": "1"}, {})):
        email = f"invited{number}-{service.now_ms()}@example.org"
        sent = admin.web.post("/account/invitations", page="/account", email=email, **choice)
        found = re.search(r"/welcome/[\w-]+", sent.text)
        assert found is not None, text_of(sent.text)
        guest = WebClient(service)
        joined = guest.post(found[0], name=f"Guest {number}", password=PASSWORD)
        places.append((joined.headers["location"], bool(steps(guest))))
    assert places == [("/network", False), ("/", True)]
