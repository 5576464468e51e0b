"""`honeyguide init`: set up an installation, by questions or by flags.

Everything is asked and checked before anything is written. To run it again is safe: what is there
already is the default of each question, and nothing is overwritten unasked.
"""

from __future__ import annotations

import os
import pwd
import secrets
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import typer
import uvloop

from honeyguide import settings, settings_file
from honeyguide.app import clock_of
from honeyguide.cli import first_account, install, next_steps
from honeyguide.cli.base import fail
from honeyguide.cli.doctor import print_results
from honeyguide.cli.first_account import FoundInDatabase, NewAccount
from honeyguide.cli.install import NotInstalled, acting_as
from honeyguide.cli.questions import Questions
from honeyguide.kernel.backup_urls import FolderUrl, parse_backup_url
from honeyguide.kernel.errors import Fault
from honeyguide.operating.doctor import checks, judgements
from honeyguide.operating.doctor.results import HealthLevel
from honeyguide.settings import Settings
from honeyguide.settings_file import (
    FILE_NAME,
    IN_ETC,
    PATH_NAME,
    PREFIX,
    SettingsFile,
    WrongSetting,
)
from honeyguide.store import inspect_database, plan_migrations, sqlite_path

app = typer.Typer()
T = TypeVar("T")


class Setup:
    """One run of the command: where to write, as whom, and what was answered so far."""

    def __init__(self, questions: Questions, user: str | None) -> None:
        self.questions = questions
        self.path = _settings_path()
        self.file: SettingsFile | None = None
        if os.path.exists(self.path):  # not Path.exists, which fails where the folder is closed
            self.file = settings.find_file({PATH_NAME: str(self.path)})
        self.answers: dict[str, str] = {}
        self.service_user = user or ("honeyguide" if os.geteuid() == 0 else None)
        self.user: pwd.struct_passwd | None = None

    def prepare_user(self) -> None:
        if os.geteuid() == 0 and self.service_user:
            self.user = install.create_user(self.service_user)
            if self.user.pw_uid != 0:
                install.check_command(self.user)

    @property
    def before(self) -> Settings:
        return settings.read({}, self.file)

    def chosen(self, **more: str) -> Settings:
        return settings.read({}, self.file, **(self.answers | more))

    def wrong(self, **more: str) -> str | None:
        try:
            self.chosen(**more)
        except WrongSetting as wrong:
            return str(wrong)
        return None

    def run(self, work: Coroutine[Any, Any, T], *, as_root: bool = False) -> T:
        """As the service does it, with its rights."""
        with acting_as(None if as_root else self.user):
            return uvloop.run(work)

    def is_in_own_file(self, name: str) -> bool:
        """Whether the value comes from a file of its own, NAME_FILE, which is left alone."""
        return self.file is not None and f"{PREFIX}{name.upper()}_FILE" in self.file.entries


def _settings_path() -> Path:
    """The file that other commands would read, or the usual place for a new one."""
    path = settings_file.find(os.environ) or (IN_ETC if os.geteuid() == 0 else Path(FILE_NAME))
    return path.absolute()


def _option(name: str, about: str) -> Any:
    return typer.Option(f"--{name}", envvar=f"{PREFIX}{name.replace('-', '_').upper()}", help=about)


@app.command()
def init(
    base_url: Annotated[str | None, _option("base-url", "Public URL of the service.")] = None,
    database_url: Annotated[
        str | None, _option("database-url", "Path of an SQLite file, or a postgresql:// URL.")
    ] = None,
    database_direct_url: Annotated[
        str | None,
        _option("database-direct-url", "URL past PgBouncer, if the database URL leads to it."),
    ] = None,
    trusted_proxies: Annotated[
        str | None, _option("trusted-proxies", "Address of the proxy in front, if there is one.")
    ] = None,
    smtp_url: Annotated[
        str | None, _option("smtp-url", "Mail server: smtp://user:password@host:587.")
    ] = None,
    mail_from: Annotated[str | None, _option("mail-from", "Sender of emails.")] = None,
    email: Annotated[str | None, typer.Option(help="Email address of the first account.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of its newsletter.")] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File with its password; otherwise one is generated.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="User that runs the service (as root: honeyguide).")
    ] = None,
    unit_folder: Annotated[Path | None, typer.Option(help="Where to write the unit.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take the defaults.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="With --yes: change settings and the unit if they differ."),
    ] = False,
) -> None:
    """Set up an installation: settings file, systemd unit, database and first account."""
    if not yes and not sys.stdin.isatty():
        fail("Nobody can answer questions here. Add --yes and the values as options.")
    try:
        setup = Setup(Questions(is_interactive=not yes), user)
        unit = _unit_path(setup, unit_folder)
        for folder in (setup.path.parent, unit.parent):
            install.check_folder(folder)
        setup.prepare_user()
        typer.echo(f"Settings file: {setup.path}\n")
        _ask_base_url(setup, base_url)
        found = _ask_database(setup, database_url, database_direct_url)
        _ask_proxy(setup, trusted_proxies)
        _ask_mail(setup, smtp_url, mail_from)
        account = None if found.has_accounts else _ask_account(setup, email, name, password_file)
        _choose_secret(setup, found)
        _write_settings(setup, is_forced=yes and force)
        _write_unit(setup, unit, is_forced=yes and force)
        chosen = setup.chosen()
        if file := sqlite_path(chosen.database_url):
            install.create_folder(file.parent, setup.user)
        setup.run(first_account.fill_database(chosen, account))
        typer.echo("")
        print_results(setup.run(checks.check_all(chosen, clock_of(chosen))))
        typer.echo(next_steps.text(chosen, setup.path, unit, setup.user, account))
    except (NotInstalled, WrongSetting) as wrong:
        fail(str(wrong))
    except Fault as fault:
        fail(fault.message)


def _ask_base_url(setup: Setup, given: str | None) -> None:
    setup.answers["base_url"] = setup.questions.ask(
        "Public URL", given, setup.before.base_url, lambda url: setup.wrong(base_url=url)
    ).rstrip("/")


def _ask_database(setup: Setup, given: str | None, direct_url: str | None) -> FoundInDatabase:
    if direct_url:
        setup.answers["database_direct_url"] = direct_url
    if setup.is_in_own_file("database_url"):
        return _look_into_database(setup, setup.before.direct_url)
    default = setup.before.database_url
    if setup.file is None or f"{PREFIX}DATABASE_URL" not in setup.file.entries:
        folder = Path("var").absolute() if setup.user is None else install.STATE_FOLDER
        default = f"sqlite:///{folder}/honeyguide.db"
    answer = setup.questions.ask(
        "Database: path of an SQLite file, or postgresql://user:password@host/name",
        given,
        default,
        lambda text: _wrong_database(setup, _database_url(text)),
        shown=settings.without_secrets("database_url", default),
    )
    setup.answers["database_url"] = _database_url(answer)
    found = _look_into_database(setup, setup.chosen().direct_url)
    if not found.has_accounts and setup.file is not None:
        _refuse_to_leave_accounts(setup)
    return found


def _refuse_to_leave_accounts(setup: Setup) -> None:
    """An empty database would take the place of one that is in use."""
    before, after = setup.before.database_url, setup.answers["database_url"]
    is_left = False
    with suppress(Fault):  # it may be gone, which is why another one is named
        is_left = before != after and _look_into_database(setup, setup.before.direct_url)[0]
    if is_left:
        before, after = (settings.without_secrets("", url) for url in (before, after))
        fail(
            f"The accounts of this installation are in {before}. To take them along, stop the "
            f"service and run: honeyguide copy --to {after}"
        )


def _database_url(text: str) -> str:
    """A path is also an answer. It is made absolute, as the service runs in another folder."""
    path = Path(text) if "://" not in text else sqlite_path(text)
    return f"sqlite:///{path.absolute()}" if path is not None and path.name else text


def _wrong_database(setup: Setup, url: str) -> str | None:
    if wrong := setup.wrong(database_url=url):
        return wrong
    url = setup.chosen(database_url=url).direct_url
    file = sqlite_path(url)
    # Root creates the folder for the service, if it is not there.
    is_new_folder = file is not None and not file.parent.exists()
    try:
        facts = setup.run(inspect_database(url), as_root=is_new_folder)
        setup.run(plan_migrations(url), as_root=is_new_folder)
    except Fault as fault:
        return fault.message
    result = judgements.database(facts)
    return result.message if result.level is HealthLevel.PROBLEM else None


def _look_into_database(setup: Setup, url: str) -> FoundInDatabase:
    file = sqlite_path(url)
    if file is not None and not file.exists():
        return FoundInDatabase(False, None)
    return setup.run(first_account.look_into_database(url))


def _ask_proxy(setup: Setup, given: str | None) -> None:
    url = urlsplit(setup.answers["base_url"])
    default = setup.before.trusted_proxies or ("127.0.0.1" if url.scheme == "https" else "")
    answer = setup.questions.ask(
        "Address of the proxy in front, such as Caddy or nginx (none: -)",
        given,
        default or "-",
        lambda text: setup.wrong(trusted_proxies=text.removeprefix("-")),
    )
    setup.answers["trusted_proxies"] = answer.removeprefix("-")
    if not setup.answers["trusted_proxies"]:  # then visitors connect to us
        if not setup.chosen().on_loopback:
            setup.answers["host"] = "0.0.0.0"
        if url.port:
            setup.answers["port"] = str(url.port)


def _ask_mail(setup: Setup, given: str | None, sender: str | None) -> None:
    if setup.is_in_own_file("smtp_url"):
        return
    before, host = setup.before, urlsplit(setup.answers["base_url"]).hostname
    is_default = before.mail_from == Settings.mail_from
    default_sender = f"Honeyguide <honeyguide@{host}>" if is_default else before.mail_from
    while True:
        smtp_url = setup.questions.ask(
            "Mail server, such as smtp://user:password@mail.example.org:587 (later: -)",
            given,
            before.smtp_url or "-",
            lambda url: setup.wrong(smtp_url=url.removeprefix("-")),
            shown=settings.without_secrets("smtp_url", before.smtp_url or "-"),
        ).removeprefix("-")
        setup.answers["smtp_url"] = smtp_url
        if not smtp_url:
            return
        setup.answers["mail_from"] = setup.questions.ask(
            "Sender of emails", sender, default_sender, lambda text: setup.wrong(mail_from=text)
        )
        result = setup.run(checks.check_mail(setup.chosen()))
        if result.level is not HealthLevel.PROBLEM:
            return
        if not setup.questions.is_interactive:
            fail(f"{result.message} {result.remedy}")
        typer.secho(result.message, err=True, fg=typer.colors.RED)
        given = sender = None


def _ask_account(
    setup: Setup, email: str | None, name: str | None, password_file: Path | None
) -> NewAccount:
    if email is None and not setup.questions.is_interactive:
        fail(
            "Add --email with the email address of the first account, which runs the installation."
        )
    ask, wrong_name = setup.questions.ask, first_account.wrong_name
    email = ask("Your email address", email, "", first_account.wrong_email)
    name = ask("Name of your newsletter", name, "My newsletter", wrong_name)
    if password_file is not None:
        password: str | None = first_account.read_password(password_file, email)
    else:
        password = setup.questions.new_password(
            lambda text: first_account.wrong_password(text, email)
        )
    generated = secrets.token_urlsafe(15)
    return NewAccount(email, name, password or generated, is_generated=password is None)


def _choose_secret(setup: Setup, found: FoundInDatabase) -> None:
    """The key that is in use, wherever it is; a new one only for a new database."""
    key = setup.before.secret_key or os.environ.get(f"{PREFIX}SECRET_KEY", "")
    if not key and found.secret is None and found.has_accounts:
        fail(
            "This database was used with a HONEYGUIDE_SECRET_KEY that is not in the settings. "
            "Add it to the settings file, then try again."
        )
    if not setup.is_in_own_file("secret_key"):
        setup.answers["secret_key"] = key or (found.secret or secrets.token_bytes(32)).hex()


def _write_settings(setup: Setup, *, is_forced: bool) -> None:
    old = {} if setup.file is None else setup.file.values
    new = {f"{PREFIX}{name.upper()}": value for name, value in setup.answers.items()}
    new = {name: value for name, value in new.items() if value != old.get(name, "")}
    changed = [name for name in new if name in old]
    if changed and not is_forced:
        if not setup.questions.is_interactive:
            fail(
                f"{setup.path} has other values for {', '.join(changed)}. Nothing was changed. "
                "To change them, add --force."
            )
        for name in changed:
            shown = (settings.without_secrets(name, each[name]) for each in (old, new))
            typer.echo(f"  {name}: {' -> '.join(shown)}")
        if not setup.questions.confirm(f"Change them in {setup.path}?"):
            fail("Nothing was changed.")
    if new:
        install.write_settings(setup.path, install.settings_text(setup.path, new), setup.user)
        typer.echo(f"Wrote {setup.path}.")
    else:
        install.restrict_settings(setup.path, setup.user)
    setup.file = settings.find_file({PATH_NAME: str(setup.path)})


def _unit_path(setup: Setup, folder: Path | None) -> Path:
    if folder is None:
        is_system = os.geteuid() == 0 and install.has_systemd()
        folder = install.UNITS_FOLDER if is_system else setup.path.parent
    return folder.absolute() / install.UNIT


def _written_folders(chosen: Settings) -> list[Path]:
    """Folders outside the database server that the service writes to."""
    file = sqlite_path(chosen.database_url)
    backups = parse_backup_url(chosen.backup_url) if chosen.backup_url else None
    return [
        *([file.parent] if file else []),
        *([Path(chosen.logo_dir)] if chosen.logo_dir else []),
        *([backups.path] if isinstance(backups, FolderUrl) else []),
    ]


def _write_unit(setup: Setup, path: Path, *, is_forced: bool) -> None:
    user = setup.user or pwd.getpwuid(os.geteuid())
    text = install.unit_text(setup.path, user, _written_folders(setup.chosen()))
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    if path.exists() and not is_forced:
        is_confirmed = setup.questions.is_interactive and setup.questions.confirm(
            f"{path} differs from what would be written. Overwrite it?"
        )
        if not is_confirmed:
            typer.echo(f"Left {path} as it is. To overwrite it, add --force.")
            return
    install.write_whole(path, text, 0o644)
    typer.echo(f"Wrote {path}.")
