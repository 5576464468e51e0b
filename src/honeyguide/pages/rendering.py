"""Renders templates. Everything is escaped except the markup that a filter here made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from honeyguide.kernel.percentages import LEAST_FOR_PERCENT
from honeyguide.languages.language import Language
from honeyguide.pages import static

_CODE = re.compile(r"`([^`]+)`")
# A key with its colon, another string, or a bare word or number.
_JSON = re.compile(r"(&#34;(?:[^&\\]|\\.|&(?!#34;))*&#34;)(\s*:)?|\b(true|false|null|-?\d[\d.]*)\b")


def prose(text: str) -> Markup:
    """Plain text in which `this` is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def json_lines(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def coloured(text: str) -> Markup:
    """JSON with its values marked."""
    return Markup(_JSON.sub(_marked, str(escape(text))))


def _marked(match: re.Match[str]) -> str:
    string, colon, word = match.groups()
    if colon:
        return f"{string}{colon}"
    return f"<i>{string}</i>" if string else f"<b>{word}</b>"


def breakable(path: str) -> Markup:
    """A path that may wrap after each slash, with its parameters marked."""
    marked = re.sub(r"(\{\w+\})", r"<i>\1</i>", str(escape(path)))
    return Markup(marked.replace("/", "/<wbr>").replace("/<wbr>i>", "/i>"))


def wrapping(text: str) -> Markup:
    """A name or an address, which may wrap before its @."""
    return Markup(str(escape(text)).replace("@", "<wbr>@"))


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # looking for changes would cost a system call per file and page
    )
    made.globals["static"] = static.address
    made.globals["LEAST_FOR_PERCENT"] = LEAST_FOR_PERCENT
    made.filters.update(prose=prose, coloured=coloured, breakable=breakable, wrapping=wrapping)
    return made


_templates = _environment()


@cache
def _reader_templates(language: Language) -> Environment:
    """Each language compiles its own: texts are chosen without asking which language it is."""
    made = _environment()
    language.install_in(made)
    return made


def add_filters(**filters: Callable[..., Any]) -> None:
    """Filters that only some templates need."""
    _templates.filters.update(filters)


def page(template: str, **values: Any) -> str:
    return _templates.get_template(template).render(**values)


def macro(name: str) -> Callable[..., Markup]:
    """A macro of the dashboard's fields, for Python to call."""
    found: Callable[..., Markup] = getattr(
        _templates.get_template("dashboard/macros/fields.html").module, name
    )
    return found


def reader_page(language: Language, template: str, **values: Any) -> str:
    return _reader_templates(language).get_template(template).render(**values)
