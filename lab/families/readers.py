"""Honest readers of a partner, as different as they are."""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from lab.browsers import DESKTOPS, EVERYDAY, PHONES
from lab.crowd import Crowd
from lab.family import Signup, honest

RELAYS = ("privaterelay.appleid.com", "privaterelay.appleid.com", "duck.com", "mozmail.com")


@honest(people=150)
def company_readers(rng: random.Random, count: int) -> Iterator[Signup]:
    """Readers of a newsletter about business: two thirds use their address at work, and now and
    then two or three come from the same company.
    """
    crowd = Crowd(rng)
    offices: list[tuple[str, str]] = []
    for at_ms in crowd.days(count, 12):
        is_colleague = bool(offices) and rng.random() < 0.1
        company = rng.choice(offices) if is_colleague else (crowd.company(), crowd.ip_address())
        is_at_work = is_colleague or rng.random() < 0.6
        if is_at_work:
            offices.append(company)
        domain, office = company
        yield Signup(
            crowd.colleague(domain) if is_at_work else crowd.address(0),
            at_ms,
            office if is_at_work and rng.random() < 0.7 else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=40)
def conference_talk(rng: random.Random, count: int) -> Iterator[Signup]:
    """A talk ends with a QR code, and forty listeners sign up within a quarter of an hour: half
    over the Wi-Fi of the room, half over their mobile networks.
    """
    crowd = Crowd(rng)
    room = crowd.ip_address()
    for at_ms in sorted(int(rng.betavariate(1.2, 3) * 15 * MINUTE_MS) for _ in range(count)):
        yield Signup(
            crowd.address(0.3),
            at_ms,
            room if rng.random() < 0.5 else crowd.ip_address(),
            browser=crowd.browser(PHONES),
            confirms_after_ms=crowd.confirms(0.9),
        )


@honest(people=150)
def never_confirm(rng: random.Random, count: int) -> Iterator[Signup]:
    """People who sign up and then miss the email: more than half never confirm. The others do."""
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 7):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(0.45),
        )


@honest(people=300)
def newsletter_hour(rng: random.Random, count: int) -> Iterator[Signup]:
    """A newsletter with the partner's link goes out, and 300 people come within an hour, most of
    them in the first twenty minutes.
    """
    crowd = Crowd(rng)
    for at_ms in sorted(int(rng.betavariate(1.1, 3) * HOUR_MS) for _ in range(count)):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(0.8),
        )


@honest(people=100)
def old_phones(rng: random.Random, count: int) -> Iterator[Signup]:
    """Old iPhones, whose browser leaves out headers that newer ones send."""
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 9):
        yield Signup(
            crowd.address(0.05),
            at_ms,
            crowd.ip_address(),
            browser="old_safari",
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=120)
def phones(rng: random.Random, count: int) -> Iterator[Signup]:
    """Phones without scripts, most of them in the browser of another app. Some share the IP
    address of their mobile network.
    """
    crowd = Crowd(rng)
    carriers = [crowd.ip_address() for _ in range(10)]
    for at_ms in crowd.days(count, 5):
        yield Signup(
            crowd.address(0.03),
            at_ms,
            rng.choice(carriers) if rng.random() < 0.25 else crowd.ip_address(),
            browser=crowd.browser(PHONES),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=110)
def privacy_relays(rng: random.Random, count: int) -> Iterator[Signup]:
    """Half hide their address behind a relay of their phone or browser, whose names are random
    letters.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 8):
        relayed = f"{crowd.letters(10)}@{rng.choice(RELAYS)}"
        yield Signup(
            relayed if rng.random() < 0.5 else crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=200)
def several_providers(rng: random.Random, count: int) -> Iterator[Signup]:
    """Readers of a partner's newsletter, over two weeks: all kinds of mailboxes, browsers and
    homes.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 14):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
            uses_page=rng.random() < 0.1,
        )


@honest(people=120, is_group=True)
def shared_office(rng: random.Random, count: int) -> Iterator[Signup]:
    """A link that was passed around in an office: one in six comes from the office's network, half
    of these with an address at work. The others are readers as usual.
    """
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 10)):
        is_office = number % 6 == 1
        yield Signup(
            crowd.colleague(domain) if is_office and number % 12 == 1 else crowd.address(),
            at_ms,
            office if is_office else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS if is_office else EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=120)
def sign_up_twice(rng: random.Random, count: int) -> Iterator[Signup]:
    """A quarter forget that they signed up and do it again some hours later, with the same
    address.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 8):
        email, home, browser = crowd.address(), crowd.ip_address(), crowd.browser(EVERYDAY)
        again = rng.random() < 0.25
        confirms = crowd.confirms(0.9)
        yield Signup(email, at_ms, home, browser=browser, confirms_after_ms=confirms)
        if again:
            later_ms = at_ms + rng.randrange(2 * HOUR_MS, 2 * DAY_MS)
            yield Signup(email, later_ms, home, browser=browser, confirms_after_ms=confirms)


@honest(people=30)
def small_partner(rng: random.Random, count: int) -> Iterator[Signup]:
    """A small partner: the first five are colleagues in one office, who help to try the link out.
    Then come a few readers each week.
    """
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    times = [*crowd.moments(5, 6 * HOUR_MS), *(DAY_MS + ms for ms in crowd.days(count - 5, 28))]
    for number, at_ms in enumerate(times):
        is_colleague = number < 5
        yield Signup(
            crowd.colleague(domain) if is_colleague else crowd.address(),
            at_ms,
            office if is_colleague else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=160, is_group=True)
def university(rng: random.Random, count: int) -> Iterator[Signup]:
    """A quarter are students of one university, with initials and numbers as their addresses, many
    of them on the campus network. The others are readers as usual.
    """
    crowd = Crowd(rng)
    campus = [crowd.ip_address() for _ in range(6)]
    for at_ms in crowd.days(count, 10):
        is_student = rng.random() < 0.25
        first, last = crowd.name()
        student = f"{first[0]}{last[:2]}{rng.randint(100, 9999)}@northfield.edu"
        yield Signup(
            student if is_student else crowd.address(),
            at_ms,
            rng.choice(campus) if is_student and rng.random() < 0.5 else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )


@honest(people=35, is_group=True)
def mostly_one_university(rng: random.Random, count: int) -> Iterator[Signup]:
    """Three of four study at one university, and many of them are on its network."""
    crowd = Crowd(rng)
    campus = [crowd.ip_address() for _ in range(4)]
    for at_ms in crowd.days(count, 9):
        is_student = rng.random() < 0.75
        first, last = crowd.name()
        student = f"{first[0]}{last[:3]}{rng.randint(10, 999)}@westbrook.edu"
        yield Signup(
            student if is_student else crowd.address(),
            at_ms,
            rng.choice(campus) if is_student and rng.random() < 0.6 else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(0.9),
        )


@honest(people=28, is_group=True)
def internal_news(rng: random.Random, count: int) -> Iterator[Signup]:
    """The internal news of one company recommends the newsletter: half are colleagues."""
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    for at_ms in crowd.days(count, 4):
        is_colleague = rng.random() < 0.5
        yield Signup(
            crowd.colleague(domain) if is_colleague else crowd.address(),
            at_ms,
            office if is_colleague and rng.random() < 0.7 else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(0.9),
        )


@honest(people=37, is_group=True)
def numbered_class(rng: random.Random, count: int) -> Iterator[Signup]:
    """A class whose school numbers its pupils signs up within an hour, and then some parents do."""
    crowd = Crowd(rng)
    school, first = crowd.ip_address(), rng.randint(2100, 2900)
    pupils = count * 2 // 3
    for number, at_ms in enumerate(crowd.moments(pupils, HOUR_MS)):
        yield Signup(
            f"pupil{first + number}@school-on-the-hill.org",
            at_ms,
            school,
            browser="chrome",
            confirms_after_ms=crowd.confirms(0.95),
        )
    for at_ms in crowd.days(count - pupils, 3):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(PHONES),
            confirms_after_ms=crowd.confirms(0.95),
        )


@honest(people=28)
def slow_readers(rng: random.Random, count: int) -> Iterator[Signup]:
    """They look into their mailbox once in a while, and confirm after one to nine days."""
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 3):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(DAY_MS, 9 * DAY_MS),
        )


@honest(people=36)
def behind_security_services(rng: random.Random, count: int) -> Iterator[Signup]:
    """Their employers' security services open every link before they do, and send their browsers
    through a few data centers.
    """
    crowd = Crowd(rng)
    centers = [crowd.ip_address() for _ in range(12)]
    for at_ms in crowd.days(count, 8):
        yield Signup(
            crowd.colleague(crowd.company()) if rng.random() < 0.6 else crowd.address(),
            at_ms,
            rng.choice(centers),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(0.9),
            is_scanned=True,
        )


@honest(people=60)
def regional_providers(rng: random.Random, count: int) -> Iterator[Signup]:
    """Readers of a country whose mailbox providers hardly anybody abroad knows."""
    crowd = Crowd(rng)
    hosts = ["posta.si", "siol.net", "volja.net", "t-2.net", "telemach.net", "amis.net"]
    for at_ms in crowd.days(count, 10):
        yield Signup(
            f"{crowd.local_part()}@{rng.choice(hosts)}" if rng.random() < 0.6 else crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )
