"""Carriers that we know, and where each shows what became of a shipment.

An operator types a tracking note as they like. If it names one of these carriers, or has a number
that only one of them uses, readers get a link; otherwise they see the note as it was typed.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Carrier(NamedTuple):
    name: str
    url: str
    """The number takes the place of `{number}`."""
    also_called: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    """Whose international numbers, such as RR123456785SE, this carrier knows."""
    only_its_own: str = ""
    """A pattern of numbers that no other carrier uses."""


class Tracking(NamedTuple):
    carrier: str
    number: str
    """As it was typed."""
    url: str


CARRIERS = (
    Carrier("USPS", "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}", countries=("US",), only_its_own=r"9[2-5]\d{20}"),
    Carrier("UPS", "https://www.ups.com/track?tracknum={number}", only_its_own=r"1Z[A-Z0-9]{16}"),
    Carrier("FedEx", "https://www.fedex.com/fedextrack/?trknbr={number}"),
    Carrier(
        "DHL",
        "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}",
        also_called=("DHL Express", "DHL Paket", "Deutsche Post"),
        countries=("DE",),
        only_its_own=r"JJD\d{12,20}",
    ),
    Carrier("Royal Mail", "https://www.royalmail.com/track-your-item#/tracking-results/{number}", countries=("GB",)),
    Carrier("Evri", "https://www.evri.com/track/parcel/{number}"),
    Carrier("La Poste", "https://www.laposte.fr/outils/suivre-vos-envois?code={number}", also_called=("Colissimo",), countries=("FR",)),
    Carrier("PostNord", "https://tracking.postnord.com/en/tracking?id={number}", countries=("SE", "DK")),
    Carrier("Correos", "https://www.correos.es/es/en/tools/tracker/items/details?tracking-number={number}", countries=("ES",)),
    Carrier("Poste Italiane", "https://www.poste.it/cerca/index.html#/risultati-spedizioni/{number}", countries=("IT",)),
    Carrier("Swiss Post", "https://service.post.ch/ekp-web/ui/entry/search/{number}", also_called=("Die Post",), countries=("CH",)),
    Carrier(
        "Austrian Post", "https://www.post.at/sv/sendungsdetails?snr={number}", also_called=("Österreichische Post",), countries=("AT",)
    ),
    Carrier("bpost", "https://track.bpost.cloud/btr/web/#/search?itemCode={number}", countries=("BE",)),
    Carrier("InPost", "https://inpost.pl/sledzenie-przesylek?number={number}"),
    Carrier("Canada Post", "https://www.canadapost-postescanada.ca/track-reperage/en#/search?searchFor={number}", countries=("CA",)),
    Carrier("Australia Post", "https://auspost.com.au/mypost/track/details/{number}", countries=("AU",)),
    Carrier("Japan Post", "https://trackings.post.japanpost.jp/services/srv/search/direct?reqCodeNo1={number}", countries=("JP",)),
)
_BY_NAME = sorted(
    (
        (name.casefold(), carrier)
        for carrier in CARRIERS
        for name in (carrier.name, *carrier.also_called)
    ),
    # "DHL Express" before "DHL".
    key=lambda pair: -len(pair[0]),
)
_NUMBER = re.compile(r"[A-Z0-9]{8,40}")
_INTERNATIONAL = re.compile(r"[A-Z]{2}\d{9}([A-Z]{2})")
_BETWEEN = " :#,.-–"


def find_tracking(note: str | None) -> Tracking | None:
    """What a tracking note says, if we know its carrier."""
    text = " ".join((note or "").split())
    for name, carrier in _BY_NAME:
        rest = text[len(name) :]
        if text.casefold().startswith(name) and rest[:1] in tuple(_BETWEEN):
            return _tracking(carrier, rest.strip(_BETWEEN))
    number = _compact(text)
    for carrier in CARRIERS:
        international = _INTERNATIONAL.fullmatch(number)
        if (international and international[1] in carrier.countries) or (
            carrier.only_its_own and re.fullmatch(carrier.only_its_own, number)
        ):
            return _tracking(carrier, text)
    return None


def _tracking(carrier: Carrier, typed: str) -> Tracking | None:
    number = _compact(typed)
    if not _NUMBER.fullmatch(number) or not any(each.isdigit() for each in number):
        return None
    return Tracking(carrier.name, typed, carrier.url.format(number=number))


def _compact(text: str) -> str:
    return text.replace(" ", "").replace("-", "").replace(".", "").upper()
