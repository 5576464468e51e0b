"""Hostile markup in every text that somebody can type: no page of the dashboard and no page for
readers lets any of it through.

Every GET of the dashboard's table is opened, and every form that shows again what was typed. Text
is escaped when a page is rendered, whatever store it came from, so one engine is enough.
"""

import inspect
from typing import Any

import pytest

from honeyguide.accounts import attempts
from honeyguide.mail import layout, partner_texts, texts
from honeyguide.mail.layout import EmailBranding, EmailLinks
from honeyguide.mail.own_texts import EDITABLE, FIELDS
from honeyguide.mail.texts import AdvocateFacts, RewardAhead, UnlockedReward
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.readers import start
from honeyguide.pages.readers.page_texts import PAGE_TEXTS
from honeyguide.subscribers.reader_links import stop_token
from tests.support.hostile_world import ADDRESS, World
from tests.support.markup import ESCAPED, EVIL, unescaped
from tests.support.partner_network import png
from tests.support.service import Service
from tests.support.web import WebClient


@pytest.fixture(scope="module")
def world() -> Any:
    limit = attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
    with pytest.MonkeyPatch.context() as patch, Service("sqlite") as service:
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", limit)
        yield World(service)


# What the address bar can hold, and lists that a page shows only when asked.
QUERIES = {
    "/subscribers": [
        "?q=<evil>",
        "?q=<evil>nobody",
        f"?q={EVIL}",
        "?show=pending",
        "?show=rejected",
        "?show=advocates&sort=best",
    ],
    "/review": ["?show=pending", "?show=rejected"],
    "/earnings": ["?show=confirmed", "?show=uncharged", "?show=rejected", "?month=<evil>"],
    "/network": [f"?search={EVIL}&min_cpa={EVIL}&category={EVIL}"],
    "/look/embed": [f"?what={EVIL}&tool={EVIL}", "?what=signup&tool=nextjs"],
    "/look/embed/preview": ["?what=signup", "?what=hub&theme=<evil>"],
    "/login": [f"?next=/{EVIL}"],
    "/password": [f"?email={EVIL}"],
    "/look/pages": ["?page=thanks", "?page=hub", f"?page={EVIL}"],
    "/administration": ["?month=2020-01", f"?month={EVIL}"],
    "/program/new": [],
}
# Pages on which hostile text must be seen, escaped: or the test would look at empty pages.
SHOWS = {
    "/",
    "/subscribers",
    "/subscribers/{id}",
    "/subscribers/import",
    "/subscribers/import/api",
    "/subscribers/import/api/{id}",
    "/subscribers/import/documents",
    "/subscribers/import/documents/{id}",
    "/subscribers/import/{id}",
    "/review",
    "/rewards",
    "/rewards/{id}",
    "/look/pages",
    "/look/branding",
    "/look/embed",
    "/webhooks",
    "/webhooks/{id}",
    "/account",
    "/account/keys",
    "/settings",
    "/publications",
    "/publications/{id}",
    "/program/{id}",
    "/program/{id}/change",
    "/program/partners/{id}",
    "/network",
    "/network/{id}",
    "/earnings",
    "/earnings/{id}",
    "/statements/{side}/{month}",
    "/notices",
    "/administration",
}


def check(page: Any, where: str, problems: list[str]) -> bool:
    """Whether hostile text was on it, escaped."""
    if not page.headers.get("content-type", "").startswith("text/html"):
        return False
    problems += unescaped(page.text, where)
    return any(mark in page.text for mark in ESCAPED)


def test_no_page_of_the_dashboard_lets_markup_through(world: World) -> None:
    problems: list[str] = []
    shown: set[str] = set()
    for page in [page for page in PAGES if page.method == "GET"]:
        paths = [
            f"{path}{query}"
            for path in world.addresses(page.path)
            for query in ["", *QUERIES.get(page.path, [])]
        ]
        if page.path == "/program/new":
            paths = [f"/program/new?publication={world.ids['unoffered']}"]
        for path in paths:
            browsers = (
                [WebClient(world.service)] if page.open_to_all else [world.alice.web, world.bob.web]
            )
            for web in browsers:
                answer = web.get(path, follow_redirects=True)
                assert answer.status_code in (200, 204, 404), f"{path}: {answer.status_code}"
                if check(answer, path, problems):
                    shown.add(page.path)
    assert problems == []
    assert SHOWS - shown == set(), "these showed no hostile text at all"


def evil(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), EVIL)


def forms(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    """(address, page with the token, fields): forms shown again, previews and flash messages."""
    typed = evil("name description list_id audience_gender categories")
    terms = {**evil("cpa redirect_url terms slug"), "publication": world.ids["unoffered"]}
    texts = {word.key: EVIL * 20 for word in PAGE_TEXTS}
    brand = evil("accent privacy_url imprint_url consent_text language from_name reply_to")
    return [
        (
            "/subscribers/decide",
            "/settings",
            {"id": world.ids["paid"], "do": "verify", "back": f"/subscribers?q={EVIL}"},
        ),
        (
            "/rewards",
            "/rewards",
            {**evil("name referrals description coupon_codes"), "kind": "coupon"},
        ),
        (f"/rewards/{world.rewards[0]}", "/rewards", evil("name referrals description")),
        (
            "/rewards/preview",
            "/rewards",
            {**evil("name description coupon_code"), "referrals": "3"},
        ),
        ("/look/pages", "/look/pages", texts),
        *(
            (f"/look/pages/preview{which}", "/look/pages", dict.fromkeys(texts, EVIL))
            for which in ("", "?page=hub", "?page=thanks")
        ),
        ("/look/branding", "/look/branding", brand),
        (
            "/look/branding/preview",
            "/look/branding",
            {**brand, **evil("preview_theme preview_page")},
        ),
        ("/look/branding/preview", "/look/branding", {**brand, "preview_page": "hub"}),
        ("/look/embed", "/look/embed", evil("origins form_selector")),
        ("/look/embed/check", "/look/embed", {"url": EVIL}),
        ("/review/check", "/review", evil("email referrer_code origin")),
        ("/webhooks", "/webhooks", {"url": EVIL, "event": EVIL}),
        (f"/webhooks/{world.ids['webhook']}", "/webhooks", {"url": EVIL}),
        (f"/webhooks/{world.ids['webhook']}/act", "/webhooks", {"do": "replay", "since": EVIL}),
        ("/account/keys", "/account/keys", {"name": EVIL * 20}),
        (
            "/settings/campaign",
            "/settings",
            {"name": EVIL * 20, "destination_url": EVIL, "slug": EVIL, "hold_days": EVIL},
        ),
        ("/account/profile", "/account", {"name": EVIL * 20}),
        ("/account/invitations", "/account", {"email": EVIL}),
        ("/subscribers/new", "/settings", evil("email name referrer_code status")),
        ("/publications/new", "/settings", typed),
        (f"/publications/{world.ids['publication']}", "/settings", {**typed, "name": ""}),
        ("/publications/preview/card", "/settings", typed),
        ("/publications/preview/page", "/settings", typed),
        ("/program/new", "/settings", terms),
        ("/program/preview/card", "/settings", terms),
        (f"/program/{world.ids['program']}/change", "/settings", terms),
        (f"/network/{world.ids['program']}/join", "/settings", {"reason": EVIL}),
    ]


def test_no_form_shown_again_and_no_preview_lets_markup_through(world: World) -> None:
    problems: list[str] = []
    silent = set()
    for path, page, fields in forms(world):
        answer = world.alice.web.post(path, page=page, **fields)
        if answer.status_code == 303:
            answer = world.alice.web.get(answer.headers["location"])
        if not check(answer, path, problems):
            silent.add(path)
    publication = {
        "name": EVIL,
        "description": EVIL,
        "audience_gender": "mixed",
        "categories": ["tech"],
        "income_levels": ["$150k+"],
        "age_ranges": ["25 - 39"],
    }
    saved = world.alice.web.http.post(
        "/publications/new",
        data={"csrf": world.alice.web.token("/settings"), **publication},
        files={"logo": ("<evil>.png", png())},
    )
    check(world.alice.web.get(saved.headers["location"]), "after /publications/new", problems)
    for path, fields in {
        "/login": {"email": EVIL, "password": EVIL},
        "/password": {"email": EVIL},
        "/signup": {"email": EVIL},
    }.items():
        check(WebClient(world.service).post(path, page="/login", **fields), path, problems)
    welcome = f"/welcome/{world.ticket('invitation')}"
    check(WebClient(world.service).post(welcome, name=EVIL, password="short"), welcome, problems)
    assert problems == []
    assert silent <= {"/account/invitations"}, "the others show what was typed, or a name"


def test_no_page_for_readers_lets_markup_through(world: World) -> None:
    wax, problems, shown = world.wax, list[str](), set[str]()
    star = wax.person(world.star["uuid"])
    hub, program = wax.hub(star), f"/join/{world.slug}"
    pages = [
        wax.hub(wax.person(world.second["uuid"])),
        f"/m/{world.code}?utm_source={EVIL}",
        wax.page,
        f"{wax.page}?ref={EVIL}&utm_source={EVIL}&email={EVIL}",
        program,
        f"{program}?partner={EVIL}",
        hub,
        f"{hub}/claim/{world.ids['unclaimed']}",
        f"{hub}/leave",
        f"/stop/{stop_token(wax.service.services.site, star.ref_code)}",
        f"/hub/start/{start.token(wax.service.services.site, star.ref_code)}",
        f"{wax.page}?ref={star.ref_code}",
        f"/hub?of={wax.campaign.slug}",
        f"/m/{world.code}?email={EVIL}",
        f"/m/{world.code}?email=o'evil@example.org",
    ]
    for path in pages:
        answer = wax.visitor.get(path)
        assert answer.status_code == 200, path
        if check(answer, path, problems):
            shown.add(path)
    assert shown == set(pages)
    for path in (
        f"/join/{EVIL}",
        f"/r/{EVIL}",
        f"/p/{EVIL}",
        f"/m/{EVIL}",
        f"/hub/{EVIL}",
        f"/confirm/{EVIL}",
        f"/{EVIL}",
    ):
        check(wax.visitor.get(path), path, problems)
    for page in (wax.page, program):
        check(wax.fill_in(page, EVIL), f"{page} with a bad address", problems)
        thanks = wax.fill_in(page, wax.address("new"))
        assert thanks.status_code == 303 and check(
            wax.visitor.get(thanks.headers["location"]), f"{page}/thanks", problems
        )
    claimed = wax.fill_in(f"{hub}/claim/{world.ids['unclaimed']}", "", **{**ADDRESS, "city": ""})
    assert check(claimed, "the address form", problems)
    wax.configure(needs_confirmation=True)
    asked = wax.fill_in(wax.page, email := wax.address("careful"))
    check(wax.visitor.get(asked.headers["location"]), "the inbox page", problems)
    assert check(wax.visitor.get(wax.confirm_link(email)), "the confirmation page", problems)
    check(wax.fill_in(f"/hub?of={wax.campaign.slug}", wax.address("asks")), "asked", problems)
    assert problems == []


def test_no_email_lets_markup_through() -> None:
    brand = EmailBranding(
        EVIL,
        logo_url="https://example.org/logos/1",
        from_name=EVIL,
        reply_to=EVIL,
        privacy_url="https://example.org/?q=<evil>",
        imprint_url="https://example.org/?q=<evil>",
        own_texts={f"{kind}_{field}": EVIL for kind in EDITABLE for field in FIELDS},
    )
    samples: dict[str, Any] = {
        "int": 3,
        "int | None": 3,
        "list[tuple[str, str]]": [(EVIL, EVIL)],
        "Iterable[Sequence[str]]": [(EVIL, EVIL, EVIL)],
        "EmailBranding": brand,
        "AdvocateFacts": AdvocateFacts(EVIL, 3, 3, EVIL),
        "UnlockedReward": UnlockedReward(EVIL, EVIL, EVIL, EVIL),
        "RewardAhead | None": RewardAhead(EVIL, 3, EVIL),
    }
    written = [
        function
        for module in (texts, partner_texts)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(function).return_annotation == "EmailText"
    ]
    assert len(written) > 10
    for function in written:
        parameters = inspect.signature(function).parameters
        values = {name: samples.get(each.annotation, EVIL) for name, each in parameters.items()}
        message = function(**values)
        made = layout.parts(message, brand, EmailLinks(stop=EVIL, leave=EVIL))
        assert unescaped(made.html, function.__name__) == []
        assert "&lt;evil" in made.html and "{{7*7}}" in made.html


def test_markup_that_came_through_would_be_seen() -> None:
    assert unescaped(f"<p>{EVIL}</p>", "text") and unescaped(f'<p title="{EVIL}">', "attribute")
    assert unescaped(f"<p title={EVIL}>", "bare attribute") and unescaped(
        f"<script>var a = '{EVIL}'</script>", "script"
    )
    assert unescaped('<iframe srcdoc="&lt;evil&gt;"></iframe>', "frame") and unescaped(
        '<a href=" JavaScript:x()">', "link"
    )
    assert not unescaped(
        "<p>&lt;evil onevil=1&gt;</p><iframe srcdoc='&amp;lt;evil'></iframe>", "escaped"
    )
