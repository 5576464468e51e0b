"""What documents name, and whether it exists: settings, commands and their options, make targets,
files of the repository, routes, pages.
"""

import functools
import re
import shlex
from collections.abc import Iterable, Iterator

import click
from typer.main import get_command

from honeyguide import settings
from honeyguide.api.routes import ROUTES
from honeyguide.cli import app
from honeyguide.cli.remote_import import KEY_NAME
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.readers.routes import PAGES as READER_PAGES
from honeyguide.settings_file import PATH_NAME
from tests.support.documents import ROOT, blocks_of, spans

SHELL = {"sh", "bash", "console", "shell"}
SETTING = re.compile(r"\bHONEYGUIDE_[A-Z0-9_]*\*?")
# Ours, not those of an address elsewhere.
ROUTE = re.compile(
    r"(?:(?<![\w.}-])|(?<=\$BASE)|(?<=example\.org)|(?<=example\.com))(/v[12]/[\w:{}$…<>/.@%-]*)"
)
FILE = re.compile(r"(?:docs|deploy|src|tests|bench|website|\.ci|\.github)/[\w.*/-]+")
# Read by commands and not by the service, so `honeyguide settings` does not list them.
MORE_SETTINGS = {PATH_NAME, KEY_NAME}
API_PATHS = tuple(route.path for route in ROUTES)
_BREAKS = re.compile(r"&&|\|\||[|;]|\$\(|\n")


def wrong_settings(text: str) -> Iterator[str]:
    known = {name for name, _, _ in settings.reference()}
    known |= {f"{name}_FILE" for name in known} | MORE_SETTINGS | _constants()
    for name in SETTING.findall(text):
        if name.endswith(("*", "_")):
            if not any(one.startswith(name.rstrip("*")) for one in known):
                yield name
        elif name not in known:
            yield name


@functools.cache
def _constants() -> set[str]:
    """What Compose reads, and what the code asks the environment for by its whole name."""
    found = re.findall(r"\$\{?(HONEYGUIDE_\w+)", (ROOT / "compose.yaml").read_text())
    for path in (ROOT / "src").rglob("*.py"):
        found += re.findall(r"[\"'](HONEYGUIDE_[A-Z_]+)[\"']", path.read_text(encoding="utf-8"))
    return set(found)


def wrong_commands(text: str) -> Iterator[str]:
    for command in _commands(text):
        if complaint := _complaint(command):
            yield f"{' '.join(command)}: {complaint}"
    options = {option for command in _tree() for option in command}
    for span in spans(text):
        if (
            re.fullmatch(r"--(?!honeyguide-)[a-z][a-z-]*", span)
            and span not in options | OTHERS_OPTIONS
        ):
            yield f"{span}: no command has this option"


# Of other programs: pytest, pip, podman.
OTHERS_OPTIONS = {"--order", "--require-hashes", "--no-healthcheck"}
# With these words begins what is hashed for a digest.
NO_COMMANDS = {"ledger", "log", "digest"}


@functools.cache
def _tree() -> list[set[str]]:
    """The options of every command."""

    def walk(command: click.Command) -> Iterator[set[str]]:
        yield {option for parameter in command.params for option in _spellings(parameter)}
        for inner in getattr(command, "commands", {}).values():
            yield from walk(inner)

    return [*walk(_app()), {"--help"}]


@functools.cache
def _app() -> click.Command:
    return get_command(app)


def _spellings(parameter: click.Parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


def _commands(text: str) -> Iterator[list[str]]:
    """Every call of honeyguide, as words after its name."""
    for block in blocks_of(text):
        if block.language in SHELL or (not block.language and "honeyguide " in block.text):
            joined = block.text.replace("\\\n", " ")
            for line in _BREAKS.split(joined):
                yield from _called(_words(line))
    for span in spans(text):
        yield from _called(_words(span))


def _words(line: str) -> list[str]:
    line = re.sub(r"<(\w[\w -]*)>", r"\1", line)  # <uuid> stands for a value
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def _called(words: list[str]) -> Iterator[list[str]]:
    while words and re.fullmatch(r"[A-Z_]+=.*|sudo|exec|nice", words[0]):
        words = words[1:]
    if not words or "--entrypoint" in words:
        return
    at = next((n for n, word in enumerate(words) if word.endswith("bin/honeyguide")), None)
    if words[0] == "honeyguide":
        at = 0
    elif words[0] in ("docker", "podman") and words[1:2] == ["compose"]:
        # `run` starts our command by itself; `exec` starts any program.
        named = [n for n, word in enumerate(words) if word == "honeyguide"]
        calls = {"run": 1, "exec": 2}.get(words[2] if len(words) > 2 else "", 3)
        at = named[calls - 1] if len(named) >= calls else None
    if at is not None and len(words) > at + 1 and words[at + 1] not in NO_COMMANDS:
        yield words[at + 1 :]


def _complaint(words: list[str]) -> str:
    command = _app()
    options = {"--help"} | {o for p in command.params for o in _spellings(p)}
    for number, word in enumerate(words):
        inner = getattr(command, "commands", {})
        if word in ("…", "...") or word.startswith("$"):
            return ""
        if word.startswith("-"):
            name = word.partition("=")[0]
            if name not in options:
                return f"no option {name}"
        elif inner:
            is_value = number and words[number - 1].startswith("--settings")
            if not is_value:
                if word not in inner:
                    return f"no command {word}"
                command = inner[word]
                options |= {o for p in command.params for o in _spellings(p)}
    return ""


def wrong_targets(text: str) -> Iterator[str]:
    targets = re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    lines = [line for b in blocks_of(text) if b.language in SHELL for line in b.text.splitlines()]
    for line in (*lines, *spans(text)):
        found = re.match(r"(?:\w+=\S+ )*make ((?:-C \S+ )?)([a-z][\w-]*)", line)
        if found and found[2] not in targets:
            yield f"make {found[2]}"


def wrong_files(text: str) -> Iterator[str]:
    for span in spans(text):
        path = span.rstrip("/")
        if FILE.fullmatch(path) and not any(ROOT.glob(path)):
            yield span


def wrong_routes(text: str) -> Iterator[str]:
    for found in ROUTE.findall(text):
        if not _is_route(found.rstrip(".").rstrip("/")):
            yield found


def wrong_pages(text: str) -> Iterator[str]:
    paths = [page.path for page in PAGES] + [page.path for page in READER_PAGES]
    for span in spans(text):
        found = re.fullmatch(r"(?:GET |POST )?(/[a-z][\w./:-]*)", span)
        if found is None or ELSEWHERE.match(found[1]):
            continue
        if not _is_route(found[1].rstrip("/"), paths):
            yield found[1]


# The API's own, folders of a server, and what has no row in the tables of pages.
ELSEWHERE = re.compile(
    r"/v\d\b|/(?:etc|mnt|opt|run|srv|tmp|usr|var)\b"
    r"|/(?:docs|openapi\.json|llms\.txt|healthz|readyz|metrics|robots\.txt|static|join|r)\b"
    r"|/(?:embed/honeyguide[\w.-]*\.js|\.well-known/security\.txt|internal/tls)$"
)


def _is_route(path: str, paths: Iterable[str] = API_PATHS) -> bool:
    """Or the beginning of some, as in "everything under /v2/partner_network"."""
    asked = path.split("/")

    def fits(there: str, named: str) -> bool:
        # What is a parameter there may be anything; `…`, `$UUID` and `:uuid` stand for one.
        return there.startswith("{") or there == named

    return any(
        len(asked) <= len(parts) and all(map(fits, parts, asked))
        for parts in (there.split("/") for there in paths)
    )
