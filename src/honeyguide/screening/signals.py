"""What speaks for or against a referral. One row for each signal has all that is said about it, and
one table has every threshold. Pure: what is found depends on the arguments only.

`docs/screening.md` explains both tables to owners; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

SUSPICIOUS_POINTS = 3
"""A referral with as many points is suspicious. What a single request looks like never suffices."""


class SignalFacts(NamedTuple):
    code: str
    """In the API and the database. It never changes; the texts may."""
    points: int
    """Against the referral, or for it if negative. A signal about a group gives at most these."""
    sentence: str
    """For the owner. It ends with `: {value}.`, which is what was found; a value is deleted
    earlier than its code, and then the sentence ends before the colon."""
    is_group: bool = False
    """It is about the signups with one code, so a later signup can bring it to an earlier one."""
    is_proof: bool = False
    """It speaks for a referral even if the group clearly speaks against it."""
    asks_owner: bool = False
    """Honest people look like this too, so at no level is anybody rejected for it at once."""


class Signal(StrEnum):
    facts: SignalFacts

    def __new__(cls, code: str, *facts: Any) -> Self:
        signal = str.__new__(cls, code)
        signal._value_ = code
        signal.facts = SignalFacts(code, *facts)
        return signal

    def sentence(self, value: str) -> str:
        # Not `format`: what was found comes from outside and may have braces.
        return self.facts.sentence.replace(": {value}", f": {value}" if value else "")

    def found(self, value: str = "") -> SignalFinding:
        return SignalFinding(self, value, self.facts.points)

    # Against: the request.
    AUTOMATED_BROWSER = SignalFacts("automated_browser", 1, "The form was sent by a program rather than a browser: {value}.")
    NO_CLICK = SignalFacts("no_click", 1, "No click on the link came before the signup: {value}.")
    NO_FORM = SignalFacts("no_form", 1, "The signup came without a form that we had shown, so it waits for you if it is paid: {value}.")
    SAME_NETWORK = SignalFacts("same_network", 2, "Same IP network as the referrer within a day: {value}.")
    # Against: the group.
    RARE_DOMAIN = SignalFacts(
        "rare_domain", 3, "Signups through this link share mail domains that few other subscribers have: {value}.", is_group=True
    )
    GENERATED_ADDRESS = SignalFacts("generated_address", 3, "Email addresses on this link look generated: {value}.", is_group=True)
    REGULAR_INTERVALS = SignalFacts("regular_intervals", 3, "Signups came at regular intervals: {value}.", is_group=True)
    SEVERAL_ADDRESSES = SignalFacts("several_addresses", 3, "One person seems to use several addresses: {value}.", is_group=True)
    MANY_FROM_ONE_NETWORK = SignalFacts(
        "many_from_one_network", 2, "Many signups through this link from few IP networks: {value}.", is_group=True
    )
    BURST = SignalFacts("burst", 1, "Many signups through this link within an hour: {value}.", is_group=True)
    # Against: a group of any share, over all links of a program.
    SHARED_DOMAIN = SignalFacts(
        "shared_domain", 3, "Many confirmed people share a mail domain that few others have: {value}.", is_group=True, asks_owner=True
    )
    SHARED_MAIL_HOST = SignalFacts(
        "shared_mail_host", 3, "Many confirmed people share a mail host that few others have: {value}.", is_group=True, asks_owner=True
    )
    SHARED_MAIL_NETWORK = SignalFacts(
        "shared_mail_network", 3, "The mail hosts of many confirmed people are in one network: {value}.", is_group=True, asks_owner=True
    )
    SHARED_BROWSER = SignalFacts(
        "shared_browser", 3, "Many confirmed people share an IP network and a browser: {value}.", is_group=True, asks_owner=True
    )
    # Against: the mailbox.
    BOUNCED = SignalFacts("bounced", 3, "An email to the address was returned: {value}.")
    # For. What mail scanners do by themselves is not here: opening an email, following its links.
    CONFIRMED = SignalFacts("confirmed", 0, "They confirmed their email address: {value}.")
    CONFIRMED_BY_KEY = SignalFacts("confirmed_by_key", 0, "Your API key says that they confirmed their email address: {value}.")
    USED_REFERRAL_PAGE = SignalFacts("used_referral_page", -2, "They used a button on their referral page: {value}.")
    CLAIMED_REWARD = SignalFacts("claimed_reward", -3, "They claimed a reward: {value}.", is_proof=True)
    ACTIVE_ON_PLATFORM = SignalFacts("active_on_platform", -2, "They are active on the connected email platform: {value}.")


class SignalFinding(NamedTuple):
    signal: Signal
    value: str
    points: int
    """As many as the signal has, or fewer if a group shows it less clearly."""


def points(findings: Iterable[SignalFinding]) -> int:
    """What speaks against a referral, less what speaks for it, never below 0.

    A robot with a mailbox can also press buttons. So what speaks for a referral does not make it
    unsuspicious if its group alone is, unless it is proof.
    """
    most: dict[Signal, SignalFinding] = {}
    for each in findings:
        known = most.get(each.signal)
        if known is None or each.points > known.points:
            most[each.signal] = each
    if not most:
        return 0
    total = max(0, sum(each.points for each in most.values()))
    has_clear_group = any(
        each.signal.facts.is_group and each.points >= SUSPICIOUS_POINTS for each in most.values()
    )
    if has_clear_group and not any(signal.facts.is_proof for signal in most):
        return max(total, SUSPICIOUS_POINTS)
    return total


def _limit(value: Any, why: str) -> Any:
    return field(default=value, metadata={"why": why})


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Counts are of signups with one code. A share is of all of them, or of those who confirmed if
    that is larger: addresses that never confirm must not hide those that do."""

    group_size: int = _limit(200, "The newest signups of a code, which are looked at together.")

    domain_known: int = _limit(
        2, "A domain that so many other subscribers have, and half as many as here, is common."
    )
    domain_pair: int = _limit(2, "One point for so many at one uncommon domain: worth showing.")
    domain_pair_share: float = _limit(0.1, "Colleagues among many other readers are nothing.")
    domain_few: int = _limit(5, "Fewer at one uncommon domain may be a partner's colleagues.")
    domain_share: float = _limit(0.4, "Two points; a university among other readers has less.")
    domain_clear_share: float = _limit(0.5, "Three points: the link brings mostly one domain.")
    farm_people: int = _limit(8, "So many signups that share an uncommon domain can be a farm.")
    farm_domains: int = _limit(2, "Uncommon domains with two or more signups that make a farm.")
    farm_share: float = _limit(0.35, "Two points; among people at work, few have a colleague here.")
    farm_clear_share: float = _limit(0.5, "Three points: most share an uncommon domain.")
    uncommon_signups: int = _limit(12, "With fewer at uncommon domains, their share says little.")
    uncommon_share: float = _limit(0.75, "Two points: nearly nobody has a usual mailbox.")
    uncommon_excess: float = _limit(0.3, "So far it must also be above the campaign's usual share.")

    counted_addresses: int = _limit(4, "The same word with numbers that follow each other.")
    stem_addresses: int = _limit(5, "The same word with any numbers, or all but two characters.")
    stem_share: float = _limit(0.08, "Of the group; a common first name with a year is below.")
    stem_letters: int = _limit(
        4, "Shorter words with numbers are usual: student numbers, initials."
    )
    counter_steps: int = _limit(10, "Different names whose numbers count up as they arrive.")
    counter_share: float = _limit(0.5, "Of names with numbers; by chance one in twenty counts up.")
    same_length: int = _limit(8, "Addresses with letters and digits at the same places.")
    same_length_share: float = _limit(0.5, "Three points; of honest ones a tenth are alike.")
    same_shape: int = _limit(15, "Addresses of one pattern with digits, such as `name.name#`.")
    same_shape_share: float = _limit(0.6, "Two points; of honest ones a tenth have such a pattern.")
    same_shape_plain_share: float = _limit(0.85, "For `name#`, which a third of people have.")
    same_digits: int = _limit(3, "Three points if nearly all have so many digits, or more, alike.")
    gibberish: int = _limit(6, "Names that cannot be pronounced; one real name in 1,000 looks so.")
    gibberish_share: float = _limit(0.3, "Two points: more than any language explains.")
    gibberish_clear_share: float = _limit(0.5, "Three points: most have no name.")

    regular_gaps: tuple[tuple[int, float], ...] = _limit(
        ((14, 0.14), (24, 0.19), (39, 0.295), (99, 0.44)),
        "So many gaps in a row, and their largest coefficient of variation without the shortest "
        "and the longest tenth. Random arrivals are below it on one code in 2,000.",
    )
    shortest_gap_ms: int = _limit(1_000, "A typical gap below it is a batch of the owner's.")
    longest_gap_ms: int = _limit(43_200_000, "Above it, a daily newsletter may be the timer.")

    shared_people: int = _limit(
        8, "So many confirmed people who share something wait, at any share."
    )
    shared_share: float = _limit(
        0.25, "Or this share of the newsletter's confirmed readers, if that is fewer people."
    )
    shared_least: int = _limit(4, "Never fewer: a family, or three colleagues and a friend.")
    shared_excess: float = _limit(2.0, "And more than so often the share of the other readers.")
    shared_growth: float = _limit(2.0, "An approved group asks again when it has grown so much.")

    network_people: int = _limit(4, "One point from so many on: more than a household.")
    network_share: float = _limit(0.2, "It must also be this share; an office among 200 is below.")
    network_many: int = _limit(8, "Two points from so many on, if they are most of the group.")
    network_many_share: float = _limit(0.5, "What most means there.")
    pool_people: int = _limit(20, "With fewer signups, a small pool of networks says little.")
    pool_mean: float = _limit(3.0, "Two points: signups per network; honest groups have 1 to 2.")
    burst_people: int = _limit(11, "One point within an hour; a good post brings as many.")

    person_addresses: int = _limit(2, "One point, and one more each for a third and a fourth.")
    same_name_length: int = _limit(8, "Shorter names at several domains are different people.")


THRESHOLDS = Thresholds()

# -- the request

_LONGEST_USER_AGENT = 512
_TOOLS = re.compile(
    r"curl|wget|python|aiohttp|httpx|scrapy|go-http-client|^okhttp|java/|apache-httpclient|"
    r"node-fetch|node\.js|axios|undici|libwww|lwp::|httpie|postman|insomnia|guzzle|php/|ruby|"
    r"reqwest|headless|phantomjs|selenium|puppeteer|playwright"
)
# Each has sent `Sec-Fetch-*` since this version. Web views inside other apps do not always.
_SENDS_FETCH = (
    (re.compile(r"chrome/([0-9]{1,4})\.()"), (80, 0)),
    (re.compile(r"firefox/([0-9]{1,4})\.()"), (90, 0)),
    (re.compile(r"version/([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]+)? .{0,40}safari/"), (16, 4)),
)
_WEB_VIEW = re.compile(r"; wv\)|version/4\.0 chrome/")


def of_request(headers: Mapping[str, str], *, is_https: bool = True) -> SignalFinding | None:
    """Whether a program sent the form. Browsers leave out `Sec-Fetch-*` on plain HTTP."""
    sent = {name.lower(): value for name, value in headers.items()}
    agent = sent.get("user-agent", "")[:_LONGEST_USER_AGENT].strip().lower()
    if not agent:
        found = "no user agent"
    elif tool := _TOOLS.search(agent + " " + sent.get("sec-ch-ua", "")[:200].lower()):
        found = f"user agent {tool[0].rstrip('/')}"
    elif not agent.startswith(("mozilla/", "opera/")):
        found = "not a browser’s user agent"
    elif not sent.get("accept-language", "").strip():
        found = "no language"
    elif is_https and _should_send_fetch(agent) and not any("sec-fetch-" in name for name in sent):
        found = "headers are missing that this browser sends"
    else:
        return None
    return Signal.AUTOMATED_BROWSER.found(found)


def _should_send_fetch(agent: str) -> bool:
    if _WEB_VIEW.search(agent):
        return False
    for pattern, since in _SENDS_FETCH:
        if version := pattern.search(agent):
            return (int(version[1]), int(version[2] or 0)) >= since
    return False
