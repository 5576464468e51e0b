"""An installation whose every text is hostile markup, with one of everything that a page
can show.
"""

from typing import Any

from honeyguide.accounts import invitations
from honeyguide.accounts.invitations import NewTicket
from honeyguide.kernel.ids import new_id
from honeyguide.pages.readers.page_texts import PAGE_TEXTS
from honeyguide.partners import payouts, rules
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, hub_choices
from honeyguide.subscribers.branding import FROM_NAME_LIMIT, BrandFields
from tests.support.embeds import embedding
from tests.support.fetches import document_of, fetch_of
from tests.support.markup import EVIL
from tests.support.move_certificates import certificate_of
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer, publish
from tests.support.readings import change_of
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, WebClient, operator, run_import, upload

URL = "https://files.example.org/?q=<evil>"
ADDRESS = {"line1": EVIL, "city": EVIL, "postcode": EVIL, "country": EVIL, "name": EVIL}


class World:
    """What the tests ask for by name: operators, readers, objects and their addresses."""

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
        self.wax.configure(name=EVIL, words={word.key: EVIL[: word.limit] for word in PAGE_TEXTS})
        brand = BrandFields(
            consent_text=EVIL,
            from_name=EVIL[:FROM_NAME_LIMIT],
            privacy_url=URL,
            imprint_url=URL,
            asks_name=True,
            show_inviter=True,
            show_leaderboard=True,
        )
        self.wax.member.make(branding.save, brand)
        embedding(self.alice, form_selector=EVIL)
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
        self.service.write(
            lambda tx: hub_choices.save(
                change_of(tx, self.wax.tenant),
                self.star["uuid"],
                shows_name=True,
                on_leaderboard=True,
            )
        )
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
        quoted = EVIL.replace('"', '""')
        rows = (
            f'email,name,"{quoted}"\nnot an address <evil>,<evil>,<evil>\nok@example.org,<evil>,1\n'
        )
        self.ids["fetch"] = fetch_of(self.alice, EVIL)
        self.ids["certificate"] = certificate_of(self.alice, EVIL)
        self.ids["document"] = document_of(self.alice, EVIL)
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
        removed = join(self.service.member("carol"), program)["uuid"]
        self.ids["removed partner"] = removed
        self.alice.web.post(f"/program/partners/{removed}/remove", page="/settings", reason=EVIL)
        for number in range(3):
            paid = self.alice.subscribe(
                f"paid{number}@example.org", name=EVIL, referrer_code=self.code
            )
        self.ids["paid"] = paid["uuid"]
        self.service.run_jobs()
        failed = statement("UPDATE letter SET error = :evil WHERE account_id = :account_id")
        self.service.write(lambda tx: tx.run(failed, evil=EVIL, account_id=self.alice.account_id))

    def developers(self) -> None:
        self.alice.web.post("/account/keys", page="/account/keys", name=EVIL)
        self.bob.web.post("/account/keys", page="/account/keys", name=EVIL)
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
            "INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms, "
            "error, response) "
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
            "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) VALUES (:id, "
            ":account_id, :month, 500, 1)"
        )
        now_ms = self.service.now_ms()
        for month in ("2020-01", rules.month_of(now_ms)):
            row: dict[str, Any] = {
                "id": new_id(),
                "account_id": self.bob.account_id,
                "month": month,
            }
            self.service.write(lambda tx, row=row: tx.run(insert, **row))
        self.service.write(lambda tx: payouts.mark_paid(tx.at(now_ms), row["id"], EVIL))

    def ticket(self, kind: str) -> str:
        async def issue(tx: Tx) -> str:
            new = NewTicket(kind, account_id=self.alice.account_id, email="o'evil@example.org")
            _, token = await invitations._issue(tx.at(self.service.now_ms()), new)
            return token

        return self.service.write(issue)

    def addresses(self, path: str) -> list[str]:
        """A path of the table with this world's own objects in it."""
        month = rules.month_of(self.service.now_ms())
        objects = {
            "/subscribers/import/api/": [self.ids["fetch"]],
            "/subscribers/import/documents/": [self.ids["document"]],
            "/subscribers/import/": [self.ids["import"], self.ids["new import"]],
            "/subscribers/": [self.star["uuid"], self.second["uuid"], self.ids["paid"]],
            "/rewards/": self.rewards,
            "/webhooks/": [self.ids["webhook"]],
            "/publications/": [self.ids["publication"]],
            "/program/partners/": [self.ids["partner campaign"], self.ids["removed partner"]],
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
