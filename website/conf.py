"""How Sphinx makes the site: Markdown by MyST, the theme Furo in our colors."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "src" / "honeyguide" / "pages" / "static"

project = "Honeyguide"
author = "Honeyguide contributors"
copyright = "Honeyguide contributors"
release = version = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)[
    0
]

extensions = ["myst_parser"]
myst_heading_anchors = 4
# A text between HTML comments or in <details> stays; code in other languages is not colored.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Honeyguide {version}"
html_logo = html_favicon = str(STATIC / "mark.svg")
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

# The same colors as src/honeyguide/pages/static/honeyguide.css.
_colors = dict(
    re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\)", (STATIC / "honeyguide.css").read_text())
)
_uses = {
    "color-brand-primary": "accent",
    "color-brand-content": "accent",
    "color-brand-visited": "accent",
    "color-background-primary": "surface",
    "color-background-secondary": "ground",
    "color-background-border": "line",
    "color-background-hover": "sunken",
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "muted",
    "color-foreground-muted": "muted",
    "color-inline-code-background": "sunken",
    "color-sidebar-background": "ground",
    "color-sidebar-background-border": "line",
}


def _variables(dark: bool) -> dict[str, str]:
    return {use: _colors[name].split(", ")[dark] for use, name in _uses.items()}


_fonts = {
    "font-stack": 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
    "font-stack--monospace": "ui-monospace, Menlo, Consolas, monospace",
}
html_theme_options = {
    "light_css_variables": _variables(False) | _fonts,
    "dark_css_variables": _variables(True) | _fonts,
    "navigation_with_keys": False,
}
