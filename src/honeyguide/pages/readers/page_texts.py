"""The texts on reader pages that the operator can change; each has a default.

They are kept as one JSON object with the campaign: `button` is the operator's text in every
language but those that have their own, such as `button.fr`. `{name}` in a text stands for the
newsletter's name, `{link}` for the reader's link.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from honeyguide.languages.language import Language, translatable


class PageText(NamedTuple):
    """One text that the operator can change, as the form shows it."""

    key: str
    label: str
    default: str
    limit: int
    about: str = ""


PAGE_TEXTS: tuple[PageText, ...] = (
    PageText("tagline", "Tagline", "", 120, "Small text next to the name, on every page."),
    PageText("promise", "Headline", translatable("Get {name} in your inbox"), 120, "At the top of the signup page: what readers get."),
    PageText("details", "Subheading", "", 600, "A sentence or two below the headline."),
    PageText("button", "Button", translatable("Subscribe"), 40, "The label of the signup button."),
    PageText("small_print", "Fine print", translatable("Unsubscribe at any time."), 300, "Small text below the button."),
    PageText("thanks", "Thank-you headline", translatable("You’re in. Thank you!"), 120, "Shown after signing up."),
    PageText("invite", "Invitation", translatable("Know someone who’d like it too? Share your link."), 300, "Above the new reader’s link."),
    PageText("check_inbox", "Confirmation headline", translatable("Almost there: check your inbox"), 120, "Shown until a reader confirms."),
    PageText("hub_note", "Note on the referral page", "", 600, "Shown to readers on their page: news, thanks, reward terms."),
    PageText("share_subject", "Email subject", translatable("You might like {name}"), 120, "When a reader shares by email."),
    PageText(
        "share_message",
        "Share message",
        translatable("I read {name} and think you’d like it too: {link}"),
        400,
        "The text a reader shares.",
    ),
)

# The small line with our name is shown unless this key says `off`.
POWERED_BY, OFF = "powered_by", "off"


def key_in(key: str, language: Language) -> str:
    """Under which a text for this language alone is kept."""
    return f"{key}.{language.code}"


def text_of(page_text: PageText, given: dict[str, Any], language: Language) -> str:
    """The operator's text for this language, else the one for all, else the default."""
    return language.own_text(given, page_text.key) or language.gettext(page_text.default)


class PageTexts:
    """`words.promise` and so on: the operator's text or the default, with the name filled in."""

    def __init__(self, given: dict[str, Any], name: str, language: Language) -> None:
        self._given = given
        self._name = name
        self._language = language

    @property
    def given(self) -> dict[str, Any]:
        """The operator's texts as they are kept."""
        return self._given

    def in_language(self, language: Language) -> PageTexts:
        return PageTexts(self._given, self._name, language)

    def __getattr__(self, key: str) -> str:
        page_text = _BY_KEY.get(key)
        if page_text is None:
            raise AttributeError(key)
        return text_of(page_text, self._given, self._language).replace("{name}", self._name)

    @property
    def powered_by(self) -> bool:
        return self._given.get(POWERED_BY) != OFF

    def share_text(self, link: str) -> str:
        """The message; its link is added at the end if the operator left it out."""
        text = self.share_message
        return text.replace("{link}", link) if "{link}" in text else f"{text} {link}"


_BY_KEY = {each.key: each for each in PAGE_TEXTS}


# These texts of a campaign hold for its programs too: they are not about the newsletter itself.
OF_PROGRAMS = frozenset({"button", "small_print", "thanks", "invite", "check_inbox", POWERED_BY})


def read(
    kept: Mapping[str, str],
    name: str,
    language: Language,
    *,
    only: frozenset[str] | None = None,
    **instead: str | None,
) -> PageTexts:
    """The texts kept with a campaign. `instead` replaces defaults, not the operator's texts."""
    given = {key: value for key, value in instead.items() if value}
    given |= {
        key: text for key, text in kept.items() if only is None or key.partition(".")[0] in only
    }
    return PageTexts(given, name, language)
