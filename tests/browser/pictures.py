"""The README's pictures, taken from the demo as `make run` serves it: `make pictures`."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.support.postgres import free_port
from tests.support.process import COMMAND, environment

FOLDER = Path(__file__).parent.parent.parent / "docs" / "pictures"
PAGES = {"overview": "/", "network": "/network"}
WIDTH, HEIGHT = 1280, 840
# Twice the dots, so that it is crisp on every screen; few colours, so that it is small: the pages
# have no more tones than that.
DOTS, COLOURS = 2, 256


def _log_in(page: Page, url: str, said: str) -> None:
    found = re.search(r"login (\S+) / (\S+)", said)
    assert found is not None, said
    page.goto(f"{url}/login")
    page.get_by_label("Email").fill(found[1])
    page.get_by_label("Password").fill(found[2])
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", level=1).wait_for()


def _take(page: Page, target: Path) -> None:
    drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size // 1024} KB")


def main() -> None:
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="hgpictures"))
    settings = environment(database_url=f"sqlite:///{folder}/demo.db", port=port, log="off")
    with subprocess.Popen(
        [*COMMAND, "demo", "--serve"], env=settings, stdout=subprocess.PIPE, text=True
    ) as demo:
        try:
            assert demo.stdout is not None
            output = next(line for line in demo.stdout if "login" in line)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=CHROMIUM, args=["--no-sandbox"]
                )
                page = browser.new_page(
                    viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=DOTS
                )
                _log_in(page, f"http://127.0.0.1:{port}", output)
                for name, path in PAGES.items():
                    page.goto(f"http://127.0.0.1:{port}{path}", wait_until="networkidle")
                    _take(page, FOLDER / f"{name}.png")
                browser.close()
        finally:
            demo.terminate()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
