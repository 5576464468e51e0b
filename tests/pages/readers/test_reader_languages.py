"""Which language a reader gets, on both engines: the campaign's, the browser's where the campaign
follows it, and the browser's on pages that belong to no campaign.
"""

import httpx
import pytest

from honeyguide.pages.readers import signup
from tests.support.newsletter import Newsletter, wrong

pytestmark = pytest.mark.usefixtures("roomy_network")

GERMAN, ARABIC = {"accept-language": "de-DE,de;q=0.9,en;q=0.5"}, {"accept-language": "ar"}


def language_of(answer: httpx.Response) -> str:
    return answer.text.partition('<html lang="')[2].partition('"')[0]


def varies(answer: httpx.Response) -> bool:
    return "accept-language" in answer.headers.get("vary", "").lower()


def subject_of(wax: Newsletter, kind: str) -> str:
    """The subject of the newest email of this kind."""
    return wax.emails(kind)[0].subject or ""


def test_pages_and_emails_are_in_the_campaigns_language(wax: Newsletter) -> None:
    wax.offer()
    wax.speak("pl")
    page = wax.visitor.get(wax.page, headers=GERMAN)
    assert language_of(page) == "pl" and ">Zapisz się</button>" in page.text
    assert not varies(page)
    refused = wax.join("nonsense")
    assert wrong(refused) == "Wpisz poprawny adres e-mail."
    ben = wax.advocate(5)
    assert "Nagroda „<em>The mug</em>” jest Twoja!" in wax.visitor.get(wax.hub(ben)).text
    hub = wax.visitor.get(wax.hub(ben)).text
    assert "Jeszcze 5 poleceń i Twoja nagroda" in hub and "Cześć, Ben" in hub
    assert "5 potwierdzonych" in hub
    assert subject_of(wax, "reward_unlocked").startswith("Zdobyta nagroda: ")
    wax.join(wax.address())
    assert subject_of(wax, "hub_link") == "Twoja strona poleceń: The Morning Wax"


def test_a_campaign_can_follow_the_browser(wax: Newsletter) -> None:
    wax.speak("fr", follow_browser=True)
    for headers, code, button in (
        (GERMAN, "de", "Abonnieren"),
        (ARABIC, "ar", "اشتراك"),
        ({"accept-language": "sv"}, "fr", "S’abonner"),
        ({"accept-language": "en-US"}, "en", "Subscribe"),
    ):
        page = wax.visitor.get(wax.page, headers=headers)
        assert language_of(page) == code and f">{button}</button>" in page.text
        assert varies(page)
    assert 'dir="rtl"' in wax.visitor.get(wax.page, headers=ARABIC).text
    wax.visitor.headers.update(GERMAN)
    wax.join(wax.address())
    assert subject_of(wax, "hub_link") == "Deine Empfehlungsseite für The Morning Wax"


def test_pages_of_no_campaign_are_in_the_browsers_language(wax: Newsletter) -> None:
    Newsletter(wax.service)  # the pages of an installation with one campaign are that campaign's
    wax.speak("pl")
    for path in ("/hub", "/r/zzzzzzzz", "/confirm/zzzz", "/join/no-such-page", "/hub/a/b/c/d"):
        page = wax.visitor.get(path, headers=GERMAN)
        assert language_of(page) == "de" and varies(page), path
        assert language_of(wax.visitor.get(path)) == "en", path
    refused = wax.visitor.put(wax.page, headers=GERMAN)
    assert (refused.status_code, language_of(refused)) == (405, "de")
    assert refused.headers["allow"] == "GET, HEAD, POST"


def test_a_bug_of_ours_is_told_in_the_readers_language(
    wax: Newsletter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signup, "carried", lambda given: 1 / 0)
    page = wax.visitor.get(wax.page, headers=GERMAN)
    assert (page.status_code, language_of(page)) == (500, "de")
    assert "Das Problem liegt bei uns" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_operators_get_their_failures_in_english(wax: Newsletter) -> None:
    assert "Page not found" in wax.visitor.get("/programs/none/here", headers=GERMAN).text
