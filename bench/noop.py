"""What everything is measured against: a bare Starlette route that returns given bytes, with
nothing else on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def serve(port: int, folder: Path) -> None:
    """Each file in the folder, `read.200`, is answered at `/read` with that status."""
    routes = []
    for file in sorted(folder.iterdir()):
        routes.append(_route(file.stem, int(file.suffix[1:]), file.read_bytes()))
    uvicorn.run(
        Starlette(routes=routes),
        port=port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
    )


def _route(name: str, status: int, body: bytes) -> Route:
    async def answer(request: Request) -> Response:
        return Response(body, status, media_type="application/json")

    return Route(f"/{name}", answer, methods=["GET", "POST"])


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
