"""What a page may use: the same store, clock and site the API has, the settings, and the guarded
client for requests to email platforms.
"""

from __future__ import annotations

from dataclasses import dataclass

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.site import Site
from honeyguide.settings import Settings
from honeyguide.store import Store


@dataclass(frozen=True, slots=True)
class PageServices:
    settings: Settings
    store: Store
    site: Site
    clock: Clock
    policy: OutboundPolicy
    outbound: Outbound
