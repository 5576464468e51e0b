"""Attacks by somebody who has read every document and threshold, buys what is sold publicly, and
has real browsers in real homes. What a fake costs is its mailbox, domain, home and hands.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from lab.browsers import DESKTOPS, EVERYDAY
from lab.crowd import Crowd
from lab.family import Form, Signup, attack

SMALL_HOSTS = [f"mx.{name}" for name in ("tinybox.net", "cockpit-mail.org", "pretty-names.io")]


def _fake(crowd: Crowd, email: str, at_ms: int, *, partner: int = 0, mail_host: str = "") -> Signup:
    """As a patient person sends it."""
    return Signup(
        email,
        at_ms,
        crowd.ip_address(),
        browser=crowd.browser(EVERYDAY),
        confirms_after_ms=crowd.confirms(1),
        partner=partner,
        mail_host=mail_host,
    )


def _reader(crowd: Crowd, at_ms: int, *, partner: int = 0) -> Signup:
    """One whom the attacker's newsletter really has."""
    return Signup(
        crowd.address(),
        at_ms,
        crowd.ip_address(),
        browser=crowd.browser(EVERYDAY),
        confirms_after_ms=crowd.confirms(),
        partner=partner,
        is_extra=True,
    )


@attack(cost_mills=150)
def aged_mailboxes(rng: random.Random, count: int) -> Iterator[Signup]:
    """Mailboxes of a year's age at big providers, with ordinary names, one home each, over two
    weeks.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 14):
        yield _fake(crowd, crowd.address(0), at_ms)


@attack(cost_mills=50)
def vanity_domains(rng: random.Random, count: int) -> Iterator[Signup]:
    """Free mailboxes at small hosts that lend many pretty domains, a domain each; three in ten are
    at big providers.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 12):
        if rng.random() < 0.3:
            yield _fake(crowd, crowd.address(0), at_ms)
            continue
        own, host = f"{crowd.local_part()}@{crowd.company()}", rng.choice(SMALL_HOSTS)
        yield _fake(crowd, own, at_ms, mail_host=host)


@attack(cost_mills=50)
def free_dns_names(rng: random.Random, count: int) -> Iterator[Signup]:
    """A name each under a different public domain of a free DNS host, with one mail host behind
    all of them.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 12):
        email = f"{crowd.local_part()}@{crowd.letters(5)}.{crowd.company()}"
        yield _fake(crowd, email, at_ms, mail_host="in.one-box-for-all.net")


@attack(cost_mills=50)
def names_at_a_known_host(rng: random.Random, count: int) -> Iterator[Signup]:
    """As above, with one account at a known mailbox service, which takes the mail of any number of
    domains for nineteen dollars a year. Half are at big providers.
    """
    crowd = Crowd(rng)
    for number, at_ms in enumerate(crowd.days(count, 12)):
        own = f"{crowd.local_part()}@{crowd.letters(5)}.{crowd.company()}"
        email = own if number % 2 else crowd.address(0)
        yield _fake(crowd, email, at_ms, mail_host="aspmx1.migadu.com" if number % 2 else "")


@attack(cost_mills=10)
def made_common_first(rng: random.Random, count: int) -> Iterator[Signup]:
    """Two dozen addresses of a catch-all domain subscribe on the newsletter's own page, without a
    code and without confirming. A week later the domain looks common.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.days(24, 4):
        yield Signup(
            crowd.colleague(domain),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            form=Form.PAGE,
            is_extra=True,
        )
    for at_ms in crowd.days(count, 6):
        yield _fake(crowd, f"{crowd.local_part()}@{domain}", 7 * DAY_MS + at_ms)


@attack(cost_mills=20, partners=14, is_one_login=True)
def many_newsletters(rng: random.Random, count: int) -> Iterator[Signup]:
    """One login opens many newsletters and joins with each. Three fakes come with each code, all
    of them at one catch-all domain.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 10)):
        email = f"{crowd.local_part()}@{domain}"
        yield _fake(crowd, email, at_ms, partner=number // 3 % 14)


@attack(cost_mills=20, partners=2)
def shared_domain(rng: random.Random, count: int) -> Iterator[Signup]:
    """Two partners share a catch-all domain: half of the fakes come with each code, among readers
    of their own.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 10)):
        yield _fake(crowd, f"{crowd.local_part()}@{domain}", at_ms, partner=number % 2)
    for number, at_ms in enumerate(crowd.days(count * 3 // 2, 10)):
        yield _reader(crowd, at_ms, partner=number % 2)


@attack(cost_mills=80)
def three_a_day(rng: random.Random, count: int) -> Iterator[Signup]:
    """Bought mailboxes, never more than three a day."""
    crowd = Crowd(rng)
    for number in range(count):
        at_ms = number // 3 * DAY_MS + rng.randrange(15 * HOUR_MS)
        yield _fake(crowd, crowd.address(0), at_ms)


@attack(cost_mills=10)
def padded_with_one_domain(rng: random.Random, count: int) -> Iterator[Signup]:
    """A real newsletter adds fakes at one domain of its own, four for six readers."""
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.days(count, 10):
        yield _fake(crowd, f"{crowd.local_part()}@{domain}", at_ms)
    for at_ms in crowd.days(count * 3 // 2, 10):
        yield _reader(crowd, at_ms)


@attack(cost_mills=10)
def padded_with_five_domains(rng: random.Random, count: int) -> Iterator[Signup]:
    """A real newsletter adds fakes at five domains of its own, four for six readers."""
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(5)]
    for at_ms in crowd.days(count, 10):
        email = f"{crowd.local_part()}@{rng.choice(domains)}"
        yield _fake(crowd, email, at_ms, mail_host="aspmx1.migadu.com")
    for at_ms in crowd.days(count * 3 // 2, 10):
        yield _reader(crowd, at_ms)


@attack(cost_mills=250)
def paid_people(rng: random.Random, count: int) -> Iterator[Signup]:
    """People who are paid for the task, with their own mailboxes, at home. They confirm at once
    and never read an issue.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 5):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(30_000, 600_000),
        )


@attack(cost_mills=2)
def scanned_strangers(rng: random.Random, count: int) -> Iterator[Signup]:
    """Addresses of strangers at work, whose scanner follows every link in an email. One in twenty
    confirms.
    """
    crowd = Crowd(rng)
    for number, at_ms in enumerate(crowd.days(count, 8)):
        yield Signup(
            crowd.colleague(crowd.company()),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=3 * HOUR_MS if number % 20 == 3 else None,
            is_scanned=True,
        )


@attack(cost_mills=60)
def shadows(rng: random.Random, count: int) -> Iterator[Signup]:
    """Fakes that have the network and browser of a real visitor of minutes before: a third of the
    link, at one domain.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    readers = [_reader(crowd, at_ms) for at_ms in crowd.days(2 * count, 10)]
    yield from readers
    for reader in readers[::2]:
        yield Signup(
            f"{crowd.local_part()}@{domain}",
            reader.at_ms + rng.randrange(2 * MINUTE_MS, 9 * MINUTE_MS),
            reader.ip_address,
            browser=reader.browser,
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=0, is_out_of_reach=True)
def friends_and_relatives(rng: random.Random, count: int) -> Iterator[Signup]:
    """Friends and relatives of the partner, as a favor. Out of reach: they are real people with
    real mailboxes, who only do not read.
    """
    crowd = Crowd(rng)
    home = crowd.ip_address()
    for number, at_ms in enumerate(crowd.days(count, 9)):
        yield Signup(
            crowd.address(),
            at_ms,
            home if number % 9 == 0 else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=150)
def paid_and_gone(rng: random.Random, count: int) -> Iterator[Signup]:
    """Aged mailboxes that leave a day after they were confirmed."""
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 10):
        yield Signup(
            crowd.address(0),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
            leaves_after_ms=25 * HOUR_MS,
        )


@attack(cost_mills=0)
def owners_own_form(rng: random.Random, count: int) -> Iterator[Signup]:
    """Made-up addresses in the form of the owner's own website, whose server creates the
    subscribers by API, as docs/embeds.md says. Nobody ever confirms.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 6):
        yield Signup(crowd.address(0), at_ms, crowd.ip_address(), form=Form.API)


@attack(cost_mills=150)
def embed_without_token(rng: random.Random, count: int) -> Iterator[Signup]:
    """A program calls the endpoint behind the owner's embedded form, without a token, and names
    the owner's website. Bought mailboxes confirm.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 10):
        yield Signup(
            crowd.address(0),
            at_ms,
            crowd.ip_address(),
            browser="disguised",
            form=Form.EMBED,
            confirms_after_ms=crowd.confirms(1),
        )


@attack(cost_mills=10)
def spammed_magic_links(rng: random.Random, count: int) -> Iterator[Signup]:
    """Magic links with guessed addresses, sent as spam. Scanners open them; one in twenty people
    presses the button and confirms.
    """
    crowd = Crowd(rng)
    for number, at_ms in enumerate(crowd.days(count, 3)):
        presses = number % 20 == 7
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            form=Form.OWN if presses else Form.OPENED,
            confirms_after_ms=crowd.confirms(1) if presses else None,
        )


@attack(cost_mills=160)
def bought_clicks(rng: random.Random, count: int) -> Iterator[Signup]:
    """Ten clicks from other homes come before each fake, and every three fakes have a domain of
    their own.
    """
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(count // 3 + 1)]
    for number, at_ms in enumerate(crowd.days(count, 12)):
        yield Signup(
            f"{crowd.local_part()}@{domains[number // 3]}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
            clicks_from=tuple(crowd.ip_address() for _ in range(10)),
        )


@attack(cost_mills=1, partners=2)
def stolen_readers(rng: random.Random, count: int) -> Iterator[Signup]:
    """Readers of another partner who have not confirmed yet, entered once more with the thief's
    code minutes after they signed up.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 8):
        email, confirms = crowd.address(), crowd.confirms()
        home, browser = crowd.ip_address(), crowd.browser(EVERYDAY)
        yield Signup(email, at_ms, home, browser, confirms_after_ms=confirms, is_extra=True)
        later_ms = at_ms + rng.randrange(MINUTE_MS, 15 * MINUTE_MS)
        yield Signup(email, later_ms, crowd.ip_address(), partner=1)


@attack(cost_mills=10, is_editor=True)
def editor_verifies(rng: random.Random, count: int) -> Iterator[Signup]:
    """The partner is an editor in the team of the newsletter that pays, and verifies every day what
    came: made-up people at one domain, who confirm.
    """
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.days(count, 10):
        yield _fake(crowd, f"{crowd.local_part()}@{domain}", at_ms)
