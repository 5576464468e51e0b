"""A newsletter with readers, rewards and words of its own, and a visitor who fills in its forms as
a person would.
"""

import itertools
import re
from html import unescape
from typing import Any

import httpx
import msgspec

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails
from honeyguide.mail.emails import QueuedEmail
from honeyguide.pages.readers import requested_emails
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.rewards.rewards import NewReward, Reward
from honeyguide.subscribers import branding, campaigns, clicks, hub, reader_links, subscribers
from honeyguide.subscribers.branding import BrandFields, Branding
from honeyguide.subscribers.campaigns import Campaign
from tests.support.readings import in_account, reading

from .http_client import local_client
from .service import Member, Service

_numbers = itertools.count(1)
AGENT = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15"

REWARDS = (
    NewReward(
        "Sticker pack",
        1,
        "link",
        description="Four bees for your laptop.",
        link="https://files.example.org/stickers",
    ),
    NewReward(
        "Secret recipes",
        3,
        "coupon",
        description="Nine desserts, none of them healthy.",
        coupon_code="HONEY-2026",
    ),
    NewReward("The mug", 5, "physical", description="Holds 400 ml. Dishwasher safe."),
    NewReward("A jar of honey", 10, "coupon", description="From the hive on our roof.", pool=True),
    NewReward("Dinner with the editors", 25, "manual", approval="manual"),
)


class Newsletter:
    def __init__(
        self,
        service: Service,
        name: str = "The Morning Wax",
        member: Member | None = None,
        **settings: Any,
    ) -> None:
        self.service = service
        self.member: Member = member or service.member("alice")
        self.tenant = Tenant(self.member.account_id, self.member.campaign_id)
        self.configure(name=name, **settings)
        self.visitor = self.new_visitor()

    def new_visitor(self) -> httpx.Client:
        return local_client(self.service.url, {"user-agent": AGENT})

    @property
    def campaign(self) -> Campaign:
        return self.service.read(lambda tx: campaigns.get(reading(tx, self.tenant)))

    @property
    def branding(self) -> Branding:
        return self.service.read(lambda tx: branding.of(reading(tx, self.tenant)))

    @property
    def page(self) -> str:
        return f"/join/{self.campaign.slug}"

    def configure(self, **settings: Any) -> None:
        self.member.make(campaigns.configure, campaigns.CampaignSettings(**settings))

    def speak(self, code: str, *, follow_browser: bool = False) -> None:
        """Changes the language of the campaign's pages and emails."""
        self.brand(language=code, follow_browser_language=follow_browser)

    def brand(self, **changes: Any) -> None:
        """Changes some of the branding."""
        old = msgspec.convert(self.branding._asdict(), BrandFields, strict=False)
        self.member.make(branding.save, msgspec.structs.replace(old, **changes))

    def offer(self, *ladder: NewReward) -> list[Reward]:
        return [self.member.make(rewards.create, new) for new in ladder or REWARDS]

    def add_codes(self, reward: Reward, *codes: str) -> None:
        self.member.make(earned_rewards.add_codes, reward.id, list(codes))

    def address(self, name: str = "reader") -> str:
        return f"{name}{next(_numbers)}@example.org"

    def advocate(
        self, friends: int, *, name: str | None = "Ben Baker", waiting: int = 0
    ) -> subscribers.Subscriber:
        """Somebody who brought so many friends."""
        made = self.member.subscribe(self.address("ben"), **({"name": name} if name else {}))
        for number in range(friends + waiting):
            if number == friends:
                self.configure(hold_days=7)
            self.member.subscribe(self.address("friend"), referrer_code=made["ref_code"])
        if waiting:
            self.configure(hold_days=0)
        return self.person(made["uuid"])

    def person(self, id_or_email: str) -> subscribers.Subscriber:
        return self.service.read(lambda tx: subscribers.get(reading(tx, self.tenant), id_or_email))

    def hub(self, person: subscribers.Subscriber) -> str:
        return hub.link(self.service.services.site, person).removeprefix(
            self.service.settings.base_url
        )

    def emails(self, kind: str | None = None) -> list[QueuedEmail]:
        found = self.service.read(
            lambda tx: emails.of_account(in_account(tx, self.member.account_id), Page(1, 200))
        )
        return [email for email in found if kind in (None, email.kind)]

    def confirm_link(self, email: str) -> str:
        """The link in the newest email to this address. Made anew: once an email is out, nobody
        finds a key in it.
        """
        message = next(message for message in self.emails("confirm") if message.to_email == email)
        until_ms = message.created_ms + requested_emails.CONFIRM_WITHIN_MS
        site, person = self.service.services.site, self.person(email)
        token = reader_links.confirm_token(site, person, until_ms)
        return f"/confirm/{token}"

    def clicks(self, code: str = "") -> int:
        self.service.run(self.service.application._links.counter.flush())
        return self.service.read(
            lambda tx: clicks.total(
                in_account(tx, self.member.account_id), self.member.campaign_id, code
            )
        )

    # -- what a visitor does

    def fields(self, path: str) -> dict[str, str]:
        """The hidden fields of the form on a page, and the boxes that must be checked."""
        html = self.visitor.get(path).text
        found = re.findall(r'type="(?:hidden|checkbox)" name="([^"]+)" value="([^"]*)"', html)
        return {unescape(name): unescape(value) for name, value in found}

    def claim_token(self, hub: str) -> str:
        """Of the form that claims a reward on a referral page."""
        found = re.search(
            r'/claim/[^>]+>\s*<input [^>]*value="([^"]+)"', self.visitor.get(hub).text
        )
        assert found
        return found[1]

    def later(self, seconds: float = 5) -> None:
        ahead_s = float(self.service.clock_file.read_text())
        self.service.set_clock(ahead_s + seconds)

    def fill_in(self, path: str, email: str, **fields: str) -> httpx.Response:
        """Opens the page, waits as people do, and sends the form."""
        hidden = self.fields(path)
        self.later()
        return self.visitor.post(path.partition("?")[0], data={**hidden, "email": email, **fields})

    def join(self, email: str, query: str = "", **fields: str) -> httpx.Response:
        return self.fill_in(f"{self.page}{query}", email, **fields)


def link_of(html: str) -> str:
    """The reader's own link, as a page shows it."""
    found = re.search(r'id="link" readonly value="([^"]+)"', html)
    assert found, html
    return unescape(found[1])


def errors(answer: httpx.Response) -> dict[str, str]:
    """The errors that a form shows, by the field each one belongs to; "" is the whole form."""
    found = re.findall(
        r'<p class="wrong"(?: id="(\w+)-error")? role="alert">\s*<svg.*?</svg>([^<]*)<',
        answer.text,
        re.DOTALL,
    )
    return {name: unescape(sentence).strip() for name, sentence in found}


def wrong(answer: httpx.Response) -> str:
    """The only error that a form shows."""
    found = errors(answer)
    assert len(found) < 2, found
    return next(iter(found.values()), "")


def follow(wax: Newsletter, answer: httpx.Response) -> httpx.Response:
    assert answer.status_code == 303, answer.text
    return wax.visitor.get(answer.headers["location"])
