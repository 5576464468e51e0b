"""Text that would become markup wherever a page forgets to escape it, and a reader of pages that
finds where it did.
"""

from html.parser import HTMLParser

# An element; the end of a quoted attribute, a script, a title and a text box, then an element
# again; an attribute where a page forgot the quotes. The first word and the first forty characters
# are hostile too: some pages show no more than that.
EVIL = "<evil>\"'></script></title></textarea><evil onevil=1> onevil=1 {{7*7}}"
ESCAPED = ("&lt;evil", "&amp;lt;evil")


class _Reader(HTMLParser):
    def __init__(self, where: str) -> None:
        super().__init__(convert_charrefs=True)
        self._where = where
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if "evil" in tag:
            self.found.append(f"{self._where}: an element <{tag}>")
        for name, value in attributes:
            if "evil" in name:
                self.found.append(f"{self._where}: an attribute {name} on <{tag}>")
            if (value or "").strip().lower().startswith(("javascript:", "data:text/html")):
                self.found.append(f"{self._where}: {name}={value} on <{tag}>")
            if name == "srcdoc":  # a page in a page, escaped once more
                self.found += unescaped(value or "", f"{self._where}, in its frame")

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        if self.cdata_elem and "<evil" in data:
            self.found.append(f"{self._where}: in a <{self.cdata_elem}>")


def unescaped(page: str, where: str) -> list[str]:
    """Everywhere that EVIL became markup."""
    reader = _Reader(where)
    reader.feed(page)
    reader.close()
    return reader.found
