"""Who plays in the demo: three newsletters that recommend each other, their offers, what their readers can win, and names."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.referrals.rewards import NewReward

EMPTY = "empty@honeyguide.example"
OWNER = "demo@honeyguide.example"

FIRST = (
    "Ann",
    "Ben",
    "Chiara",
    "Dana",
    "Emil",
    "Fay",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kira",
    "Leo",
    "Mina",
    "Noor",
    "Olga",
    "Pia",
    "Quinn",
    "Rosa",
    "Sami",
    "Tove",
    "Uma",
    "Vera",
    "Wim",
    "Yara",
    "Zoe",
    "Amara",
    "Bruno",
    "Cleo",
    "Dario",
    "Esther",
    "Felix",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kofi",
    "Lina",
    "Mateo",
    "Nadia",
    "Oskar",
    "Paula",
    "Rafael",
    "Selma",
    "Theo",
    "Ursula",
)
LAST = (
    "Lee",
    "Okafor",
    "Rossi",
    "Novak",
    "Berg",
    "Silva",
    "Haddad",
    "Kim",
    "Lund",
    "Mori",
    "Patel",
    "Reyes",
    "Sato",
    "Weber",
    "Adeyemi",
    "Brandt",
    "Costa",
    "Dubois",
    "Eriksen",
    "Farkas",
    "Garcia",
    "Holm",
    "Ito",
    "Jansen",
    "Keller",
    "Lopez",
    "Meyer",
    "Nguyen",
    "Osei",
    "Petrov",
    "Quist",
    "Rahman",
    "Schmidt",
    "Torres",
    "Urban",
    "Vidal",
    "Wagner",
)
# Domains that exist for examples only, so that no letter of a demo can reach anybody.
MAIL_HOSTS = ("example.com", "example.org", "example.net", "mail.example", "post.example")
SOURCES = ("newsletter", "instagram", "podcast", "search", None, None)
# From the public list of throw-away mailboxes.
THROWAWAY = "mailinator.com"


class ProgramPlan(NamedTuple):
    """A program, in dollars and days; no hold where `hold_days` is 0."""

    slug: str
    cpa: int | str
    max_payout: int
    total_budget: int
    hold_days: int
    terms: str = ""
    is_paused: bool = False


class Issue(NamedTuple):
    """A publication; the colours and the sign are its logo's."""

    name: str
    description: str | None
    categories: tuple[str, ...]
    gender: str
    incomes: tuple[str, ...]
    ages: tuple[str, ...]
    colours: tuple[str, str]
    sign: str
    offer: ProgramPlan


class Newsletter(NamedTuple):
    """An account. Its readers come `first` a week a year ago and `last` a week now; some of them through friends."""

    email: str
    name: str
    slug: str
    words: dict[str, str]
    screening: str
    first: float
    last: float
    through_friends: float
    issues: tuple[Issue, ...]
    rewards: tuple[NewReward, ...]
    # Whose programs it recommends, by slug: readers a week when it began and now.
    recommends: dict[str, tuple[float, float]]


_WAX = Newsletter(
    OWNER,
    "The Morning Wax",
    "morning-wax",
    {
        "tagline": "Five minutes of honey, bees and breakfast",
        "promise": "Every weekday at seven. Free, and good company.",
    },
    "strong",
    5,
    17,
    0.45,
    (
        Issue(
            "The Morning Wax",
            "Five minutes of honey, bees and breakfast, every weekday at seven.",
            ("food & drink", "lifestyle"),
            "mixed",
            ("$50k - $75k", "$75k - $100k"),
            ("25 - 39", "40 - 59"),
            ("#a56000", "#ffe2ae"),
            "hexagon",
            ProgramPlan(
                "the-morning-wax",
                "2.50",
                80,
                120,
                14,
                "Recommend us in your own words. No incentives, please. We pay for readers who stay two weeks.",
            ),
        ),
        Issue(
            "The Weekend Hive",
            "Long reads about gardens, small farms and slow Saturdays.",
            ("literature", "lifestyle"),
            "mainly_female",
            ("$50k - $75k",),
            ("40 - 59", "60+"),
            ("#3f5d2b", "#dfeccb"),
            "leaf",
            ProgramPlan("weekend-hive", "1.50", 60, 150, 7, is_paused=True),
        ),
    ),
    (
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
            description="One code per reader, valid for a year.",
        ),
        NewReward(
            name="The enamel mug",
            referrals=5,
            kind="physical",
            approval="manual",
            description="White, blue rim, one small bee.",
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
    {"slow-roads": (3, 9), "lumen-letters": (2, 6), "contact-sheet": (0.5, 1)},
)

_ROADS = Newsletter(
    "slowroads@honeyguide.example",
    "Slow Roads",
    "slow-roads-weekly",
    {"tagline": "One road, one map, every Friday", "promise": "Trips worth the detour."},
    "flexible",
    2,
    5,
    0.3,
    (
        Issue(
            "Slow Roads",
            "One road and one hand-drawn map, every Friday. For people who take the long way.",
            ("travel", "lifestyle"),
            "mixed",
            ("$75k - $100k", "$100k - $150k"),
            ("25 - 39", "40 - 59"),
            ("#1f4e5f", "#cfe8ee"),
            "road",
            ProgramPlan(
                "slow-roads",
                3,
                45,
                54,
                7,
                "Send readers who like to travel overland. We spot-check one in a hundred.",
            ),
        ),
        Issue(
            "Rails & Rivers",
            "Night trains, ferries and the towns between them, with timetables you can trust.",
            ("travel", "business", "news"),
            "mainly_male",
            ("$100k - $150k", "$150k+"),
            ("40 - 59",),
            ("#6b2d3a", "#f3d6db"),
            "wave",
            ProgramPlan("rails-and-rivers", "4.50", 300, 900, 21),
        ),
    ),
    (
        NewReward(
            name="Printable map of the month",
            referrals=2,
            kind="link",
            link="https://slowroads.example/map",
        ),
    ),
    {"the-morning-wax": (3, 9), "lumen-letters": (1, 3)},
)

_LUMEN = Newsletter(
    "lumen@honeyguide.example",
    "Lumen Letters",
    "lumen",
    {"tagline": "How pictures are made", "promise": "One photograph and how the light got there."},
    "flexible",
    2,
    4,
    0.3,
    (
        Issue(
            "Lumen Letters",
            "One photograph a week, and how the light got there.",
            ("art & design", "science"),
            "mainly_female",
            ("$50k - $75k", "$75k - $100k"),
            ("18 - 24", "25 - 39"),
            ("#4a3a8c", "#e2dcfb"),
            "sun",
            ProgramPlan("lumen-letters", "1.75", 21, 150, 0, "Students welcome."),
        ),
        Issue(
            "Contact Sheet",
            None,
            ("art & design",),
            "mixed",
            ("less than $20k", "$20k - $50k"),
            ("18 - 24",),
            ("#222222", "#e8e4da"),
            "frames",
            ProgramPlan("contact-sheet", 0, 0, 0, 0),
        ),
    ),
    (
        NewReward(
            name="A desktop picture", referrals=1, kind="link", link="https://lumen.example/desktop"
        ),
    ),
    {"the-morning-wax": (2, 6), "slow-roads": (2, 4), "weekend-hive": (1, 2)},
)

CAST = (_WAX, _ROADS, _LUMEN)
COUPONS = [f"WAX-{number * 7919 % 90000 + 10000}" for number in range(1, 37)]
STREETS = (
    "Linden Street",
    "Mill Lane",
    "Harbour Road",
    "Rue des Tilleuls",
    "Kastanienallee",
    "Via Garibaldi",
)
CITIES = (
    ("Ghent", "9000", "Belgium"),
    ("Leeds", "LS1 4DY", "United Kingdom"),
    ("Graz", "8010", "Austria"),
    ("Portland", "97205", "United States"),
    ("Aarhus", "8000", "Denmark"),
)
