"""A backup place that fails in every way that a disk or a bucket can, over a real folder."""

from pathlib import Path

from honeyguide.kernel.errors import Unavailable
from honeyguide.operating.backups.places import StoredFile, place_for
from honeyguide.operating.backups.threads import Tick

# How a write can go wrong: nothing is stored, a part is, or all of it without anybody being told.
# A place that cuts a file short may say so, or not.
WRITES = ("fails before", "fails in the middle", "fails after", "cuts short", "loses it")


class UnreliablePlace:
    def __init__(self, folder: Path, cut: Path) -> None:
        self._place = place_for(str(folder))
        self._cut = cut
        self.shown = self._place.shown
        self.write = self.read = ""
        self.hidden: set[str] = set()
        self.deletes = True

    def make_private(self) -> None:
        self._place.make_private()

    def put(self, name: str, source: Path, tick: Tick) -> None:
        if self.write in ("fails in the middle", "cuts short"):
            self._cut.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
            self._place.put(name, self._cut, tick)
        elif self.write not in ("fails before", "loses it"):
            self._place.put(name, source, tick)
        if self.write.startswith("fails"):
            raise Unavailable("The disk is gone.")

    def files(self) -> list[StoredFile]:
        if self.read == "fails":
            raise Unavailable("The disk is gone.")
        return [file for file in self._place.files() if file.name not in self.hidden]

    def get(self, name: str, target: Path, tick: Tick) -> None:
        self._place.get(name, target, tick)
        if self.read == "cuts short":
            target.write_bytes(target.read_bytes()[: target.stat().st_size // 2])

    def delete(self, name: str) -> None:
        if not self.deletes:
            raise Unavailable("The disk is gone.")
        self._place.delete(name)
