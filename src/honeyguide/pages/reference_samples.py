"""A request of the API reference in curl, Python and JavaScript. Each can be run as it is, with the
API key in the environment variable `API_KEY`; `tests/pages/test_reference_samples.py` sends them.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

from honeyguide.pages import rendering


class SampleRequest(NamedTuple):
    method: str
    url: str
    body: Any = None
    """None if the request has no body."""


class CodeSample(NamedTuple):
    language: str
    label: str
    code: str


def samples(request: SampleRequest) -> list[CodeSample]:
    return [
        CodeSample("curl", "curl", curl(request)),
        CodeSample("python", "Python", python(request)),
        CodeSample("js", "JavaScript", javascript(request)),
    ]


def curl(request: SampleRequest) -> str:
    # With a body, curl sends a POST by default.
    is_default = request.method == ("GET" if request.body is None else "POST")
    verb = "" if is_default else f"-X {request.method} "
    lines = [f"curl {verb}{request.url}", '-H "X-Api-Key: $API_KEY"']
    if request.body is not None:
        lines += [
            "-H 'Content-Type: application/json'",
            f"-d {shlex.quote(rendering.json_lines(request.body))}",
        ]
    return " \\\n  ".join(lines)


def python(request: SampleRequest) -> str:
    """With httpx (`pip install httpx`)."""
    lines = [
        "import os",
        "",
        "import httpx",
        "",
        f"answer = httpx.{request.method.lower()}(",
        f'    "{request.url}",',
        '    headers={"X-Api-Key": os.environ["API_KEY"]},',
    ]
    if request.body is not None:
        lines.append(f"    json={_python_value(request.body, '    ')},")
    return "\n".join([*lines, ")", "print(answer.raise_for_status().json())"])


def _python_value(value: Any, margin: str) -> str:
    inner = f"{margin}    "
    if isinstance(value, dict):
        items = [f"{inner}{_text(k)}: {_python_value(v, inner)},\n" for k, v in value.items()]
        return f"{{\n{''.join(items)}{margin}}}"
    if isinstance(value, list):
        return f"[{', '.join(_python_value(each, inner) for each in value)}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def javascript(request: SampleRequest) -> str:
    """For Node.js, as a module."""
    lines = [f'const answer = await fetch("{request.url}", {{']
    if request.method != "GET":
        lines.append(f'  method: "{request.method}",')
    if request.body is None:
        lines.append('  headers: { "X-Api-Key": process.env.API_KEY },')
    else:
        body = rendering.json_lines(request.body).replace("\n", "\n  ")
        lines += [
            "  headers: {",
            '    "X-Api-Key": process.env.API_KEY,',
            '    "Content-Type": "application/json",',
            "  },",
            f"  body: JSON.stringify({body}),",
        ]
    lines += [
        "});",
        "if (!answer.ok) throw new Error(await answer.text());",
        "console.log(await answer.json());",
    ]
    return "\n".join(lines)
