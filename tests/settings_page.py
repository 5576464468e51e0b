"""docs/settings.md, made from the settings themselves: `make settings-page`. Only what is above
its mark is written by hand.
"""

import re
from pathlib import Path

from honeyguide import settings
from honeyguide.settings_file import PREFIX, WrongSetting

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
MARK = "<!-- Made from the code by `make settings-page`: -->\n"
NAMES = [name.removeprefix(PREFIX) for name, _, _ in settings.reference()]
NAME = re.compile(rf"\b(?:{'|'.join(name for name in NAMES if '_' in name)})\b")
URL = re.compile(r"\b[a-z0-9]+://[^\s;]*[^\s;,.:]")
# Every setting is in one group, in the order of the page.
GROUPS = {
    "Address and server": "base_url host port trusted_proxies signup_page_host",
    "Database": "database_url database_direct_url replica_url pool_size",
    "Email": "smtp_url mail_from mail_hosts",
    "Security": "secret_key signups require_second_factor security_contact",
    "API and webhooks": "rate_limit max_webhooks webhook_allow",
    "Backups": (
        "backup_url backup_access_key_id backup_secret_access_key backup_interval "
        "backup_keep_days backup_age_recipient"
    ),
    "What is kept": "change_log_keep_days keep_closed_years logo_dir",
    "Log": "log log_level",
    "Trying things out": "test_clock",
}


def allowed(name: str) -> str:
    """The range of a number, in the words in which a wrong value is refused; empty for others."""
    try:
        settings.read({name: "?"})
    except WrongSetting as wrong:
        _, _, rule = str(wrong).partition(f"{name} must be ")
        if rule.startswith("a whole number"):
            return f" {rule.capitalize()}"
    return ""


def row(name: str, default: str, about: str) -> str:
    about, _, instead = about.partition("; default: ")
    text = f"{about[0].upper()}{about[1:]}.{allowed(name)}"
    shown = f"`{default}`" if default else as_code(instead)
    return f"| `{name}` | {shown} | {as_code(text)} |"


def as_code(text: str) -> str:
    """URLs and names of settings as code, and the names in full."""
    text = URL.sub(r"`\g<0>`", text)
    return NAME.sub(lambda found: f"`{PREFIX}{found[0]}`", text)


def page() -> str:
    rows = {name: row(name, default, about) for name, default, about in settings.reference()}
    introduction, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    parts = [introduction + mark]
    for title, names in GROUPS.items():
        lines = [rows.pop(PREFIX + name.upper()) for name in names.split()]
        head = "| Setting | Default | Meaning |\n|---|---|---|"
        parts.append("\n".join([f"## {title}", head, *lines]) + "\n")
    assert not rows, f"in no group of {Path(__file__).name}: {', '.join(rows)}"
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
