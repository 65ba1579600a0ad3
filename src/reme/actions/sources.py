"""What a dream reads: the changed daily notes of the last days, and how they have been read before.

Owns which notes count as sources and as changed.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from reme.actions.ledger import Ledger
from reme.actions.statements import source_lines
from reme.markdown import fingerprint, parse
from reme.paths import VaultPath, is_markdown, parse_path, stem
from reme.reason import SourceLine, SourceNote
from reme.revision import Revision
from reme.vault import Vault

__all__ = ["Source", "changed_sources"]


@dataclass(frozen=True, slots=True)
class Source:
    """A daily note as it was read, and what a reasoner sees of it."""

    path: VaultPath
    revision: Revision
    fingerprint: str
    shown: SourceNote

    def line(self, number: int) -> SourceLine | None:
        """The line with this number, if it was offered."""
        return next((line for line in self.shown.lines if line.number == number), None)


def changed_sources(vault: Vault, ledger: Ledger, until: date, scan_days: int) -> list[Source]:
    """Event notes of the days up to ``until`` whose words are not as they were when last digested, oldest first.

    The day's index is not among them: it repeats what the notes say.
    """
    found: list[Source] = []
    for back in range(scan_days - 1, -1, -1):
        day = until - timedelta(days=back)
        folder = parse_path(f"{vault.layout.daily}/{day.isoformat()}")
        files = vault.scan(folder).files if vault.is_folder(folder) else ()
        read = (_read(vault, ledger, stat.path, day) for stat in files if is_markdown(stat.path))
        found.extend(source for source in read if source is not None)
    return found


def _read(vault: Vault, ledger: Ledger, path: VaultPath, day: date) -> Source | None:
    file = vault.read(path)
    note = parse(file.data)
    mark = fingerprint(note)
    last = ledger.digested.get(path)
    if last is not None and last.fingerprint == mark:
        return None
    lines = source_lines(note, day, ledger.taken.get(path, frozenset()))
    name, description = note.properties.get("name") or stem(path), note.properties.get("description") or ""
    return Source(path, file.revision, mark, SourceNote(str(name), str(description), day, lines))
