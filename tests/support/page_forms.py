"""The forms of a page: where they are sent, and what they send if nobody changes anything."""

from html.parser import HTMLParser


class PageForms(HTMLParser):
    """`found` has, for every address that a form is posted to, its fields and their values."""

    def __init__(self, page: str, path: str) -> None:
        super().__init__()
        self._path = path
        self._form: dict[str, str] | None = None
        self._text_of = self._select = ""
        self.found: dict[str, dict[str, str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            action = (given.get("action") or self._path).partition("?")[0]
            is_post = given.get("method", "").lower() == "post"
            self._form = self.found.setdefault(action, {}) if is_post else None
        elif self._form is None or not (name or tag == "option"):
            return
        elif tag == "input":
            is_off = given.get("type") in ("checkbox", "radio") and "checked" not in given
            if not is_off or name not in self._form:
                self._form[name] = given.get("value", "")
        elif tag == "button":
            self._form.setdefault(name, given.get("value", ""))
        elif tag == "textarea":
            self._text_of = name
            self._form[name] = ""
        elif tag == "select":
            self._select = name
            self._form[name] = ""
        elif tag == "option" and (not self._form.get(self._select) or "selected" in given):
            self._form[self._select] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._form is not None and self._text_of:
            self._form[self._text_of] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._text_of = ""
        elif tag == "form":
            self._form = None
