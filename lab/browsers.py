"""What browsers and tools send with a form, by name."""

from __future__ import annotations

_FETCH = {
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
    "sec-fetch-user": "?1",
}
_PAGE = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-language": "en-US,en;q=0.9",
}
_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"
_IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS {} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
)
_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"


def _browser(agent: str, language: str = "", *, fetches: bool = True) -> dict[str, str]:
    chosen = {"accept-language": language} if language else {}
    return {**_PAGE, **chosen, **(_FETCH if fetches else {}), "user-agent": agent}


BROWSERS: dict[str, dict[str, str]] = {
    "chrome": _browser(f"{_WINDOWS} {_CHROME} Safari/537.36"),
    "chrome_mac": _browser(f"{_MAC} {_CHROME} Safari/537.36", "en-GB,en;q=0.9"),
    "edge": _browser(
        f"{_WINDOWS} {_CHROME} Safari/537.36 Edg/142.0.0.0", "de-DE,de;q=0.9,en;q=0.8"
    ),
    "firefox": _browser(
        "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "fr,en;q=0.5"
    ),
    "safari": _browser(
        f"{_MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15"
    ),
    "iphone": _browser(f"{_IPHONE.format('18_7')} Version/26.1 Mobile/15E148 Safari/604.1"),
    "android": _browser(f"Mozilla/5.0 (Linux; Android 10; K) {_CHROME} Mobile Safari/537.36"),
    # Sends no Sec-Fetch headers yet.
    "old_safari": _browser(
        f"{_IPHONE.format('15_8')} Version/15.6 Mobile/15E148 Safari/604.1", fetches=False
    ),
    # The browser inside another app, such as an email program or a social network.
    "android_app": _browser(
        "Mozilla/5.0 (Linux; Android 14; SM-A546B; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36",
        fetches=False,
    ),
    "iphone_app": _browser(f"{_IPHONE.format('18_7')} Mobile/15E148", fetches=False),
    "headless": {
        **_FETCH,
        "accept": "*/*",
        "user-agent": f"{_WINDOWS} {_CHROME.replace('Chrome', 'HeadlessChrome')} Safari/537.36",
    },
    "curl": {"accept": "*/*", "user-agent": "curl/8.14.1"},
    "python": {"accept": "*/*", "user-agent": "python-requests/2.32.5"},
    # A tool that copied the user agent of a browser and nothing else.
    "disguised": {"accept": "*/*", "user-agent": f"{_WINDOWS} {_CHROME} Safari/537.36"},
}

# They run no scripts.
TOOLS = frozenset({"curl", "python", "disguised"})
DESKTOPS = ("chrome", "chrome", "chrome_mac", "edge", "firefox", "safari")
PHONES = ("iphone", "iphone", "android", "android_app", "iphone_app")
EVERYDAY = (*DESKTOPS, *PHONES)
