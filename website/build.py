"""Builds the documentation as a site of plain files: `make site`. It needs no server, not even for
its search, loads nothing from elsewhere, and has no style or script inside a page, which the
service's content security policy would refuse.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from website.pages import INDEX, ROOT, documents, for_site, navigation, site_path

HERE = Path(__file__).parent
# The pages of a folder are below its index in the menu.
BELOW = "```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)
# The theme's icons: the same as attributes of SVG.
_ATTRIBUTES = {'style="display: none;"': 'display="none"', 'style="opacity: 50%"': 'opacity="0.5"'}


def stage(folder: Path) -> None:
    """The documents as the site has them."""
    for document in documents():
        text = for_site(document, (ROOT / document).read_text(encoding="utf-8"))
        if document == INDEX:
            text += "\n" + navigation((ROOT / INDEX).read_text(encoding="utf-8"))
        elif document.endswith("/README.md"):
            text += f"\n{BELOW}"
        path = folder / site_path(document)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")


def without_inline(folder: Path) -> None:
    """Every style and script of the pages becomes a file."""
    for page in folder.rglob("*.html"):
        static = "../" * (len(page.relative_to(folder).parts) - 1) + "_static"

        def as_file(found: re.Match[str], static: str = static) -> str:
            kind, text = found[1], found[2]
            ending = "css" if kind == "style" else "js"
            name = f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.{ending}"
            (folder / "_static" / name).write_text(text, encoding="utf-8")
            if kind == "style":
                return f'<link rel="stylesheet" href="{static}/{name}">'
            return f'<script src="{static}/{name}"></script>'

        text = _INLINE.sub(as_file, page.read_text(encoding="utf-8"))
        for written, instead in _ATTRIBUTES.items():
            text = text.replace(written, instead)
        page.write_text(text, encoding="utf-8")


def build(target: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="hgsite") as name:
        source = Path(name) / "pages"
        stage(source)
        options = ["-c", str(HERE), "-d", f"{name}/doctrees", "-W", "--keep-going", "-q"]
        status = build_main(["-b", "html", *options, str(source), f"{name}/html"])
        if status == 0:
            without_inline(Path(name) / "html")
            shutil.rmtree(target, ignore_errors=True)
            unneeded = shutil.ignore_patterns(".buildinfo", "_sources", "objects.inv", "*.map")
            shutil.copytree(f"{name}/html", target, ignore=unneeded)
            print(f"The site is in {target}: {sum(1 for _ in target.rglob('*.html'))} pages.")
    return status


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
