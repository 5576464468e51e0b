"""The code that operators copy into their websites, and where each website builder wants it."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import NamedTuple

from honeyguide.pages.embeds import script
from honeyguide.subscribers.embeds import Embed

OWN_FORM, SIGNUP, HUB, LEADERBOARD = "form", "signup", "hub", "leaderboard"


class Embeddable(NamedTuple):
    key: str
    name: str
    about: str


class WebsiteTool(NamedTuple):
    key: str
    name: str
    script_place: str
    element_place: str


EMBEDDABLES = {
    each.key: each
    for each in (
        Embeddable(
            OWN_FORM,
            "Your own form",
            "Keep your form as it is. The script adds the referral and reports the signup to us.",
        ),
        Embeddable(SIGNUP, "Signup form", "Our form, in your color and language."),
        Embeddable(
            HUB, "Referral page", "A subscriber’s own link, progress and rewards on your website."
        ),
        Embeddable(
            LEADERBOARD,
            "Leaderboard",
            "Your best advocates, by first name and initial: only those who agreed to be named on "
            "their referral page.",
        ),
    )
}
TOOLS = {
    each.key: each
    for each in (
        WebsiteTool(
            "html",
            "Plain HTML",
            "Put the script into the <head> of every page.",
            "Put the element where it should appear.",
        ),
        WebsiteTool(
            "wordpress",
            "WordPress",
            "With a plugin for header code such as WPCode, paste the script under "
            "Code Snippets → Header & Footer → Header.",
            "Add a Custom HTML block to your page and paste the element.",
        ),
        WebsiteTool(
            "ghost",
            "Ghost",
            "Paste the script under Settings → Code injection → Site header.",
            "Add an HTML card to your page and paste the element.",
        ),
        WebsiteTool(
            "webflow",
            "Webflow",
            "Paste the script under Site settings → Custom code → Head code.",
            "Add a Code Embed element and paste the element.",
        ),
        WebsiteTool(
            "squarespace",
            "Squarespace",
            "Paste the script under Settings → Advanced → Code injection → Header.",
            "Add a Code block and paste the element.",
        ),
        WebsiteTool(
            "nextjs",
            "Next.js",
            "Add the script to app/layout.tsx, inside <body>.",
            "Put the element where it should appear, in a client component.",
        ),
    )
}
# Otherwise TypeScript knows no such element.
_DECLARATION = """// With TypeScript, once:
declare module "react" {{
  namespace JSX {{
    interface IntrinsicElements {{ "honeyguide-{what}": React.HTMLAttributes<HTMLElement> }}
  }}
}}"""
# What marks the forms of a Ghost theme. Ghost's own pop-up is no form that a script can see.
_GHOST_FORMS = "form[data-members-form]"


def script_code(
    base_url: str, embed: Embed, tool: str, what: str, *, parameters: Collection[str] = ()
) -> str:
    """`parameters` are the operator's names of those that hold a code: the script asks us nothing
    when a visitor comes."""
    attributes = {"data-campaign": embed.public_id}
    if parameters:
        attributes["data-parameters"] = " ".join(parameters)
    if embed.keep_days == 0:
        attributes["data-storage"] = "session"
    selector = embed.form_selector or (_GHOST_FORMS if tool == "ghost" else "")
    if what == OWN_FORM and selector:
        attributes["data-form"] = selector
    shown = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    source = f'src="{base_url}/embed/{script.STABLE}"'
    if tool == "nextjs":
        return f'import Script from "next/script";\n\n<Script {source} {shown} />'
    return f"<script async {source} {shown}></script>"


def pinned_code(code: str) -> str:
    """The same script in one version, which browsers check by its hash."""
    pin = f'{script.NEWEST}" integrity="{script.integrity()}" crossorigin="anonymous"'
    return code.replace(f'{script.STABLE}"', pin)


def element_code(embed: Embed, tool: str, what: str, *, asks_consent: bool) -> str:
    """What marks the form, or the element. Empty if the script finds the form by itself."""
    if what != OWN_FORM:
        element = f"<honeyguide-{what}></honeyguide-{what}>"
        return f"{element}\n\n{_DECLARATION.format(what=what)}" if tool == "nextjs" else element
    if embed.form_selector or tool == "ghost":
        return ""
    consent = '  <input type="checkbox" data-honeyguide-consent> …\n' if asks_consent else ""
    return f'<form data-honeyguide …>\n  <input type="email" name="email">\n{consent}</form>'


def frame_code(base_url: str, embed: Embed, what: str) -> str:
    """Where a website builder takes no script. The page around it cannot pass on a referral."""
    source = f"{base_url}/embed/{embed.public_id}/frame/{what}"
    title = EMBEDDABLES[what].name
    return f'<iframe src="{source}" title="{title}" width="100%" height="480"></iframe>'
