"""Words that nobody can choose as their code, because it becomes part of a link: addresses of ours,
and rude words in the languages of our pages.

The lists are short on purpose. They stop what everybody finds rude and leave names alone; an
operator sees every code.
"""

from __future__ import annotations

import re

from honeyguide.kernel.checks import RESERVED_SLUGS

# Besides the addresses that exist: what browsers, search engines and other programs ask for, and
# what somebody could pretend to be.
_ALSO_RESERVED = """
about abuse apple-app-site-association atom blog cdn contact cookies demo faq favicon-ico feed
ftp graphql hostmaster http https humans-txt imprint impressum internal invoices legal link
links localhost mail mailer-daemon manifest moving null official owner payment payments
postmaster press pricing profile public ref referral referrals robots-txt root rss search
security security-txt sitemap-xml smtp ssl staff status system team tls undefined upload
uploads user users webmaster wellknown wp-admin wp-login
"""
_RESERVED = RESERVED_SLUGS | frozenset(_ALSO_RESERVED.split())

# Found anywhere in a code. None is part of an ordinary word or name, apart from _HONEST.
_RUDE_INSIDE = {
    "en": "fuck shit cunt bitch nigger nigga faggot whore asshole bastard wanker bollocks dickhead "
    "cocksuck blowjob handjob dildo porn pussy slut hitler",
    "de": "arschloch fotze hurensohn wichser scheiss schlampe missgeburt schwuchtel judensau",
    "fr": "putain salope connard connasse encule pouffiasse",
    "es": "hijodeputa gilipollas pendejo mierda putamadre",
    "pt": "caralho fodase filhodaputa arrombado",
    "it": "cazzo vaffanculo stronzo stronza puttana coglione minchia frocio",
    "nl": "klootzak godverdomme kutwijf",
    "pl": "kurwa chuj pierdol jebac skurwysyn pizda dziwka",
    "ja": "yariman",
    "ar": "sharmouta sharmuta kosomak kosommak",
}
# Refused only as a word of its own, because ordinary words and names contain them.
_RUDE_ALONE = {
    "en": "anal anus arse ass cock cum fag jizz kike nazi nazis nude nudes penis piss poop rape "
    "rapist retard sex spic tits twat vagina wank xxx",
    "de": "arsch fick ficken hure kacke kanake neger nutte pisse siegheil spasti titten",
    "fr": "batard chatte foutre merde nique niquer pute",
    "es": "cabron chingada chingar cono culo follar joder maricon puta puto",
    "pt": "bicha buceta cuzao foder merda porra viado",
    "it": "fica figa merda tette troia",
    "nl": "flikker hoer kanker kut neuken tering tyfus",
    "pl": "cwel dupa kutas suka",
    "ja": "baka chinko chinpo kuso manko unko",
    "ar": "manyak sharmut",
}
# Names and words that contain a rude one, such as Matsushita and Yoshitaka.
_HONEST = re.compile(r"[aiou]shi|scunthorpe|pornchai")

# A 1 may stand for an i or an l, and a long run of a letter for one or two of it.
_DIGITS = (str.maketrans("013456789", "oieasgtbg"), str.maketrans("013456789", "oleasgtbg"))
_RUN = re.compile(r"(.)\1{2,}")
_RUNS = (r"\1", r"\1\1")
_SEPARATORS = re.compile(r"[-_]+")


def _words(lists: dict[str, str]) -> frozenset[str]:
    return frozenset(word for words in lists.values() for word in words.split())


_INSIDE, _ALONE = _words(_RUDE_INSIDE), _words(_RUDE_ALONE)


def is_reserved(code: str) -> bool:
    return _SEPARATORS.sub("-", code.lower()).strip("-") in _RESERVED


def is_rude(code: str) -> bool:
    """Also with digits for letters, letters repeated, or signs between them."""
    return any(_is_rude(_RUN.sub(run, code.lower()), digits) for digits in _DIGITS for run in _RUNS)


def _is_rude(code: str, digits: dict[int, int]) -> bool:
    parts = _SEPARATORS.split(code)
    joined = "".join(parts)
    # Digits at an end count something: ana-1 is no word.
    alone = [part.strip("0123456789") for part in parts]
    if all(len(part) == 1 for part in parts):
        alone.append(joined)
    if any(part.translate(digits) in _ALONE for part in alone):
        return True
    inside = _HONEST.sub("-", joined.translate(digits))
    return any(word in inside for word in _INSIDE)
