"""`python -m bench [names]`: runs the benches of the table, prints them, and writes each one's
section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import dataclasses

from bench import (
    cost,
    deliveries,
    integrations,
    million,
    money,
    moving,
    neighbors,
    network,
    plan,
    readers,
    report,
    requests,
    search,
    small,
)
from bench.scale import bloat, growth

# One module per bench: `ABOUT` is its heading, `run(bench)` gives its tables.
BENCHES = {
    "requests": requests,
    "million": million,
    "deliveries": deliveries,
    "integrations": integrations,
    "readers": readers,
    "network": network,
    "search": search,
    "money": money,
}
# These take long, and run only by name.
LONG = {
    "cost": cost,
    "neighbors": neighbors,
    "small": small,
    "moving": moving,
    "scale": growth,
    "bloat": bloat,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"benchmarks to run: {', '.join(BENCHES)}; default: all of these. "
        f"Only by name: {', '.join(LONG)}",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run everything for a few seconds as a check, without writing results",
    )
    parser.add_argument("--engine", choices=plan.ENGINES, action="append", help="default: both")
    for item in dataclasses.fields(plan.Size):
        parser.add_argument(
            f"--{item.name}", type=type(item.default), help=f"default: {item.default}"
        )
    asked = parser.parse_args()
    unknown = set(asked.names) - set(BENCHES | LONG)
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
    given = {
        item.name: value
        for item in dataclasses.fields(plan.Size)
        if (value := getattr(asked, item.name)) is not None
    }
    size = dataclasses.replace(plan.QUICK if asked.quick else plan.Size(), **given)
    with plan.opened(size, tuple(asked.engine or plan.ENGINES)) as bench:
        for name in asked.names or BENCHES:
            module = (BENCHES | LONG)[name]
            tables = module.run(bench)
            for table in tables:
                table.show()
            if not asked.quick and not asked.engine:
                report.write(name, module.ABOUT, tables)


if __name__ == "__main__":
    main()
