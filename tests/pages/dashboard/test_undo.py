"""What takes effect at once offers its opposite in the message that says so, for a minute."""

import re

import pytest

from tests.partners.test_removed_partners import Deal
from tests.support.service import Service
from tests.support.web import Operator, operator

_IN_TOAST = r'class="toast flash"(?:(?!</div>).)*'
_FORM = re.compile(
    _IN_TOAST + r'<form method="post" action="([^"]+)".*?name="do" value="([^"]+)"', re.DOTALL
)


def press_undo(alice: Operator, page: str) -> str:
    """Returns the page that follows."""
    shown = alice.web.get(page).text
    found = _FORM.search(shown)
    assert found is not None, "it can be undone"
    assert "toast flash" not in alice.web.get(page).text, "once"
    answer = alice.web.post(found[1], page=page, do=found[2])
    assert answer.status_code == 303, answer.text
    return alice.web.get(page).text


@pytest.mark.parametrize("list_name", ["block", "allow"])
def test_a_subscriber_is_taken_off_the_list_again(service: Service, list_name: str) -> None:
    alice = operator(service)
    page = f"/subscribers/{alice.subscribe('reader@example.org')['uuid']}"
    assert alice.web.post(f"{page}/list", page=page, do=list_name).status_code == 303
    assert "on neither list" in press_undo(alice, page)
    assert _FORM.search(alice.web.get(page).text) is None


def test_a_pause_and_a_removal_are_taken_back(service: Service) -> None:
    deal = Deal(operator(service), service.member("bob"))
    alice: Operator = deal.alice  # type: ignore[assignment]
    program, partner = f"/program/{deal.program['uuid']}", deal.partner.rpartition("/")[2]
    assert alice.web.post(f"{program}/act", page=program, do="pause").status_code == 303
    assert "active again" in press_undo(alice, program)
    page = f"/program/partners/{partner}"
    for where, then in (("program", "allowed in this program again"), ("all", "no longer blocked")):
        removed = alice.web.post(f"{page}/remove", page=page, where=where, reason="Too many robots")
        assert removed.status_code == 303
        assert then in press_undo(alice, page)
    ended = alice.web.post(f"{page}/remove", page=page, where="program", pending="end")
    assert ended.status_code == 303
    assert _FORM.search(alice.web.get(page).text) is None, "ended referrals stay so"


def test_a_planted_message_names_nothing_else(service: Service) -> None:
    alice = operator(service)
    for planted in ("delete.not-an-id", f"delete.{alice.account_id}"):
        alice.web.http.cookies.set("hg_flash", "Look", domain="127.0.0.1")
        alice.web.http.cookies.set("hg_undo", planted, domain="127.0.0.1")
        assert not re.search(_IN_TOAST + "<form", alice.web.get("/").text, re.DOTALL)
