"""Robots and people at a partner's magic link: what they do there, and what becomes of it."""

import itertools
from typing import Any

import httpx

from tests.support.newsletter import Newsletter
from tests.support.page_forms import PageForms
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import operator

BROWSER = {
    "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/15.6 Safari/605.1.15",
    "accept-language": "en-US,en;q=0.9",
}
_numbers = itertools.count()


class Robots:
    """A newsletter with a program, its partner, and what comes through the magic link."""

    def __init__(self, service: Service, **program: Any) -> None:
        self.service = service
        self.owner, self.partner = operator(service), service.member("bob")
        self.wax = Newsletter(service, member=self.owner)
        self.program = offer(self.owner, publish(self.owner), **program)
        self.code = join(self.partner, self.program)["ref_code"]

    def visit(self) -> None:
        """Each from an address of their own, without loading certificates for plain HTTP."""
        number = next(_numbers)
        address = f"127.3.{number // 250}.{number % 250 + 1}"
        transport = httpx.HTTPTransport(local_address=address, verify=False)
        self.wax.visitor = httpx.Client(
            base_url=self.service.url, headers=BROWSER, transport=transport
        )

    def come(self, email: str, code: str | None = None) -> None:
        self.visit()
        answer = self.wax.fill_in(f"/m/{code or self.code}", email)
        assert answer.status_code == 303, answer.text

    def confirm(self, email: str) -> None:
        link = self.wax.confirm_link(email)
        assert self.wax.visitor.post(link, data=self.wax.fields(link)).status_code == 303

    def ask_for_activity(self) -> None:
        path = f"/v2/partner_programs/{self.program['uuid']}/verification"
        assert self.owner.put(path, {"rule": "active"}).status_code == 200

    def use_page(self, email: str) -> None:
        """Presses "Yes, I read it" on their referral page."""
        hub = self.wax.hub(self.wax.person(email))
        form = PageForms(self.wax.visitor.get(hub).text, hub).found[f"{hub}/active"]
        answer = self.wax.visitor.post(f"{hub}/active", data=form)
        assert answer.status_code == 303, answer.text

    def referral(self, email: str) -> tuple[str, str | None]:
        person = self.wax.person(email)
        return person.referral_status, person.referral_reason

    def evidence(self, email: str) -> dict[str, Any]:
        person = self.wax.person(email)
        answer = self.owner.get(f"{self.owner.v1}/subscribers/{person.id}/referral")
        assert answer.status_code == 200, answer.text
        return {each["code"]: each for each in answer.json()["referral"]["evidence"]}

    def days_pass(self, days: float) -> None:
        self.wax.later(days * 86_400)
        self.service.run_jobs()

    def charged(self) -> int:
        sql = (
            "SELECT COUNT(*) AS n FROM partner_referral "
            "WHERE charged_cents > 0 AND account_id = :id"
        )
        rows = self.service.read(lambda tx: tx.all(statement(sql), id=self.owner.account_id))
        return int(rows[0][0])
