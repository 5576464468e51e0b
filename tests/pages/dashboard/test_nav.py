"""The menu: which page is the current one, which counts it shows, and who gets a partner's menu."""

import re

import pytest

from honeyguide.accounts import attempts
from honeyguide.pages.dashboard import nav
from honeyguide.pages.dashboard.nav import Menu, MenuFacts
from honeyguide.pages.dashboard.routes import PAGES
from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator

ADMIN = statement("UPDATE account SET is_admin = :is_admin WHERE id = :account_id")


def menu(path: str, *, is_partner_only: bool = False, is_admin: bool = False, **n: int) -> Menu:
    facts = MenuFacts(n, is_partner_only, None, 1_104, [])
    return nav.arrange(facts, path, may_see=lambda page: is_admin or page != "/administration")


def current(shown: Menu) -> list[str]:
    pages = [page for place in (*shown.groups, *shown.rooms) for page in place.pages]
    return [page.name for page in [*pages, shown.notifications] if page.is_here]


@pytest.mark.parametrize(
    ("path", "group", "page"),
    [
        ("/", "Home", "Home"),
        ("/subscribers/0190", "People", "Subscribers"),
        ("/subscribers/import/0190", "People", "Import"),
        ("/review/check", "People", "Review"),
        ("/shipments", "Rewards", "Shipments"),
        ("/look/emails/stopped", "Look", "Emails"),
        ("/program/partners/0190", "Partners", "Program"),
        ("/statements/partner/2026-01", "Partners", "Payouts"),
        ("/earnings/0190", "Earn", "Earnings"),
        ("/notices", None, "Notifications"),
        ("/notices/preferences", None, "Notification choices"),
        ("/integrations/kit", None, "Email tool"),
        ("/settings/screening-lists", None, "Block and allow lists"),
    ],
)
def test_one_page_is_current_and_its_group_is_open(path: str, group: str | None, page: str) -> None:
    shown = menu(path)
    assert current(shown) == [page]
    assert [each.name for each in shown.groups if each.is_here] == ([group] if group else [])


def test_the_pages_of_look_are_listed_once(alice: Operator) -> None:
    assert alice.web.get("/look/pages").text.count('href="/look/emails"') == 1


def test_a_path_that_begins_alike_is_another_page() -> None:
    assert current(menu("/programs-of-others")) == []


def test_a_group_shows_what_its_pages_count_together() -> None:
    shown = menu("/", review=3, rewards=4, shipments=8, notices=100)
    assert [(each.name, each.count) for each in shown.groups if each.count] == [
        ("People", "3"),
        ("Rewards", "12"),
    ]
    assert shown.notifications.count == "99+"


def test_somebody_who_is_only_a_partner_has_a_menu_of_their_own() -> None:
    shown = menu("/network/0190", is_partner_only=True)
    assert [each.name for each in shown.groups] == [each.name for each in nav.PARTNER_GROUPS]
    assert current(shown) == ["Find programs"] and shown.home == "/earnings"
    assert shown.subscribers is None
    beginning = menu("/subscribers/import", is_partner_only=True)
    assert current(beginning) == ["Import"], "who begins with a newsletter sees all of it"
    assert [each.name for each in beginning.groups] == [each.name for each in nav.GROUPS]
    assert current(menu("/settings", is_partner_only=True)) == ["Campaign"]
    swapped = [each.as_partner for each in (menu("/"), beginning, shown)]
    assert swapped == [None, False, True], "the menu leads back"


def test_the_rooms_of_the_settings_are_marked_and_only_those_that_open() -> None:
    names = {is_admin: [r.name for r in menu("/", is_admin=is_admin).rooms] for is_admin in (0, 1)}
    everybodys = ["You", "Newsletter", "Team", "Email tool", "Developers"]
    assert names == {0: everybodys, 1: [*everybodys, "Installation"]}
    shown = menu("/account/security")
    assert [room.name for room in shown.rooms if room.is_here] == ["You"]
    assert [page.is_here for page in shown.account] == [True, False], "the account menu too"
    assert not any(room.is_here for room in menu("/settings/rooms").rooms)


def test_settings_are_found_by_name_and_by_old_words(service: Service, alice: Operator) -> None:
    def hits(text: str) -> list[str]:
        page = alice.web.get("/settings/rooms", params={"q": text}).text
        found = re.search(r'<section class="card found".*?</section>', page, re.DOTALL)
        return re.findall(r'<a href="([^"]*)"', found[0]) if found else []

    service.write(lambda tx: tx.run(ADMIN, is_admin=0, account_id=alice.account_id))
    assert hits("totp") == ["/account/security#second-factor"]
    assert hits("screening") == ["/settings#f-hold_days", "/settings/screening-lists"]
    assert hits("administration") == hits("nothing of the kind") == []
    page = alice.web.get("/settings/rooms").text.partition('<main class="main"')[2]
    parts = [page.path for room in nav.ROOMS for page in room.pages]
    assert {path for path in parts if f'href="{path}"' not in page} == {
        path for path in parts if path.startswith("/administration")
    }


def test_every_part_of_a_page_is_on_it() -> None:
    with Service("sqlite", work=False) as own:
        admin = operator(own)
        parts = [page.path for room in nav.ROOMS for page in room.pages if page.is_part]
        for path, _, part in (path.partition("#") for path in parts):
            assert f'id="{part}"' in admin.web.get(path).text, f"{path}#{part}"


def test_every_entry_leads_to_a_page() -> None:
    paths = {page.path for page in PAGES if page.method == "GET"} | {"/docs", "/docs/guide/"}
    groups = [page for group in (*nav.GROUPS, *nav.PARTNER_GROUPS) for page in group.pages]
    pages = [page for room in nav.ROOMS for page in room.pages]
    every = (*groups, *pages, nav.SETTINGS, nav.GUIDE, nav.NOTIFICATIONS)
    missing = {page.path.partition("#")[0] for page in every} - paths
    assert not missing


def groups_at(who: Operator | WebClient, path: str) -> list[str]:
    web = who.web if isinstance(who, Operator) else who
    found = re.search(r'<nav class="thumb".*?</nav>', web.get(path).text, re.DOTALL)
    assert found is not None
    return re.findall(r"</svg>([\w ]+)", found[0])


PARTNER_TABS = ["Earnings", "Find programs", "Payouts", "Your newsletter", "More"]
OWNER_TABS = ["Home", "People", "Rewards", "Partners", "More"]


def test_a_partner_becomes_an_owner_with_the_first_thing_of_their_own(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    roomy = attempts.LOGIN_BY_ADDRESS._replace(most=1_000)
    monkeypatch.setattr(attempts, "LOGIN_BY_ADDRESS", roomy)
    alice, bob, carol = operator(service), operator(service, "bob"), operator(service, "carol")
    for who in (bob, carol):
        service.write(lambda tx, who=who: tx.run(ADMIN, is_admin=0, account_id=who.account_id))
    assert groups_at(bob, "/earnings") == OWNER_TABS, "nothing joined yet"
    program = offer(alice)
    join(bob, program)
    join(carol, program)
    assert groups_at(bob, "/earnings") == groups_at(carol, "/earnings") == PARTNER_TABS
    assert bob.web.log_in(bob.email).headers["location"] == "/earnings"
    assert groups_at(bob, "/rewards") == OWNER_TABS, "to begin with a newsletter"
    back = "Back to the partner’s menu"
    assert back in bob.web.get("/rewards").text and back not in bob.web.get("/earnings").text
    bob.post(f"{bob.v1}/rewards", {"name": "Stickers", "referrals": 3})
    carol.subscribe("ann@example.org")
    assert groups_at(bob, "/earnings") == groups_at(carol, "/earnings") == OWNER_TABS
    assert groups_at(alice, "/earnings") == OWNER_TABS, "who has a program is no mere partner"


def test_an_invited_partner_starts_with_the_menu_of_one(service: Service) -> None:
    admin = operator(service)
    service.write(lambda tx: tx.run(ADMIN, is_admin=1, account_id=admin.account_id))
    tabs = []
    for number, choice in enumerate(({"as_partner": "1"}, {})):
        email = f"menu{number}-{service.now_ms()}@example.org"
        sent = admin.web.post("/account/invitations", page="/team", email=email, **choice)
        found = re.search(r"/welcome/[\w-]+", sent.text)
        assert found is not None
        guest = WebClient(service)
        guest.post(found[0], name=f"Guest {number}", password=PASSWORD)
        tabs.append(groups_at(guest, "/network"))
    assert tabs == [PARTNER_TABS, OWNER_TABS]
