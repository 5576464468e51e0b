"""An installation with one program, its partner and a stranger, as operators who are logged in."""

import csv
import io
from typing import Any

from honeyguide.kernel.clock import HOUR_MS, system_clock
from honeyguide.partners import rules
from tests.support.partner_network import join, offer, png, publish
from tests.support.service import Service
from tests.support.web import Operator, operator


class PartnerNetwork:
    """Alice runs the installation and an offer, Bob brings readers, Mallory is logged in and must
    see nothing of either.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.mallory = operator(service, "mallory")
        self.publication = publish(self.alice, name="Secret garden")
        self.program = offer(self.alice, self.publication, total_budget=6, show_in_directory=False)
        self.place = join(self.bob, self.program)
        for number in range(3):
            self.alice.subscribe(
                f"veiled{number}@example.org",
                name="Veiled reader",
                referrer_code=self.place["ref_code"],
            )
        # Partners hear that a budget is reached in its own month only.
        service.run_jobs()
        self.month = rules.month_of(service.now_ms())
        service.set_clock((rules.closes_at(self.month) + HOUR_MS - system_clock()) / 1000)
        service.run_jobs()
        for who in (self.alice, self.bob, self.mallory):  # the sessions of last month are over
            who.web.log_in(who.email)
        self.payout_id = self.payouts()[0]["payout_uuid"]

    def payouts(self) -> list[dict[str, str]]:
        return list(
            csv.DictReader(io.StringIO(self.alice.web.get("/administration/payouts.csv").text))
        )


PUBLICATION = {
    "name": "Bee lines",
    "description": "",
    "categories": ["science"],
    "audience_gender": "mixed",
    "age_ranges": ["60+"],
    "income_levels": ["$150k+"],
}


PROGRAM = {
    "cpa": "2",
    "max_payout": "20",
    "total_budget": "200",
    "redirect_url": "https://bees.example/",
    "slug": "",
}


def send_publication(who: Operator, logo: bytes = png(), **fields: Any) -> Any:
    data = {"csrf": who.web.token("/publications/new"), **PUBLICATION, **fields}
    return who.web.http.post("/publications/new", data=data, files={"logo": ("logo.png", logo)})
