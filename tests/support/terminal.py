"""A command on a terminal of its own, whose questions are answered as a person would."""

from __future__ import annotations

import os
import pty
import re
import select
import time

from .process import STOP_LIMIT_S
from .starter import Command

QUESTION_LIMIT_S = 90.0
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """`with Terminal(["init"], env=…) as terminal: terminal.answer("Public URL", "https://…")`"""

    def __init__(self, arguments: list[str], *, env: dict[str, str], cwd: os.PathLike[str]) -> None:
        self._screen, ours = pty.openpty()
        with open(ours, "r+b", buffering=0) as terminal:
            self.process = Command(
                arguments,
                env=env | {"TERM": "dumb", "COLUMNS": "200"},
                cwd=cwd,
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
                before="import os; os.setsid()",  # away from the terminal of whoever runs the tests
            )
        self.output = ""
        self._answered = 0

    def answer(self, question: str, text: str) -> str:
        """Waits for the question, answers it, and returns what was said before it."""
        give_up = time.monotonic() + QUESTION_LIMIT_S
        while (at := self.output.find(question, self._answered)) < 0 or self.output[-2:] != ": ":
            assert time.monotonic() < give_up and self._listen(), (question, self.output)
        before = self.output[self._answered : at]
        self._answered = len(self.output)
        os.write(self._screen, f"{text}\n".encode())
        return before

    def _listen(self) -> bool:
        """False at the end."""
        if not select.select([self._screen], [], [], 1)[0]:
            return True
        try:
            part = os.read(self._screen, 65_536)
        except OSError:  # nobody has the terminal open any more
            return False
        self.output += _COLORS.sub("", part.decode()).replace("\r\n", "\n")
        return bool(part)

    def wait(self) -> int:
        while self._listen():
            pass
        return self.process.wait(STOP_LIMIT_S)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)
