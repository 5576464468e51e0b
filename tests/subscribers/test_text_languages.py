"""Operators write their own texts for each language that their pages are shown in."""

import re
from html import unescape

import httpx
import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields
from tests.support.readings import reading
from tests.support.service import Service
from tests.support.web import Operator, operator

SHOWN = {"powered_by": "on"}


@pytest.fixture
def alice(service: Service) -> Operator:
    made = operator(service)
    speak(made, follow_browser_language=True)
    return made


def speak(alice: Operator, **fields: object) -> None:
    alice.make(branding.save, BrandFields(**fields))  # type: ignore[arg-type]


def saved(alice: Operator) -> dict[str, str]:
    tenant = Tenant(alice.account_id, alice.campaign_id)
    found = alice.service.read(lambda tx: branding.of(reading(tx, tenant)))
    return dict(found.words)


def typed(alice: Operator, name: str, query: str) -> str:
    """What the form has in a field."""
    html = alice.web.get(f"/look/pages?page=signup{query}").text
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"', html)
    assert found, html
    return unescape(found[1])


def headline(alice: Operator, accept_language: str) -> str:
    tenant = Tenant(alice.account_id, alice.campaign_id)
    slug = alice.service.read(lambda tx: branding.of(reading(tx, tenant))).slug
    url = f"{alice.service.url}/join/{slug}"
    html = httpx.get(url, headers={"accept-language": accept_language}, verify=False).text
    return unescape(html.partition("<h1>")[2].partition("</h1>")[0]).strip()


def test_each_language_has_its_own_text_or_the_one_for_all(alice: Operator) -> None:
    assert typed(alice, "promise", "&language=de") == "Hol dir {name} in dein Postfach"
    alice.web.post("/look/pages?page=signup&language=en", promise="Bees, weekly", **SHOWN)
    assert typed(alice, "promise", "&language=de") == "Bees, weekly"
    alice.web.post("/look/pages?page=signup&language=de", promise="Bienen, jede Woche", **SHOWN)
    assert saved(alice) == {"promise": "Bees, weekly", "promise.de": "Bienen, jede Woche"}
    assert headline(alice, "de") == "Bienen, jede Woche"
    assert headline(alice, "en") == headline(alice, "fr") == "Bees, weekly"


def test_a_text_left_as_it_was_is_not_saved(alice: Operator) -> None:
    page = "/look/pages?page=signup&language=de"
    default = typed(alice, "button", "&language=de")
    assert default == "Abonnieren"
    alice.web.post(page, button=default, promise="Bienen", **SHOWN)
    assert saved(alice) == {"promise.de": "Bienen"}
    alice.web.post(page, promise="", **SHOWN)
    assert saved(alice) == {}


def test_a_new_campaign_language_brings_its_texts_along(alice: Operator) -> None:
    alice.web.post("/look/pages?page=signup&language=de", promise="Bienen", **SHOWN)
    speak(alice, language="de")
    assert typed(alice, "promise", "") == "Bienen"
    assert headline(alice, "en") == "Bienen"
    alice.web.post("/look/pages?page=signup", promise="Imker", **SHOWN)
    assert saved(alice) == {"promise": "Imker"}


def test_without_following_browsers_there_is_one_language(alice: Operator) -> None:
    speak(alice, language="fr")
    html = alice.web.get("/look/pages?page=signup&language=de").text
    assert 'aria-label="Language"' not in html
    assert typed(alice, "button", "&language=de") == "S’abonner"


def test_the_preview_is_in_the_language_that_is_edited(alice: Operator) -> None:
    path = "/look/pages/preview?page=signup&language=ar"
    shown = alice.web.post(path, page="/look/pages", tagline="نحل", **SHOWN).text
    assert '<html lang="ar" dir="rtl">' in shown and "نحل" in shown


def test_a_text_that_is_too_long_is_refused_in_every_language(alice: Operator) -> None:
    answer = alice.web.post("/look/pages?page=signup&language=ar", promise="ن" * 121, **SHOWN)
    assert answer.status_code == 400
    assert saved(alice) == {}
