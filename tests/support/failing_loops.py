"""Real `serve` and `work` processes whose background loops fail on request."""

import json
import tempfile
from pathlib import Path

# Wraps the step of every loop: a loop that the file names fails in every process, so many times,
# before its step or after it.
BEFORE = """
import dataclasses, json, os, pathlib
from honeyguide.kernel import background
from honeyguide.store import postgres

_asked, _run = pathlib.Path({path!r}), background.keep_running
_failed, _noted = {{}}, set()  # how often a loop was asked to fail in a round; those that run again

def _is_to_fail(loop, moment):
    try:
        asked = json.loads(_asked.read_text())
    except ValueError:
        return False
    if moment != asked["moment"] or asked["name"] not in (loop.name, "*"):
        return False
    key = (asked["round"], loop.name)
    _failed[key] = _failed.get(key, 0) + 1
    if _failed[key] > asked["times"]:
        return False
    _note(asked["round"], loop, "failed")
    return True

def _note(round, loop, word):
    with _asked.with_name("notes").open("a") as notes:
        notes.write(json.dumps([round, os.getpid(), loop.name, word]) + "\\n")

async def _keep_running(loop, health):
    step = loop.step
    if hasattr(loop, "_job"):  # on SQLite, a test's own writes wake nobody
        loop._job = dataclasses.replace(loop._job, every_ms=min(loop._job.every_ms, 1000))

    async def failing_step():
        if _is_to_fail(loop, "before"):
            raise RuntimeError("planted")
        await step()
        if _is_to_fail(loop, "after"):
            raise RuntimeError("planted")
        for round, name in _failed.keys() - _noted:
            if name == loop.name:
                _note(round, loop, "well")
                _noted.add((round, name))

    loop.step = failing_step
    await _run(loop, health)

background.keep_running = postgres.keep_running = _keep_running
"""


class Faults:
    def __init__(self) -> None:
        self._path = Path(tempfile.mkdtemp(prefix="hgfaults")) / "asked"
        self._path.write_text("{}")
        self._round = 0
        self.stop()

    @property
    def before(self) -> str:
        """Python for the process to run first."""
        return BEFORE.format(path=str(self._path))

    def fail(self, name: str, *, times: int, moment: str) -> None:
        """`name` is a loop's, or * for all."""
        self._round += 1
        self._ask(name=name, times=times, moment=moment)

    def is_over(self) -> bool:
        """Whether something failed as asked, and every loop that did runs well since."""
        try:
            lines = (self._path.with_name("notes")).read_text().splitlines()
        except FileNotFoundError:
            return False
        notes = [tuple(json.loads(line)) for line in lines]
        failed = {each[:3] for each in notes if each[0] == self._round and each[3] == "failed"}
        return bool(failed) and failed <= {each[:3] for each in notes if each[3] == "well"}

    def stop(self) -> None:
        self._ask(name="", times=0, moment="")

    def _ask(self, **asked: object) -> None:
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps({"round": self._round, **asked}))
        draft.replace(self._path)
