"""The log of erasures at the backup place, and how it is applied after a restore. The database may
be what is lost, so the log is copied out of it at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.operating.backups.names import erasures_ms, erasures_name
from honeyguide.operating.backups.places import Place, put_whole
from honeyguide.operating.backups.threads import Tick
from honeyguide.signups import erasures, import_erasure, signups
from honeyguide.signups.erasures import Erasure
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.store.workspace import workspace


def write_erasures(
    place: Place, found: list[Erasure], parent: Path, now_ms: int, tick: Tick
) -> None:
    """One small file for all of them."""
    name = erasures_name(now_ms, new_id()[-12:])
    with workspace(parent) as folder:
        (folder / name).write_bytes(msgspec.json.encode([each._asdict() for each in found]))
        put_whole(place, name, folder / name, tick)


def read_erasures(place: Place, folder: Path, tick: Tick) -> list[Erasure]:
    """All that are kept at the place."""
    found: list[Erasure] = []
    for file in place.files():
        if erasures_ms(file.name) is None:
            continue
        target = folder / "erasures"
        place.get(file.name, target, tick)
        try:
            rows = msgspec.json.decode(target.read_bytes(), type=list[dict[str, str | int]])
            found += [msgspec.convert(Erasure(**row), Erasure) for row in rows]  # type: ignore[arg-type]
        except (msgspec.MsgspecError, TypeError) as error:
            raise Invalid(
                "{name} in {place} is damaged, so who was erased after the backup is not known. "
                "Move the file away to restore without it.",
                name=file.name,
                place=place.shown,
            ) from error
    return found


def distinct(found: Iterable[Erasure]) -> list[Erasure]:
    return sorted({each.id: each for each in found}.values())


async def erase_again(tx: Tx, site: Site, erasure: Erasure) -> bool:
    """False if the backup has this erasure already. The person may be in it as a subscriber, only
    in an import file that was waiting, or not at all.
    """
    if await erasures.is_known(tx, erasure.id):
        return False
    tenant = Tenant(erasure.account_id, erasure.campaign_id)
    try:
        change = Change(tx, site, tenant, actors.command("restore"), tx.now_ms)
        await signups.erase(change, erasure.subscriber_id)
    except Missing:
        pass
    await import_erasure.erase_matching(
        change, lambda email: erasure.person_key in site.person_keys(email)
    )
    await erasures.keep(tx, erasure)
    return True
