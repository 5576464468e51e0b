"""What the reader pages of one process share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request

from honeyguide.languages.language import ENGLISH, Language, preferred_language
from honeyguide.pages.readers.page_branding import BrandingCache
from honeyguide.pages.services import PageServices


class ReaderServices:
    def __init__(self, services: PageServices) -> None:
        self.store = services.store
        self.site = services.site
        self.clock = services.clock
        self.branding = BrandingCache(services.store, services.site, services.clock)
        self._background: set[asyncio.Task[None]] = set()

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs it after the answer, which then takes the same time whatever there is to do."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def language_of(http: Request) -> Language:
    """The browser's first choice among ours."""
    return preferred_language(http.headers.get("accept-language", ""), otherwise=ENGLISH)
