"""Links that lead nowhere: the page is in the newsletter's branding and the reader's language where
that can be known, and always has a way on. On both engines.
"""

import re

import httpx
import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.subscribers import reader_links
from tests.support.newsletter import Newsletter
from tests.support.service import Service

pytestmark = pytest.mark.usefixtures("roomy_network")
NAME = "<b>The Morning Wax</b>"


def ways(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
    return re.findall(r'<a class="btn[^"]*" href="([^"]+)"', answer.text)


def test_a_link_that_names_the_newsletter_is_in_its_branding(wax: Newsletter) -> None:
    Newsletter(wax.service, name="The Other")
    find, join = f"/hub?of={wax.campaign.slug}", f"{wax.service.settings.base_url}{wax.page}"
    ben, gone = wax.advocate(0), wax.advocate(0)
    wax.member.delete(f"{wax.member.v1}/subscribers/{gone.id}")
    for path, expected in (
        (f"/r/{wax.campaign.slug}/nobody-has-this", [join, find]),
        (f"/r/{gone.ref_code}", [join, find]),
        (f"/r/{gone.ref_code.upper()}", [join, find]),
        (f"{wax.hub(ben)[:-1]}", [find, join]),
        (wax.hub(gone), [find, join]),
    ):
        answer = wax.visitor.get(path)
        assert NAME in answer.text, path
        assert ways(answer) == expected, path
    for way in (find, join):
        assert wax.visitor.get(way).status_code == 200


def test_what_an_erased_subscriber_was_emailed_is_in_its_branding(wax: Newsletter) -> None:
    """As an address that signed up again with another code before it was confirmed."""
    Newsletter(wax.service, name="The Other")
    site, gone = wax.service.services.site, wax.advocate(0)
    until_ms = wax.service.now_ms() + DAY_MS
    confirm = f"/confirm/{reader_links.confirm_token(site, gone, until_ms)}"
    stop = f"/stop/{reader_links.stop_token(site, gone.ref_code)}"
    wax.member.delete(f"{wax.member.v1}/subscribers/{gone.id}")
    find, join = f"/hub?of={wax.campaign.slug}", f"{wax.service.settings.base_url}{wax.page}"
    for path, expected in ((confirm, [join, find]), (stop, [find, join])):
        answer = wax.visitor.get(path)
        assert NAME in answer.text, path
        assert ways(answer) == expected, path


def test_a_confirmation_link_that_was_cut_has_a_way_on() -> None:
    with Service("sqlite") as service:
        wax = Newsletter(service, needs_confirmation=True)
        wax.join(email := wax.address())
        answer = wax.visitor.get(wax.confirm_link(email)[:-3])
        assert NAME in answer.text and len(ways(answer)) == 2


def test_it_is_in_the_readers_language(wax: Newsletter) -> None:
    wax.speak("de", follow_browser=True)
    path = f"/r/{wax.campaign.slug}/nobody"
    german = wax.visitor.get(path)
    assert 'lang="de"' in german.text and "Dieser Link funktioniert nicht" in german.text
    arabic = wax.visitor.get(path, headers={"accept-language": "ar"})
    assert 'lang="ar" dir="rtl"' in arabic.text and "accept-language" in arabic.headers["vary"]


def test_a_link_of_nobody_has_a_way_on_too(wax: Newsletter) -> None:
    Newsletter(wax.service, name="The Other")
    for path in (
        "/r/zzzzzzzz",
        "/r/nowhere/nobody",
        "/r/",
        "/r/a/b/c",
        "/p/zzzzzzzz",
        "/m/zzzzzzzz",
        "/hub/x",
        "/hub/x/y/z",
        "/stop/x",
        "/confirm/x",
        "/join/nobody-here",
    ):
        answer = wax.visitor.get(path, headers={"accept-language": "fr"})
        assert NAME not in answer.text
        assert ways(answer) == ["/hub"], path
        assert "Ce lien ne fonctionne pas" in answer.text


def test_the_only_newsletter_of_an_installation_is_named() -> None:
    with Service("sqlite") as service:
        wax = Newsletter(service)
        for path in ("/r/zzzzzzzz", "/p/zzzzzzzz", "/m/zzzzzzzz", "/hub/x", "/join/nobody-here"):
            assert NAME in wax.visitor.get(path).text, path
        Newsletter(service, name="The Other", member=service.member("bob"))
        assert NAME not in wax.visitor.get("/r/zzzzzzzz").text
