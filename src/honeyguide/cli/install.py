"""What `honeyguide init` writes: the settings file and the systemd unit, for the user that runs the
service.
"""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import honeyguide
from honeyguide import settings_file

TEMPLATES = Path(honeyguide.__file__).parent / "deploy"
UNIT = "honeyguide.service"
UNITS_FOLDER = Path("/etc/systemd/system")
STATE_FOLDER = Path("/var/lib/honeyguide")
# What ProtectHome= of the unit hides.
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
HEADER = """\
# Settings of Honeyguide. `honeyguide settings` explains them all.
# Keep the secret key: with another one, subscribers' referral pages no longer open, and people who
# were already paid for could be charged again.
"""


class NotInstalled(Exception):
    """Says what is in the way."""


def command() -> Path:
    """The command that is running now."""
    return Path(sys.executable).with_name("honeyguide")


def find_user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def create_user(name: str) -> pwd.struct_passwd:
    """A system user, unless there is one."""
    if found := find_user(name):
        return found
    home = ["--home-dir", str(STATE_FOLDER), "--shell", "/usr/sbin/nologin"]
    try:
        done = subprocess.run(
            ["useradd", "--system", *home, name], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise NotInstalled(
            f"Cannot run useradd to create the user {name}: {error.strerror}."
        ) from (error)
    if done.returncode:
        raise NotInstalled(f"Cannot create the user {name}: {done.stderr.strip()}")
    return pwd.getpwnam(name)


@contextmanager
def acting_as(user: pwd.struct_passwd | None) -> Iterator[None]:
    """Open files and connections as the user of the service does, with files for it alone."""
    umask = os.umask(0o077)
    groups, gid, uid = os.getgroups(), os.getegid(), os.geteuid()
    home = os.environ.get("HOME", "/")
    if user is not None:
        # The driver of PostgreSQL looks for certificates there, and this user cannot read root's.
        os.environ["HOME"] = user.pw_dir
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setegid(user.pw_gid)
        os.seteuid(user.pw_uid)
    try:
        yield
    finally:
        os.umask(umask)
        if user is not None:
            os.seteuid(uid)
            os.setegid(gid)
            os.setgroups(groups)
            os.environ["HOME"] = home


@contextmanager
def _open_to_others() -> Iterator[None]:
    """For folders that others must get through: to the settings file, or to a folder of theirs."""
    umask = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(umask)


def check_folder(folder: Path) -> None:
    """Before anything is asked: can a file be written there?"""
    while not os.path.exists(folder):  # also one inside a folder that is closed to us
        folder = folder.parent
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise NotInstalled(
            f"The folder {folder} cannot be written to. Run the command as root, or write "
            "elsewhere: honeyguide --settings FILE init"
        )


def create_folder(folder: Path, user: pwd.struct_passwd | None) -> None:
    """For the database, if it is not there: of the user, and of nobody else."""
    if folder.exists():
        return
    try:
        with _open_to_others():
            folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
    except OSError as error:
        raise NotInstalled(f"Cannot create the folder {folder}: {error.strerror}.") from error


def write_settings(path: Path, text: str, user: pwd.struct_passwd | None) -> None:
    write_whole(path, text, 0o600)
    restrict_settings(path, user)


def restrict_settings(path: Path, user: pwd.struct_passwd | None) -> None:
    """Only root and the service can read them: they have passwords and the secret key. A file that
    was copied from another machine may belong to others.
    """
    try:
        if user is not None:
            os.chown(path, -1, user.pw_gid)
        os.chmod(path, 0o600 if user is None else 0o640)
    except OSError as error:
        raise NotInstalled(f"Cannot set the permissions of {path}: {error.strerror}.") from error


def write_whole(path: Path, text: str, mode: int) -> None:
    """Either all of the file is written or nothing is changed."""
    try:
        with _open_to_others():
            path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, mode)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise NotInstalled(f"Cannot write {path}: {error.strerror}.") from error


def settings_text(path: Path, values: Mapping[str, str]) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else HEADER
    return settings_file.merged(text, path, values)


def unit_text(settings: Path, user: pwd.struct_passwd, folders: Collection[Path]) -> str:
    """The unit for this command, settings file and user. `folders` are those that the service
    writes to.
    """
    text = (TEMPLATES / UNIT).read_text(encoding="utf-8")
    text = _with_value(text, "ExecStart", f"{_word(command())} serve $SERVE_OPTIONS")
    text = _with_value(text, "EnvironmentFile", str(settings).replace("%", "%%"))
    text = _with_value(text, "User", user.pw_name)
    text = _with_value(text, "Group", grp.getgrgid(user.pw_gid).gr_name)
    outside = [path for path in folders if STATE_FOLDER not in (path, *path.parents)]
    if outside:
        writable = " ".join(_word(path) for path in outside)
        text = text.replace("\nProtectSystem=", f"\nReadWritePaths={writable}\nProtectSystem=")
    if any(_is_in_a_home(path) for path in (command(), settings, *folders)):
        text = text.replace("\nProtectHome=yes\n", "\nProtectHome=read-only\n")
    return text


def _with_value(text: str, name: str, value: str) -> str:
    before, _, after = text.partition(f"\n{name}=")
    return f"{before}\n{name}={value}\n{after.partition(chr(10))[2]}"


def _word(path: Path) -> str:
    """As systemd reads it: % starts a specifier, and a space ends a word."""
    text = str(path).replace("%", "%%")
    return f'"{text}"' if " " in text else text


def check_command(user: pwd.struct_passwd) -> None:
    """The service must be able to run what is installed, which it cannot in root's home."""
    try:
        done = subprocess.run(
            [command(), "version"],
            cwd="/",
            capture_output=True,
            check=False,
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
        )
    except OSError:
        done = None
    if done is None or done.returncode:
        raise NotInstalled(
            f"The user {user.pw_name} cannot run {command()}. Install Honeyguide where every user "
            "can read it, for example into a virtual environment in /opt/honeyguide."
        )


def _is_in_a_home(path: Path) -> bool:
    return any(home in path.absolute().parents for home in HOMES)


def has_systemd() -> bool:
    return UNITS_FOLDER.is_dir() and shutil.which("systemctl") is not None
