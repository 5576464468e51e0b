"""Made-up people for families: names, addresses, IP addresses, and when they come and confirm."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS

_FIRST_NAMES_TEXT = """
aaron abigail adam adrian agnes aisha alan alba albert alice amara amelia amir ana andrea andreas
angela anita anja anna anton antonia arjun arthur astrid barbara beatriz ben bianca birgit bjorn
boris brenda brian camille carla carlos carmen caroline cecilia chen chiara chloe claire clara
claudia colin connor dana daniel daria david deborah derek diana diego dmitri dora edith eduardo
elena eli elisa emil emily emma eric esther eva fatima felix fiona florian frances francesco
gabriel george gerda giulia grace greta hana hannah harriet heidi helen henry hiro hugo ian ibrahim
ines ingrid irene isabel ivan jack jacob jana jane jasmin javier jean jens jessica joan joanna johan
jonas jorge josef julia karen karim karl kate katja keiko kevin klara laila lars laura lea leila
leon leonie lily linda lisa lorenzo louise luca lucas lucia maja malik marcel maria marta martin
mateo matilda maya mei mia miguel mila mina mohamed monika nadia naomi natalie nick nina noah nora
olga oliver omar oscar otto pablo patricia paul paula pedro peter petra philip pia priya rachel
rafael rebecca rita robert rosa ruben ruth sam samira sandra sara sebastian silvia simon sofia
stefan susan sven tanja tariq teresa theo thomas tim tobias uma ursula valentin vera victor vincent
wanda wei william xavier yara yasmin yuki yusuf zoe
"""
_LAST_NAMES_TEXT = """
abbott adler ahmed alvarez andersen archer bailey baker barbosa barnes bauer becker bell bennett
berg bergman bianchi bishop blanc boyd brandt brennan brooks brown burke campos carter castro chan
chavez clarke cohen cole collins conti cooper costa cox craig cruz dalton davies delgado diaz dixon
dubois duncan dunn eklund ellis engel esposito evans farrell ferrari ferreira fischer fletcher flynn
fontaine ford foster fox franke fraser fuchs garcia garnier gibson gomez graf grant greco green
griffin gruber hahn hall hansen harper hartmann hassan hayes henry herrera hoffmann holm horvath
hughes hunt hussain ito ivanov jackson jansen jensen johansson jordan kaiser kaur keller kelly khan
kim klein koch kovacs kowalski kramer kruger kumar lambert lang larsen lee lehmann leroy lindberg
lopez lund mackay mahler marino marsh martinez mason mayer mehta mendes meyer miller mills moreau
moreno morgan moser muller murphy nagy nakamura nelson nguyen nielsen nolan novak nowak ochoa olsen
ortega osborne otto owens park parker patel pavlov pearson peters petrov pfeiffer pham porter powell
price quinn rahman ramos reed reyes ricci richter rivera roberts romano rossi roth russo ryan saito
salazar sanchez santos sato schmidt schneider schulz scott sharma shaw silva simmons singh sokolov
stein stewart suzuki svensson tanaka taylor thomsen torres tran turner vargas vega vogel wagner
walker wallace walsh wang ward weber wells werner winter wolf wong wright yamada yilmaz young zhang
ziegler zimmermann
"""
FIRST_NAMES, LAST_NAMES = _FIRST_NAMES_TEXT.split(), _LAST_NAMES_TEXT.split()
# Where people have their mailbox, with how many of a hundred do.
PROVIDERS = {
    "gmail.com": 52,
    "yahoo.com": 9,
    "outlook.com": 8,
    "hotmail.com": 7,
    "icloud.com": 7,
    "gmx.de": 3,
    "aol.com": 2,
    "proton.me": 3,
    "web.de": 2,
    "orange.fr": 2,
    "btinternet.com": 1,
    "comcast.net": 2,
    "me.com": 1,
    "libero.it": 1,
}
_COMPANY_WORDS_TEXT = """
alder amber anchor apex arbor atlas aurora beacon birch blue bright canyon cedar cobalt copper coral
crest delta drift east echo elm ember falcon fern field forge fox glacier granite grove harbor hazel
heron hollow indigo iron island juniper kestrel lake lantern larch linden lunar maple marble meadow
mesa mill north oak ocean olive onyx orchid otter pearl pine prairie quarry quartz raven reed ridge
river robin rowan sable sage silver slate solar spruce stone summit swift thistle timber valley
violet walnut west willow wren zephyr
"""
_COMPANY_KINDS_TEXT = """
advisory analytics architects bakery bank bikes books capital clinic coffee consulting design
digital energy engineering events farms films foods foundation games health hotels insurance kitchen
labs law legal logistics media music outdoors partners pharma print press properties robotics
schools security software solutions studio systems tech textiles tools travel ventures wines works
"""
_COMPANY_WORDS, _COMPANY_KINDS = _COMPANY_WORDS_TEXT.split(), _COMPANY_KINDS_TEXT.split()
_COMPANY_ENDINGS = (".com", ".com", ".com", ".co.uk", ".de", ".io", ".org", ".fr", ".nl", ".net")


class Crowd:
    """Everything is drawn from one random generator, so a family is the same in every run."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self) -> tuple[str, str]:
        return self.rng.choice(FIRST_NAMES), self.rng.choice(LAST_NAMES)

    def local_part(self) -> str:
        """As people choose theirs: about a third have digits."""
        first, last = self.name()
        number = self.rng.choice([str(self.rng.randint(1, 99)), str(self.rng.randint(1950, 2008))])
        styles = {
            f"{first}.{last}": 30,
            f"{first}{last}": 18,
            f"{first[0]}{last}": 9,
            f"{first[0]}.{last}": 5,
            f"{last}.{first}": 4,
            f"{first}_{last}": 3,
            f"{first}{last}{number}": 10,
            f"{first}.{last}{number}": 8,
            f"{first}{number}": 6,
            f"{self.rng.choice(_COMPANY_WORDS)}{self.rng.choice(_COMPANY_WORDS)}{number}": 4,
            f"{last}{first[0]}{number}": 3,
        }
        return self.rng.choices(list(styles), list(styles.values()))[0]

    def provider(self) -> str:
        return self.rng.choices(list(PROVIDERS), list(PROVIDERS.values()))[0]

    def company(self) -> str:
        """A domain that hardly anybody else has."""
        word, kind = self.rng.choice(_COMPANY_WORDS), self.rng.choice(_COMPANY_KINDS)
        joint = self.rng.choice(["", "", "-"])
        return f"{word}{joint}{kind}{self.rng.choice(_COMPANY_ENDINGS)}"

    def colleague(self, domain: str) -> str:
        first, last = self.name()
        styles = (f"{first}.{last}", f"{first}.{last}", f"{first[0]}{last}", first)
        return f"{self.rng.choice(styles)}@{domain}"

    def address(self, company_share: float = 0.12) -> str:
        """One of a reader: at a mailbox provider, or at work."""
        if self.rng.random() < company_share:
            return self.colleague(self.company())
        return f"{self.local_part()}@{self.provider()}"

    def letters(self, count: int) -> str:
        return "".join(self.rng.choices(string.ascii_lowercase + string.digits, k=count))

    def ip_address(self) -> str:
        """Of a home or a phone: a fifth have IPv6."""
        if self.rng.random() < 0.2:
            parts = [f"{self.rng.randrange(65536):x}" for _ in range(7)]
            return f"2a02:{':'.join(parts)}"
        first = self.rng.choice([24, 31, 62, 67, 71, 78, 81, 86, 91, 93, 98, 108, 151, 176, 188])
        return ".".join(
            str(part) for part in (first, *(self.rng.randint(1, 254) for _ in range(3)))
        )

    def browser(self, names: Sequence[str]) -> str:
        return self.rng.choice(names)

    def moments(self, count: int, within_ms: int) -> list[int]:
        """When people come who do not know of each other, in order."""
        return sorted(self.rng.randrange(within_ms) for _ in range(count))

    def days(self, count: int, days: int) -> list[int]:
        """The same over days: hardly anybody comes at night."""
        return sorted(
            self.rng.randrange(days) * DAY_MS + int(self.rng.betavariate(2, 2) * 17 * HOUR_MS)
            for _ in range(count)
        )

    def confirms(self, share: float = 0.85) -> int | None:
        """Most of those who confirm do so within minutes, some the next day."""
        if self.rng.random() >= share:
            return None
        return min(6 * DAY_MS, int(self.rng.lognormvariate(1.6, 1.6) * MINUTE_MS) + 20_000)
