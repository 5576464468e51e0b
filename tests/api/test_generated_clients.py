"""Clients generated from the OpenAPI document: without a warning, and they work."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from tests.support import generated_clients as generated
from tests.support.partner_network import logo_field
from tests.support.service import Member, Service

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def alice() -> Member:
    with Service("sqlite", work=False) as service:
        yield service.member("alice")


@pytest.fixture
def folder(alice: Member, tmp_path: Path) -> Path:
    """An empty folder with the document of the service."""
    served = httpx.get(f"{alice.service.url}/openapi.json").json()
    (tmp_path / "openapi.json").write_text(json.dumps(served), encoding="utf-8")
    return tmp_path


def environment(alice: Member) -> dict[str, str]:
    return {"BASE": alice.service.url, "KEY": alice.key, "LOGO": logo_field()}


def test_the_document_passes_the_validator(folder: Path) -> None:
    output = generated.run(
        generated.PYTHON / "bin" / "openapi-spec-validator", "openapi.json", folder=folder
    )
    assert output.strip() == "openapi.json: OK"


def test_the_python_client_is_generated_without_a_warning_and_works(
    alice: Member, folder: Path
) -> None:
    output = generated.run(
        generated.PYTHON / "bin" / "openapi-python-client",
        *("generate", "--path", "openapi.json", "--meta", "none"),
        *("--output-path", "honey_client"),
        folder=folder,
    )
    assert output.strip() == "Generating honey_client"
    script = generated.HERE / "use_python.py"
    python = generated.PYTHON / "bin" / "python"
    done = generated.run(
        python, script, folder=folder, PYTHONPATH=str(folder), **environment(alice)
    )
    assert done == "done\n"


def test_the_typescript_types_are_generated_without_a_warning_and_work(
    alice: Member, folder: Path
) -> None:
    (folder / "node_modules").symlink_to(generated.NODE / "node_modules")
    tools = generated.NODE / "node_modules" / ".bin"
    output = generated.run(
        tools / "openapi-typescript", "openapi.json", "-o", "api.d.ts", folder=folder
    )
    assert "api.d.ts" in output and "warn" not in output.lower(), output
    shutil.copy(generated.HERE / "use_typescript.ts", folder)
    (folder / "package.json").write_text('{"type": "module"}')
    options = ("--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom")
    generated.run(tools / "tsc", *options, "use_typescript.ts", folder=folder)
    done = generated.run("node", "use_typescript.js", folder=folder, **environment(alice))
    assert done == "done\n"
