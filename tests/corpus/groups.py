"""Groups of signups with one code, made from a seed: honest audiences, and attacks. They are plain
data for the pure signals; nothing here knows a threshold.
"""

from collections.abc import Callable, Iterator
from random import Random

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening.group_signals import GroupSignup

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
START = 1_780_000_000_000

_FIRST = """
anna maria michael thomas peter julia sarah laura david daniel andreas stefan martin christian
christina christine christoph katharina krzysztof agnieszka malgorzata wojciech szymon zbigniew
jan pieter willem sanne bram lars ingrid bjorn astrid mikko aino juha giulia francesca lorenzo
matteo chiara jose luis carmen pilar javier ines joao tiago beatriz camille chloe hugo margaux
guillaume emma olivia james william harry charlotte grace jack liam noah ava mia siobhan niamh
ahmed fatima omar yusuf layla hassan priya rahul ananya arjun sanjay deepika wei jing ming xiao
yuki haruto sakura kenji minjun jiwoo seoyeon nguyen thi linh minh dmitri olga svetlana ivan
natalia sergei oksana taras mehmet ayse emre zeynep kwame ama chidi ngozi thabo sipho
"""
_LAST = """
smith jones taylor brown wilson johnson miller davis garcia rodriguez martinez lopez gonzalez
fernandez silva santos oliveira pereira costa rossi russo ferrari esposito bianchi muller schmidt
schneider fischer weber meyer wagner becker schulz hoffmann kowalski nowak wisniewski wojcik
kaminski szczepanski novak svoboda dvorak horvath nagy kiss szabo popescu ionescu ivanov petrov
kuznetsov shevchenko kovalenko yilmaz kaya demir jensen nielsen hansen larsen johansson andersson
virtanen korhonen jansen vanderberg bakker visser dupont durand leroy moreau lefebvre kumar sharma
patel singh gupta khan hussain chowdhury nguyen tran pham kim park choi tanaka suzuki takahashi
watanabe chen wang zhang huang okafor adeyemi mensah dlamini nkosi murphy oconnor mcdonald campbell
"""
_NICKS = """
sunny coffee runner happy wolf lucky cat rider green baker book worm ocean music pixel garden
bike mountain star hiker
"""
_MAILBOXES = """
gmail.com gmail.com gmail.com gmail.com gmail.com outlook.com hotmail.com yahoo.com icloud.com
icloud.com proton.me gmx.de web.de orange.fr libero.it aol.com
"""
FIRST, LAST, NICKS = _FIRST.split(), _LAST.split(), _NICKS.split()
MAILBOXES = _MAILBOXES.split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"

Group = list[GroupSignup]
Times = Callable[[Random, int], list[int]]


def name(rng: Random) -> str:
    """A local part that somebody chose: some with their name, some with digits, some without."""
    first, last, year = rng.choice(FIRST), rng.choice(LAST), rng.randint(1955, 2008)
    number = rng.choice((str(year), f"{year % 100:02}", str(rng.randint(1, 999))))
    nick = rng.choice(NICKS) + rng.choice(NICKS)
    return rng.choices(
        (
            f"{first}.{last}",
            f"{first}{last}",
            f"{first[0]}{last}",
            f"{first}.{last}{number}",
            f"{first}{last}{number}",
            f"{first}{number}",
            f"{last}.{first}",
            f"{first}_{last}",
            f"{nick}{number}",
            nick,
            f"{first[0]}.{last}",
            f"{last}{first[:2]}{number}",
        ),
        (22, 16, 9, 8, 12, 8, 4, 3, 6, 4, 4, 4),
    )[0]


def company(rng: Random) -> str:
    ending = rng.choice(("com", "de", "io", "co.uk", "nl", "org"))
    return f"{rng.choice(LAST)}-{rng.choice(NICKS)}.{ending}"


def at_random(mean_ms: float) -> Times:
    return lambda rng, count: list(
        _running(int(rng.expovariate(1 / mean_ms)) for _ in range(count))
    )


def by_timer(gap_ms: float, jitter: float) -> Times:
    return lambda rng, count: list(
        _running(int(gap_ms * rng.uniform(1 - jitter, 1 + jitter)) for _ in range(count))
    )


def after_a_newsletter(rng: Random, count: int) -> list[int]:
    """Most within the first hour, the others for days."""
    return sorted(START + int(rng.expovariate(1 / (25 * MINUTE))) for _ in range(count))


def _running(gaps: Iterator[int]) -> Iterator[int]:
    now = START
    for gap in gaps:
        now += gap
        yield now


def group(
    rng: Random,
    emails: list[str],
    times: Times,
    networks: list[str] | None = None,
    confirming: float = 0.8,
) -> Group:
    """Everybody from a network of their own, unless told otherwise. A few emails that came twice
    by chance count once, as in the store."""
    unique = list(dict.fromkeys(emails))
    moments = times(rng, len(unique))
    return [
        GroupSignup(
            id=str(at),
            email=EmailAddress.parse(email),
            received_ms=moments[at],
            ip_network=rng.choice(networks) if networks else f"10.{at // 250}.{at % 250}.1",
            is_confirmed=rng.random() < confirming,
        )
        for at, email in enumerate(unique)
    ]


# -- honest


def readers(rng: Random, count: int = 120) -> list[str]:
    """One in eight at a domain of their own or their employer's."""
    return [
        f"{name(rng)}@{company(rng) if rng.random() < 0.12 else rng.choice(MAILBOXES)}"
        for _ in range(count)
    ]


def employees(rng: Random, count: int = 100) -> list[str]:
    """A newsletter for companies: seven of ten read it at work, some with a colleague."""
    emails, employer = [], company(rng)
    for _ in range(count):
        if rng.random() < 0.3:
            emails.append(f"{name(rng)}@{rng.choice(MAILBOXES)}")
        else:
            employer = employer if rng.random() < 0.12 else company(rng)
            emails.append(f"{rng.choice(FIRST)}.{rng.choice(LAST)}@{employer}")
    return emails


def students(rng: Random) -> list[str]:
    """30 of 100 at one university, with student numbers."""
    numbered = [f"s{rng.randint(1_900_000, 2_300_000)}@student.uni-x.nl" for _ in range(30)]
    emails = numbered + readers(rng, 70)
    rng.shuffle(emails)
    return emails


def colleagues(rng: Random) -> list[str]:
    return [f"{rng.choice(FIRST)}{at}@small-partner.com" for at in "xyz"]


HONEST: dict[str, Callable[[Random], Group]] = {
    "readers": lambda rng: group(rng, readers(rng), at_random(3 * HOUR)),
    "few readers": lambda rng: group(rng, readers(rng, 18), at_random(DAY)),
    "300 in an hour": lambda rng: group(rng, readers(rng, 300), after_a_newsletter),
    "employees": lambda rng: group(rng, employees(rng), at_random(2 * HOUR)),
    "university": lambda rng: group(rng, students(rng), after_a_newsletter),
    "three colleagues": lambda rng: group(rng, colleagues(rng), at_random(HOUR), ["10.9.9.9"]),
    "office": lambda rng: group(
        rng, readers(rng, 200), at_random(HOUR), ["10.9.9.9"] + [f"10.8.{n}.1" for n in range(190)]
    ),
    "phones": lambda rng: group(
        rng, readers(rng, 100), at_random(HOUR), [f"10.7.{n}.1" for n in range(60)]
    ),
    "relays": lambda rng: group(
        rng,
        [f"{gibberish(rng)}@privaterelay.appleid.com" for _ in range(30)] + readers(rng, 60),
        at_random(HOUR),
    ),
    "phone numbers": lambda rng: group(
        rng,
        [f"{rng.randint(10**8, 10**10)}@qq.com" for _ in range(70)] + readers(rng, 30),
        at_random(HOUR),
    ),
}

# -- attacks


def gibberish(rng: Random) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(7, 12)))


def made_up(rng: Random) -> str:
    return f"{rng.choice(FIRST)}.{rng.choice(LAST)}{rng.randint(1, 999)}"


def farm(rng: Random, count: int, domains: int) -> list[str]:
    owned = [f"{gibberish(rng)}.{rng.choice(('xyz', 'com', 'online'))}" for _ in range(domains)]
    return [f"{name(rng)}@{rng.choice(owned)}" for _ in range(count)]


def mixed_in(rng: Random, fakes: list[str], honest: int) -> list[str]:
    emails = fakes + readers(rng, honest)
    rng.shuffle(emails)
    return emails


_SLOW = at_random(2 * HOUR)
ATTACKS: dict[str, Callable[[Random], Group]] = {
    "made-up names": lambda rng: group(
        rng, [f"{made_up(rng)}@{rng.choice(MAILBOXES)}" for _ in range(40)], _SLOW
    ),
    "one catch-all domain": lambda rng: group(
        rng, [f"{name(rng)}@catch-all.com" for _ in range(40)], _SLOW, confirming=1
    ),
    "catch-all hidden among unconfirmed": lambda rng: (
        group(
            rng,
            mixed_in(rng, [f"{name(rng)}@catch-all.com" for _ in range(20)], 0),
            _SLOW,
            confirming=1,
        )
        + [
            each._replace(id=f"d{each.id}", is_confirmed=False)
            for each in group(rng, readers(rng, 80), _SLOW)
        ]
    ),
    "free subdomains": lambda rng: group(
        rng, [f"{name(rng)}@{gibberish(rng)}.catch-all.com" for _ in range(40)], _SLOW
    ),
    "counted up": lambda rng: group(
        rng, [f"reader{n}@{rng.choice(MAILBOXES)}" for n in range(40)], _SLOW
    ),
    "one word, random numbers": lambda rng: group(
        rng, [f"maria.{rng.randint(1000, 9999)}@{rng.choice(MAILBOXES)}" for _ in range(40)], _SLOW
    ),
    "names with a counter": lambda rng: group(
        rng, [f"{rng.choice(FIRST)}{200 + n}@{rng.choice(MAILBOXES)}" for n in range(40)], _SLOW
    ),
    "gibberish": lambda rng: group(
        rng, [f"{gibberish(rng)}@{rng.choice(MAILBOXES)}" for _ in range(40)], _SLOW
    ),
    "letters and digits": lambda rng: group(
        rng,
        [
            "".join(rng.choice(LETTERS[:6] + "0123456789") for _ in range(10)) + "@gmail.com"
            for _ in range(40)
        ],
        _SLOW,
    ),
    "farm of 15 domains": lambda rng: group(rng, farm(rng, 40, 15), _SLOW, confirming=1),
    "farm of 30 domains": lambda rng: group(rng, farm(rng, 40, 30), _SLOW, confirming=1),
    "timer": lambda rng: group(rng, readers(rng, 40), by_timer(5 * MINUTE, 0.3)),
    "slow timer": lambda rng: group(rng, readers(rng, 40), by_timer(3 * HOUR, 0.3)),
    "timer of 18": lambda rng: group(rng, readers(rng, 18), by_timer(5 * MINUTE, 0.1)),
    "one mailbox, many spellings": lambda rng: group(
        rng, [f"john.smith+{gibberish(rng)}@gmail.com" for _ in range(20)], _SLOW
    ),
    "half a catch-all": lambda rng: group(
        rng, mixed_in(rng, [f"{name(rng)}@catch-all.com" for _ in range(24)], 20), _SLOW
    ),
}

# These have no clear group; one or two more points make them suspicious.
UNCLEAR: dict[str, Callable[[Random], Group]] = {
    "a domain each": lambda rng: group(rng, farm(rng, 40, 2000), _SLOW, confirming=1),
    "pool of 6 networks": lambda rng: group(
        rng, readers(rng, 40), _SLOW, [f"10.6.0.{n}" for n in range(6)]
    ),
    "one network": lambda rng: group(rng, readers(rng, 40), _SLOW, ["10.6.0.1"]),
}
