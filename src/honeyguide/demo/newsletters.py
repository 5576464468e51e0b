"""The demo's newsletters, with their programs and rewards, and names for its subscribers."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.rewards.rewards import NewReward
from honeyguide.subscribers.branding import BrandFields

EMPTY = "empty@honeyguide.example"
OWNER = "demo@honeyguide.example"

_FIRST_NAMES = (
    "Ann Ben Chiara Dana Emil Fay Goran Hana Ivo Jun Kira Leo Mina Noor Olga Pia Quinn Rosa "
    "Sami Tove Uma Vera Wim Yara Zoe Amara Bruno Cleo Dario Esther Felix Greta Hugo Ines Jonas "
    "Kofi Lina Mateo Nadia Oskar Paula Rafael Selma Theo Ursula"
)
_LAST_NAMES = (
    "Lee Okafor Rossi Novak Berg Silva Haddad Kim Lund Mori Patel Reyes Sato Weber Adeyemi "
    "Brandt Costa Dubois Eriksen Farkas Garcia Holm Ito Jansen Keller Lopez Meyer Nguyen Osei "
    "Petrov Quist Rahman Schmidt Torres Urban Vidal Wagner"
)
FIRST, LAST = _FIRST_NAMES.split(), _LAST_NAMES.split()
# Domains reserved for examples, so that no email of the demo can reach anybody.
MAIL_HOSTS = ("example.com", "example.org", "example.net", "mail.example", "post.example")
SOURCES = ("newsletter", "instagram", "podcast", "search", None, None)
# From the public list of throw-away mailboxes.
THROWAWAY = "mailinator.com"


class ProgramPlan(NamedTuple):
    """A program, in dollars and days; with `hold_days` 0 it has no holding period."""

    slug: str
    cpa: int | str
    max_payout: int
    total_budget: int
    hold_days: int
    terms: str = ""
    is_paused: bool = False


class PublicationPlan(NamedTuple):
    """A publication. Its logo is drawn from `colours` and `sign`."""

    name: str
    description: str | None
    categories: tuple[str, ...]
    gender: str
    incomes: tuple[str, ...]
    ages: tuple[str, ...]
    colours: tuple[str, str]
    sign: str
    program: ProgramPlan


class Newsletter(NamedTuple):
    """An account. A year ago `first` subscribers signed up each week, now it is `last`; the share
    `through_friends` comes through referrals.
    """

    email: str
    name: str
    slug: str
    texts: dict[str, str]
    screening: str
    first: float
    last: float
    through_friends: float
    publications: tuple[PublicationPlan, ...]
    rewards: tuple[NewReward, ...]
    # What it tells the owners of programs about its readers.
    pitch: str
    # Which programs it recommends, by slug: subscribers a week at the start and now.
    recommends: dict[str, tuple[float, float]]
    brand: BrandFields


_WAX = Newsletter(
    email=OWNER,
    name="The Morning Wax",
    slug="morning-wax",
    texts={
        "tagline": "Five minutes of honey, bees and breakfast",
        "promise": "Every weekday at seven. Free, and good company.",
    },
    screening="strong",
    first=5,
    last=17,
    through_friends=0.45,
    publications=(
        PublicationPlan(
            name="The Morning Wax",
            description="Five minutes of honey, bees and breakfast, every weekday at seven.",
            categories=("food & drink", "lifestyle"),
            gender="mixed",
            incomes=("$50k - $75k", "$75k - $100k"),
            ages=("25 - 39", "40 - 59"),
            colours=("#a56000", "#ffe2ae"),
            sign="hexagon",
            program=ProgramPlan(
                "the-morning-wax",
                "2.50",
                80,
                120,
                14,
                "Recommend us in your own words. No incentives, please. "
                "We pay for subscribers who stay two weeks.",
            ),
        ),
        PublicationPlan(
            name="The Weekend Hive",
            description="Long reads about gardens, small farms and slow Saturdays.",
            categories=("literature", "lifestyle"),
            gender="mainly_female",
            incomes=("$50k - $75k",),
            ages=("40 - 59", "60+"),
            colours=("#3f5d2b", "#dfeccb"),
            sign="leaf",
            program=ProgramPlan("weekend-hive", "1.50", 60, 150, 7, is_paused=True),
        ),
    ),
    rewards=(
        NewReward(
            name="Our tasting guide",
            referrals=1,
            kind="link",
            link="https://morningwax.example/tasting-guide",
            description="Twelve honeys, and how to tell them apart.",
        ),
        NewReward(
            name="10% off at the apiary shop",
            referrals=3,
            kind="coupon",
            pool=True,
            description="One code per subscriber, valid for a year.",
        ),
        NewReward(
            name="The enamel mug",
            referrals=5,
            kind="physical",
            approval="manual",
            description="White, one small bee. With a blue or a yellow rim.",
            variants=["Blue", "Yellow"],
        ),
        NewReward(
            name="A jar from our own hives",
            referrals=10,
            kind="physical",
            recurring=True,
            description="Linden and acacia, 250 g. Another one for every ten friends.",
        ),
        NewReward(
            name="A day with the beekeeper",
            referrals=25,
            kind="manual",
            approval="manual",
            description="We will email you to pick a date.",
        ),
    ),
    pitch="Our readers like slow mornings, on trains too.",
    recommends={"slow-roads": (3, 9), "lumen-letters": (2, 6), "contact-sheet": (0.5, 1)},
    brand=BrandFields(
        accent="#6577e8",
        privacy_url="https://morningwax.example/privacy",
        imprint_url="https://morningwax.example/imprint",
        consent_text="I’d like to get The Morning Wax by email, every weekday at seven.",
        asks_name=True,
        from_name="Nora at The Morning Wax",
        reply_to="nora@morningwax.example",
    ),
)

_ROADS = Newsletter(
    email="slowroads@honeyguide.example",
    name="Slow Roads",
    slug="slow-roads-weekly",
    texts={"tagline": "One road, one map, every Friday", "promise": "Trips worth the detour."},
    screening="flexible",
    first=2,
    last=5,
    through_friends=0.3,
    publications=(
        PublicationPlan(
            name="Slow Roads",
            description="One road and one hand-drawn map, every Friday. "
            "For people who take the long way.",
            categories=("travel", "lifestyle"),
            gender="mixed",
            incomes=("$75k - $100k", "$100k - $150k"),
            ages=("25 - 39", "40 - 59"),
            colours=("#1f4e5f", "#cfe8ee"),
            sign="road",
            program=ProgramPlan(
                "slow-roads",
                3,
                45,
                54,
                7,
                "Send subscribers who like to travel overland. We spot-check one in a hundred.",
            ),
        ),
        PublicationPlan(
            name="Rails & Rivers",
            description="Night trains, ferries and the towns between them, "
            "with timetables you can trust.",
            categories=("travel", "business", "news"),
            gender="mainly_male",
            incomes=("$100k - $150k", "$150k+"),
            ages=("40 - 59",),
            colours=("#6b2d3a", "#f3d6db"),
            sign="wave",
            program=ProgramPlan("rails-and-rivers", "4.50", 300, 900, 21),
        ),
    ),
    rewards=(
        NewReward(
            name="Printable map of the month",
            referrals=2,
            kind="link",
            link="https://slowroads.example/map",
        ),
    ),
    pitch="Our readers pack a good breakfast for the train.",
    recommends={"the-morning-wax": (3, 9), "lumen-letters": (1, 3)},
    brand=BrandFields(accent="#1f6f8b", privacy_url="https://slowroads.example/privacy"),
)

_LUMEN = Newsletter(
    email="lumen@honeyguide.example",
    name="Lumen Letters",
    slug="lumen",
    texts={
        "tagline": "How pictures are made",
        "promise": "One photograph and how the light got there.",
    },
    screening="flexible",
    first=2,
    last=4,
    through_friends=0.3,
    publications=(
        PublicationPlan(
            name="Lumen Letters",
            description="One photograph a week, and how the light got there.",
            categories=("art & design", "science"),
            gender="mainly_female",
            incomes=("$50k - $75k", "$75k - $100k"),
            ages=("18 - 24", "25 - 39"),
            colours=("#4a3a8c", "#e2dcfb"),
            sign="sun",
            program=ProgramPlan("lumen-letters", "1.75", 21, 150, 0, "Students welcome."),
        ),
        PublicationPlan(
            name="Contact Sheet",
            description=None,
            categories=("art & design",),
            gender="mixed",
            incomes=("less than $20k", "$20k - $50k"),
            ages=("18 - 24",),
            colours=("#222222", "#e8e4da"),
            sign="frames",
            program=ProgramPlan("contact-sheet", 0, 0, 0, 0),
        ),
    ),
    rewards=(
        NewReward(
            name="A desktop picture", referrals=1, kind="link", link="https://lumen.example/desktop"
        ),
    ),
    pitch="Half of our readers photograph their gardens.",
    recommends={"the-morning-wax": (2, 6), "slow-roads": (2, 4), "weekend-hive": (1, 2)},
    brand=BrandFields(accent="#b3541e"),
)

NEWSLETTERS = (_WAX, _ROADS, _LUMEN)
COUPONS = [f"WAX-{number * 7919 % 90000 + 10000}" for number in range(1, 37)]
