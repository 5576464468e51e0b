"""Robots and people who are paid to sign up, as they come to every newsletter with a program."""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from lab.browsers import DESKTOPS, EVERYDAY
from lab.crowd import PROVIDERS, Crowd
from lab.family import Form, Signup, attack


@attack(cost_mills=5)
def answered_form(rng: random.Random, count: int) -> Iterator[Signup]:
    """As a replayed form, but when it is refused, the script sends the fresh form that the answer
    has. The addresses are at a domain of its own, so that it can confirm them.
    """
    crowd = Crowd(rng)
    server, domain = crowd.ip_address(), crowd.company()
    for number in range(count):
        yield Signup(
            f"{crowd.local_part()}@{domain}",
            number * 9_000 + rng.randrange(8_000),
            server,
            browser="disguised",
            form=Form.ANSWERED,
            confirms_after_ms=rng.randrange(60_000, 900_000),
        )


@attack(cost_mills=1)
def bought_list(rng: random.Random, count: int) -> Iterator[Signup]:
    """A bought list of real people, posted by a tool that fetches a form for each. They get an
    email that they did not ask for; one in forty confirms it anyway.
    """
    crowd = Crowd(rng)
    for number in range(count):
        yield Signup(
            crowd.address(),
            number * 20_000 + rng.randrange(15_000),
            crowd.ip_address(),
            browser="python",
            form=Form.ELSEWHERE,
            confirms_after_ms=3_600_000 if number % 40 == 7 else None,
        )


@attack(cost_mills=80)
def bought_mailboxes(rng: random.Random, count: int) -> Iterator[Signup]:
    """Mailboxes sold by the hundred: a first name, a last name and four digits at one provider.
    Every signup comes from another home, with all headers of a real browser, and confirms.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 4):
        first, last = crowd.name()
        yield Signup(
            f"{first}{last}{rng.randint(1000, 9999)}@outlook.com",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=1)
def catch_all(rng: random.Random, count: int) -> Iterator[Signup]:
    """Names at one domain whose every address arrives in one mailbox. Nobody confirms."""
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.moments(count, 3 * HOUR_MS):
        yield Signup(crowd.colleague(domain), at_ms, crowd.ip_address())


@attack(cost_mills=10)
def catch_all_confirmed(rng: random.Random, count: int) -> Iterator[Signup]:
    """Names at one domain whose every address arrives in one mailbox. A script there confirms each
    after some minutes, from another IP address than the last one.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.moments(count, 2 * DAY_MS):
        yield Signup(
            crowd.colleague(domain),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=rng.randrange(60_000, 1_800_000),
        )


@attack(cost_mills=80)
def copycats(rng: random.Random, count: int) -> Iterator[Signup]:
    """A handful of real names, each with many different numbers, at two mailbox providers. All of
    them confirm.
    """
    crowd = Crowd(rng)
    names = [".".join(crowd.name()) for _ in range(5)]
    for number, at_ms in zip(rng.sample(range(1, 2000), count), crowd.days(count, 4), strict=True):
        yield Signup(
            f"{rng.choice(names)}{number}@{rng.choice(['gmail.com', 'yahoo.com'])}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=1)
def counted(rng: random.Random, count: int) -> Iterator[Signup]:
    """Addresses counted up at a big mailbox provider: reader101, reader102 and so on. Most of them
    do not exist, and nobody confirms.
    """
    crowd = Crowd(rng)
    word, first = rng.choice(["reader", "newsfan", "dailyuser"]), rng.randint(100, 800)
    for number, at_ms in enumerate(crowd.moments(count, 2 * HOUR_MS), first):
        yield Signup(f"{word}{number}@gmail.com", at_ms, crowd.ip_address(), browser="disguised")


@attack(cost_mills=20)
def counted_confirmed(rng: random.Random, count: int) -> Iterator[Signup]:
    """Mailboxes that a script made at a mailbox provider, with names that count up, and that it
    confirms from real browsers behind proxies.
    """
    crowd = Crowd(rng)
    numbers = rng.sample(range(10, 10 + 3 * count), count)
    for number, at_ms in zip(numbers, crowd.moments(count, 3 * DAY_MS), strict=True):
        yield Signup(
            f"markus.reads{number}@outlook.com",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(120_000, 3_600_000),
        )


@attack(cost_mills=1)
def domain_farm(rng: random.Random, count: int) -> Iterator[Signup]:
    """Ten cheap domains, none of them on a list of disposable ones, with a few addresses each.
    Nobody confirms.
    """
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(10)]
    for at_ms in crowd.moments(count, 4 * HOUR_MS):
        email = crowd.colleague(rng.choice(domains))
        yield Signup(email, at_ms, crowd.ip_address(), browser="curl", form=Form.ELSEWHERE)


@attack(cost_mills=10)
def domain_farm_confirmed(rng: random.Random, count: int) -> Iterator[Signup]:
    """Ten cheap domains with a few addresses each, signed up by real browsers behind proxies over
    some days. All of them confirm.
    """
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(10)]
    host = f"mx.{domains[0]}"
    for at_ms in crowd.moments(count, 4 * DAY_MS):
        yield Signup(
            crowd.colleague(rng.choice(domains)),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(120_000, 7_200_000),
            mail_host=host,
        )


@attack(cost_mills=20)
def gibberish(rng: random.Random, count: int) -> Iterator[Signup]:
    """Random letters and digits at big mailbox providers, from real browsers behind proxies. All
    of them confirm.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.moments(count, 2 * DAY_MS):
        yield Signup(
            f"{crowd.letters(rng.randint(8, 12))}@{crowd.provider()}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(60_000, 1_800_000),
        )


@attack(cost_mills=10)
def half_honest_looking(rng: random.Random, count: int) -> Iterator[Signup]:
    """Half are addresses at the attacker's own domain, which confirm. The other half are addresses
    of strangers, which never do and only hide the first half.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 3)):
        is_own = number % 2 == 0
        yield Signup(
            crowd.colleague(domain) if is_own else crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1) if is_own else None,
        )


@attack(cost_mills=80)
def headless_browser(rng: random.Random, count: int) -> Iterator[Signup]:
    """A browser without a window on a few rented servers, with bought mailboxes. All of them
    confirm.
    """
    crowd = Crowd(rng)
    servers = [crowd.ip_address() for _ in range(4)]
    for at_ms in crowd.moments(count, 12 * HOUR_MS):
        yield Signup(
            crowd.address(0),
            at_ms,
            rng.choice(servers),
            browser="headless",
            confirms_after_ms=rng.randrange(20_000, 120_000),
        )


@attack(cost_mills=250)
def hired_hands(rng: random.Random, count: int) -> Iterator[Signup]:
    """People who are paid to sign up: real browsers in one office, bought mailboxes, ordinary
    names, one about every three minutes of a working day. All of them confirm.
    """
    crowd = Crowd(rng)
    office = crowd.ip_address()
    for number in range(count):
        yield Signup(
            crowd.address(0),
            number * 180_000 + rng.randrange(90_000),
            office,
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=rng.randrange(30_000, 120_000),
            uses_page=rng.random() < 0.5,
        )


@attack(cost_mills=1)
def names_on_a_timer(rng: random.Random, count: int) -> Iterator[Signup]:
    """Made-up names at big mailbox providers, one every 45 seconds. Nobody confirms."""
    crowd = Crowd(rng)
    for number in range(count):
        at_ms = number * 45_000 + rng.randrange(2_000)
        yield Signup(crowd.address(0), at_ms, crowd.ip_address(), browser="disguised")


@attack(cost_mills=80)
def names_on_a_timer_confirmed(rng: random.Random, count: int) -> Iterator[Signup]:
    """Bought mailboxes with ordinary names, signed up by a real browser every 20 minutes, give or
    take two. All of them confirm.
    """
    crowd = Crowd(rng)
    for number in range(count):
        yield Signup(
            crowd.address(0),
            number * 1_200_000 + rng.randrange(240_000),
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(60_000, 600_000),
        )


@attack(cost_mills=80, is_out_of_reach=True)
def network_pool(rng: random.Random, count: int) -> Iterator[Signup]:
    """Bought mailboxes with ordinary names, signed up through a pool of eight IP addresses with
    all headers of a real browser. All of them confirm. Out of reach: an office, a school or a
    village behind one address looks the same, and refusing those would cost more than this does.
    """
    crowd = Crowd(rng)
    pool = [crowd.ip_address() for _ in range(8)]
    for at_ms in crowd.days(count, 5):
        yield Signup(
            crowd.address(0),
            at_ms,
            rng.choice(pool),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=5)
def one_person(rng: random.Random, count: int) -> Iterator[Signup]:
    """One person with many addresses: tags and dots in one mailbox, and the same name at several
    providers. All of them confirm, from home and from a phone.
    """
    crowd = Crowd(rng)
    first, last = crowd.name()
    home, phone, providers = crowd.ip_address(), crowd.ip_address(), list(PROVIDERS)
    for number, at_ms in enumerate(crowd.days(count, 6)):
        if number % 2:
            email = f"{first}.{last}+{crowd.letters(4)}@gmail.com"
        else:
            joint, tail = ("", ".", "_")[number % 3], number // 26 or ""
            email = f"{first}{joint}{last}{tail}@{providers[number // 2 % len(providers)]}"
        is_phone = rng.random() < 0.4
        yield Signup(
            email,
            at_ms,
            phone if is_phone else home,
            browser="iphone" if is_phone else "chrome_mac",
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=5)
def own_staff(rng: random.Random, count: int) -> Iterator[Signup]:
    """A partner refers its own staff, most of whom do not exist: one domain, one office, a few
    each day for two weeks. All of them confirm and press a button on their referral page.
    """
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    for at_ms in crowd.days(count, 14):
        yield Signup(
            crowd.colleague(domain),
            at_ms,
            office if rng.random() < 0.8 else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(1),
            uses_page=True,
        )


@attack(cost_mills=1)
def replayed_form(rng: random.Random, count: int) -> Iterator[Signup]:
    """A script loads one form and posts it again and again with addresses of a bought list."""
    crowd = Crowd(rng)
    server = crowd.ip_address()
    for number in range(count):
        yield Signup(crowd.address(), number * 2_000, server, browser="python", form=Form.REPLAYED)


@attack(cost_mills=60)
def residential_proxies(rng: random.Random, count: int) -> Iterator[Signup]:
    """Every signup comes from another home, with all headers of a real browser, over three days.
    The addresses are at five domains of the attacker's, and all of them confirm.
    """
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(5)]
    host = f"mx.{domains[0]}"
    for at_ms in crowd.days(count, 3):
        yield Signup(
            f"{crowd.local_part()}@{rng.choice(domains)}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
            mail_host=host,
        )


@attack(cost_mills=60)
def slow_drip(rng: random.Random, count: int) -> Iterator[Signup]:
    """Three domains of the attacker's, one or two signups a day for a month, from real browsers
    behind proxies. All of them confirm, and some press a button on their referral page.
    """
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(3)]
    host = f"mx.{domains[0]}"
    for at_ms in crowd.days(count, 30):
        yield Signup(
            crowd.colleague(rng.choice(domains)),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(300_000, 20_000_000),
            uses_page=rng.random() < 0.3,
            mail_host=host,
        )


@attack(cost_mills=10)
def subdomains(rng: random.Random, count: int) -> Iterator[Signup]:
    """One domain with a subdomain for each address, so no two share one. All of them confirm."""
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.days(count, 3):
        yield Signup(
            f"{crowd.local_part()}@{crowd.letters(6)}.{domain}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )
