"""Where partners write to: the Reply-To of the owner's emails, which nobody else sees."""

from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields
from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of

REPLY_TO = "editor@alice.example"
UNSET = "The newsletter has not said where partners can write to."


def set_reply_to(owner: Operator) -> None:
    owner.make(branding.save, BrandFields(reply_to=REPLY_TO))


def test_a_partner_sees_where_to_write_to(service: Service) -> None:
    alice, bob, mallory = (operator(service, name) for name in ("alice", "bob", "mallory"))
    program = offer(alice)
    pages = (f"/earnings/{join(bob, program)['uuid']}", f"/network/{program['uuid']}")
    assert all(UNSET in text_of(bob.web.get(page).text) for page in pages)
    set_reply_to(alice)
    for page in pages:
        assert f'<a href="mailto:{REPLY_TO}">{REPLY_TO}</a>' in bob.web.get(page).text, page
    seen = mallory.web.get(pages[1]).text
    assert REPLY_TO not in seen and "Write to" not in text_of(seen)
