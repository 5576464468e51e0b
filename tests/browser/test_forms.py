"""Every form of the dashboard and the reader pages, sent empty and with nonsense, in a real
browser.

Whatever was typed, the answer is a page that speaks its reader's language: no API field name, no
template placeholder and no Python text.
"""

import re

import pytest
from playwright.sync_api import Page

from honeyguide.accounts import attempts
from tests.browser import test_dashboard, test_partners, test_reader_pages
from tests.browser.conftest import DESKTOP, PageAt
from tests.support.service import Service

NONSENSE = "{field} %s <b>'\"☃ =1+1"
# These act on something instead of sending fields, or end the session.
SKIPPED = re.compile(
    r"/(logout|clock|delete|revoke|withdraw|sessions|act|hand-over|decide|review)\b"
)
PYTHON = re.compile(
    r"Traceback|NoneType|invalid literal|codec can't|has no "
    r"attribute|KeyError|ValueError|universal-newline"
)
PLACEHOLDER = re.compile(r"\{\w+\}")  # of an email, which operators type as it is
API_NAME = re.compile(r"\b[a-z]+_[a-z_]+\b|\bcpa\b|\{field\} (must|is)\b|^[a-z](?!\S*@)")

FILL = """([n, text]) => {
  const form = document.forms[n];
  form.noValidate = true;
  for (const asks of [form, ...form.querySelectorAll("[data-ask]")]) delete asks.dataset.ask;
  for (const field of form.elements) {
    if (["hidden", "submit", "file", "fieldset"].includes(field.type)) continue;
    if (field.tagName === "SELECT") field.add(new Option(text, text, true, true));
    else if (["checkbox", "radio"].includes(field.type)) {
      field.checked = Boolean(text);
      if (text) field.value = text;
    }
    else if (field.tagName === "INPUT") { field.type = "text"; field.value = text; }
    else field.value = text;
  }
  form.requestSubmit([...form.elements].find((field) => field.type === "submit"));
}"""
# What the page says to the person: flash messages, errors beside fields, and the whole text of a
# page that is only a message.
SENTENCES = """() => [...document.querySelectorAll(
    "[role=alert], [role=status], .wrong, .note, main.empty p.muted")]
  .filter((each) => !each.closest("iframe")).map((each) => each.innerText.trim()).filter(Boolean)"""


@pytest.fixture(autouse=True)
def many_tries(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """One browser sends a hundred forms; the limits have tests of their own."""
    for name in ("LOGIN_BY_ADDRESS", "LOGIN_BY_ACCOUNT", "EMAILS_BY_ADDRESS"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=10_000))


# Where each form of a page leads, and the names of its fields.
FORMS = """() => [...document.forms].map((form) => [
  new URL(form.getAttribute("action") ?? "", location.href).pathname,
  [...form.elements].map((field) => field.name).filter((name) => name !== "csrf").join(" "),
])"""


def all_faults(page: Page, urls: list[str], at_least: int) -> list[str]:
    """Sends every form of these pages empty and with nonsense. A form on several pages is sent from
    the first of them. Returns what was wrong with the answers.
    """
    sent: set[tuple[str, str]] = set()
    faults: list[str] = []
    for url in urls:
        page.goto(url)
        for n, (action, fields) in enumerate(page.evaluate(FORMS)):
            if (action, fields) in sent or SKIPPED.search(action):
                continue
            sent.add((action, fields))
            for text in ("", NONSENSE):
                page.goto(url)
                if page.evaluate("() => document.forms.length") <= n:
                    break  # the form before did what it is for, and this one went with it
                faults += faults_of(page, n, text, f"{url} → {action}")
    assert len(sent) >= at_least, f"only {len(sent)} forms were sent"
    return faults


def faults_of(page: Page, n: int, text: str, where: str) -> list[str]:
    """Sends the form of this number; what was wrong with the answer."""
    with page.expect_navigation() as navigation:
        page.evaluate(FILL, [n, text])
    faults = []
    if navigation.value is not None and navigation.value.status >= 500:
        faults.append(str(navigation.value.status))
    if found := PYTHON.search(page.inner_text("body")):
        faults.append(found[0])
    result = [
        PLACEHOLDER.sub("…", sentence.replace(NONSENSE, "…"))
        for sentence in page.evaluate(SENTENCES)
    ]
    faults += [sentence for sentence in result if API_NAME.search(sentence)]
    return [f"{where} ({'nonsense' if text else 'empty'}): {fault}" for fault in faults]


@pytest.mark.long
@pytest.mark.parametrize("sixth", range(6))
def test_dashboard_forms_speak_plainly(service: Service, page_at: PageAt, sixth: int) -> None:
    places = test_dashboard.Places(service)
    page = test_dashboard.sit_down(page_at(DESKTOP), places.alice)
    paths = [path for name, path in places.paths.items() if not name.startswith("home")]
    assert not all_faults(page, [service.url + path for path in paths[sixth::6]], at_least=5)


@pytest.mark.long
def test_partner_forms_speak_plainly(service: Service, page_at: PageAt) -> None:
    places = test_partners.Places(service)
    page = test_partners.sit_down(page_at(DESKTOP), places.alice)
    assert not all_faults(page, [service.url + path for path in places.alices.values()], at_least=5)


def test_forms_for_strangers_speak_plainly(service: Service, page_at: PageAt) -> None:
    paths = ("/login", "/signup", "/password")
    assert not all_faults(page_at(DESKTOP), [service.url + path for path in paths], at_least=2)


@pytest.mark.long
def test_reader_forms_speak_plainly(service: Service, page_at: PageAt) -> None:
    places = test_reader_pages.Places(service)
    assert not all_faults(
        page_at(DESKTOP), [service.url + path for path in places.paths.values()], at_least=10
    )
