"""What a language model finds at `/llms.txt` (llmstxt.org): what this is, and where to read on."""

from __future__ import annotations


def llms_txt(base_url: str) -> str:
    """In Markdown, as the proposal asks."""
    return f"""# Honeyguide

> Runs the referral program of a newsletter, and paid partner programs between newsletters. This \
is an installation of it, with a JSON API.

Send requests to {base_url} with an API key in the header `X-Api-Key`. An account's owner creates \
one at {base_url}/account/keys. Errors are JSON with a sentence in `error` and a stable `code`.

## API

- [OpenAPI document]({base_url}/openapi.json): every operation, field, limit and webhook
- [API reference]({base_url}/docs): the same for people, with a sample for each operation

## Guide

- [API]({base_url}/docs/guide/api.html): keys, paging, limits, retries
- [Webhooks]({base_url}/docs/guide/webhooks.html): events, and how to verify their signatures
- [Tools for assistants]({base_url}/docs/guide/mcp.html): `honeyguide mcp`, a server for the Model \
Context Protocol
"""
