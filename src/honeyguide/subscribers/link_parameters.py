"""Which parameter of a link holds the code. Ours are `ref` and `partner`; those of other tools are
read too, so that links that were shared long ago go on working, and so are the names that an
operator enters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid

REF, PARTNER = "ref", "partner"
# Ours first: it wins if a link has several. Then those of SparkLoop, GrowSurf, KickoffLabs,
# ReferralHero and Viral Loops. Nothing else is called that, so none needs to be turned on.
_NAMES = {
    REF: (REF, "rh_ref", "grsf", "kid", "mwr", "referralCode"),
    PARTNER: (PARTNER, "rh_partner"),
}
# A form has these for something else.
_RESERVED = frozenset(
    {"email", "name", "consent", "token", "language", "waited_ms", "for", "confirm", "website"}
    | {f"utm_{word}" for word in ("source", "medium", "campaign", "term", "content")}
    | set(_NAMES[PARTNER])
)
MOST = 10
LONGEST = 40
_FORM = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}", re.ASCII)
_BETWEEN = re.compile(r"[\s,]+")


def codes_in(given: Mapping[str, str], own: Sequence[str]) -> dict[str, str]:
    """The codes of a link or form under our names for them. `own` are the operator's names of
    parameters that hold a subscriber's code. What no column could hold is left out."""
    found = {}
    for name, others in _NAMES.items():
        names = [*others, *own] if name == REF else others
        code = next((text for each in names if is_kept(text := given.get(each, ""))), "")
        if code:
            found[name] = code
    return found


def is_read(name: str, own: Collection[str]) -> bool:
    """Whether a parameter of this name holds a subscriber's code."""
    return name in _NAMES[REF] or name in own


def is_kept(text: str) -> bool:
    return 0 < len(text) <= checks.STRING_LIMIT and "\x00" not in text


def check(names: list[str], *, param: str) -> list[str]:
    """An operator's names, each once."""
    for name in names:
        if _FORM.fullmatch(name) is None:
            raise Invalid(
                "Each of {field} must be 1 to {most} letters (A to Z), digits, hyphens or "
                "underscores.",
                param=param,
                most=LONGEST,
            )
        if name in _RESERVED:
            raise Invalid(
                "{field} cannot have {name}: our forms use it for something else.",
                param=param,
                name=name,
            )
    kept = list(dict.fromkeys(names))
    if len(kept) > MOST:
        raise Invalid("{field} can have at most {most} names.", param=param, most=MOST)
    return kept


def parse(text: str) -> list[str]:
    """Names as they are typed: with commas, spaces or line breaks between them."""
    return [name for name in _BETWEEN.split(text) if name]


def joined(names: Collection[str]) -> str:
    return ", ".join(names)
