"""Builds the documentation as a site of plain files: `make site`. It needs no server, not even for
its search, and loads nothing from elsewhere.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from website.pages import INDEX, ROOT, documents, for_site, navigation, site_path

HERE = Path(__file__).parent
# The pages of a folder are below its index in the menu.
BELOW = "```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


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


def build(target: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="hgsite") as name:
        source = Path(name) / "pages"
        stage(source)
        options = ["-c", str(HERE), "-d", f"{name}/doctrees", "-W", "--keep-going", "-q"]
        status = build_main(["-b", "html", *options, str(source), f"{name}/html"])
        if status == 0:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(f"{name}/html", target, ignore=shutil.ignore_patterns(".buildinfo"))
            print(f"The site is in {target}: {sum(1 for _ in target.rglob('*.html'))} pages.")
    return status


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
