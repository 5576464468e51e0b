"""The pictures of README and docs, taken from the demo as `make run` serves it: `make pictures`.

Beside each picture is a hash of what its page says apart from data: headings, labels, buttons. A
test compares it with the page of today (`test_pictures.py`), so no picture grows old unseen. The
demo is made at the same time of the same day each time, so that it is the same demo.
"""

import hashlib
import io
import os
import re
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.support.running_demo import Demo, running_demo

FOLDER = Path(__file__).parent.parent.parent / "docs" / "pictures"
PROGRAM, REFERRAL_PAGE = "the first program", "the referral page of somebody who has earned"
MOMENT = datetime(2026, 11, 15, 10, tzinfo=UTC)
DESKTOP, PHONE = (1280, 900), (390, 844)
# Twice the dots, so that it is crisp on every screen; few colors, so that it is small: the pages
# have no more tones than that.
DOTS, COLORS = 2, 256
# The pages ask for the font of the reader's system. A build machine has none that looks like one.
FONT = "Inter"
FONTCONFIG = f"""<?xml version="1.0"?>
<fontconfig>
<include>/etc/fonts/fonts.conf</include>
<match target="pattern">
<test name="family" compare="eq"><string>sans-serif</string></test>
<edit name="family" mode="prepend" binding="strong"><string>{FONT}</string></edit>
</match>
</fontconfig>
"""
# Where a page says the same whatever its data. The first heading may be a sentence about the data.
STEADY = "h2|h3|th|dt|label|button|summary"
_TAG = re.compile(r"<[^>]+>")


class Picture(NamedTuple):
    name: str
    path: str
    """Of the page. That of a referral page is different each time."""
    size: tuple[int, int] = DESKTOP
    tags: str = STEADY
    """What is hashed of it."""

    @property
    def hash_file(self) -> Path:
        return FOLDER / f"{self.name}.sha256"


PICTURES = (
    Picture("home", "/"),
    Picture("review", "/review", tags="h1|h3|summary"),
    Picture("program", PROGRAM),
    Picture("network", "/network"),
    Picture("referral-page", REFERRAL_PAGE, PHONE, tags="label|summary|button"),
    Picture("email", "/look/emails/preview?email=reward_unlocked", PHONE, tags="h1|p"),
)


def text_hash(html: str, tags: str = STEADY) -> str:
    found = re.findall(rf"<({tags})\b[^>]*>(.*?)</\1>", html, re.DOTALL)
    texts = (" ".join(_TAG.sub(" ", inner).split()) for _, inner in found)
    steady = sorted({_without_numbers(text) for text in texts if text})
    return hashlib.sha256("\n".join(steady).encode()).hexdigest()


def _without_numbers(text: str) -> str:
    """How many there are is data, and so whether it is one reward or two rewards."""
    return re.sub(r"\b0 (\w+?)s\b", r"0 \1", re.sub(r"[\d,.$%]+", "0", text))


def log_in(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.url}/login")
    page.get_by_label("Email").fill(demo.email)
    page.get_by_label("Password").fill(demo.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", level=1).wait_for()


def open_picture(page: Page, demo: Demo, picture: Picture) -> None:
    """Goes where the picture is taken."""
    if picture.path == PROGRAM:
        page.goto(f"{demo.url}/program")
        page.locator("main a[href^='/program/']").first.click()
    elif picture.path == REFERRAL_PAGE:
        _open_referral_page(page, demo)
    else:
        page.goto(f"{demo.url}{picture.path}")
    page.wait_for_load_state("networkidle")
    # The bar with which one moves the demo's time is not part of the product.
    page.evaluate("document.querySelector('form.clock')?.remove()")


def _open_referral_page(page: Page, demo: Demo) -> None:
    """Of the best advocate with a name and something to claim."""
    page.goto(f"{demo.url}/subscribers?show=advocates&sort=best")
    people = page.locator("main td a.who").all()
    for path in [str(each.get_attribute("href")) for each in people]:
        page.goto(demo.url + path)
        link = page.get_by_role("link", name="Open their page")
        page.goto(str(link.get_attribute("href")))
        is_ready = page.get_by_role("heading", name="Ready to claim").count()
        if is_ready and re.search(r"Hello\s\w", page.locator("main").inner_text()):
            return
    raise LookupError("nobody has anything to claim")


def _take(page: Page, target: Path) -> None:
    drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    drawn.quantize(COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size // 1024} KB")


def _take_all(browser: Browser, demo: Demo) -> None:
    for picture in PICTURES:
        width, height = picture.size
        page = browser.new_page(
            viewport={"width": width, "height": height}, device_scale_factor=DOTS
        )
        log_in(page, demo)
        open_picture(page, demo, picture)
        _take(page, FOLDER / f"{picture.name}.png")
        picture.hash_file.write_text(f"{text_hash(page.content(), picture.tags)}\n")
        page.close()


def main() -> None:
    matched = subprocess.check_output(["fc-match", FONT, "family"], text=True)
    if not matched.startswith(FONT):
        raise SystemExit(f"The font {FONT} is missing; Debian has it as fonts-inter.")
    FOLDER.mkdir(exist_ok=True)
    with (
        running_demo(MOMENT) as demo,
        tempfile.NamedTemporaryFile("w", suffix=".conf") as fonts,
        sync_playwright() as playwright,
    ):
        fonts.write(FONTCONFIG)
        fonts.flush()
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            env={**os.environ, "FONTCONFIG_FILE": fonts.name},
        )
        _take_all(browser, demo)
        browser.close()


if __name__ == "__main__":
    main()
