"""The partners' half in a real browser: one deal from the offer to the bank, and every page in
every look.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from honeyguide.accounts import attempts
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.partners import ledger_check, payouts, rules
from honeyguide.partners.payouts import Payout
from honeyguide.store.tx import Tx
from tests.browser.conftest import DESKTOP, PHONE, Appearance, PageAt, weights
from tests.browser.test_dashboard import SIXTHS
from tests.support.partner_network import join, offer, png, publish
from tests.support.readings import in_account
from tests.support.service import Service
from tests.support.web import Operator, operator

HEAVIEST = 60_000


@pytest.fixture(autouse=True)
def quick_hands(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """The browser fills in more forms than people do, and always from one network."""
    monkeypatch.setattr(
        attempts, "LOGIN_BY_ADDRESS", attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
    )


def sit_down(page: Page, who: Operator) -> Page:
    """Logs in anew: the clock may have passed the last session's end."""
    assert who.web.log_in(who.email).status_code == 303
    page.context.add_cookies(
        [{"name": "hg_session", "value": who.web.session, "url": who.service.url, "httpOnly": True}]
    )
    return page


class Places:
    """An administrator with an offer that is out of money, and a partner with a payout."""

    def __init__(self, service: Service) -> None:
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.publication = publish(self.alice)
        hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
        self.program = offer(
            self.alice, self.publication, total_budget=9, slug="wax", terms="Be kind.", **hold
        )
        named = (
            "A newsletter with a name that goes on for rather longer than anybody would expect of "
            "one " * 2
        )
        self.other = offer(
            self.bob,
            publish(self.bob, name=named.strip(), description=None),
            cpa=0,
            max_payout=0,
            total_budget=0,
        )
        offer(self.bob, publish(self.bob, name="A second one"), show_in_directory=False)
        self.place, self.own = join(self.bob, self.program), join(self.alice, self.other)
        for number in range(5):
            self.alice.subscribe(
                f"r{number}@example.org",
                name=f"Reader {number}",
                referrer_code=self.place["ref_code"],
            )
        self.alice.subscribe("thrown@mailinator.com", referrer_code=self.place["ref_code"])
        service.set_clock(8 * DAY_MS / 1000)
        service.run_jobs()
        self.month = rules.month_of(service.now_ms())
        service.set_clock((rules.closes_at(self.month) + HOUR_MS - system_clock()) / 1000)
        service.run_jobs()
        self.alice.subscribe("later@example.org", referrer_code=self.place["ref_code"])
        self.name_paths()

    def name_paths(self) -> None:
        program, publication = self.program["uuid"], self.publication["uuid"]
        self.alices = {
            "publications": "/publications",
            "publication": f"/publications/{publication}",
            "publication-new": "/publications/new",
            "program": f"/program/{program}",
            "program-change": f"/program/{program}/change",
            "network": "/network",
            "network-none": "/network?search=nothing",
            "offer": f"/network/{self.other['uuid']}",
            "offer-own": f"/network/{program}",
            "statement-owner": f"/statements/owner/{self.month}",
            "administration": "/administration",
            "administration-month": f"/administration?month={self.month}",
            "proof": "/administration/proof",
            "notices": "/notices",
            "notification-preferences": "/notices/preferences",
            "stopped-emails": "/look/emails/stopped",
        }
        self.bobs = {
            "earnings": "/earnings",
            "earnings-before": f"/earnings?month={self.month}",
            "place": f"/earnings/{self.place['uuid']}",
            "payouts": "/payouts",
            "statement": f"/statements/partner/{self.month}",
            "notices-partner": "/notices",
            "programs": "/program",
            "program-free": f"/program/{self.other['uuid']}",
            "earnings-rejected": f"/earnings?month={self.month}&show=rejected",
            "earnings-uncharged": f"/earnings?month={self.month}&show=uncharged",
        }


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


EMPTY = {
    "publications-empty": "/publications",
    "program-empty": "/program",
    "network-stranger": "/network",
    "earnings-empty": "/earnings",
    "payouts-empty": "/payouts",
    "notices-empty": "/notices",
}


@pytest.mark.parametrize("sixth", SIXTHS)
def test_every_page_in_every_look(
    service: Service,
    places: Places,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    sixth: int,
) -> None:
    for page, paths in everything(service, places, page_at):
        for path in list(paths.values())[sixth::6]:
            answer = page.goto(service.url + path)
            assert answer is not None and answer.status == 200, path
            looks_good(page)


@pytest.mark.long
def test_every_page_loaded_in_every_look(
    service: Service, places: Places, appearance: Appearance
) -> None:
    for page, paths in everything(service, places, appearance.page):
        for name, path in paths.items():
            page.goto(service.url + path)
            appearance.check(page, f"network-{name}")


def everything(
    service: Service, places: Places, new_page: Callable[[], Page]
) -> Iterator[tuple[Page, dict[str, str]]]:
    """A page for each operator, and the paths to open as that operator."""
    newcomer = operator(service, "new")
    for who, paths in (
        (places.alice, places.alices),
        (places.bob, places.bobs),
        (newcomer, EMPTY),
    ):
        yield sit_down(new_page(), who), paths


@pytest.mark.long
def test_every_page_is_light(service: Service, places: Places, page_at: PageAt) -> None:
    heavy = {}
    for who, paths in ((places.alice, places.alices), (places.bob, places.bobs)):
        page = sit_down(page_at(DESKTOP), who)
        for path in paths.values():
            found = weights(page, service.url + path)
            if sum(found.values()) >= HEAVIEST:
                heavy[path] = found
    assert not heavy


@pytest.mark.long
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_deal_from_the_offer_to_the_bank(page_at: PageAt, tmp_path: Path, scripts: bool) -> None:
    """Two fees fit the budget, the third reader is one too many."""
    with Service("sqlite") as service:
        alice, bob = operator(service, "alice"), operator(service, "bob")
        owner, partner = page_at(DESKTOP, scripts=scripts), page_at(DESKTOP, scripts=scripts)
        _publish(service, sit_down(owner, alice), tmp_path)
        magic = _join(service, sit_down(partner, bob))
        for name in ("ann", "ben", "cleo"):
            _arrive(page_at(PHONE, scripts=scripts), magic + f"{name}@example.org")
        owner.reload()
        assert service.read(ledger_check.verify)[1].charged_cents == 0, "all three wait"
        _to_next_month(service, owner)
        service.set_clock((service.now_ms() - system_clock() + 8 * DAY_MS) / 1000)
        month = rules.month_of(service.now_ms())
        service.run_jobs()
        sit_down(owner, alice).goto(f"{service.url}/program")
        expect(owner.get_by_text("Budget reached: no more charges this month")).to_be_visible()
        sit_down(partner, bob).goto(f"{service.url}/notices")
        expect(partner.locator("main")).to_contain_text("The Morning Wax")
        service.set_clock((rules.closes_at(month) + HOUR_MS - system_clock()) / 1000)
        service.run_jobs()
        _pay(service, sit_down(owner, alice), month)
        _read_statement(service, sit_down(partner, bob), bob, month)


def test_previews_follow_what_is_typed(
    service: Service, places: Places, page_at: PageAt, tmp_path: Path
) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(png((10, 120, 60)))
    page = sit_down(page_at(DESKTOP), places.alice)
    page.goto(f"{service.url}/publications/new")
    card, signup = page.frame_locator("iframe.frame"), page.frame_locator("iframe.preview")
    page.get_by_label("Name", exact=True).fill("Comb & Co")
    page.get_by_label("Science", exact=True).check()
    expect(card.get_by_role("heading")).to_have_text("Comb & Co")
    expect(card.get_by_text("Science")).to_be_visible()
    expect(signup.get_by_role("heading", level=1)).to_have_text("Get Comb & Co in your inbox")
    page.get_by_label("Logo").set_input_files(logo)
    for frame in (card, signup):
        expect(frame.locator("img.logo")).to_have_attribute("src", re.compile("^data:image/png"))
    page.get_by_label("Description").fill("Wax, mostly")
    expect(signup.get_by_text("Wax, mostly")).to_be_visible()
    expect(signup.locator("img.logo")).to_have_attribute("src", re.compile("^data:image/png"))
    page.goto(f"{service.url}/program/{places.program['uuid']}/change")
    page.get_by_label("Fee per new subscriber").fill("2.25")
    expect(page.frame_locator("iframe.frame").get_by_text("$2.25")).to_be_visible()
    expect(page.locator("aside")).to_contain_text("$9.00")  # four fees of the nine dollars
    page.get_by_label("New subscribers per month").fill("2")
    expect(page.locator("aside")).to_contain_text("$4.50")


@pytest.mark.long
def test_a_slider_shows_who_would_be_paid_with_another_budget(
    service: Service, page_at: PageAt
) -> None:
    month = rules.month_of(service.now_ms())
    if rules.month_of(service.now_ms() + DAY_MS) != month:  # all is due in one month
        service.set_clock(2 * DAY_MS / 1000)
    alice, bob = operator(service, "alice"), operator(service, "bob")
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    program = offer(alice, publish(alice), cpa=3, total_budget=3, **hold)
    place = join(bob, program)
    for number in range(3):
        alice.subscribe(f"reader{number}@example.org", referrer_code=place["ref_code"])
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/program/{program['uuid']}")
    tried = page.locator("#tried")
    expect(tried).to_contain_text("$6.00 more would be paid")
    tried.get_by_role("slider").fill("7")
    expect(tried).to_contain_text("1 reader more, $3.00")
    expect(tried.get_by_role("slider")).to_be_focused()


def _publish(service: Service, page: Page, folder: Path) -> None:
    logo = folder / "logo.png"
    logo.write_bytes(png())
    page.goto(f"{service.url}/publications")
    page.get_by_role("link", name="Add publication").click()
    page.get_by_label("Name", exact=True).fill("The Morning Wax")
    page.get_by_label("Description").fill("Bees and honey")
    page.get_by_label("Logo").set_input_files(logo)
    for word in ("Food & drink", "25–39", "$50k–$75k"):
        page.get_by_label(word, exact=True).check()
    page.get_by_role("button", name="Add publication").click()
    page.get_by_label("Fee per new subscriber").fill("2.50")
    page.get_by_label("Monthly cap per partner").fill("40")
    page.get_by_label("Monthly budget").fill("5")
    page.get_by_label("Holding period (days)").fill("7")
    page.get_by_label("Landing page URL").fill(f"{service.url}/docs")
    page.get_by_role("button", name="Publish program").click()
    expect(page.get_by_role("status")).to_contain_text("Your program is live")


def _join(service: Service, page: Page) -> str:
    """The partner's magic link, as it stands on their page."""
    page.goto(f"{service.url}/network?search=bees")
    page.get_by_role("link", name="The Morning Wax").first.click()
    page.get_by_role("button", name="Join and get your links").click()
    expect(page.get_by_role("status")).to_contain_text(
        "You joined the partner program of The Morning Wax."
    )
    return page.get_by_label("Magic link").input_value()


def _arrive(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")


def _to_next_month(service: Service, page: Page) -> None:
    """By the banner's own button, which keeps one logged in; what follows then never straddles the
    end of a month.
    """
    page.goto(f"{service.url}/program")
    page.get_by_role("button", name="To month end").click()
    expect(page.get_by_role("status")).to_contain_text("Time moved forward.")
    expect(page.get_by_role("heading", name="Charged in")).to_be_visible()
    assert service.now_ms() > system_clock() + HOUR_MS / 2


def _pay(service: Service, page: Page, month: str) -> None:
    page.goto(f"{service.url}/administration?month={month}")
    expect(page.get_by_role("row", name="bob").first).to_contain_text("$5.00")
    page.get_by_label("Payment reference for").fill("SEPA 1")
    page.get_by_role("button", name="Mark as paid").click()
    expect(page.get_by_role("status")).to_contain_text("was marked as paid")
    page.goto(f"{service.url}/administration/proof")
    expect(page.locator("main")).to_contain_text("$5.00")


def _read_statement(service: Service, page: Page, bob: Operator, month: str) -> None:
    """The page, the CSV, the payout and the books name one sum."""
    page.goto(f"{service.url}/payouts")
    page.get_by_role("link", name=rules.month_name(month)).first.click()
    expect(page.locator("tr.sum")).to_contain_text("$5.00")
    expect(page.locator("main")).to_contain_text("SEPA 1")
    lines = list(csv.DictReader(io.StringIO(bob.web.get(f"/statements/partner/{month}.csv").text)))
    assert sum(Decimal(line["amount_usd"]) for line in lines) == Decimal("5.00") and len(lines) == 2

    async def find(tx: Tx) -> Payout | None:
        return await payouts.find_of_month(in_account(tx, bob.account_id), month)

    payout = service.read(find)
    findings, sums = service.read(ledger_check.verify)
    assert (
        payout is not None
        and payout.amount_cents == 500 == sums.charged_cents == sums.paid_out_cents
    )
    assert not [finding for finding in findings if finding.broken]


def test_logos_come_from_this_host_and_are_pictures(service: Service, places: Places) -> None:
    answer = httpx.get(places.publication["logo_url"], verify=False)
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/png"
