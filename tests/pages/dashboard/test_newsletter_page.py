"""The block with the referral link for the newsletter: its merge tags, the preview, a test email,
and the file of links for each tool.
"""

import csv
import html
import io
import json

import pytest

from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.field_names import SPARKLOOP
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.kernel import checks
from honeyguide.languages.language import CODES, ENGLISH, get_language
from honeyguide.mail import newsletter_block
from honeyguide.mail.layout import EmailBranding
from honeyguide.mail.newsletter_tools import FIELDS, NEXT, TOOLS
from honeyguide.store.tx import Tx
from tests.support.changes import new_change
from tests.support.mailbox import Mailbox
from tests.support.prizes import advocate, offer, tenant_of
from tests.support.service import Service, until
from tests.support.web import Operator, operator, text_of

EVERYONE = "https://news.example/hub?of=wax"
BRAND = EmailBranding("The Wax")


def file_of(alice: Operator, tool: str) -> list[dict[str, str]]:
    answer = alice.web.get(f"/look/newsletter/links.csv?tool={tool}")
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.mark.parametrize("key", TOOLS)
@pytest.mark.parametrize("style", newsletter_block.STYLES)
def test_a_block_has_the_tools_own_tags_or_the_link_for_everyone(key: str, style: str) -> None:
    tool = TOOLS[key]
    texts = newsletter_block.with_tags(ENGLISH, "Know <b>?", tool, EVERYONE)
    made = newsletter_block.parts(texts, style, BRAND)
    assert "Know &lt;b&gt;?" in made.html and "Know <b>?" in made.text
    hub = tool.tag_of("HG_HUB") if tool.has_tags else EVERYONE
    for part in (html.unescape(made.html), made.text):
        assert hub in part
        if tool.if_open and style == newsletter_block.CARD:
            opening, closing = tool.condition_of(NEXT) or ("", "")
            before, _, rest = part.partition(opening)
            assert before and tool.tag_of(NEXT) in rest.partition(closing)[0]
        else:
            assert not tool.has_tags or tool.tag_of(NEXT) not in part


def test_names_of_fields_fit_every_tool() -> None:
    assert all(len(field) <= 10 for field in FIELDS)  # Mailchimp cuts the rest off


def test_the_block_is_in_the_newsletters_language() -> None:
    headings = {newsletter_block.default_heading(get_language(code)) for code in CODES}
    assert len(headings) == len(CODES)
    assert all(checks.is_one_line(heading) for heading in headings), "it can be saved"


def test_each_tool_has_its_page_its_preview_and_its_file(alice: Operator) -> None:
    offer(alice)
    ann = advocate(alice, 1)
    for tool in TOOLS.values():
        page = alice.web.get(f"/look/newsletter?tool={tool.key}").text
        assert "/hub?of=" in page
        # Substack has no API. Every other tool can be connected, any tool by a URL.
        assert (f"/integrations/{tool.key.replace('other', 'generic')}" in page) == (
            tool.key != "substack"
        )
        shown = alice.web.get(f"/look/newsletter/preview?tool={tool.key}")
        assert shown.headers["x-frame-options"] == "SAMEORIGIN"
        if not tool.has_tags:
            assert alice.web.get(f"/look/newsletter/links.csv?tool={tool.key}").status_code == 404
            continue
        assert f"/r/{ann['ref_code']}" in shown.text
        has_progress = (
            "Still to go" in alice.web.get(f"{shown.url.path}?tool={tool.key}&as=new").text
        )
        assert ("Card with progress" in page) == has_progress, "it is named by what it shows"
        row = next(
            row for row in file_of(alice, tool.key) if row[tool.email_column] == ann["email"]
        )
        fields = json.loads(row["attributes"]) if tool.is_json else row
        assert fields[tool.field_name("HG_LINK")].endswith(f"/r/{ann['ref_code']}")
        assert fields[tool.field_name("HG_COUNT")] == "1"
        hub = fields[tool.field_name("HG_HUB")]
        assert alice.web.get(hub[len(alice.service.settings.base_url) :]).status_code == 200


def test_the_file_leaves_out_who_unsubscribed_and_runs_no_formula(alice: Operator) -> None:
    offer(alice, name="=1+1")
    for email, status in (("in@example.org", "active"), ("out@example.org", "unsubscribed")):
        alice.subscribe(email, status=status)
    rows = file_of(alice, "mailchimp")
    assert [row["Email Address"] for row in rows] == ["in@example.org"]
    assert rows[0]["HG_NEXT"] == "'=1+1"


def test_a_test_goes_to_the_operator_and_ends_the_step(posting: tuple[Service, Mailbox]) -> None:
    service, inbox = posting
    alice = operator(service)
    step = "Put it in your newsletter"
    assert step in text_of(alice.web.get("/").text)
    query = "tool=kit&style=button&heading=Tell+a+friend"
    answer = alice.web.post(f"/look/newsletter/test?{query}", page="/look/newsletter")
    assert answer.status_code == 303
    until(lambda: bool(inbox.received))
    (sent,) = inbox.received
    text = sent.text
    assert sent.to == alice.email
    assert "Tell a friend" in text and "/hub/sample" in text and "{{" not in text
    again = alice.web.get("/look/newsletter").text
    assert "{{ subscriber.hg_hub }}" in html.unescape(again) and "Tell a friend" in again
    assert f"{step} (done)" in text_of(alice.web.get("/").text)


@pytest.mark.parametrize("query", ["tool=x&style=y", "heading=%00", f"heading={'a' * 121}"])
def test_a_choice_that_does_not_exist_harms_nobody(alice: Operator, query: str) -> None:
    assert alice.web.get(f"/look/newsletter?{query}").status_code == 200
    assert alice.web.post(
        f"/look/newsletter/test?{query}", page="/look/newsletter"
    ).status_code in (303, 400)


def test_an_operators_heading_is_text_everywhere(alice: Operator) -> None:
    evil = "<script>alert(1)</script>"
    for path in ("/look/newsletter", "/look/newsletter/preview"):
        assert evil not in alice.web.get(path, params={"heading": evil}).text


def test_a_connected_tool_has_the_names_of_its_integration(alice: Operator) -> None:
    names = {**SPARKLOOP}
    del names[SyncField.REFERRALS_MISSING]
    new = NewIntegration(
        platform="mailchimp",
        credentials={"key": "0123456789abcdef0123456789abcdef-us1"},
        audience=Audience(id="list", name="The list"),
        field_names=names,
        code_field="",
        adds_existing=False,
        hook_key="hook",
    )

    async def connect(tx: Tx) -> None:
        service = alice.service
        change = new_change(tx, service.services.site, tenant_of(alice), service.now_ms())
        await integrations.connect(change, EncryptionKeys([b"\xab" * 32]), new)
        await integrations.set_status(change, integrations.PAUSED)

    alice.service.write(connect)
    page = html.unescape(alice.web.get("/look/newsletter").text)
    assert "*|RH_HUBLINK|*" in page and "*|RH_REFLINK|*" in page and "HG_" not in page
    # Without the number that is missing to it, the next reward is left out.
    assert "RH_NEXTREW" not in page and "CSV for Mailchimp" not in page
    assert "Connect Mailchimp" not in page
    assert "{{ subscriber.hg_hub }}" in html.unescape(
        alice.web.get("/look/newsletter?tool=kit").text
    )
