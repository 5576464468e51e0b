"""The embed page of the dashboard: websites, code, previews, signups, and the check of a page."""

import html
from collections.abc import Iterator

import pytest

from honeyguide.events.outbound import FullAnswer
from honeyguide.pages.dashboard.look import embed_check, embed_snippets
from honeyguide.pages.embeds import script
from honeyguide.subscribers.embeds import Embed
from tests.support.effort import effort_of
from tests.support.embeds import SITE, Visitor, embedding
from tests.support.web import Operator, text_of
from tests.support.website import Website

BASE = "https://refer.example"
EMBED = Embed("a", "c", "hg_2222222222222222", SITE, 30, "")
TAG = f'<script async src="{BASE}/embed/honeyguide.js" data-campaign="{EMBED.public_id}"></script>'
PINNED = embed_snippets.pinned_code(
    embed_snippets.script_code(BASE, EMBED, "html", embed_snippets.OWN_FORM)
)
FORM = "<form data-honeyguide><input type=email></form>"


def save(alice: Operator, **fields: str) -> str:
    given = {"origins": SITE, "keep_days": "30", "form_selector": "", **fields}
    return text_of(alice.web.post("/look/embed", **given).text)


def test_the_code_appears_once_a_website_is_listed(alice: Operator) -> None:
    assert "Copy the code" not in alice.web.get("/look/embed").text
    save(alice, origins="wax.example/landing\nhttp://localhost:3000", keep_days="0")
    page = html.unescape(alice.web.get("/look/embed").text)
    assert f"{SITE}\nhttp://localhost:3000" in page and 'data-storage="session"' in page
    for what in embed_snippets.EMBEDDABLES:
        for tool in embed_snippets.TOOLS:
            page = html.unescape(alice.web.get(f"/look/embed?what={what}&tool={tool}").text)
            assert f"/embed/{script.STABLE}" in page and script.integrity() in page
    id_before = embedding(alice).public_id
    save(alice)
    assert embedding(alice).public_id == id_before


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"origins": ""}, "Enter at least one website"),
        ({"origins": "https://*.example"}, "is not a website"),
        ({"form_selector": "x" * 201}, "must be at most 200 characters long"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    alice: Operator, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in save(alice, **fields)


def test_saving_says_when_the_code_has_changed(alice: Operator) -> None:
    def page_after_saving(**fields: str) -> str:
        save(alice, **fields)
        return text_of(alice.web.get("/look/embed").text)

    assert "Copy the script again" not in page_after_saving()
    assert "Copy the script again" not in page_after_saving(origins="https://other.example")
    assert "Copy the script again" in page_after_saving(form_selector="#join")


def test_a_selector_is_text_in_the_code() -> None:
    evil = EMBED._replace(form_selector='"><script>alert(1)</script>')
    code = embed_snippets.script_code(BASE, evil, "html", embed_snippets.OWN_FORM)
    assert "<script>alert" not in code and code.count("<script") == 1


def test_the_preview_is_for_our_own_page_alone(alice: Operator) -> None:
    assert alice.web.get("/look/embed/preview?what=signup").status_code == 404
    embedding(alice)
    for what in ("signup", "hub", "leaderboard"):
        shown = alice.web.get(f"/look/embed/preview?what={what}&theme=dark")
        assert f"<honeyguide-{what}" in shown.text
        assert shown.headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in shown.headers["content-security-policy"]


def test_the_last_signups_are_those_of_the_website(alice: Operator) -> None:
    embed = embedding(alice)
    alice.subscribe("api@example.org")
    Visitor(alice, embed).sign_up("web@example.org")
    page = alice.web.get("/look/embed").text.partition("Last signups")[2]
    assert "web<wbr>@example.org" in page and "api<wbr>@" not in page


def test_embedding_is_switched_off_and_on_again_with_the_same_code(alice: Operator) -> None:
    embed = embedding(alice)
    visitor = Visitor(alice, embed)
    assert visitor.get("config").status_code == 200
    off = {"do": "switch_off"}
    asks = alice.web.post("/look/embed", **off, ask="The code stops working.")
    assert "The code stops working." in asks.text and visitor.get("config").status_code == 200
    assert alice.web.post("/look/embed", **off).headers["location"] == "/look/embed"
    page = text_of(alice.web.get("/look/embed").text)
    assert "Embedding is off." in page and "Copy the code" not in page
    assert visitor.sign_up("late@example.org").status_code == 404
    for path in ("config", "frame/signup", "leaderboard"):
        assert visitor.http.get(f"/embed/{embed.public_id}/{path}").status_code == 404, path
    assert alice.web.get("/look/embed/preview?what=signup").status_code == 404
    assert alice.web.post("/look/embed", **off).status_code == 404, "there is nothing to switch off"
    save(alice, origins=SITE)
    assert visitor.sign_up("again@example.org").status_code == 200
    log = text_of(alice.web.get("/account/changes").text)
    assert f"changed the origins of the form for your website from {SITE} to nothing" in log


def judged(page: str, url: str = SITE, **fields: object) -> list[str]:
    """What is to be fixed."""
    answer = FullAnswer(200, None, {"content-type": "text/html"}, page.encode())
    answer = answer._replace(**{k: v for k, v in fields.items() if k in FullAnswer._fields})
    found = embed_check.findings(
        answer,
        url=url,
        base_url=BASE,
        embed=fields.get("embed", EMBED),
        asks_consent=bool(fields.get("asks_consent")),
    )
    return [finding.sentence for finding in found if not finding.is_good]


def test_a_good_page_has_nothing_to_fix() -> None:
    chosen = TAG.replace("></script>", ' data-form="form.join[name=a]"></script>')
    for page in (
        TAG + FORM,
        PINNED + FORM,
        f"{TAG}<honeyguide-signup></honeyguide-signup>",
        f'{chosen}<form class="x join" name="a"></form>',
        f'<meta http-equiv=Content-Security-Policy content="default-src {BASE}">{TAG}{FORM}',
        f"<meta http-equiv=Content-Security-Policy content=\"script-src 'nonce-x'\">"
        f"{TAG.replace('async', 'async nonce=x')}{FORM}",
    ):
        assert judged(page) == []


@pytest.mark.parametrize(
    ("page", "fields", "sentence"),
    [
        ("<h1>Hi</h1>", {}, "The script is not in the HTML"),
        (TAG + TAG + FORM, {}, "more than once"),
        (TAG.replace("hg_2", "hg_3") + FORM, {}, "Its data-campaign must be hg_2"),
        (TAG.replace(BASE, "https://evil.example") + FORM, {}, "another host"),
        (TAG.replace("guide.js", "guide-9.js") + FORM, {}, "no script honeyguide-9.js"),
        (TAG.replace("></", " integrity=sha384-x></") + FORM, {}, "changes with every update"),
        (PINNED.replace(script.integrity(), "sha384-x") + FORM, {}, f"not that of {script.NEWEST}"),
        (TAG.replace("></", " data-storage=session></") + FORM, {}, "Copy it again"),
        (TAG + FORM, {"embed": EMBED._replace(keep_days=0)}, "Copy it again"),
        (
            TAG.replace("></", ' data-form="#old"></') + "<form id=old></form>",
            {"embed": EMBED._replace(form_selector="#new")},
            "Copy it again",
        ),
        (f"{TAG}<form></form>", {}, "not marked with data-honeyguide"),
        (TAG, {}, "no form in the HTML"),
        (f"{TAG}<div data-honeyguide><form></form></div>", {}, "on the <form> element itself"),
        (TAG.replace("></", ' data-form="#x"></') + "<form></form>", {}, "Nothing in the HTML"),
        (TAG + FORM, {"url": "https://other.example"}, "not one of your websites"),
        (TAG + FORM, {"asks_consent": True}, "data-honeyguide-consent"),
        (TAG + FORM, {"status": 404}, "status 404"),
        (TAG + FORM, {"status": 301, "headers": {"location": "/new"}}, f"leads on to {SITE}/new"),
        (TAG + FORM, {"status": None, "error": "Timed out."}, "could not open the page. Timed out"),
        ("PDF", {"headers": {"content-type": "application/pdf"}}, "HTML page"),
        (
            TAG + FORM,
            {"headers": {"content-security-policy": f"default-src 'self'; script-src {BASE}"}},
            f"add {BASE} to connect-src",
        ),
    ],
)
def test_each_mistake_is_a_sentence(page: str, fields: dict[str, object], sentence: str) -> None:
    found = judged(page, **fields)  # type: ignore[arg-type]
    assert len(found) == 1 and sentence in found[0], found


# Half a megabyte of each, alone and behind the beginning of a tag.
HOSTILE = (
    *("<", "<a ", "<!--", "<![", "<!", "<?", "</", "<a/", "<a x='", '<a x="', "=", "&#9", "&"),
    *("<script src='/embed/honeyguide.js?", "/embed/honeyguide.js?", "<p>", "<script>", " ", "\n"),
    *("<meta http-equiv=content-security-policy content='script-src x'>", "[a=b]", ".a", "9"),
)
BEGINNINGS = (
    "",
    "<script src=",
    "<script src='",
    TAG[:-10],
    f"{TAG[:-10]} data-form='",
    "<p class='",
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_page_takes_long_to_judge_or_fails(unit: str) -> None:
    for beginning in BEGINNINGS:
        page = beginning + unit * (500_000 // len(unit)) + "\nx'>"
        assert effort_of(lambda page=page: judged(page), most=400) < 400, beginning


def test_addresses_that_cannot_be_parsed_are_another_host() -> None:
    tag = TAG.replace(BASE, "http://[")
    assert any("another host" in sentence for sentence in judged(tag + FORM))
    (found,) = judged("", status=302, headers={"location": "http://["})
    assert "leads on to http://[" in found


@pytest.fixture
def website() -> Iterator[Website]:
    with Website("default-src 'none'").serving() as website:
        yield website


def test_a_page_is_fetched_through_the_guard(alice: Operator, website: Website) -> None:
    base_url = alice.service.settings.base_url
    embed = embedding(alice, website.origin)
    website.pages["/"] = (
        TAG.replace(BASE, base_url).replace(EMBED.public_id, embed.public_id) + FORM
    )

    def check(url: str) -> str:
        page = alice.web.post("/look/embed/check", page="/look/embed", url=url).text
        return text_of(page.partition('class="findings"')[2].partition("</ul>")[0])

    found = check(f"{website.origin}/")
    assert "The script is on the page." in found and f"add {base_url} to script-src" in found
    assert "status 404" in check(f"{website.origin}/none")
    assert "could not open the page" in check("http://127.0.0.1:1/")
    assert "could not open the page" in check("file:///etc/passwd")
    website.pages["/"] = "<![" * 100
    assert "The script is not in the HTML" in check(f"{website.origin}/")
    assert "Enter the address" in text_of(
        alice.web.post("/look/embed/check", page="/look/embed", url="").text
    )
