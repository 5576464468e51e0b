"""An authenticator app: it has the secret that a page showed, and knows what time it is."""

import base64
import html
import re

import httpx
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from tests.support.web import WebClient, text_of

PAGE = "/account/second-factor"


class Authenticator:
    def __init__(self, web: WebClient, secret: str) -> None:
        self.service = web.service
        self.secret = secret

    def code(self, ahead_s: int = 0) -> str:
        """What it shows; `ahead_s` from now. A code works once, so tests ask for later ones."""
        totp = TOTP(base64.b32decode(self.secret), 6, SHA1(), 30)
        return totp.generate(self.service.services.clock() // 1000 + ahead_s).decode()


def shown_secret(page: str) -> str:
    found = re.search(r"<code>([A-Z2-7 ]{32,})</code>", page)
    assert found, "the page shows a secret"
    return found[1].replace(" ", "")


def shown_codes(page: str) -> list[str]:
    return re.findall(r"<code>([a-z2-9]{5}-[a-z2-9]{5})</code>", page)


def set_up(web: WebClient) -> tuple[Authenticator, list[str]]:
    """A second factor for whoever is logged in: the app and the recovery codes. The code of 30
    seconds ago is the one that is used up."""
    page = web.get(PAGE).text
    app = Authenticator(web, shown_secret(page))
    code = app.code(-30)
    answer = send_code(web, page, code)
    if answer.status_code == 400 and app.code(-30) != code:  # the next 30 seconds had begun
        answer = send_code(web, answer.text, app.code(-30))
    assert answer.status_code == 201, text_of(answer.text)
    return app, shown_codes(answer.text)


def send_code(web: WebClient, page: str, code: str) -> httpx.Response:
    fields = dict(re.findall(r'<input type="hidden" name="(csrf|secret)" value="([^"]*)"', page))
    data = {name: html.unescape(value) for name, value in fields.items()}
    return web.http.post(PAGE, data={**data, "code": code})
