"""Vaults of other programs, opened as they are: is every note indexed, which links resolve, does a single byte change?

Reads the archives in ``../shared/data/vaults`` beside the checkout. Prints one line a vault, and the reasons why the
other links do not resolve.

    python -m evals.vaults

Exits with 1 if a vault was changed or a note is missing from its index, 2 if the data is missing.
"""

import hashlib
import re
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from reme.app import open_vault
from reme.index import refresh
from reme.markdown import resolution
from reme.paths import is_markdown

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "vaults"
_JOURNAL = re.compile(r"(?:[A-Z][a-z]{2} \d{1,2}(?:st|nd|rd|th), \d{4}|\d{4}[-_]\d{2}[-_]\d{2})$")


@dataclass(frozen=True)
class Examined:
    """What was found in one vault.

    Attributes:
        notes: Markdown files on disk.
        indexed: Markdown files in the index, chunks of which can be found.
        links: Links to files, images left out.
        unresolved: How many lead nowhere, by reason.
        problems: What the index reports of files.
        changed: Files that are not as they were.
    """

    notes: int
    indexed: int
    links: int
    unresolved: Counter[str]
    problems: int
    changed: tuple[str, ...]

    @property
    def resolved(self) -> int:
        return self.links - self.unresolved.total()


def examine(root: Path) -> Examined:
    """Open a vault, index it, look at every link, and compare every file with what it was."""
    before = _digests(root)
    with open_vault(root) as app:
        refresh(app.index, app.vault)
        scanned = [stat.path for stat in app.vault.scan().files if is_markdown(stat.path)]
        notes = [note.path for note in app.index.notes() if is_markdown(note.path)]
        links, unresolved = 0, Counter[str]()
        with app.index.snapshot():
            for note in notes:
                for edge in app.index.links_from(note):
                    if edge.kind == "image" or not edge.raw_target:
                        continue
                    links += 1
                    if edge.target is None:
                        found = resolution(edge.raw_target, note, app.index.names)
                        swapped = edge.alias and resolution(edge.alias, note, app.index.names).path
                        unresolved[_reason(edge.raw_target, found.reason, bool(swapped))] += 1
        problems = len(app.index.problems())
    after = _digests(root)
    changed = tuple(sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)))
    return Examined(len(scanned), len(set(notes) & set(scanned)), links, unresolved, problems, changed)


def _reason(target: str, reason: str, swapped: bool) -> str:
    if reason == "ambiguous":
        return "several files have the name"
    if swapped:
        return "alias and target in Dendron's order"
    if _JOURNAL.match(target):
        return "a journal page that does not exist under this name"
    return "no file has the name"


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file() and ".reme" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def unpack(archive: Path, into: Path) -> Path:
    """Unpack one archive; returns the vault's folder."""
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    (root,) = into.iterdir()
    return root


def main() -> int:
    archives = sorted(DATA.glob("*.tar.xz"))
    if not archives:
        print(f"no data in {DATA}", file=sys.stderr)
        return 2
    failed = False
    print(
        "| vault | notes | indexed | links | resolved | share | problems | changed |\n|---|---|---|---|---|---|---|---|"
    )
    reasons: list[str] = []
    for archive in archives:
        with tempfile.TemporaryDirectory() as folder:
            found = examine(unpack(archive, Path(folder)))
        name = archive.name.removesuffix(".tar.xz")
        share = found.resolved / max(1, found.links)
        figures = (found.notes, found.indexed, found.links, found.resolved, f"{share:.0%}", found.problems)
        print("|", " | ".join(map(str, (name, *figures, len(found.changed)))), "|")
        reasons += [f"{name}: {count} × {reason}" for reason, count in found.unresolved.most_common()]
        failed |= bool(found.changed) or found.indexed != found.notes
    print("\n" + "\n".join(reasons))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
