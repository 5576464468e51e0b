"""Public forms that people pass without noticing and robots do not: a token that says when the form was shown, a field nobody
sees, and limits per network. A refusal is a sentence on the same form, with what was typed still in it.
"""

from __future__ import annotations

from collections import OrderedDict
from urllib.parse import parse_qsl

from starlette.requests import Request

from honeyguide.kernel import clock
from honeyguide.kernel.errors import Fault, TooMany
from honeyguide.kernel.site import Site
from honeyguide.referrals import rules

BODY_LIMIT = 16 * 1024
FIELDS_LIMIT = 40
# Nobody reads the page, types an address and presses the button in less; most robots do.
LEAST_MS = 2 * clock.SECOND_MS
# A tab may stay open overnight.
LONGEST_MS = 2 * clock.DAY_MS
TRAP = "website"


class Refused(Fault):
    """What was sent cannot be taken as it is; the form is shown again with this sentence."""

    code = "refused"

    def __init__(self, message: str, *, status: int = 400, param: str | None = None) -> None:
        super().__init__(message, param=param)
        self.status = status


async def read(request: Request) -> dict[str, str]:
    """The fields of a posted form. Multipart is not for us: its parsers were a way in too often."""
    # A page of somebody else's could otherwise have its visitors fill in our form, each from a network of their own.
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise Refused("This form was sent from another website. Please use the form on this page.", status=403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused("This form came in a way we cannot read. Please use the form on this page.", status=415)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_LIMIT:
            raise Refused("That is more than this form takes. Please shorten it.", status=413)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_LIMIT, errors="strict"))
    except ValueError:
        raise Refused("This form came in a way we cannot read. Please try again.") from None


def token(site: Site, purpose: str, now_ms: int) -> str:
    """When this form was shown, for one purpose, so that a token from one form opens no other."""
    return site.seal(f"form {purpose}", now_ms.to_bytes(6, "big"))


def check(site: Site, purpose: str, fields: dict[str, str], now_ms: int, *, least_ms: int = LEAST_MS) -> None:
    if fields.get(TRAP):
        # Told, not silently dropped: an eager browser may have filled it in for an honest reader.
        raise Refused("A field that must stay empty was filled in. Please press the button once more.")
    shown = site.unseal(f"form {purpose}", fields.get("token", ""))
    age_ms = now_ms - int.from_bytes(shown, "big") if shown else LONGEST_MS + 1
    # A little before its time is another machine's clock.
    if not -clock.MINUTE_MS <= age_ms <= LONGEST_MS:
        raise Refused("This page was open for a long time. Please press the button once more.")
    if age_ms < least_ms:
        raise Refused("That was very quick. Please press the button once more.")


def kept_token(site: Site, purpose: str, fields: dict[str, str], now_ms: int) -> str:
    """For the form that is shown again: its own token while that is good, so that the second press is late enough."""
    given = fields.get("token", "")
    shown = site.unseal(f"form {purpose}", given)
    good = shown is not None and -clock.MINUTE_MS <= now_ms - int.from_bytes(shown, "big") < LONGEST_MS - clock.HOUR_MS
    return given if good else token(site, purpose, now_ms)


class NetworkLimit:
    """So many posts per network and window, counted in this process; the networks seen longest ago are forgotten first."""

    _MOST_NETWORKS = 20_000

    def __init__(self, most: int, window_ms: int) -> None:
        self._most = most
        self._window_ms = window_ms
        self._seen: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def another(self, address: str, now_ms: int) -> None:
        """An IPv6 network is a /64: whoever has one address of it has them all."""
        network = rules.network_of(address) or address
        began_ms, count = self._seen.pop(network, (now_ms, 0))
        if not 0 <= now_ms - began_ms < self._window_ms:
            began_ms, count = now_ms, 0
        self._seen[network] = (began_ms, count + 1)
        if len(self._seen) > self._MOST_NETWORKS:
            self._seen.popitem(last=False)
        if count >= self._most:
            wait_s = max(1, -(-(began_ms + self._window_ms - now_ms) // 1000))
            minutes = max(1, -(-wait_s // 60))
            again = "in a minute" if minutes == 1 else f"in {minutes} minutes"
            raise TooMany(
                f"Very many people signed up from your network just now. Please try again {again}.", retry_after_s=wait_s
            )


def peer(request: Request) -> str:
    """Who sent it: the real peer, or what a trusted proxy says (uvicorn sees to that)."""
    return request.client.host if request.client else ""
