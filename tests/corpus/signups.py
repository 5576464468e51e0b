"""A month of signups in one campaign, each labelled with what it truly is: attacks of five kinds,
and honest readers who look like attacks. Data only, the same on every run: replay it in order
against whatever decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, product

ALIAS, DISPOSABLE, LOOP = "attack:alias", "attack:disposable", "attack:loop"
BURST, NETWORK = "attack:burst", "attack:network"
HONEST = "honest"

HOUR, DAY = 60, 1440


@dataclass(frozen=True, slots=True)
class Signup:
    """`referrer` is the email, as given here, of an earlier signup whose code was used; codes are
    made by the service. Someone who came by themselves makes no claim on anybody's count and is
    labelled honest, whatever they do later.
    """

    minute: int  # since the campaign began
    email: str
    referrer: str | None
    ip: str
    label: str
    order: int = 0


_FIRST = (
    "ada",
    "ben",
    "cleo",
    "dan",
    "eva",
    "finn",
    "gus",
    "hana",
    "ian",
    "june",
    "kai",
    "lena",
    "max",
    "nora",
    "omar",
    "pia",
)
_LAST = (
    *(
        "adler",
        "brandt",
        "costa",
        "dietz",
        "evans",
        "fabre",
        "gomez",
        "hauser",
        "ito",
        "jansen",
        "keller",
        "lopez",
        "meyer",
    ),
    *(
        "novak",
        "olsen",
        "petit",
        "quist",
        "rossi",
        "sato",
        "tran",
        "ueda",
        "vogel",
        "weber",
        "young",
        "zander",
        "abel",
        "baker",
    ),
)
_HOSTS = (
    "example.org",
    "gmail.com",
    "outlook.com",
    "example.co.uk",
    "yahoo.com",
    "icloud.com",
    "web.example",
    "proton.me",
)

_people = (f"{first}.{last}" for last, first in product(_LAST, _FIRST))
_addresses = count(1)


def _name() -> str:
    return next(_people)


def _ip() -> str:
    """An address of its own, from the ranges kept for examples and tests."""
    n = next(_addresses)
    return f"198.18.{n // 250}.{n % 250 + 1}" if n % 4 else f"2001:db8:{n:x}::{n % 7 + 1:x}"


def _came_alone(minute: int, email: str, ip: str) -> Signup:
    return Signup(minute, email, None, ip, HONEST)


def _aliases() -> Iterator[Signup]:
    """People who refer themselves by other spellings of their own address."""
    spellings = {
        "gmail.com": (
            "{0}+news@gmail.com",
            "{1}@gmail.com",
            "{0}@googlemail.com",
            "{1}+a+b@GoogleMail.com",
            "{2}+wide@gmail.com",
        ),
        "googlemail.com": ("{1}@gmail.com", "{0}+1@googlemail.com", "{2}+2@gmail.com"),
        "outlook.com": ("{0}+1@outlook.com", "{2}+2@Outlook.com", "{0}+three@outlook.com"),
        "hotmail.com": ("{0}+1@hotmail.com", "{0}+promo@hotmail.com"),
        "icloud.com": ("{0}+1@icloud.com", "{2}+2@icloud.com"),
        "proton.me": ("{0}+1@proton.me", "{0}+spam@proton.me"),
        "fastmail.com": ("{0}+1@fastmail.com", "{0}+x.y@fastmail.com"),
    }
    for n, domain in enumerate([*spellings] * 4):
        local = _name()
        me, start = f"{local}@{domain}", n * 700
        yield _came_alone(start, me, _ip())
        wide = (
            local.title()
            if domain != "gmail.com" or n % 2
            else "".join(chr(ord(c) + 0xFEE0) if c != "." else c for c in local)
        )
        for i, spelling in enumerate(spellings[domain]):
            yield Signup(
                start + 30 + i * 17,
                spelling.format(local, local.replace(".", ""), wide),
                me,
                _ip(),
                ALIAS,
            )
    # Nobody outside can know that a private domain ignores tags: these get through, as they would
    # in life.
    me = "boss@private.example"
    yield _came_alone(9_000, me, _ip())
    for i in range(3):
        yield Signup(9_010 + i, f"boss+{i}@private.example", me, _ip(), ALIAS)


THROW_AWAY = (
    *(
        "mailinator.com",
        "yopmail.com",
        "guerrillamail.com",
        "sharklasers.com",
        "10minutemail.com",
        "temp-mail.org",
    ),
    *(
        "trashmail.com",
        "maildrop.cc",
        "getnada.com",
        "dispostable.com",
        "mailnesia.com",
        "mintemail.com",
        "fakeinbox.com",
    ),
    *("mailcatch.com", "emailondeck.com"),
)


def _disposables() -> Iterator[Signup]:
    """Throw-away mailboxes, some under subdomains the services hand out."""
    for n in range(8):
        me = f"{_name()}@{_HOSTS[n]}"
        yield _came_alone(2_000 + n * 3_000, me, _ip())
        for i in range(8):
            domain = THROW_AWAY[(n * 8 + i) % len(THROW_AWAY)]
            email = f"{_name().replace('.', '')}{n}@{'inbox.' if i % 4 == 3 else ''}{domain}"
            yield Signup(2_005 + n * 3_000 + i * 90, email, me, _ip(), DISPOSABLE)
    # Opened this morning, on no list yet.
    for i in range(2):
        yield Signup(30_000 + i, f"x{i}@fresh-burner-{i}.example", me, _ip(), DISPOSABLE)


def _loops() -> Iterator[Signup]:
    """Rings of two to four: each refers the next, and the last refers the first again under another
    spelling.
    """
    for n in range(31):
        start = 1_000 + n * 1_100
        local = _name().replace(".", "")
        # The last ring closes at a private domain, where the two spellings cannot be known to be
        # one person.
        domain, back = (
            ("gmail.com", f"{local[:2]}.{local[2:]}")
            if n % 2
            else ("outlook.com", f"{local}+again")
        )
        if n == 30:
            domain = "private-too.example"
        last = f"{local}@{domain}"
        yield _came_alone(start, last, _ip())
        for i in range(n % 3 + 1):
            friend = f"{_name()}@{_HOSTS[i]}"
            yield Signup(start + 50 * (i + 1), friend, last, _ip(), HONEST)
            last = friend
        yield Signup(start + 500, f"{back}@{domain}", last, _ip(), LOOP)


def _bursts() -> Iterator[Signup]:
    """Bots with addresses and networks of their own: a flood, and a drip that stays just over the
    limit. The first ten of each look like any good day and count, so a burst is only worth the name
    by its size.
    """
    for name, start, size, per_hour in (("flood", 12_000, 240, 300), ("drip", 20_000, 220, 12)):
        me = f"{name}.master@example.org"
        yield _came_alone(start - 3 * DAY, me, _ip())
        for i in range(size):
            yield Signup(
                start + i * HOUR // per_hour,
                f"{name}{i * 7919 % 10_007}@{_HOSTS[i % 8]}",
                me,
                _ip(),
                BURST,
            )


def _networks() -> Iterator[Signup]:
    """Farms: at the referrer's own desk on the same day, or many seats in one other place."""
    for n in range(10):
        start = 3_000 + n * 2_500
        me = f"{_name()}@{_HOSTS[n % 8]}"
        home = f"203.0.113.{n + 1}" if n % 2 else f"2001:db8:face:{n}::1"
        yield _came_alone(start, me, home)
        for i in range(8):
            # The same place in other words: mapped into IPv6, or another of a household's endless
            # addresses.
            seat = (
                (home, f"::ffff:{home}")[i % 2] if n % 2 else f"2001:0db8:face:{n}:{i + 1:x}::{i:x}"
            )
            yield Signup(
                start + 5 + i * 100, f"farm{n}x{i}@{_HOSTS[(n + i) % 8]}", me, seat, NETWORK
            )
    for n in range(2):
        start = 8_000 + n * 6_000
        me = f"{_name()}@{_HOSTS[n]}"
        yield _came_alone(start - 5 * DAY, me, _ip())
        for i in range(60):
            seat = f"2001:db8:cafe:1::{i + 1:x}" if n else "192.0.2.77"
            yield Signup(start + i * 11, f"seat{n}x{i}@{_HOSTS[i % 8]}", me, seat, NETWORK)


def _honest_lookalikes() -> Iterator[Signup]:
    """Readers whom a careless rule would reject."""
    for n in range(15):  # families: one household, one evening
        start, home = 500 + n * 1_900, f"192.0.2.{n + 100}"
        me = f"mum{n}@{_HOSTS[n % 8]}"
        yield _came_alone(start, me, home)
        for i, member in enumerate(("dad", "kid", "gran")):
            yield Signup(start + 20 + i * 7, f"{member}{n}@{_HOSTS[(n + i) % 8]}", me, home, HONEST)
    for n in range(3):  # offices: one address for all desks, over a week
        start, door = 4_000 + n * 8_000, f"192.0.2.{n + 10}"
        me = f"{_name()}@office{n}.example"
        yield _came_alone(start, me, door)
        for i in range(14):
            yield Signup(start + 60 + i * 700, f"{_name()}@office{n}.example", me, door, HONEST)
    me = "star@example.org"  # a post that went well: thirty in an hour, from everywhere
    yield _came_alone(15_000, me, _ip())
    for i in range(30):
        yield Signup(25_000 + i * 2, f"fan{i}@{_HOSTS[i % 8]}", me, _ip(), HONEST)
    namesakes = (
        (
            "jdoe@example.org",
            ("j.doe@example.org", "jdoe@example.net", "jdoe+work@example.org", "jdoe1@example.org"),
        ),
        (
            "kim.lee@outlook.com",
            (
                "kimlee@outlook.com",
                "kim.lee@gmail.com",
                "kim_lee@outlook.com",
                "Kim.Lee@hotmail.com",
            ),
        ),
        (
            "max@gmail.com",
            ("max1@gmail.com", "maxx+news@gmail.com", "max@gmail.example", "ma@gmail.com"),
        ),
        ("ana@yahoo.com", ("ana-news@yahoo.com", "ana@yahoo.co.uk", "a.na@yahoo.com")),
        (
            "jörg@müller.example",
            ("jorg@müller.example", "jörg@muller.example", "jürg@müller.example"),
        ),
        (
            "o.brien@example.org",
            ("o'brien@example.org", "x7fk2@duck.com", "q9.relay@privaterelay.appleid.com"),
        ),
    )
    for n, (me, others) in enumerate(namesakes):
        yield _came_alone(6_000 + n * 2_000, me, _ip())
        for i, other in enumerate(others):
            yield Signup(6_100 + n * 2_000 + i * 400, other, me, _ip(), HONEST)


def _honest_friends() -> Iterator[Signup]:
    for n in range(20):
        me = f"{_name()}@{_HOSTS[n % 8]}"
        yield _came_alone(200 + n * 1_500, me, _ip())
        for i in range(6):
            tag = "+letters" if i == 4 else ""  # many honest readers tag what they subscribe to
            yield Signup(
                260 + n * 1_500 + i * 220,
                f"{_name().title() if i == 5 else _name()}{tag}@{_HOSTS[i]}",
                me,
                _ip(),
                HONEST,
            )
    # One honest reader in some hundreds does use a throw-away address, and is lost.
    yield Signup(40_000, "shy.reader@mailinator.com", "star@example.org", _ip(), HONEST)


def _in_order() -> tuple[Signup, ...]:
    parts = (
        _aliases,
        _disposables,
        _loops,
        _bursts,
        _networks,
        _honest_lookalikes,
        _honest_friends,
    )
    everyone = sorted(
        (signup for part in parts for signup in part()), key=lambda signup: signup.minute
    )
    return tuple(replace(signup, order=order) for order, signup in enumerate(everyone))


SIGNUPS = _in_order()
