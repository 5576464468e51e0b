"""A list that came from another tool: its codes go on working, and its counts are carried over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from honeyguide.app import Services
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import import_parts, importing, stored_files, uploaded_files
from honeyguide.store.change import changes
from honeyguide.store.reading import reads
from honeyguide.store.tx import timed

FILE_NAME = "weekend-hive.csv"
# The people of a small newsletter that was merged with the demo's: the name, how many people they
# referred there, and who of the list referred them.
_PEOPLE = (
    ("Ines", 7, ""),
    ("Tomas", 3, "ines4f2a"),
    ("Priya", 1, "ines4f2a"),
    ("Olaf", 0, "tomas9c1e"),
    ("Mina", 0, "ines4f2a"),
    ("Jules", 12, ""),
    ("Sana", 2, "jules77b0"),
    ("Emil", 0, "jules77b0"),
    ("Wren", 0, "sana31d5"),
    ("Abel", 0, ""),
    ("Noor", 0, "tomas9c1e"),
    ("Hana", 0, "jules77b0"),
)
_ENDINGS = ("4f2a", "9c1e", "b8d3", "02fe", "61ab", "77b0", "31d5", "e90c", "a4a4", "5c7f", "1d88")


async def move_in(services: Services, tenant: Tenant, *, now_ms: int) -> None:
    """Imports the list as an operator would, and leaves the import on its page."""
    store, site = services.store, services.site

    async def write(unit: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        change = changes(unit, site, tenant, actors.command("demo"), now_ms)
        return await store.write(change, *args, **kwargs)

    file = stored_files.in_parts(uploaded_files.read(_list(now_ms).encode(), FILE_NAME))
    import_id = await stored_files.store_file(write, FILE_NAME, file)
    await write(importing.choose, import_id, file.mapping, gives_rewards=False)
    await write(importing.start, import_id)
    get = reads(importing.get, site, tenant, now_ms)
    while (await store.read(get, import_id)).status == "running":
        numbers = await store.read(import_parts.next_lines, import_id)
        await store.write(timed(import_parts.import_lines, now_ms), import_id, numbers, site=site)


def _list(now_ms: int) -> str:
    """As an email platform has it after SparkLoop. The last of them left."""
    rows: list[list[str | int]] = [
        ["email", "name", "status", "created_at", "RH_CODE", "RH_TOTREF", "referrer"]
    ]
    for number, (name, count, referrer) in enumerate(_PEOPLE):
        code = f"{name.lower()}{_ENDINGS[number % len(_ENDINGS)]}"
        left = "unsubscribed" if number == len(_PEOPLE) - 1 else "active"
        joined = iso(now_ms - (700 - 20 * number) * DAY_MS)
        rows.append([f"{name.lower()}@hive.example", name, left, joined, code, count, referrer])
    return csv_text(rows)
