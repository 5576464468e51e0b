"""Commands that tests start run the code of their own checkout."""

import shutil
import subprocess
import sys
from pathlib import Path

RUN = """
import os
from tests.support import starter
print(starter.run(["version"], env=dict(os.environ)).stdout)
"""


def test_a_checkout_without_a_venv_runs_its_own_code(tmp_path: Path) -> None:
    """By the Python of this one, into which this one is installed."""
    support, package = tmp_path / "tests" / "support", tmp_path / "src" / "honeyguide"
    for folder in (support, package):
        folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "support" / "starter.py", support)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text("def app(arguments, standalone_mode): print('warm')")
    (package / "__main__.py").write_text("print('its own')")
    arguments = [sys.executable, "-c", RUN]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "its own"
