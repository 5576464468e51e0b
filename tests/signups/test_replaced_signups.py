"""An address that comes again with another code, before the first email to it was sent."""

import pytest

from tests.screening.test_evidence import Robots
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join
from tests.support.service import ENGINES, Service

EMAIL = "wanted@gmail.com"


@pytest.mark.parametrize("engine", ENGINES)
def test_only_the_link_of_the_second_signup_is_sent(engine: str) -> None:
    with Mailbox() as mailbox, Service(engine, smtp_url=mailbox.url, work=False) as service:
        robots = Robots(service)
        other = join(service.member("carol"), robots.program)["ref_code"]
        for code in (robots.code, other):
            robots.come(EMAIL, code)
        service.run_jobs()
        assert [email.to for email in mailbox.received].count(EMAIL) == 1
        robots.confirm(EMAIL)
        assert robots.wax.person(EMAIL).referrer_code == other
        assert robots.referral(EMAIL) == ("verified", None)
