"""The settings file: read as systemd reads it, from its usual places, behind the environment; and
every kind of broken file is one sentence.
"""

import ctypes
import functools
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide import settings, settings_file
from honeyguide.settings_file import WrongSetting
from tests.support import starter
from tests.support.process import environment

HERE = Path("honeyguide.env")


@functools.cache
def systemd() -> ctypes.CDLL | None:
    """systemd's own code: `load_env_file` is what reads EnvironmentFile=."""
    found = sorted(Path("/usr/lib").glob("*/systemd/libsystemd-shared-*.so"))
    return ctypes.CDLL(str(found[-1])) if found else None


def as_systemd_reads(path: Path) -> dict[str, str]:
    library, pairs = systemd(), ctypes.POINTER(ctypes.c_char_p)()
    assert library is not None
    code = library.load_env_file(None, str(path).encode(), ctypes.byref(pairs))
    assert code >= 0, os.strerror(-code)
    read: dict[str, str] = {}
    for number in range(1_000_000):
        if not pairs or pairs[number] is None:
            break
        name, _, value = pairs[number].decode().partition("=")
        read[name] = value
    return read


def parsed(text: str) -> dict[str, str]:
    return {name: entry.value for name, entry in settings_file.parse(text, HERE).items()}


CASES = [
    ("A=b", "b"),
    ("  A = b c  ", "b c"),
    ("A=b # not a comment", "b # not a comment"),
    ("A='b \\ $c \"d\" # e' ", 'b \\ $c "d" # e'),
    ('A="b \\$c \\"d\\" \\\\ \\n \'e\'"', "b $c \"d\" \\ \\n 'e'"),
    ("A=b\\ c\\\\d\\n", "b c\\dn"),
    ("A=b\\ ", "b "),
    ('A=it\'s "so"', 'it\'s "so"'),
    ("A=", ""),
    ("A=''", ""),
    ("A=b\r\n", "b"),
    ("A=b\n; c=d\n\n# A=x\nA=c", "c"),
    ("A=grün 🍯", "grün 🍯"),
    ("A==b=c", "=b=c"),
]


@pytest.mark.parametrize(("text", "value"), CASES)
def test_values_mean_what_they_mean_to_systemd(text: str, value: str, tmp_path: Path) -> None:
    assert parsed(text) == {"A": value}
    if systemd() is not None:
        (tmp_path / "env").write_text(text, newline="")
        assert as_systemd_reads(tmp_path / "env") == {"A": value}


LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "\n", "\nA=", "\r\n B =", "\n#", "\nC='", '\nD="']),
        st.text("AB=\\'\"#; \t\r\n$`x9_ü\x0b", max_size=8),
    ),
    max_size=3,
)


@pytest.mark.skipif(systemd() is None, reason="systemd is not installed")
@given(LINES)
def test_whatever_is_accepted_means_the_same_to_systemd(lines: list[tuple[str, str]]) -> None:
    text = "".join(f"{start}{rest}" for start, rest in lines)
    try:
        ours = parsed(text)
    except WrongSetting:
        return
    path = Path(f"/tmp/honeyguide-test-{os.getpid()}.env")
    path.write_text(text, newline="")
    try:
        assert as_systemd_reads(path) == ours
    finally:
        path.unlink()


@given(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"])))
def test_a_written_value_is_read_back(value: str) -> None:
    assert parsed(f"A={settings_file.written(value)}") == {"A": value}


def test_a_written_value_means_the_same_to_a_shell(tmp_path: Path) -> None:
    for value in (
        "The Daily <a@b.c>",
        'a$b`c"d\\e',
        "it's $HOME",
        "x#y z",
        "(a);b|c&d",
        "s3://b/c?d=e&f=g*",
    ):
        (tmp_path / "env").write_text(f"A={settings_file.written(value)}\n")
        shell = ["sh", "-c", f'. {tmp_path}/env; printf %s "$A"']
        assert subprocess.check_output(shell, text=True) == value


def run(*arguments: str, cwd: Path, **given: object) -> subprocess.CompletedProcess[str]:
    env = environment(**given)
    env.pop("HONEYGUIDE_SETTINGS")
    return starter.run(list(arguments), env=env, cwd=cwd)


def value_of(name: str, output: str) -> str:
    (line,) = (each for each in output.splitlines() if each.startswith(f"HONEYGUIDE_{name} = "))
    return line.partition(" = ")[2]


def test_settings_come_from_the_environment_else_the_file_else_the_default(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 32)
    HERE_LINES = (
        "# our settings",
        "HONEYGUIDE_PORT=9001",
        "HONEYGUIDE_RATE_LIMIT=70",
        f"HONEYGUIDE_SECRET_KEY_FILE={tmp_path}/key",
        "HONEYGUIDE_SMTP_URL=smtp://joe:hunter2@mail.example.org:587",
        "SERVE_OPTIONS=--no-work",
    )
    (tmp_path / "honeyguide.env").write_text("\n".join(HERE_LINES))
    done = run("settings", cwd=tmp_path, rate_limit=80)
    assert done.returncode == 0, done.stderr
    assert f"Settings file: {tmp_path}/honeyguide.env" in done.stdout
    assert value_of("PORT", done.stdout) == "9001  (line 2 of the file; default: 8000)"
    assert value_of("RATE_LIMIT", done.stdout) == "80  (environment; default: 60)"
    assert value_of("SIGNUPS", done.stdout) == "invited  (default)"
    assert value_of("SECRET_KEY", done.stdout) == (
        "(hidden)  (HONEYGUIDE_SECRET_KEY_FILE, line 4 of the file)"
    )
    assert "hunter2" not in done.stdout and "joe:…@mail.example.org:587" in done.stdout


def test_the_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("HONEYGUIDE_PORT=9001")
    (tmp_path / "two").write_text("HONEYGUIDE_PORT=9002")
    (tmp_path / "honeyguide.env").write_text("HONEYGUIDE_PORT=9003")
    by_option = run("--settings", "one", "settings", cwd=tmp_path, settings="two")
    assert value_of("PORT", by_option.stdout).startswith("9001 ")
    env = environment(settings="two")
    by_environment = starter.run(["settings"], env=env, cwd=tmp_path)
    assert value_of("PORT", by_environment.stdout).startswith("9002 ")
    none = starter.run(["settings"], env=environment(), cwd=tmp_path)
    assert value_of("PORT", none.stdout).startswith("8000 ") and "file: none" in none.stdout


def test_commands_use_the_file(tmp_path: Path) -> None:
    (tmp_path / "honeyguide.env").write_text("HONEYGUIDE_DATABASE_URL=sqlite:///of-the-file.db")
    assert run("migrate", cwd=tmp_path).returncode == 0
    assert (tmp_path / "of-the-file.db").exists() and not (tmp_path / "var").exists()


BROKEN = [
    (
        b"HONEYGUIDE_BASEURL=x",
        "line 1: there is no setting HONEYGUIDE_BASEURL. Did you mean HONEYGUIDE_BASE_URL?",
    ),
    (
        b"# a\n\nHONEYGUIDE_SECRET_KEY_FIEL=x",
        "line 3: there is no setting "
        "HONEYGUIDE_SECRET_KEY_FIEL. Did you mean HONEYGUIDE_SECRET_KEY_FILE?",
    ),
    (b"HONEYGUIDE_SETTINGS=x", "there is no setting HONEYGUIDE_SETTINGS."),
    (b"a\nHONEYGUIDE_PORT 9001", "line 1: this line has no ="),
    (b"export HONEYGUIDE_PORT=9001", "line 1: a name before = has only letters"),
    (b"HONEYGUIDE_MAIL_FROM='The Daily", "line 1: the quotes around a value"),
    (b'HONEYGUIDE_MAIL_FROM="a" <b@c.d>', "line 1: the quotes around a value"),
    (b"HONEYGUIDE_LOG=off\\\n", "line 1: a value must not end with a backslash."),
    (b"# comment\\\nHONEYGUIDE_LOG=off", "line 1: a comment must not end with a backslash."),
    (b"HONEYGUIDE_PORT=eighty", "HONEYGUIDE_PORT must be a whole number"),
    (b"\x7fELF\x02\x01\x00\x00\xff\xfe", "is not text"),
    (b"HONEYGUIDE_LOG=o\0ff", "is not text"),
    (b"# a\n" * 300_000, "is not text"),
]


@pytest.mark.parametrize(("content", "sentence"), BROKEN)
def test_a_broken_file_is_one_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "honeyguide.env").write_bytes(content)
    done = run("migrate", cwd=tmp_path)
    assert done.returncode == 1 and sentence in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "honeyguide.env"], "nothing was made"


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, reason in (("folder", "Is a directory"), ("none.env", "No such file or directory")):
        done = run("--settings", name, "migrate", cwd=tmp_path)
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert f"The settings file {name} cannot be read: {reason}. Check its path." in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_of_somebody_else_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "honeyguide.env"
    path.write_text("HONEYGUIDE_PORT=9001")
    os.chown(path, 12345, 12345)
    done = run("settings", cwd=tmp_path)
    assert done.returncode == 1 and "belongs to another user" in done.stderr
    assert "9001" in run("--settings", "honeyguide.env", "settings", cwd=tmp_path).stdout
    path.chmod(0o600)
    with pytest.raises(WrongSetting, match=r"Permission denied\. Run the command as root"):
        as_somebody_else(settings_file.read, path, ())


def as_somebody_else(work: object, *args: object) -> None:
    os.seteuid(65534)
    try:
        work(*args)  # type: ignore[operator]
    finally:
        os.seteuid(0)


def test_every_setting_may_be_in_the_file(tmp_path: Path) -> None:
    names = [name for name, _, _ in settings.reference()]
    path = tmp_path / "env"
    path.write_text("".join(f"{name}=\n{name}_FILE=\n" for name in names))
    assert settings.find_file({"HONEYGUIDE_SETTINGS": str(path)}) is not None
