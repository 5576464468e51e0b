"""The documentation inside the service: the site that `make site` builds, as it is.

A release has it. In a checkout in which nobody built it, its address leads to the documents of the
project. It is below /docs, because any other first part of a path may be a newsletter's.
"""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

import honeyguide
from honeyguide.pages import redirects
from honeyguide.pages.static import TypedFiles

PATH = "/docs/guide"
FOLDER = Path(__file__).parent.parent / "guide"


async def _elsewhere(_: object) -> Response:
    return redirects.to_website(honeyguide.DOCUMENTS_URL, 302)


async def _to_index(_: object) -> Response:
    return redirects.to_page(f"{PATH}/", 307)


def routes() -> list[BaseRoute]:
    if (FOLDER / "index.html").is_file():
        return [
            Route(PATH, _to_index),
            Mount(PATH, TypedFiles(directory=FOLDER, html=True)),
        ]
    return [Route(path, _elsewhere) for path in (PATH, f"{PATH}/{{rest:path}}")]
