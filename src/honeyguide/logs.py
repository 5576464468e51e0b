"""The log, configured once by each command that keeps running. Lines go to standard error: readable
text on a terminal, in color unless NO_COLOR is set, otherwise one JSON object each.

Nothing personal is logged. Our own messages name things by ID. Messages of libraries are cut to one
line, without email and IP addresses. A traceback shows where an exception came from, but not its
message, because those of drivers and libraries quote values. The level `debug` shows them.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

from honeyguide.kernel import log_context
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.log_context import json_line

log = logging.getLogger("honeyguide")

# What a line on a terminal says before the brackets; the message of a request has three of them.
_IN_BEGINNING = {"time", "level", "message", "logger", "event", "method", "route", "status"}
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_COLORS = {
    "debug": _DIM,
    "info": "\x1b[32m",
    "warning": "\x1b[33m",
    "error": "\x1b[31m",
    "critical": "\x1b[1;31m",
}

_EMAIL = re.compile(r"""[^\s<>"'(),;:=]+@[^\s<>"'(),;:]+""")
_IP = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})(?![\w:])",
    re.IGNORECASE,
)


def configure(level: str) -> None:
    """Libraries are logged from warnings up, whatever the level."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(level.upper())
    handler.setFormatter(
        TextFormatter(in_color=wants_color(sys.stderr)) if sys.stderr.isatty() else JsonFormatter()
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(level.upper())
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread
    sys.unraisablehook = _log_unraisable


def wants_color(stream: IO[Any]) -> bool:
    """Whether to write to `stream` in color: to a terminal, unless its user says otherwise."""
    return stream.isatty() and allows_color()


def allows_color() -> bool:
    """See no-color.org; a dumb terminal shows the codes themselves."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_configured() -> bool:
    return sys.excepthook is _log_uncaught


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    log.critical("The process ends with an error", exc_info=(kind, error, trace))


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    log.error("A thread ended with an error", exc_info=args.exc_value)


def _log_unraisable(args: Any) -> None:
    log.error("An error was ignored", exc_info=args.exc_value)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json_line(_fields(record))


class TextFormatter(logging.Formatter):
    def __init__(self, *, in_color: bool = False) -> None:
        super().__init__()
        self._in_color = in_color

    def format(self, record: logging.LogRecord) -> str:
        fields = _fields(record)
        trace = fields.pop("traceback", "")
        line = as_text(fields, in_color=self._in_color)
        return f"{line}\n{trace}".rstrip("\n")


def as_text(fields: dict[str, Any], *, in_color: bool = False) -> str:
    """A line for people: the time, level and message, then whatever else is known."""
    rest = [
        f"{name}={value}"
        for name, value in fields.items()
        if value is not None and name not in _IN_BEGINNING
    ]
    time, level = fields["time"][:19].replace("T", " "), f"{fields['level']:7}"
    details = f"[{' '.join(rest)}]" if rest else ""
    if in_color:
        time, level = f"{_DIM}{time}{_PLAIN}", f"{_COLORS[fields['level']]}{level}{_PLAIN}"
        details = f"{_DIM}{details}{_PLAIN}" if details else ""
    return f"{time} {level} {fields['message']}" + (f"  {details}" if details else "")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    request_id, account_id, job = log_context.current()
    fields = {
        "time": iso(int(record.created * 1000)),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _message(record),
        **getattr(record, "fields", {}),
        "request_id": request_id,
        "account": account_id,
        "job": job,
    }
    if record.exc_info and record.exc_info[1] is not None:
        fields["traceback"] = _traceback(record.exc_info[1])
    return fields


def _message(record: logging.LogRecord) -> str:
    message = _EMAIL.sub("[email]", record.getMessage())
    if record.name.partition(".")[0] == "honeyguide":
        return message
    return _IP.sub("[ip]", message.strip().partition("\n")[0])


def _traceback(error: BaseException) -> str:
    if log.isEnabledFor(logging.DEBUG):
        return "".join(traceback.format_exception(error))
    return "\n".join(_trace_lines(error, set()))


def _trace_lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        yield from _trace_lines(earlier, seen)
        yield "Then:"
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    yield f"{type(error).__module__}.{type(error).__qualname__}{_safe_message(error)}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            if id(inner) not in seen:
                yield from _trace_lines(inner, seen)


def _safe_message(error: BaseException) -> str:
    """Templates and messages of the operating system contain nothing personal."""
    if isinstance(error, Fault):
        return f": {error.template}"
    return f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
