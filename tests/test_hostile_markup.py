"""Hostile markup in every text that somebody can type: no page of the dashboard and no page for readers lets any of it through.

Every GET of the dashboard's table is opened, and every form that shows again what was typed. On both engines.
"""

from __future__ import annotations

from typing import Any

import pytest

from honeyguide.accounts import attempts, invitations
from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.readers.words import WORDS
from honeyguide.partners import payouts, rules
from honeyguide.store.tx import Tx
from tests.support.market import join, offer, png, publish
from tests.support.markup import ESCAPED, EVIL, unescaped
from tests.support.newsletter import Newsletter
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, WebClient, operator, run_import, upload

URL = "https://files.example.org/?q=<evil>"
ADDRESS = {"line1": EVIL, "city": EVIL, "postcode": EVIL, "country": EVIL, "name": EVIL}


class World:
    """An installation whose every text is hostile, and one of everything."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.wax = Newsletter(service)
        self.wax.member, self.wax.tenant = (
            self.alice,
            type(self.wax.tenant)(self.alice.account_id, self.alice.campaign_id),
        )
        self.ids: dict[str, str] = {}
        self.accounts()
        self.campaign()
        self.subscribers()
        self.partners()
        self.developers()
        self.money()

    def accounts(self) -> None:
        for who in (self.alice, self.bob):
            assert who.web.post("/account/profile", page="/account", name=EVIL).status_code == 303
            browser = WebClient(self.service)
            browser.http.headers["user-agent"] = EVIL
            assert browser.log_in(who.email, PASSWORD).status_code == 303
        admin = statement("UPDATE account SET is_admin = 1 WHERE id = :id")
        self.service.write(lambda tx: tx.run(admin, id=self.alice.account_id))
        self.alice.web.post("/account/invitations", page="/account", email="o'evil@example.org")

    def campaign(self) -> None:
        self.wax.configure(name=EVIL, words={word.key: EVIL[: word.limit] for word in WORDS})
        self.rewards: list[str] = []
        reward = {"name": EVIL, "description": EVIL, "referrals": 1}
        for more in (
            {"kind": "physical"},
            {"kind": "coupon", "coupon_code": EVIL},
            {"kind": "coupon", "coupon_codes": [EVIL, f"{EVIL}2"]},
            {"kind": "link", "link": URL},
            {"kind": "manual", "approval": "manual"},
            {"kind": "manual", "referrals": 9},
        ):
            made = self.alice.post(f"{self.alice.v1}/rewards", {**reward, **more})
            assert made.status_code in (201, 400), made.text
            if made.status_code == 201:
                self.rewards.append(made.json()["reward"]["uuid"])

    def subscribers(self) -> None:
        claims = {
            "name": EVIL,
            "utm_source": EVIL,
            "utm_campaign": EVIL,
            "user_agent": EVIL,
            "ip_address": EVIL,
        }
        self.star = self.alice.subscribe("star@example.org", **claims)
        self.alice.subscribe("friend@example.org", referrer_code=self.star["ref_code"], **claims)
        self.alice.subscribe("thrown@mailinator.com", referrer_code=self.star["ref_code"], **claims)
        self.alice.put(f"{self.alice.v1}/settings", {"hold_days": 5, "screening": "strong"})
        near = {
            **claims,
            "ip_address": "198.51.100.7",
        }  # the referrer's own network: this one waits for the operator
        neighbor = self.alice.subscribe("near@example.org", **near)
        self.alice.subscribe("waits@example.org", referrer_code=neighbor["ref_code"], **near)
        self.alice.put(f"{self.alice.v1}/settings", {"hold_days": 0, "screening": "flexible"})
        self.alice.subscribe("claims@example.org", **{**claims, "referrer_code": EVIL})
        earned = self.alice.get(f"{self.alice.v1}/subscribers/{self.star['uuid']}/rewards").json()[
            "rewards"
        ]
        self.ids["unclaimed"] = earned[0]["uuid"]
        self.second = self.alice.subscribe("second@example.org", **claims)
        self.alice.subscribe("third@example.org", referrer_code=self.second["ref_code"], **claims)
        for earned in self.alice.get(
            f"{self.alice.v1}/subscribers/{self.second['uuid']}/rewards"
        ).json()["rewards"]:
            if earned["status"] == "unlocked":
                redeemed = self.alice.post(
                    f"{self.alice.v1}/rewards/{earned['uuid']}/redeem",
                    {"shipping_details": ADDRESS},
                )
                assert redeemed.status_code == 200, redeemed.text
        rows = f'email,name,"{EVIL.replace(chr(34), chr(34) * 2)}"\nnot an address <evil>,<evil>,<evil>\nok@example.org,<evil>,1\n'
        self.ids["import"] = upload(self.alice, rows, name="<evil>.csv")
        self.ids["new import"] = upload(self.alice, rows, name="<evil>2.csv")
        self.alice.web.post(
            f"/subscribers/import/{self.ids['new import']}", do="try", email="0", name="1"
        )
        run_import(self.alice, self.ids["import"])

    def partners(self) -> None:
        publication = publish(self.alice, name=EVIL, description=EVIL, list_id=EVIL)
        self.slug = f"evil-{new_id()[-12:]}"
        program = offer(
            self.alice,
            publication,
            terms=EVIL,
            slug=self.slug,
            cpa=3,
            total_budget=4,
            resources_url=URL,
        )
        self.ids |= {"publication": publication["uuid"], "program": program["uuid"]}
        offer(self.alice, publish(self.alice, name=EVIL, description=EVIL))
        self.ids["unoffered"] = publish(self.alice, name=EVIL)["uuid"]
        joined = self.bob.web.post(
            f"/network/{program['uuid']}/join", page="/settings", reason=EVIL
        )
        self.ids["partner campaign"] = joined.headers["location"].rsplit("/", 1)[1]
        self.code = join(self.bob, program)["ref_code"]
        for number in range(3):
            paid = self.alice.subscribe(
                f"paid{number}@example.org", name=EVIL, referrer_code=self.code
            )
        self.ids["paid"] = paid["uuid"]
        self.service.run_jobs()
        failed = statement("UPDATE letter SET error = :evil WHERE account_id = :account_id")
        self.service.write(lambda tx: tx.run(failed, evil=EVIL, account_id=self.alice.account_id))

    def developers(self) -> None:
        self.alice.web.post("/account/keys", page="/account", name=EVIL)
        self.bob.web.post("/account/keys", page="/account", name=EVIL)
        revoke = statement(
            "UPDATE api_key SET revoked_ms = 1 WHERE account_id = :account_id AND name = :evil"
        )
        self.service.write(lambda tx: tx.run(revoke, evil=EVIL, account_id=self.bob.account_id))
        for url in ("http://127.0.0.1:9/?q=<evil>", "http://127.0.0.1:9/'\"><evil>"):
            made = self.alice.post(
                "/v2/webhooks", {"url": url, "new_referral": True, "reward_unlocked": True}
            )
            if made.status_code == 201:
                self.ids["webhook"] = made.json()["webhook"]["uuid"]
        delivery = self.alice.post(f"/v2/webhooks/{self.ids['webhook']}/test", {}).json()[
            "delivery"
        ]["uuid"]
        attempt = statement(
            "INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms, error, response) "
            "VALUES (:id, :account_id, :delivery_id, 1, 500, 1, :evil, :evil)"
        )
        row: dict[str, Any] = {
            "id": new_id(),
            "account_id": self.alice.account_id,
            "delivery_id": delivery,
            "evil": EVIL,
        }
        self.service.write(lambda tx: tx.run(attempt, **row))

    def money(self) -> None:
        insert = statement(
            "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) VALUES (:id, :account_id, :month, 500, 1)"
        )
        now_ms = self.service.now_ms()
        for month in ("2020-01", rules.month_of(now_ms)):
            row: dict[str, Any] = {
                "id": new_id(),
                "account_id": self.bob.account_id,
                "month": month,
            }
            self.service.write(lambda tx, row=row: tx.run(insert, **row))
        self.service.write(lambda tx: payouts.mark_paid(tx, row["id"], EVIL, now_ms=now_ms))

    def ticket(self, kind: str) -> str:
        async def issue(tx: Tx) -> str:
            return await invitations._issue(
                tx,
                kind,
                account_id=self.alice.account_id,
                email="o'evil@example.org",
                lasts_ms=10**9,
                now_ms=self.service.now_ms(),
            )

        return self.service.write(issue)

    def addresses(self, path: str) -> list[str]:
        """A path of the table with this world's own objects in it."""
        month = rules.month_of(self.service.now_ms())
        objects = {
            "/subscribers/import/": [self.ids["import"], self.ids["new import"]],
            "/subscribers/": [self.star["uuid"], self.second["uuid"], self.ids["paid"]],
            "/rewards/": self.rewards,
            "/webhooks/": [self.ids["webhook"]],
            "/publications/": [self.ids["publication"]],
            "/program/": [self.ids["program"]],
            "/network/": [self.ids["program"]],
            "/earnings/": [self.ids["partner campaign"]],
        }
        if "{side}" in path:
            return [path.format(side=side, month=month) for side in ("owner", "partner")]
        if "{token}" in path:
            return [
                path.format(
                    token=self.ticket(
                        {"/welcome/{token}": "invitation"}.get(path, "password_reset")
                    )
                )
            ]
        ids = next((ids for start, ids in objects.items() if path.startswith(start)), [])
        return [path.replace("{id}", each) for each in ids] if "{" in path else [path]


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Any:
    patch = pytest.MonkeyPatch()
    patch.setattr(attempts, "LOGIN_BY_ADDRESS", attempts.LOGIN_BY_ADDRESS._replace(most=10_000))
    with Service(request.param) as service:
        yield World(service)
    patch.undo()


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
    "/login": [f"?next=/{EVIL}"],
    "/password": [f"?email={EVIL}"],
    "/pages": ["?page=thanks", "?page=hub", f"?page={EVIL}"],
    "/administration": ["?month=2020-01", f"?month={EVIL}"],
    "/program/new": [],
}
# Pages on which hostile text must be seen, escaped: or the test would look at empty pages.
SHOWS = {
    "/",
    "/subscribers",
    "/subscribers/{id}",
    "/subscribers/import",
    "/subscribers/import/{id}",
    "/review",
    "/rewards",
    "/rewards/{id}",
    "/pages",
    "/webhooks",
    "/webhooks/{id}",
    "/account",
    "/settings",
    "/publications",
    "/publications/{id}",
    "/program/{id}",
    "/program/{id}/change",
    "/network",
    "/network/{id}",
    "/earnings",
    "/earnings/{id}",
    "/statements/{side}/{month}",
    "/notices",
    "/administration",
}


def look(page: Any, where: str, problems: list[str]) -> bool:
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
                assert answer.status_code in (200, 404), f"{path}: {answer.status_code}"
                if look(answer, path, problems):
                    shown.add(page.path)
    assert problems == []
    assert SHOWS - shown == set(), "these showed no hostile text at all"


def forms(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    """(address, page with the token, fields): forms that are shown again with what was typed, previews, and flash messages."""
    typed = {
        "name": EVIL,
        "description": EVIL,
        "list_id": EVIL,
        "audience_gender": EVIL,
        "categories": EVIL,
    }
    terms = {
        "cpa": EVIL,
        "redirect_url": EVIL,
        "terms": EVIL,
        "slug": EVIL,
        "publication": world.ids["unoffered"],
    }
    words = {word.key: EVIL * 20 for word in WORDS}
    return [
        (
            "/subscribers/decide",
            "/settings",
            {"id": world.ids["paid"], "do": "verify", "back": f"/subscribers?q={EVIL}"},
        ),
        (
            "/rewards",
            "/rewards",
            {
                "name": EVIL,
                "referrals": EVIL,
                "description": EVIL,
                "coupon_codes": EVIL,
                "kind": "coupon",
            },
        ),
        (
            f"/rewards/{world.rewards[0]}",
            "/rewards",
            {"name": EVIL, "referrals": EVIL, "description": EVIL},
        ),
        (
            "/rewards/preview",
            "/rewards",
            {"name": EVIL, "referrals": "3", "description": EVIL, "coupon_code": EVIL},
        ),
        ("/pages", "/pages", words),
        ("/pages/preview", "/pages", dict.fromkeys(words, EVIL)),
        ("/pages/preview?page=hub", "/pages", dict.fromkeys(words, EVIL)),
        ("/pages/preview?page=thanks", "/pages", dict.fromkeys(words, EVIL)),
        ("/webhooks", "/webhooks", {"url": EVIL, "event": EVIL}),
        (f"/webhooks/{world.ids['webhook']}", "/webhooks", {"url": EVIL}),
        (f"/webhooks/{world.ids['webhook']}/act", "/webhooks", {"do": "replay", "since": EVIL}),
        ("/account/keys", "/account", {"name": EVIL * 20}),
        (
            "/settings/campaign",
            "/settings",
            {"name": EVIL * 20, "destination_url": EVIL, "slug": EVIL, "hold_days": EVIL},
        ),
        ("/account/profile", "/account", {"name": EVIL * 20}),
        ("/account/invitations", "/account", {"email": EVIL}),
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
        if not look(answer, path, problems):
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
    look(world.alice.web.get(saved.headers["location"]), "after /publications/new", problems)
    for path, fields in {
        "/login": {"email": EVIL, "password": EVIL},
        "/password": {"email": EVIL},
        "/signup": {"email": EVIL},
    }.items():
        look(WebClient(world.service).post(path, page="/login", **fields), path, problems)
    welcome = f"/welcome/{world.ticket('invitation')}"
    look(WebClient(world.service).post(welcome, name=EVIL, password="short"), welcome, problems)
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
        f"/hub?of={wax.campaign.slug}",
        f"/m/{world.code}?email={EVIL}",
        f"/m/{world.code}?email=o'evil@example.org",
    ]
    for path in pages:
        answer = wax.visitor.get(path)
        assert answer.status_code == 200, path
        if look(answer, path, problems):
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
        look(wax.visitor.get(path), path, problems)
    for page in (wax.page, program):
        look(wax.fill_in(page, EVIL), f"{page} with a bad address", problems)
        thanks = wax.fill_in(page, wax.address("new"))
        assert thanks.status_code == 303 and look(
            wax.visitor.get(thanks.headers["location"]), f"{page}/thanks", problems
        )
    claimed = wax.fill_in(f"{hub}/claim/{world.ids['unclaimed']}", "", **{**ADDRESS, "city": ""})
    assert look(claimed, "the address form", problems)
    wax.configure(needs_confirmation=True)
    asked = wax.fill_in(wax.page, email := wax.address("careful"))
    look(wax.visitor.get(asked.headers["location"]), "the inbox page", problems)
    assert look(wax.visitor.get(wax.confirm_link(email)), "the confirmation page", problems)
    look(wax.fill_in(f"/hub?of={wax.campaign.slug}", wax.address("asks")), "asked", problems)
    assert problems == []


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
