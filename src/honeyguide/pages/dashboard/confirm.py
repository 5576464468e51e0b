"""Asks before something is destroyed. With JavaScript a dialog asks, and the form says so with
`sure`. Without it the form arrives unasked, and one page asks for all such forms.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from honeyguide.pages import redirects
from honeyguide.pages.dashboard.page_request import PageRequest, PageView

# The question, the button that answers yes, and the action that it is about where a form has
# several. A form has these as hidden fields: the macro `asks_first` writes them.
QUESTION, YES, ONLY_FOR = "ask", "ask_yes", "ask_for"
SURE = "sure"


def question(request: PageRequest) -> PageView | None:
    """The page that asks, if the form wants to be asked about and was not yet."""
    text = request.text(QUESTION)
    if not text or request.text(ONLY_FOR) not in ("", request.text("do")):
        return None
    return ask(request, text, request.text(YES) or "Continue")


def ask(request: PageRequest, text: str, yes: str) -> PageView | None:
    """The page that asks this, unless it was answered with yes. For questions that depend on what
    was sent, such as how many were selected."""
    if request.text(SURE) == "yes":
        return None
    sent_by_question = {"csrf", QUESTION, YES, ONLY_FOR, SURE}
    fields = request.fields.multi_items()
    return request.view(
        "confirm.html",
        text=text,
        yes=yes,
        action=_path(str(request.http.url)),
        fields=[(name, value) for name, value in fields if name not in sent_by_question],
        back=_path(request.http.headers.get("referer", "")),
    )


def _path(url: str) -> str:
    parts = urlsplit(url)
    return redirects.local_path(f"{parts.path}?{parts.query}" if parts.query else parts.path)
