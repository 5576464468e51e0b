"""Files as other tools export them, in `tests/fixtures/moving`."""

from pathlib import Path

from honeyguide.moving import import_files
from honeyguide.moving.import_files import ImportLine

FIXTURES = Path(__file__).parent.parent / "fixtures" / "moving"


def fixture(name: str) -> tuple[list[str], list[ImportLine]]:
    return import_files.read((FIXTURES / f"{name}.csv").read_bytes())
