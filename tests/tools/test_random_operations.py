"""Random operations on vaults that people wrote: each changes its own spans alone, and undoing all restores all."""

import base64
import random
import tarfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from reme.errors import Conflict, InvalidInput, Refused
from reme.markdown import Span, parse, region, splice, without_regions
from reme.tools import (
    append,
    copy,
    daily_create,
    daily_reindex,
    daily_write,
    day_index,
    delete,
    edit,
    frontmatter_delete,
    frontmatter_update,
    lint,
    move,
    undo,
    upload,
    write,
)
from tests.tools.house import House

NAMES = ["dataview", "dendron-site", "foam-docs", "kepano-obsidian", "logseq-docs"]
FEW, MANY = 40, 1_000
SMALL = 40
DAYS = ("2026-05-01", "2026-05-02", "2026-05-03")
DAILY = tuple(f"daily/{day}" for day in DAYS)
INDEXES = frozenset(f"{path}.md" for path in DAILY)
REFUSALS = (Conflict, InvalidInput, Refused)
REPLACEMENT = "替换 $1 \\g<0>"
SEED = 7


class Scene:
    """A vault that is changed at random, held against what each change may touch."""

    def __init__(self, root: Path, seed: int) -> None:
        self.house = House(root)
        self.random = random.Random(seed)
        self.tree = self.house.tree()
        self.stamps = self._stamps()
        self.runs: list[str] = []

    def _stamps(self) -> dict[str, tuple[int, int, int]]:
        return {file.path: (file.size, file.mtime_ns, file.inode) for file in self.house.vault.scan().files}

    def changed(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """What has changed since the last look: path → bytes before and after."""
        stamps = self._stamps()
        paths = {path for path in stamps.keys() | self.stamps.keys() if stamps.get(path) != self.stamps.get(path)}
        before = {path: self.tree.get(path) for path in paths}
        self.stamps = stamps
        for path in paths:
            if path in stamps:
                self.tree[path] = self.house.data(path)
            else:
                del self.tree[path]
        return {path: (before[path], self.tree.get(path)) for path in paths if before[path] != self.tree.get(path)}

    def note(self) -> str:
        """Some note, links preferred: they are what can go wrong; now and then one of a day."""
        notes = sorted(path for path in self.stamps if path.endswith(".md"))
        if self.random.randrange(5) == 0:
            notes = [path for path in notes if path.startswith(DAILY)] or notes
        linked = [path for path in self.random.sample(notes, min(8, len(notes))) if b"[[" in self.tree[path]]
        return self.random.choice(linked or notes)

    def fresh(self) -> str:
        return f"{self.random.choice(['', 'neu/', '笔记/', self.folder()])}{self.name()}.md"

    def folder(self) -> str:
        """The folder of some note, with a slash unless it is the vault's."""
        folder = self.note().rpartition("/")[0]
        return f"{folder}/" if folder else ""

    def small_folder(self) -> str:
        """The same, empty if there is none or too much in it."""
        folder = self.folder()
        return folder if sum(path.startswith(folder) for path in self.tree) <= SMALL else ""

    def name(self) -> str:
        return f"{self.random.choice(['plan', '会议', 'a b', 'v1.2'])} {self.random.randrange(10**6)}"

    def take(self, run: str) -> None:
        if run:
            self.runs.append(run)


def appends(scene: Scene) -> None:
    path = scene.note()
    scene.take(append(scene.house.ask(), path, "加一行 [[x]]\n\n- more").run)
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    assert before is not None
    assert after is not None
    assert after.startswith(before)


def edits(scene: Scene) -> None:
    path = scene.note()
    body = parse(scene.tree[path]).body
    text = scene.tree[path][body.start :].decode()
    at = scene.random.randrange(max(1, len(text) - 12))
    find = text[at : at + scene.random.randrange(1, 12)]
    if not find or find == REPLACEMENT or text.count(find) != 1 or "\r" in find:
        return
    whole = scene.tree[path].decode()
    if whole.count(find) != 1:
        return
    try:
        scene.take(edit(scene.house.ask(), path, find, REPLACEMENT).run)
    except REFUSALS:
        assert not scene.changed()
        return
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    assert before is not None
    found = "\r" + find if find[0] == "\n" and text[at - 1 : at] == "\r" else find
    assert after == before.replace(found.encode(), REPLACEMENT.encode())


def sets_a_property(scene: Scene) -> None:
    path = scene.note()
    note = parse(scene.tree[path])
    key = scene.random.choice([*map(str, note.properties), "neu", "状态"])
    try:
        scene.take(frontmatter_update(scene.house.ask(), path, key, f"v: {scene.random.random()}").run)
    except REFUSALS:
        assert not scene.changed()
        return
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    _only_properties_differ(before, after, key)


def deletes_a_property(scene: Scene) -> None:
    path = scene.note()
    keys = sorted(map(str, parse(scene.tree[path]).properties))
    if not keys:
        return
    key = scene.random.choice(keys)
    try:
        scene.take(frontmatter_delete(scene.house.ask(), path, key).run)
    except REFUSALS:
        assert not scene.changed()
        return
    ((changed, (before, after)),) = scene.changed().items()
    assert changed == path
    _only_properties_differ(before, after, key)


def _only_properties_differ(before: bytes | None, after: bytes | None, key: str) -> None:
    assert before is not None
    assert after is not None
    old, new = parse(before), parse(after)
    assert before[old.body.start :] == after[new.body.start :]
    without = [{k: v for k, v in note.properties.items() if str(k) != key} for note in (old, new)]
    assert without[0] == without[1]
    lines = [note.source[: note.body.start].splitlines(keepends=True) for note in (old, new)]
    shared = _shared(*lines)
    behind = _shared(*(part[shared:][::-1] for part in lines))
    replaced = b"".join(lines[0][shared : len(lines[0]) - behind])
    assert {str(k) for k in parse(b"---\n" + replaced + b"---\n").properties} <= {key}


def _shared(first: list[bytes], second: list[bytes]) -> int:
    """How many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(first), len(second)))


def moves(scene: Scene) -> None:
    _move(scene, scene.note(), scene.fresh())


def moves_a_folder(scene: Scene) -> None:
    if folder := scene.small_folder():
        _move(scene, folder, scene.random.choice(["", "neu/"]) + scene.name())


def _move(scene: Scene, source: str, target: str) -> None:
    try:
        result = move(scene.house.ask(), source, target)
    except REFUSALS:
        assert not scene.changed()
        return
    scene.take(result.run)
    changed = scene.changed()
    moved = {str(file.target): str(file.source) for file in result.files}
    retargeted = {str(entry.path) for entry in result.retargeted}
    own = set(moved) | set(moved.values()) | retargeted
    assert own <= set(changed)
    assert set(changed) - own <= INDEXES
    for path, origin in moved.items():
        assert changed[path][0] is None
        assert changed[origin][1] is None
    for path in retargeted | set(moved):
        _only_targets_differ(changed[moved.get(path, path)][0], changed[path][1])
    for path in set(changed) - own:
        _only_the_region_differs(*changed[path])


def copies_a_folder(scene: Scene) -> None:
    if not (source := scene.small_folder()):
        return
    before = dict(scene.tree)
    try:
        result = copy(scene.house.ask(), source, scene.random.choice(["", "neu/"]) + scene.name())
    except REFUSALS:
        assert not scene.changed()
        return
    scene.take(result.run)
    targets = {str(file.target): str(file.source) for file in result.files}
    assert _made(scene, *targets) == {path: (None, before[source]) for path, source in targets.items()}


def deletes_a_folder(scene: Scene) -> None:
    if not (folder := scene.small_folder()):
        return
    inside = {path: data for path, data in scene.tree.items() if path.startswith(folder)}
    try:
        result = delete(scene.house.ask(), folder, recursive=True)
    except REFUSALS:
        assert not scene.changed()
        return
    scene.take(result.run)
    assert _gone(scene, *result.paths) == {str(path): (inside[path], None) for path in result.paths}


def uploads(scene: Scene) -> None:
    content = scene.random.randbytes(scene.random.randrange(8, 200))
    data = base64.b64encode(content).decode()
    result = upload(scene.house.ask(), data, f"{scene.name()}.bin")
    scene.take(result.run)
    changed = _made(scene, result.path, result.sidecar)
    assert changed.pop(result.path) == (None, content)
    ((path, (before, after)),) = changed.items()
    assert path == result.sidecar
    assert before is None
    assert after


def writes_the_day(scene: Scene) -> None:
    day = scene.random.choice(DAYS)
    events = sorted(path for path in scene.tree if path.startswith(f"daily/{day}/") and path.count("/") == 2)
    match scene.random.randrange(4):
        case 0 if events:
            path = scene.random.choice(events)
            run = daily_write(scene.house.ask(), path, "更多 [[x]]", date=day).run
            (before, after) = _beside_the_index(scene, day)[path]
            assert before is not None
            assert after is not None
            assert after.startswith(before.rstrip())
        case 1:
            run = daily_reindex(scene.house.ask(), day).run
            assert not _beside_the_index(scene, day)
        case _:
            made = daily_create(scene.house.ask(), scene.name(), "一行", "text\n", date=day)
            run = made.run
            assert {path: before for path, (before, _) in _made(scene, made.path).items()} == {made.path: None}
    scene.take(run)


def _beside_the_index(scene: Scene, day: str) -> dict[str, tuple[bytes | None, bytes | None]]:
    """What has changed but for the day's index, of which nothing outside the generated region may change."""
    changed = scene.changed()
    _only_the_region_differs(*changed.pop(f"daily/{day}.md", (None, None)))
    return changed


def _only_the_region_differs(before: bytes | None, after: bytes | None) -> None:
    if before is not None and after is not None:
        around, now = without_regions(before), without_regions(after)
        added = now.removeprefix(around)
        if not now.startswith(around):
            _only_targets_differ(around, now)
        assert not added or added == now or (not added.strip() and has_no_index(before))


def _gone(scene: Scene, *paths: str) -> dict[str, tuple[bytes | None, bytes | None]]:
    """What has changed of files that went, or came; beside them only the indexes of days have."""
    changed = scene.changed()
    for path in INDEXES & set(changed) - set(paths):
        _only_the_region_differs(*changed.pop(path))
    return changed


def _made(scene: Scene, *paths: str) -> dict[str, tuple[bytes | None, bytes | None]]:
    """The same of files that came; in other notes only the targets of links may differ that had one of their names."""
    changed = _gone(scene, *paths)
    for path in set(changed) - set(paths):
        _only_targets_differ(*changed.pop(path))
    return changed


def has_no_index(data: bytes) -> bool:
    """Whether somebody has written over the markers of a day's index."""
    return region(data, "index") is None


def spells_links_literally(scene: Scene) -> None:
    path = scene.note()
    report = lint(scene.house.ask(), [path.replace("[", "?")], ["links"], fix=True)
    scene.take(report.run)
    changed = scene.changed()
    assert set(changed) == {str(entry.path) for entry in report.fixed}
    for before, after in changed.values():
        _only_targets_differ(before, after)


def _only_targets_differ(before: bytes | None, after: bytes | None) -> None:
    assert before is not None
    assert after is not None
    around = []
    for data in (before, after):
        note = parse(data)
        start = note.body.start
        spans = [link.target_span for link in note.links if link.origin == "body"]
        around.append(splice(data[start:], [(Span(s.start - start, s.end - start), b"") for s in spans]))
    assert around[0] == around[1]
    assert len(parse(before).links) == len(parse(after).links)
    assert parse(before).properties.keys() == parse(after).properties.keys()


def makes_or_removes(scene: Scene) -> None:
    path = scene.fresh()
    match scene.random.randrange(3):
        case 0:
            scene.take(write(scene.house.ask(), path, "# 新\r\n\r\n[[x]]").run)
            assert _made(scene, path) == {path: (None, "# 新\r\n\r\n[[x]]".encode())}
        case 1:
            source = scene.note()
            data = scene.tree[source]
            scene.take(copy(scene.house.ask(), source, path).run)
            assert _made(scene, path) == {path: (None, data)}
        case _:
            source = scene.note()
            data = scene.tree[source]
            scene.take(delete(scene.house.ask(), source).run)
            assert _gone(scene, source) == {source: (data, None)}


KINDS: list[Callable[[Scene], None]] = [
    appends,
    copies_a_folder,
    deletes_a_folder,
    deletes_a_property,
    edits,
    makes_or_removes,
    makes_or_removes,
    moves,
    moves,
    moves_a_folder,
    sets_a_property,
    spells_links_literally,
    uploads,
    writes_the_day,
]


@pytest.fixture
def scene(request: pytest.FixtureRequest, shared: Path, tmp_path: Path) -> Iterator[Scene]:
    with tarfile.open(shared / "data" / "vaults" / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path / "vault", filter="data")
    made = Scene(tmp_path / "vault", SEED)
    yield made
    made.house.close()


def play(scene: Scene, count: int) -> None:
    """Change the vault so many times, then take back change after change.

    A day's index is brought up to the events that are left instead of restored.
    """
    original = scene.house.tree()
    befores: list[dict[str, bytes]] = []
    while len(scene.runs) < count:
        before = dict(scene.tree)
        scene.random.choice(KINDS)(scene)
        befores += [before] * (len(scene.runs) - len(befores))
    assert scene.house.tree() == scene.tree
    for run, before in zip(reversed(scene.runs), reversed(befores), strict=True):
        undo(scene.house.ask(), run)
        scene.changed()
        assert written_by_people(scene.tree) == written_by_people(before), run
    assert scene.house.tree() == original


def written_by_people(tree: dict[str, bytes]) -> dict[str, bytes]:
    """A tree without what is generated: of a day's index there is what stands around the region, if anything does."""
    kept = {path: without_regions(data) if path in INDEXES else data for path, data in tree.items()}
    return {path: data for path, data in kept.items() if path not in INDEXES or data != _untouched(path)}


def _untouched(path: str) -> bytes:
    return without_regions(day_index(None, date.fromisoformat(path[-13:-3]), {}))


@pytest.mark.parametrize("scene", NAMES, indirect=True)
def test_a_few(scene: Scene) -> None:
    play(scene, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("scene", NAMES, indirect=True)
def test_a_thousand(scene: Scene) -> None:
    play(scene, MANY)
