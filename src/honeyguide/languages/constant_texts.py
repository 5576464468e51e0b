"""Texts without variables, translated when a template is compiled.

An environment has one language, so these texts are as constant as the markup around them. Calling
gettext for each would make a page a third slower.
"""

from __future__ import annotations

import json
import re
from typing import Any

from jinja2.ext import Extension

_TEXT = re.compile(
    r"""
    \{%(?P<before>-?)\ trans\ %\} (?P<block>[^{}<>%]+) \{%\ endtrans\ (?P<after>-?)%\}
    | \bgettext\( (?P<quote>["']) (?P<argument>[^"'{}%]+) (?P=quote) \)
    """,
    re.VERBOSE,
)


class ConstantTexts(Extension):
    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _TEXT.sub(self._translated, source)

    def _translated(self, match: re.Match[str]) -> str:
        text = " ".join((match["block"] or match["argument"]).split())
        language: Any = self.environment.globals["language"]
        literal = json.dumps(language.gettext(text), ensure_ascii=False)
        if match["argument"]:
            return literal
        return f"{{{{{match['before']} {literal} {match['after']}}}}}"
