"""The tools that newsletters are sent with: how each writes a merge tag, and how it imports a file
with each subscriber's link. Written from the tools' public documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LINK, HUB, COUNT, NEXT, TO_GO = "HG_LINK", "HG_HUB", "HG_COUNT", "HG_NEXT", "HG_TOGO"
# At most ten characters each, which is Mailchimp's limit.
FIELDS = {
    LINK: "referral link",
    HUB: "link to their own page",
    COUNT: "verified referrals",
    NEXT: "next reward",
    TO_GO: "referrals still needed for it",
}


@dataclass(frozen=True, kw_only=True)
class NewsletterTool:
    key: str
    name: str
    tag: str = ""
    """Around the name of a field. Empty: the tool cannot merge custom fields into an email."""
    is_lower_case: bool = True
    """Whether the tool turns the name of a field into lower case, in merge tags and mostly in its
    list of fields (`About.keeps_capitals`)."""
    if_open: str = ""
    """Before what only subscribers whose field is not empty see, if the tool can do that."""
    if_close: str = ""
    email_tag: str = ""
    """The merge tag for the subscriber's email address. Empty if we know of none."""
    email_column: str = "email"
    is_json: bool = False
    """Whether the file has all fields in one column, as JSON."""
    import_menu: str = ""
    import_note: str = ""
    paste: str
    names: Mapping[str, str] | None = None
    """What an integration calls our fields there, those that it writes. None without one."""

    @property
    def has_tags(self) -> bool:
        return bool(self.tag)

    @property
    def is_connected(self) -> bool:
        return self.names is not None

    def has(self, field: str) -> bool:
        return self.names is None or field in self.names

    def field_name(self, field: str) -> str:
        name = field if self.names is None else self.names.get(field, "")
        return name.lower() if self.is_lower_case else name

    def tag_of(self, field: str) -> str:
        return self.tag.replace("FIELD", self.field_name(field))

    def condition_of(self, field: str) -> tuple[str, str] | None:
        """What to write before and after text that needs this field. None if the tool can't."""
        if not self.if_open or not self.has(field):
            return None
        return self.if_open.replace("FIELD", self.field_name(field)), self.if_close

    @property
    def columns(self) -> tuple[str, ...]:
        """The header of the file to import."""
        if self.is_json:
            return (self.email_column, "name", "attributes")
        return (self.email_column, *map(self.field_name, FIELDS))


_TOOLS = (
    NewsletterTool(
        key="mailchimp",
        name="Mailchimp",
        tag="*|FIELD|*",
        email_tag="*|EMAIL|*",
        is_lower_case=False,
        if_open="*|IF:FIELD|*",
        if_close="*|END:IF|*",
        email_column="Email Address",
        import_menu="Audience → Add contacts → Import contacts",
        import_note=(
            "Make every column a text field whose merge tag is the column’s name, and choose "
            "“Update any existing contacts”."
        ),
        paste="In your template, drag a Code block above the footer and paste the HTML.",
    ),
    NewsletterTool(
        key="kit",
        name="Kit",
        tag="{{ subscriber.FIELD }}",
        email_tag="{{ subscriber.email_address }}",
        if_open="{% if subscriber.FIELD != blank %}",
        if_close="{% endif %}",
        import_menu="Grow → Subscribers → Add subscribers → Import a CSV",
        import_note="Match every column to a custom field of the same name.",
        paste="In your email template, add an HTML block above the footer and paste the HTML.",
    ),
    NewsletterTool(
        key="beehiiv",
        name="beehiiv",
        tag="{{FIELD}}",
        email_tag="{{email}}",
        import_menu="Audience → Subscribers → Import",
        import_note="Match every column to a custom field of the same name, type text.",
        paste="In your post template, type /html for an HTML snippet and paste the HTML.",
    ),
    NewsletterTool(
        key="ghost",
        name="Ghost",
        paste="In the editor, type /html for an HTML card and paste the HTML. "
        "Save it as a snippet to use it in every issue.",
    ),
    NewsletterTool(
        key="listmonk",
        name="listmonk",
        tag="{{ .Subscriber.Attribs.FIELD }}",
        email_tag="{{ .Subscriber.Email }}",
        if_open="{{ if .Subscriber.Attribs.FIELD }}",
        if_close="{{ end }}",
        is_json=True,
        import_menu="Subscribers → Import",
        import_note=(
            "Choose to overwrite names and attributes, but not the subscription status. listmonk "
            "replaces all attributes of a subscriber with those in the file."
        ),
        paste="In your campaign template, paste the HTML above the footer.",
    ),
    NewsletterTool(
        key="buttondown",
        name="Buttondown",
        tag="{{ subscriber.metadata.FIELD }}",
        email_tag="{{ subscriber.email }}",
        if_open="{% if subscriber.metadata.FIELD %}",
        if_close="{% endif %}",
        import_menu="Subscribers → Import",
        import_note="Import every other column as metadata.",
        paste="Under Settings → Design, paste the HTML into the footer.",
    ),
    NewsletterTool(
        key="mailerlite",
        name="MailerLite",
        tag="{$FIELD}",
        email_tag="{$email}",
        import_menu="Subscribers → Add subscribers → Import from CSV",
        import_note="Match every column to a text field of the same name, and update existing "
        "subscribers.",
        paste="In the editor, drag an HTML block above the footer and paste the HTML.",
    ),
    NewsletterTool(
        key="brevo",
        name="Brevo",
        tag="{{ contact.FIELD }}",
        email_tag="{{ contact.EMAIL }}",
        is_lower_case=False,
        if_open="{% if contact.FIELD %}",
        if_close="{% endif %}",
        email_column="EMAIL",
        import_menu="Contacts → Import contacts → Upload a file",
        import_note="Match every column to a text attribute of the same name, and update existing "
        "contacts.",
        paste="In the editor, drag an HTML block above the footer and paste the HTML.",
    ),
    NewsletterTool(
        key="substack",
        name="Substack",
        paste="Substack posts take no HTML: add a button to your post or to your email footer, "
        "with the link below.",
    ),
    NewsletterTool(
        key="other",
        name="Another tool",
        tag="[FIELD]",
        is_lower_case=False,
        import_menu="your tool’s import page",
        import_note="Match every column to a text field of the same name, and update existing "
        "subscribers.",
        paste="Replace each name in square brackets with your tool’s merge tag for that field, "
        "then paste the HTML above your footer.",
    ),
)
TOOLS = {tool.key: tool for tool in _TOOLS}
EMAIL_TAGS = {tool.name: tool.email_tag for tool in _TOOLS if tool.email_tag}
