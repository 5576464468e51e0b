"""Which small bugs the tests would miss: the code of a module is changed in one place, its own fast
tests run, and so on for every place. What no test notices is listed. `make mutants`, or `make
mutants MUTANTS_ARGS="kernel/money.py"` for some modules.

The changes are made in a copy of the sources, so the working tree stays as it is.
"""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = ROOT / ".venv/mutants/bin"
TIMEOUT_S = 180

# Changes that say nothing: operators in annotations, operators nobody would mistype, comparisons of
# identity, a cache left out.
LEFT_OUT = (
    "core/ReplaceBinaryOperator_BitOr_.*",
    "core/ReplaceBinaryOperator_.*_(BitOr|BitAnd|BitXor|Pow|LShift|RShift|Div|FloorDiv|Mod)",
    "core/ReplaceComparisonOperator_.*_(Is|IsNot)",
    "core/ReplaceComparisonOperator_Is(Not)?_(Lt|LtE|Gt|GtE)",
    "core/ReplaceUnaryOperator_.*_(Invert|UAdd)",
    "core/RemoveDecorator",
)

# The pure rules, and the modules of money, limits, signatures and the outbound guard, each with
# tests that run in seconds.
TESTS = {
    "kernel/checks.py": "tests/kernel/test_checks.py",
    "kernel/email_addresses.py": "tests/kernel/test_emails.py",
    "kernel/money.py": "tests/kernel/test_money.py -k 'not random_amounts'",
    "kernel/paging.py": "tests/kernel/test_paging.py",
    "partners/rules.py": "tests/partners/test_money_rules.py",
    "partners/charges.py": (
        "tests/partners/test_money_rules_over_time.py tests/partners/test_charge_per_person.py "
        "tests/partners/test_budget_notices.py -k 'not postgres and not parallel'"
    ),
    "screening/rules.py": (
        "tests/screening/test_referral_rules.py tests/screening/test_referral_reasons.py "
        "-k 'not over_a_year and not any_text'"
    ),
    "accounts/limits.py": "tests/accounts/test_limits.py",
    "events/signature.py": "tests/events/test_signature.py",
    "events/addresses.py": "tests/events/test_addresses.py tests/events/test_address_policy.py",
    "events/outbound.py": "tests/events/test_outbound.py tests/events/test_outbound_answers.py",
    "events/schedule.py": "tests/events/test_schedule.py",
}


def command_for(sources: Path, tests: str) -> str:
    """Without the plugins that these tests do not need: each run is a new process."""
    environment = (
        f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONDONTWRITEBYTECODE=1 "
        f"PYTHONPATH={shlex.quote(str(sources))}"
    )
    options = (
        f"-x -q --noconftest -p pytest_timeout -p no:cacheprovider --rootdir "
        f"{shlex.quote(str(ROOT))}"
    )
    return f"{environment} {shlex.quote(sys.executable)} -m pytest {options} {tests}"


def survivors(module: str) -> tuple[int, list[str]]:
    """How many changes were tried, and those that no test noticed, as diffs."""
    with tempfile.TemporaryDirectory() as folder:
        sources, config, session = (
            Path(folder) / "src",
            Path(folder) / "config.toml",
            Path(folder) / "session.sqlite",
        )
        shutil.copytree(
            ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
        command = command_for(sources, TESTS[module])
        subprocess.run(shlex.split(command), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        config.write_text(
            f'[cosmic-ray]\nmodule-path = "{sources}/honeyguide/{module}"\n'
            f"timeout = {TIMEOUT_S}.0\nexcluded-modules = []\n"
            f'test-command = {json.dumps(command)}\n[cosmic-ray.distributor]\nname = "local"\n'
            f"[cosmic-ray.filters.operators-filter]\nexclude-operators = {json.dumps(LEFT_OUT)}\n",
            encoding="utf-8",
        )
        for step in (
            [BIN / "cosmic-ray", "init", config, session],
            [BIN / "cr-filter-operators", session, config],
            [BIN / "cosmic-ray", "exec", config, session],
        ):
            subprocess.run(step, cwd=ROOT, check=True)
        dumped = subprocess.run(
            [BIN / "cosmic-ray", "dump", session], check=True, capture_output=True, text=True
        ).stdout
    results = [json.loads(line) for line in dumped.splitlines()]
    outcomes = [result for _, result in results if result and result["worker_outcome"] != "skipped"]
    return len(outcomes), [
        result["diff"] for result in outcomes if result["test_outcome"] == "survived"
    ]


def main() -> None:
    unknown = [name for name in sys.argv[1:] if name not in TESTS]
    if unknown:
        sys.exit(
            f"No tests are named for {', '.join(unknown)}; the modules are {', '.join(TESTS)}."
        )
    for module in sys.argv[1:] or TESTS:
        tried, missed = survivors(module)
        for diff in missed:
            print(diff, end="\n\n")
        print(f"{module}: {len(missed)} of {tried} changes survived.", flush=True)


if __name__ == "__main__":
    main()
