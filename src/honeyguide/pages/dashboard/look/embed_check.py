"""What is right and wrong with the operator's page, judged from the HTML that its server sends."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from honeyguide.events.outbound import FullAnswer
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.embeds import script
from honeyguide.subscribers import embeds
from honeyguide.subscribers.embeds import Embed

ELEMENTS = ("honeyguide-signup", "honeyguide-hub", "honeyguide-leaderboard")
_SCRIPT = re.compile(r"honeyguide(?:-\d{1,9})?\.js").fullmatch
# More than any page has; each takes memory while the page is judged.
MOST_TAGS = 100_000
TOO_MANY_TAGS = "The page has more than 100,000 elements, too many to check."
# Which rule of a policy decides, the first of these that it has.
_DIRECTIVES = {
    "script-src": ("script-src-elem", "script-src", "default-src"),
    "connect-src": ("connect-src", "default-src"),
}
_LONGEST_NONCE = 200
# One element, by its tag, id, classes and attributes: enough for almost every form.
_SIMPLE = re.compile(r"([a-z][\w-]*)?((?:[#.][\w-]+|\[[\w-]+(?:=[\"']?[^\"'\]]*[\"']?)?\])*)", re.I)
_PART = re.compile(r"([#.])([\w-]+)|\[([\w-]+)(?:=[\"']?([^\"'\]]*)[\"']?)?\]")


class EmbedFinding(NamedTuple):
    is_good: bool
    sentence: str


class TooManyTags(Exception):
    """The page has more elements than we look at."""


class FoundHtml:
    """The parts of a page that matter here."""

    def __init__(self, page: str) -> None:
        self.tags: list[tuple[str, Attributes]] = []
        self.scripts: list[Attributes] = []
        self.elements: list[str] = []
        self.policies: list[str] = []
        for tag, attributes in start_tags(page):
            self._add(tag, attributes)

    def _add(self, tag: str, attributes: Attributes) -> None:
        if len(self.tags) == MOST_TAGS:
            raise TooManyTags
        self.tags.append((tag, attributes))
        if tag == "script" and _script_name(attributes.get("src", "")):
            self.scripts.append(attributes)
        elif tag in ELEMENTS:
            self.elements.append(tag)
        elif attributes.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(attributes.get("content", ""))

    def has(self, attribute: str) -> bool:
        return any(attribute in attributes for _, attributes in self.tags)


Attributes = dict[str, str]
_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,99}").match
# The quote that ends a value is looked for to the end of the page, but at most once in vain: after
# that, the page has no such quote left.
_ATTRIBUTE = re.compile(
    r"[\s/=]*([^\s/>=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)))?"
).match
_END = re.compile(r"[\s/=]*>").match
# What is inside these is text.
_TEXT_UNTIL = {
    name: re.compile(f"</{name}", re.IGNORECASE).search
    for name in ("script", "style", "textarea", "title")
}
# Decoding longer ones has a price: a number of 5,000 digits is an error, for example.
_LONGEST_DECODED = 4_000


def _script_name(src: str) -> str:
    """The file name of our script, or "" if this is another script."""
    folder, _, name = src.partition("?")[0].rpartition("/")
    return name if folder.endswith("/embed") and _SCRIPT(name) else ""


def findings(
    answer: FullAnswer, *, url: str, base_url: str, embed: Embed, asks_consent: bool
) -> list[EmbedFinding]:
    """The first thing that stops the rest, or everything there is to say. For a thread: a page may
    have 2 MB."""
    trouble = _unreadable(answer, url)
    if trouble:
        return [EmbedFinding(False, trouble)]
    try:
        page = FoundHtml(answer.body.decode("utf-8", "replace"))
    except TooManyTags:
        return [EmbedFinding(False, TOO_MANY_TAGS)]
    policy = answer.headers.get("content-security-policy", "")
    page.policies += policy.split(",") if policy else []
    found = [_website(url, embed), *_script(page, base_url, embed)]
    if page.scripts:
        found += _contents(page, embed, asks_consent=asks_consent)
    return [*found, *_policies(page, base_url)]


def _unreadable(answer: FullAnswer, url: str) -> str:
    if answer.status is None:
        return f"We could not open the page. {answer.error}"
    if 300 <= answer.status < 400:
        return f"The page leads on to {_target(answer, url)}. Check that address instead."
    if answer.status != 200:
        return f"The page answered with status {answer.status}."
    if "html" not in answer.headers.get("content-type", "html"):
        return "The address does not lead to an HTML page."
    return ""


def _target(answer: FullAnswer, url: str) -> str:
    location = answer.headers.get("location", "")
    try:
        return urljoin(url, location)[:200]
    except ValueError:  # such as http://[
        return location[:200]


def _website(url: str, embed: Embed) -> EmbedFinding:
    try:
        origin = embeds.parse_origin(url)
    except Invalid:
        return EmbedFinding(False, "The address is not a website.")
    if embed.lists(origin):
        return EmbedFinding(True, f"{origin} is one of your websites.")
    return EmbedFinding(
        False, f"{origin} is not one of your websites above, so its signups are refused."
    )


def _script(page: FoundHtml, base_url: str, embed: Embed) -> list[EmbedFinding]:
    if not page.scripts:
        return [
            EmbedFinding(
                False,
                "The script is not in the HTML that your server sends. If another script adds it, "
                "such as a tag manager, sign up yourself and look below.",
            )
        ]
    found = []
    if len(page.scripts) > 1:
        found.append(
            EmbedFinding(False, "The script is on the page more than once. Remove all but one.")
        )
    tag = page.scripts[0]
    host = urlsplit(base_url).netloc
    if _host(tag["src"]) != host:
        found.append(EmbedFinding(False, f"The script comes from another host than {host}."))
    if tag.get("data-campaign", "") != embed.public_id:
        found.append(EmbedFinding(False, f"Its data-campaign must be {embed.public_id}."))
    found += [EmbedFinding(False, sentence) for sentence in (_version(tag), _settings(tag, embed))]
    found = [finding for finding in found if finding.sentence]
    return found or [EmbedFinding(True, "The script is on the page.")]


def _host(src: str) -> str:
    try:
        return urlsplit(src).netloc
    except ValueError:  # such as http://[
        return ""


def _version(tag: Attributes) -> str:
    """What is wrong with the version that the page names, and with its hash."""
    name = _script_name(tag["src"])
    if name == script.STABLE:
        if "integrity" not in tag:
            return ""
        return (
            f"{name} changes with every update, and its integrity attribute then stops it. Use the "
            f"code that is pinned to one version."
        )
    if name not in script.versions():
        return f"There is no script {name}. Copy the code again."
    if tag.get("integrity", script.integrity(name)) != script.integrity(name):
        return f"Its integrity attribute is not that of {name}, so browsers refuse it."
    return ""


def _settings(tag: Attributes, embed: Embed) -> str:
    """Whether the code on the page was copied before the settings were changed."""
    is_session = tag.get("data-storage") == "session"
    is_older = is_session != (embed.keep_days == 0) or (
        embed.form_selector and tag.get("data-form", embed.form_selector) != embed.form_selector
    )
    return (
        "The script was copied before you changed your settings. Copy it again." if is_older else ""
    )


def _contents(page: FoundHtml, embed: Embed, *, asks_consent: bool) -> list[EmbedFinding]:
    found = [
        EmbedFinding(True, f"<{name}> is on the page.") for name in dict.fromkeys(page.elements)
    ]
    selector = page.scripts[0].get("data-form", "")
    forms = [attributes for tag, attributes in page.tags if tag == "form"]
    if any("data-honeyguide" in attributes for attributes in forms):
        found.append(EmbedFinding(True, "Your form is marked with data-honeyguide."))
    elif page.has("data-honeyguide"):
        found.append(EmbedFinding(False, "data-honeyguide must be on the <form> element itself."))
    elif selector:
        found.append(_selected(page, selector))
    elif not found:
        return [_nothing(len(forms))]
    if forms and asks_consent and not page.elements and not page.has("data-honeyguide-consent"):
        found.append(
            EmbedFinding(
                False,
                "Your campaign has a consent text, but no checkbox is marked with "
                "data-honeyguide-consent, so signups of your own form are refused.",
            )
        )
    return found


def _nothing(forms: int) -> EmbedFinding:
    if forms:
        return EmbedFinding(False, "There is a form, but it is not marked with data-honeyguide.")
    return EmbedFinding(False, "There is no form in the HTML, and no element of ours.")


def _selected(page: FoundHtml, selector: str) -> EmbedFinding:
    # The page's own selector, which may be longer than one that was saved here.
    is_short = len(selector) <= embeds.SELECTOR_LIMIT
    pattern = _SIMPLE.fullmatch(selector.strip()) if is_short else None
    if pattern is None:
        return EmbedFinding(
            True, f"Your form is chosen by {selector[:200]}, which only a browser can check."
        )
    if any(_matches(pattern, tag, attributes) for tag, attributes in page.tags):
        return EmbedFinding(True, f"Your form is chosen by {selector}.")
    return EmbedFinding(False, f"Nothing in the HTML matches {selector}.")


def _matches(pattern: re.Match[str], tag: str, attributes: Attributes) -> bool:
    if pattern[1] and pattern[1].lower() != tag:
        return False
    classes = set(attributes.get("class", "").split())
    for kind, name, attribute, value in _PART.findall(pattern[2]):
        if kind == "#" and attributes.get("id") != name:
            return False
        if kind == "." and name not in classes:
            return False
        if attribute and (attribute not in attributes or value not in ("", attributes[attribute])):
            return False
    return True


def _policies(page: FoundHtml, base_url: str) -> list[EmbedFinding]:
    """What the website's own content security policy forbids."""
    found = []
    nonce = page.scripts[0].get("nonce", "")[:_LONGEST_NONCE] if page.scripts else ""
    for directive in _DIRECTIVES:
        if any(not _permits(policy, directive, base_url, nonce) for policy in page.policies):
            found.append(
                EmbedFinding(
                    False,
                    f"Your content security policy forbids it: add {base_url} to {directive}.",
                )
            )
    return found


def _permits(policy: str, directive: str, base_url: str, nonce: str) -> bool:
    rules = dict(
        reversed(
            [(words[0].lower(), words[1:]) for rule in policy.split(";") if (words := rule.split())]
        )
    )
    sources = next((rules[name] for name in _DIRECTIVES[directive] if name in rules), None)
    if sources is None:
        return True
    if directive == "script-src" and nonce and f"'nonce-{nonce}'" in sources:
        return True
    parts = urlsplit(base_url)
    allowed = {"*", f"{parts.scheme}:", parts.netloc, f"{parts.scheme}://{parts.netloc}"}
    wildcards = {f"*.{parts.netloc.partition('.')[2]}"}
    return any(
        source in allowed | wildcards or source.removeprefix("https://") in wildcards
        for source in sources
    )


def start_tags(page: str) -> Iterator[tuple[str, Attributes]]:
    """Every element's name in lower case, and its attributes, found in linear time. Python's
    `HTMLParser` takes quadratic time for some pages and raises AssertionError for others."""
    place = 0
    while (place := page.find("<", place)) >= 0:
        if page.startswith("<!--", place):
            place = page.find("-->", place + 4)
            if place < 0:
                return
            continue
        name = _NAME(page, place + 1)
        if name is None:
            place += 1
            continue
        attributes, place = _attributes(page, name.end())
        if place < 0:
            return
        tag = name[0].lower()
        yield tag, attributes
        if tag in _TEXT_UNTIL:
            end = _TEXT_UNTIL[tag](page, place)
            if end is None:
                return
            place = end.end()


def _attributes(page: str, place: int) -> tuple[Attributes, int]:
    """The attributes from here on, and where their tag ends; -1 if it does not end."""
    found: Attributes = {}
    while (end := _END(page, place)) is None:
        attribute = _ATTRIBUTE(page, place)
        if attribute is None:
            return found, -1
        value = attribute[2] or attribute[3] or attribute[4] or ""
        found.setdefault(attribute[1].lower(), _decoded(value))
        place = attribute.end()
    return found, end.end()


def _decoded(value: str) -> str:
    return html.unescape(value) if len(value) <= _LONGEST_DECODED else value
